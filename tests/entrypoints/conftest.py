"""The function with AWS and the two services, all over HTTP."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from conftest import EVERY_PROFILE
from entrypoints.aws import Aws, cloud
from handler.adapters.qdrant import sparse_files
from handler.entrypoints.detect import Source
from tools.doubles import EmulatorServer, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator
from wire.conftest import output, sleeps  # noqa: F401 - fixtures
from wire.function import COHERE_KEY, Function, Start


@pytest.fixture(scope="session")
def aws() -> Iterator[Aws]:
    with cloud() as running:
        yield running


@pytest.fixture(scope="session")
def cohere() -> Iterator[EmulatorServer]:
    with cohere_emulator(api_key=COHERE_KEY) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def qdrant(several_indexes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorServer]:
    """A server with the textbook for three of the profiles."""
    storage = tmp_path_factory.mktemp("qdrant")
    for profile, collection in (
        ("query-response", "rag_embeddings"),
        ("context", "textbook_chunks"),
        ("chunks", "rag_embedding"),
    ):
        sparse_files.copy_folder(several_indexes / profile / "shard", storage / collection)
    with qdrant_emulator(storage) as emulator:
        yield emulator


@pytest.fixture(autouse=True)
def _fair_weather(cohere: EmulatorServer, qdrant: EmulatorServer, aws: Aws) -> None:
    """Clear faults and recorded requests before every test."""
    for emulator in (cohere, qdrant, aws.door):
        emulator.faults.clear()
        emulator.requests.clear()


@pytest.fixture
def gateway() -> Source:
    """One kind of API, for tests that do not depend on it."""
    return Source.HTTP_API


@pytest.fixture
def start(
    cohere: EmulatorServer, qdrant: EmulatorServer, aws: Aws, gateway: Source, monkeypatch: pytest.MonkeyPatch
) -> Start:
    """Starts a container. Arguments are additional variables; None removes one."""
    for name, value in aws.environ.items():
        monkeypatch.setenv(name, value)

    def make(**changes: str | None) -> Function:
        environ = {
            "ALLOWED_ORIGINS": "http://localhost:3000",
            "COHERE_API_KEY": COHERE_KEY,
            "COHERE_BASE_URL": cohere.url,
            "QDRANT_URL": qdrant.url,
            "PROFILES": EVERY_PROFILE,
            **changes,
        }
        return Function({name: value for name, value in environ.items() if value is not None}, gateway)

    return make


Large = Callable[[Sequence[str]], str]
"""Gives the name of a collection of the given texts for the default profile."""


@pytest.fixture(scope="session")
def _large(qdrant: EmulatorServer) -> Iterator[Large]:
    admin = QdrantClient(url=qdrant.url, check_compatibility=False)

    made = count()

    @cache
    def make(texts: tuple[str, ...]) -> str:
        name = f"large-{next(made)}"
        admin.create_collection(name, models.VectorParams(size=768, distance=models.Distance.COSINE))
        points: list[Any] = [
            models.PointStruct(
                id=number,
                vector=[1.0, number / 1000, *[0.0] * 766],
                payload={"text_content": text, "source_url": f"https://site.example/{number}", "chunk_index": number},
            )
            for number, text in enumerate(texts)
        ]
        for first in range(0, len(points), 10):
            admin.upsert(name, points[first : first + 10])
        return name

    yield lambda texts: make(tuple(texts))
    admin.close()


@pytest.fixture
def large(_large: Large, qdrant: EmulatorServer) -> Large:
    """Tests with the same texts share a collection, because creating one takes longer than a search."""

    def make(texts: Sequence[str]) -> str:
        name = _large(texts)
        qdrant.requests.clear()
        return name

    return make
