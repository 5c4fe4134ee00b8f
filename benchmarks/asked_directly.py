"""Measures the emulated services alone. Their time is part of every function's answer."""

import statistics
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import httpx

from benchmarks.asking import COLLECTION, MODEL, K, Questions
from benchmarks.results import Spread, Upstream

TIMES = 100


class Direct:
    """Calls both services over open connections, with a new question each time."""

    def __init__(self, upstream: Mapping[str, str]) -> None:
        self._client = httpx.Client(headers={"Authorization": f"Bearer {upstream['COHERE_API_KEY']}"})
        self._cohere, self._qdrant = upstream["COHERE_BASE_URL"], upstream["QDRANT_URL"]
        self._texts = Questions().texts()
        self._vector = self.embed("float").json()["embeddings"]["float"][0]
        self.search()

    def embed(self, kind: str) -> httpx.Response:
        asked = {"model": MODEL, "input_type": "search_query", "embedding_types": [kind], "texts": [next(self._texts)]}
        return self._client.post(f"{self._cohere}/v2/embed", json=asked).raise_for_status()

    def search(self) -> httpx.Response:
        body = {"query": self._vector, "limit": K, "with_payload": True}
        return self._client.post(f"{self._qdrant}/collections/{COLLECTION}/points/query", json=body).raise_for_status()

    def nothing(self) -> httpx.Response:
        """A request without work for the service."""
        return self._client.get(f"{self._qdrant}/healthz").raise_for_status()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()


def measure(upstream: Mapping[str, str]) -> Upstream:
    """Milliseconds of an embedding and of a search."""
    with Direct(upstream) as direct:
        return Upstream(
            embed_float=Spread.of(times(lambda: direct.embed("float"), TIMES)),
            embed_base64=Spread.of(times(lambda: direct.embed("base64"), TIMES)),
            search=Spread.of(times(direct.search, TIMES)),
        )


def times(call: Callable[[], httpx.Response], count: int) -> list[float]:
    """Milliseconds of each of that many calls."""

    def timed() -> float:
        started = time.perf_counter()
        call()
        return (time.perf_counter() - started) * 1000

    return [timed() for _ in range(count)]


def median_of(call: Callable[[], httpx.Response]) -> float:
    """Milliseconds."""
    return statistics.median(times(call, 15))
