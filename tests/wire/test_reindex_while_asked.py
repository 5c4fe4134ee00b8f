"""Questions are asked all the time while a site is indexed again on a server: no error, no mixture of versions."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handler.config import profiles
from indexed import embedder_at, index_to
from passage.indexing.run import IndexOptions
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.index import ServerIndex
from passage.sites.markdown import find_site
from tools.doubles import EmulatorServer
from wire.function import COHERE_KEY, Function, Start

PROFILE = profiles.load("query-response")
PAGES = 60


@pytest.fixture
def index(tmp_path: Path, server: EmulatorServer, cohere: EmulatorServer) -> Iterator[Callable[[str], str]]:
    """Index a site whose pages all name a version. Returns the run's result."""
    connection = ServerConnection(server.url, None)

    def run(version: str, *, rebuild: bool = False) -> str:
        folder = tmp_path / "site"
        folder.mkdir(exist_ok=True)
        for page in range(PAGES):
            (folder / f"page{page}.md").write_text(f"# Robot {page}\n\nVersion {version} of robot {page} turns left.\n")
        embedder = embedder_at(cohere.url, PROFILE, COHERE_KEY)
        site, target = find_site(folder, "https://example.com"), ServerIndex(connection, PROFILE, keep=0)
        return index_to(target, site, PROFILE, embedder, options=IndexOptions(rebuild=rebuild)).action

    yield run
    connection.close()


class Asker(threading.Thread):
    """Asks questions one after the other until it is stopped."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self._function = function
        self._enough = threading.Event()
        self.statuses: set[int] = set()
        self.versions: list[frozenset[str]] = []
        """The versions that each answer's passages are of."""

    def run(self) -> None:
        while not self._enough.is_set():
            answer = self._function.ask("Which robot turns left?", k=20)
            self.statuses.add(answer.status)
            texts = [result["chunk_text"] for result in answer.results]
            self.versions.append(frozenset(text.split()[1] for text in texts))

    def __enter__(self) -> "Asker":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self.join()


def test_whole_reindex_shows_one_version_in_each_answer(
    index: Callable[[str], str], start: Start, server: EmulatorServer
) -> None:
    index("one")
    function = start(QDRANT_URL=server.url)
    with Asker(function) as asker:
        assert index("two") == "replace"
        assert index("three") == "replace"
    assert asker.statuses == {200}
    assert set(asker.versions) <= {frozenset({version}) for version in ("one", "two", "three")}
    order = [version for (version,) in asker.versions]
    assert order == sorted(order, key=["one", "two", "three"].index), "an answer went back to an older version"
    assert function.ask("Which robot turns left?").results[0]["chunk_text"].startswith("Version three")
