"""The pipeline: embed the question, search the store, order the passages. One retry each, within one deadline."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from handler import telemetry
from handler.core import deadline as deadlines
from handler.core.deadline import Deadline
from handler.core.errors import (
    ConfigurationError,
    NotFound,
    PassageError,
    Upstream,
    UpstreamError,
    UpstreamThrottled,
)
from handler.core.model import (
    CollectionInfo,
    Found,
    Passage,
    Point,
    PointId,
    Retrieval,
    RetrievalRequest,
    Search,
    Timings,
    Vector,
)
from handler.core.ports import Embedder, PassageStore

T = TypeVar("T")

RETRY_DELAY = 0.1
"""Seconds before the second attempt when the upstream did not name a time."""


@dataclass(frozen=True, slots=True)
class Retriever:
    """One profile's pipeline."""

    embedder: Embedder
    store: PassageStore

    def warm(self) -> None:
        """Build what the first question would have to; no request is made."""
        self.embedder.warm()
        self.store.warm()

    def retrieve_many(self, requests: Sequence[RetrievalRequest], deadline: Deadline) -> list[Retrieval | PassageError]:
        """Answer several questions with one embedding call and one batched search; each has its own answer or error.

        Args:
            requests: at most 96, the most texts an embedding call takes (Cohere, embed reference).
        """
        clock = _Clock()
        try:
            with deadlines.running(deadline):
                vectors = self._vectors(requests, deadline)
                clock.embedded()
                found = self._find(requests, vectors, deadline)
        except PassageError as error:
            return [error] * len(requests)
        timings = clock.finished()
        return [
            each if isinstance(each, PassageError) else self._retrieval(request, each, timings, clock.at)
            for request, each in zip(requests, found, strict=True)
        ]

    def _vectors(self, requests: Sequence[RetrievalRequest], deadline: Deadline) -> list[Vector]:
        """Each request's vector: its own, or its text's, embedded together with the others'."""
        texts = [request.text.strip() for request in requests if request.vector is None]
        embedded: list[Vector] = []
        if texts:
            embedded = _with_one_retry(lambda: self.embedder.embed(texts), deadline, "embedding")
        made = iter(embedded)
        return [next(made) if request.vector is None else request.vector for request in requests]

    def _find(
        self, requests: Sequence[RetrievalRequest], vectors: Sequence[Vector], deadline: Deadline
    ) -> Sequence[Found | PassageError]:
        searches = [(vector, request.search) for vector, request in zip(vectors, requests, strict=True)]
        if len(searches) > 1:
            with suppress(ConfigurationError):
                return _with_one_retry(lambda: self.store.search_many(searches), deadline, "store")
        # One search that the store refuses takes the batch with it: alone, each shows whose fault it was.
        return [self._find_one(vector, search, deadline) for vector, search in searches]

    def _find_one(self, vector: Vector, search: Search, deadline: Deadline) -> Found | PassageError:
        try:
            return _with_one_retry(lambda: self.store.search(vector, search), deadline, "store")
        except PassageError as error:
            return error

    def fetch(self, chunk: str, deadline: Deadline, *, with_vectors: bool) -> tuple[Point, float]:
        """One stored point by its id or its chunk id, and how many milliseconds that took.

        Raises:
            NotFound: there is none.
            PassageError: as the store raises it, after one retry where that can help.
        """
        started = time.perf_counter()
        with deadlines.running(deadline):
            point = _with_one_retry(lambda: self.store.fetch(chunk, with_vectors=with_vectors), deadline, "store")
        if point is None:
            raise NotFound("There is no such chunk in the collection.")
        return point, (time.perf_counter() - started) * 1000

    def describe(self, deadline: Deadline) -> CollectionInfo:
        """What the collection says of itself, after one retry where that can help."""
        with deadlines.running(deadline):
            return _with_one_retry(self.store.describe, deadline, "store")

    def retrieve(self, request: RetrievalRequest, deadline: Deadline) -> Retrieval:
        """Answer one question.

        Raises:
            PassageError: as the embedder and the store raise it, after one retry where that can help.
        """
        clock = _Clock()
        with deadlines.running(deadline):
            vector = request.vector
            if vector is None:
                vector = _with_one_retry(lambda: self.embedder.embed([request.text.strip()])[0], deadline, "embedding")
            clock.embedded()
            found = _with_one_retry(lambda: self.store.search(vector, request.search), deadline, "store")
        return self._retrieval(request, found, clock.finished(), clock.at)

    def _retrieval(self, request: RetrievalRequest, found: Found, timings: Timings, at: datetime) -> Retrieval:
        return Retrieval(
            request=request,
            passages=_in_order(found)[: request.search.top_k],
            skipped=found.skipped,
            timings=timings,
            collection=self.store.collection,
            model=self.embedder.model,
            asked_at=at,
        )


class _Clock:
    """When a retrieval began, and how long its parts took."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)
        self._started = self._embedded = time.perf_counter()

    def embedded(self) -> None:
        self._embedded = time.perf_counter()

    def finished(self) -> Timings:
        now = time.perf_counter()
        return Timings(
            embedding_ms=(self._embedded - self._started) * 1000,
            search_ms=(now - self._embedded) * 1000,
            total_ms=(now - self._started) * 1000,
        )


def _in_order(found: Found) -> tuple[Passage, ...]:
    """Best first and no point twice. The stores answer so already; an answer's guarantees do not rest on it."""
    unique: dict[PointId, Passage] = {}
    for passage in found.passages:
        unique.setdefault(passage.id, passage)
    return tuple(sorted(unique.values(), key=lambda passage: passage.score, reverse=True))


def _with_one_retry(call: Callable[[], T], deadline: Deadline, upstream: Upstream) -> T:
    """Call, and once more after a passing failure if the deadline leaves room for the wait.

    The SDKs' own retries are off: theirs would sleep up to a minute each, past any gateway's limit.
    """
    deadline.require(upstream)
    try:
        return call()
    except UpstreamError as error:
        delay = _delay(error)
        if delay >= deadline.remaining():
            raise
        telemetry.retrying(error.code, delay)
    time.sleep(delay)
    return call()


def _delay(error: UpstreamError) -> float:
    """Seconds to wait before the second attempt; what the upstream asked for comes first."""
    if error.retry_after is not None:
        return error.retry_after
    return RETRY_DELAY * 10 if isinstance(error, UpstreamThrottled) else RETRY_DELAY
