"""The sample textbook for every profile, and the function that is asked about it."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import TEXTBOOK
from contracts.shape import Stored
from contracts.surroundings import KEY, Surroundings
from devkit.emulators import EmulatorServer, cohere_emulator
from devkit.indexing.embedding import DocumentEmbedder
from devkit.indexing.run import index_site
from devkit.indexing.site import find_site
from handler import profiles


@pytest.fixture(scope="session")
def embedding() -> Iterator[EmulatorServer]:
    with cohere_emulator(api_key=KEY) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def indexes(embedding: EmulatorServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample textbook, indexed for every profile as `passage index` does it."""
    root = tmp_path_factory.mktemp("indexes")
    site = find_site(TEXTBOOK, None)
    for profile in map(profiles.load, profiles.names()):
        embedder = DocumentEmbedder(
            api_key=KEY,
            base_url=embedding.url,
            model=profile.embedding.model,
            dimension=profile.collection.dimension,
        )
        index_site(site, profile, root, embedder, lambda *_: lambda _: None)
    return root


@pytest.fixture(scope="session")
def surroundings(
    embedding: EmulatorServer, indexes: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Surroundings]:
    with ExitStack() as running:
        yield Surroundings(running, embedding, indexes, tmp_path_factory)


@pytest.fixture(scope="session")
def stored(surroundings: Surroundings) -> Mapping[str, Stored]:
    """What each profile's server holds."""
    return {name: surroundings.stored(profiles.load(name)) for name in profiles.names()}
