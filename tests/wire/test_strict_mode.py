"""A server in strict mode, as on Qdrant Cloud, that `passage index` filled: each answer is the one of a lenient server,
or says what the caller has to change. Each version of Qdrant that wants other payload indexes is played."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from handler.config import profiles
from handler.config.profiles import Profile
from indexed import embedder_at, index_to
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.index import ServerIndex
from passage.indexing.target import Target
from passage.sites.markdown import find_site
from tools.doubles import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator
from wire.function import COHERE_KEY, QUESTION, Answer, Function, Start

VERSIONS = ("1.18.3", "1.19.0", "1.20.0")
OPTIONS: list[dict[str, Any]] = [
    {},
    {"neighbors": 2},
    {"max_per_page": 1},
    {"offset": 5},
    {"diversity": 0.5},
    {"unique": True},
    {"score_threshold": 0.1},
    {"language": "en"},
    {"debug": True},
]
VALUES: list[Any] = [
    "x",
    7,
    ["a", "b"],
    [1, 2],
    ["a", 1],
    {"gte": 1},
    {"gte": "2024-01-01T00:00:00Z"},
    {"prefix": "https://example.com/page1"},
    "2024-01-01T00:00:00Z",
]
UNKNOWN_IDS = ("999999", "nope", "0b1f6c52-9d3e-4c1a-8f57-1f2e3d4c5b6a", "-1", str(2**64 - 1))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    for number in range(4):
        sections = "".join(f"\n## Part {part}\n\nPart {part} of twin {number}.\n" for part in range(4))
        (folder / f"page{number}.md").write_text(f"# Page {number}\n\nA digital twin, number {number}.\n{sections}")
    return folder


Fill = Callable[[Target, Profile], object]


@pytest.fixture(scope="module")
def fill(site: Path, cohere: EmulatorServer, tmp_path_factory: pytest.TempPathFactory) -> Fill:
    """Indexes the site for a profile."""
    cache = tmp_path_factory.mktemp("cache")

    def run(target: Target, profile: Profile) -> object:
        embedder = embedder_at(cohere.url, profile, COHERE_KEY)
        return index_to(target, find_site(site, "https://example.com"), profile, embedder, cache=cache)

    return run


def fill_server(url: str, fill: Fill) -> None:
    """Index the site for every profile: each has a collection of its own."""
    connection = ServerConnection(url, None)
    for name in profiles.names():
        fill(ServerIndex(connection, profiles.load(name)), profiles.load(name))
    connection.close()


@pytest.fixture(scope="module", params=VERSIONS)
def storage(request: pytest.FixtureRequest, fill: Fill, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("storage")
    with qdrant_emulator(folder, strict=True, version=request.param) as server:
        fill_server(server.url, fill)
    return request.param, folder


def questions(name: str) -> Iterator[dict[str, Any]]:
    profile = profiles.load(name)
    asked = {profile.query.text.names[0]: QUESTION, profile.query.count.names[0]: 3}
    filters = [{"filters": {field: value}} for field in profile.filters for value in VALUES]
    yield from ({**asked, **options} for options in (*OPTIONS, *filters))


def answers(function: Function) -> dict[str, Answer]:
    """The answer to every question and every id, by what was asked."""
    found = {}
    for name in profiles.names():
        for question in questions(name):
            found[f"{name} {question}"] = function.post(question, f"/profiles/{name}/query")
        body = next(iter(questions(name)))
        first = function.post(body, f"/profiles/{name}/query").json
        ids = [str(one.get("chunk_id") or one["id"]) for one in first.get("results") or first["chunks"]]
        for chunk in (*ids, *UNKNOWN_IDS):
            found[f"{name} chunk {chunk}"] = function.get(f"/profiles/{name}/chunks/{chunk}")
            expected = 200 if chunk in ids else 404
            assert found[f"{name} chunk {chunk}"].status == expected, (name, chunk)
    return found


def test_strict_server_answers_as_a_lenient_one_or_says_why_not(storage: tuple[str, Path], start: Start) -> None:
    version, folder = storage
    found = []
    for strict in (True, False):
        with qdrant_emulator(folder, strict=strict, version=version) as server:
            found.append(answers(start(QDRANT_URL=server.url, DEBUG_ANSWERS="true")))
    in_strict_mode, lenient = found
    assert len(in_strict_mode) > 300
    assert {what: answer.text for what, answer in in_strict_mode.items() if answer.status >= 500} == {}
    for what, answer in in_strict_mode.items():
        refused = lenient[what].status
        assert answer.status in (refused, 400), what
        if "filters" not in what:
            assert answer.status == refused, (what, answer.text)
        if answer.status == 200 and "debug" not in what:
            assert passages(answer) == passages(lenient[what]), what


def passages(answer: Answer) -> Any:
    found = answer.json.get("results") or answer.json.get("chunks") or []
    return [{key: value for key, value in one.items() if not key.endswith("_ms")} for one in found]


def test_neighbors_have_the_same_text_on_every_store(
    storage: tuple[str, Path], fill: Fill, start: Start, tmp_path: Path
) -> None:
    version, folder = storage
    profile = profiles.load("query-response")
    fill(EdgeIndex(tmp_path, profile), profile)

    def around(**environ: str | None) -> dict[str, str]:
        found = start(**environ, SEARCH_MODE="dense").post({"text": QUESTION, "k": 20, "neighbors": 2}).results
        return {result["chunk_id"]: result["text_with_neighbors"] for result in found}

    expected = around(STORE="qdrant_edge", EDGE_INDEX_PATH=str(tmp_path), QDRANT_URL=None)
    assert len(expected) == 20
    assert all(text.count("Part") >= 2 for text in expected.values())
    for strict in (True, False):
        with qdrant_emulator(folder, strict=strict, version=version) as server:
            assert around(QDRANT_URL=server.url) == expected


def test_updated_server_gets_its_indexes_without_a_point(fill: Fill, tmp_path: Path, start: Start) -> None:
    profile = profiles.load("query-response")
    with qdrant_emulator(tmp_path, strict=True, version="1.18.3") as server:
        connection = ServerConnection(server.url, None)
        fill(ServerIndex(connection, profile), profile)
        connection.close()
    with qdrant_emulator(tmp_path, strict=True, version="1.19.0") as server:
        function = start(QDRANT_URL=server.url)
        prefix = {"text": QUESTION, "filters": {"source_url": {"prefix": "https://example.com/page1"}}}
        assert "with prefix" in function.post(prefix).json["error"]
        connection = ServerConnection(server.url, None)
        for _ in range(2):
            server.requests.clear()
            fill(ServerIndex(connection, profile), profile)
            assert not [one for one in server.requests if one.method == "PUT" and one.path.endswith("/points")]
        connection.close()
        assert not [one for one in server.requests if one.path.endswith("/index")], "the second run has nothing to do"
        assert len(function.post(prefix).results) == 5
