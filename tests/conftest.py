"""What several kinds of tests share: the sample site's index, and the events of the repository."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devkit.emulators import cohere_emulator
from devkit.indexing.embedding import DocumentEmbedder
from devkit.indexing.run import index_site
from devkit.indexing.site import find_site
from handler import profiles
from handler.adapters import transport

ROOT = Path(__file__).resolve().parent.parent
EVENTS = ROOT / "events"
TEXTBOOK = ROOT / "samples" / "textbook"


@pytest.fixture(scope="session")
def textbook_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample textbook, indexed for the default profile as `passage index` does it."""
    root = tmp_path_factory.mktemp("index")
    profile = profiles.load("query-response")
    with cohere_emulator() as cohere:
        embedder = DocumentEmbedder(
            api_key="test",
            base_url=cohere.url,
            model=profile.embedding.model,
            dimension=profile.collection.dimension,
        )
        index_site(find_site(TEXTBOOK, None), profile, root, embedder, lambda *_: lambda _: None)
    return root


@pytest.fixture(scope="session")
def load_event() -> Callable[[str], Any]:
    """Reads one of the repository's sample events by its name."""
    return lambda name: json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session", autouse=True)
def _pool_closed() -> Iterator[None]:
    """The function keeps one connection pool a process; its connections must not outlive the tests' servers."""
    yield
    transport.shared().close()
