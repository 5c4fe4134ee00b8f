"""The pipeline: embed the question, search the store, order the passages. One retry each, within one deadline."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from handler import telemetry
from handler.core import deadline as deadlines
from handler.core.deadline import Deadline
from handler.core.errors import NotFound, Upstream, UpstreamError, UpstreamThrottled
from handler.core.model import CollectionInfo, Found, Passage, Point, PointId, Retrieval, RetrievalRequest, Timings
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
        asked_at = datetime.now(UTC)
        started = time.perf_counter()
        with deadlines.running(deadline):
            vector = request.vector
            if vector is None:
                vector = _with_one_retry(lambda: self.embedder.embed([request.text.strip()])[0], deadline, "embedding")
            embedded = time.perf_counter()
            found = _with_one_retry(lambda: self.store.search(vector, request.search), deadline, "store")
        finished = time.perf_counter()
        passages = _in_order(found)
        return Retrieval(
            request=request,
            passages=passages[: request.search.top_k],
            skipped=found.skipped,
            timings=Timings(
                embedding_ms=(embedded - started) * 1000,
                search_ms=(finished - embedded) * 1000,
                total_ms=(finished - started) * 1000,
            ),
            collection=self.store.collection,
            model=self.embedder.model,
            asked_at=asked_at,
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
