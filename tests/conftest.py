"""What several kinds of tests share: the sample site's index, and the events of the repository."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from handler.adapters import transport
from handler.config import profiles
from indexed import index_edge
from passage.emulators import cohere_emulator
from passage.indexing.embedding import DocumentEmbedder
from passage.sites.markdown import find_site

# What a make told this run of pytest is not for the makes that tests start.
for _variable in ("ARGS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"):
    os.environ.pop(_variable, None)

ROOT = Path(__file__).resolve().parent.parent
EVENTS = ROOT / "events"
TEXTBOOK = ROOT / "samples" / "textbook"


def _index(root: Path, names: Sequence[str]) -> Path:
    """Index the sample textbook as `passage index` does it."""
    with cohere_emulator() as cohere:
        for profile in map(profiles.load, names):
            embedder = DocumentEmbedder(
                api_key="test",
                base_url=cohere.url,
                model=profile.embedding.for_texts,
                dimension=profile.collection.dimension,
            )
            index_edge(find_site(TEXTBOOK, None), profile, root, embedder)
    return root


@pytest.fixture(scope="session")
def textbook_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample textbook, indexed for the default profile."""
    return _index(tmp_path_factory.mktemp("index"), ["query-response"])


@pytest.fixture(scope="session")
def several_indexes(textbook_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for every profile."""
    root = tmp_path_factory.mktemp("indexes")
    shutil.copytree(textbook_index / "query-response", root / "query-response")
    return _index(root, [name for name in profiles.names() if name != "query-response"])


@pytest.fixture(scope="session")
def load_event() -> Callable[[str], Any]:
    """Reads one of the repository's sample events by its name."""
    return lambda name: json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session", autouse=True)
def _pool_closed() -> Iterator[None]:
    """The function keeps one connection pool a process; its connections must not outlive the tests' servers."""
    yield
    transport.shared().close()
