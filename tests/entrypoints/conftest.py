"""The function with AWS and the two services, all over HTTP."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from entrypoints.aws import Aws, Queue
from handler.adapters.qdrant import sparse_files
from tools.doubles import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator
from wire.conftest import _admin, _cloud, aws, cohere, environ, gateway, output, sleeps, start  # noqa: F401 - fixtures


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
def _fair_weather(cohere: EmulatorServer, qdrant: EmulatorServer, aws: Aws) -> None:  # noqa: F811 - as above
    """Clear faults and recorded requests before every test; `aws` does it itself."""
    for emulator in (cohere, qdrant):
        emulator.faults.clear()
        emulator.requests.clear()


@pytest.fixture
def queue(aws: Aws) -> Queue:  # noqa: F811 - as above
    return aws.queue()


Large = Callable[[Sequence[str]], str]
"""Gives the name of a collection of the given texts for the default profile."""


@pytest.fixture(scope="session")
def _large(_admin: QdrantClient) -> Large:  # noqa: F811 - as above
    made = count()

    @cache
    def make(texts: tuple[str, ...]) -> str:
        name = f"large-{next(made)}"
        _admin.create_collection(name, models.VectorParams(size=768, distance=models.Distance.COSINE))
        points: list[Any] = [
            models.PointStruct(
                id=number,
                vector=[1.0, number / 1000, *[0.0] * 766],
                payload={"text_content": text, "source_url": f"https://site.example/{number}", "chunk_index": number},
            )
            for number, text in enumerate(texts)
        ]
        for first in range(0, len(points), 10):
            _admin.upsert(name, points[first : first + 10])
        return name

    return lambda texts: make(tuple(texts))


@pytest.fixture
def large(_large: Large, qdrant: EmulatorServer) -> Large:
    """Tests with the same texts share a collection, because creating one takes longer than a search."""

    def make(texts: Sequence[str]) -> str:
        name = _large(texts)
        qdrant.requests.clear()
        return name

    return make
