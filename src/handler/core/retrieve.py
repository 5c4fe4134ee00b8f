"""The pipeline: embed the question, search the store, rerank, order the passages. One retry each, one deadline."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from handler.core import deadline as deadlines
from handler.core.deadline import Deadline
from handler.core.embedding_cache import EmbeddingCache, normalised
from handler.core.errors import ConfigurationError, NotFound, PassageError
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
from handler.core.rerank import Reranked, Reranking
from handler.core.retry import with_one_retry


@dataclass(frozen=True)
class _Embedded:
    """A question's vector, `(dimension,)`, and whether it cost no call; None when the caller sent it."""

    vector: Vector
    cached: bool | None = None


@dataclass(frozen=True)
class Retriever:
    """One profile's pipeline.

    Attributes:
        reranking: None where a deployment does without.
        cache: the embeddings of earlier questions; a container's retrievers may have one together.
        space: what sets the embedder's vectors apart from others in the cache.
        usable: whether a passage can be shown; one that cannot is left out and counted.
    """

    embedder: Embedder
    store: PassageStore
    reranking: Reranking | None = None
    cache: EmbeddingCache = field(default_factory=lambda: EmbeddingCache(0))
    space: str = ""
    usable: Callable[[Passage], bool] = lambda _: True

    def warm(self) -> None:
        """Build what the first question would have to; no request is made."""
        self.embedder.warm()
        self.store.warm()
        if self.reranking is not None:
            self.reranking.reranker.warm()

    def retrieve_many(self, requests: Sequence[RetrievalRequest], deadline: Deadline) -> list[Retrieval | PassageError]:
        """Answer several questions with one embedding call and one batched search; each has its own answer or error.

        Args:
            requests: at most 96, the most texts an embedding call takes (Cohere, embed reference).
        """
        clock = _Clock()
        try:
            with deadlines.running(deadline):
                embedded = self._embedded(requests, deadline)
                clock.embedded()
                found = self._find(requests, [each.vector for each in embedded], deadline)
                clock.searched()
        except PassageError as error:
            return [error] * len(requests)
        reranked = self._reranked_many(requests, found, deadline)
        timings = clock.finished()
        return [
            each
            if isinstance(each, PassageError)
            else self._retrieval(request, vector, each, ordered, timings, clock.at)
            for request, vector, each, ordered in zip(requests, embedded, found, reranked, strict=True)
        ]

    def _embedded(self, requests: Sequence[RetrievalRequest], deadline: Deadline) -> list[_Embedded]:
        """Each request's vector: its own, a remembered one, or its text's, embedded together with the others'."""
        texts = [normalised(request.text) for request in requests if request.vector is None]
        vectors = self.cache.known(self.space, texts)
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        if new:
            made = with_one_retry(lambda: self.embedder.embed(new), deadline, "embedding")
            vectors |= zip(new, made, strict=True)
            self.cache.keep(self.space, {text: vectors[text] for text in new})
        asked, paid = iter(texts), set(new)
        embedded = []
        for request in requests:
            if request.vector is not None:
                embedded.append(_Embedded(request.vector))
                continue
            text = next(asked)
            embedded.append(_Embedded(vectors[text], cached=text not in paid))
            paid.discard(text)  # asked twice at once, it is paid for once
        return embedded

    def _find(
        self, requests: Sequence[RetrievalRequest], vectors: Sequence[Vector], deadline: Deadline
    ) -> Sequence[Found | PassageError]:
        searches = [(vector, self._search(request)) for vector, request in zip(vectors, requests, strict=True)]
        if len(searches) > 1:
            with suppress(ConfigurationError):
                found = with_one_retry(lambda: self.store.search_many(searches), deadline, "store")
                return [self._shown(each) for each in found]
        # One search that the store refuses takes the batch with it: alone, each shows whose fault it was.
        return [self._find_one(vector, search, deadline) for vector, search in searches]

    def _find_one(self, vector: Vector, search: Search, deadline: Deadline) -> Found | PassageError:
        try:
            return self._shown(with_one_retry(lambda: self.store.search(vector, search), deadline, "store"))
        except PassageError as error:
            return error

    def _shown(self, found: Found) -> Found:
        """What was found without what cannot be shown; a reranker is not asked about that, nor is it among the best."""
        passages = tuple(filter(self.usable, found.passages))
        return Found(passages, found.skipped + len(found.passages) - len(passages))

    def _search(self, request: RetrievalRequest) -> Search:
        """What the store is asked: for candidates where they are reranked, else for what the caller wants."""
        reranking = self._reranking_of(request)
        return request.search if reranking is None else reranking.widened(request.search)

    def _reranking_of(self, request: RetrievalRequest) -> Reranking | None:
        """None for a question that is a vector: there are no words to compare with."""
        return self.reranking if request.vector is None else None

    def _reranked(self, request: RetrievalRequest, found: Found, deadline: Deadline) -> Reranked:
        reranking, passages = self._reranking_of(request), _in_order(found)
        if reranking is None:
            return Reranked(passages)
        return reranking.reordered(request.text.strip(), passages, deadline)

    def _reranked_many(
        self, requests: Sequence[RetrievalRequest], found: Sequence[Found | PassageError], deadline: Deadline
    ) -> list[Reranked]:
        """Each request's passages; none for one that failed."""
        ordered = [() if isinstance(each, PassageError) else _in_order(each) for each in found]
        outcomes = [Reranked(passages) for passages in ordered]
        chosen = [number for number, request in enumerate(requests) if self._reranking_of(request) and ordered[number]]
        if self.reranking is not None and chosen:
            asked = [(requests[number].text.strip(), ordered[number]) for number in chosen]
            for number, outcome in zip(chosen, self.reranking.reordered_many(asked, deadline), strict=True):
                outcomes[number] = outcome
        return outcomes

    def fetch(self, chunk: str, deadline: Deadline, *, with_vectors: bool) -> tuple[Point, float]:
        """One stored point by its id or its chunk id, and how many milliseconds that took.

        Raises:
            NotFound: there is none.
            PassageError: as the store raises it, after one retry where that can help.
        """
        started = time.perf_counter()
        with deadlines.running(deadline):
            point = with_one_retry(lambda: self.store.fetch(chunk, with_vectors=with_vectors), deadline, "store")
        if point is None:
            raise NotFound("There is no such chunk in the collection.")
        return point, (time.perf_counter() - started) * 1000

    def describe(self, deadline: Deadline) -> CollectionInfo:
        """What the collection says of itself, after one retry where that can help."""
        with deadlines.running(deadline):
            return with_one_retry(self.store.describe, deadline, "store")

    def retrieve(self, request: RetrievalRequest, deadline: Deadline) -> Retrieval:
        """Answer one question.

        Raises:
            PassageError: as the embedder and the store raise it, after one retry where that can help. A reranker that
                fails is a warning in the answer.
        """
        clock = _Clock()
        with deadlines.running(deadline):
            (embedded,) = self._embedded([request], deadline)
            clock.embedded()
            search = self._search(request)
            found = self._shown(with_one_retry(lambda: self.store.search(embedded.vector, search), deadline, "store"))
            clock.searched()
        reranked = self._reranked(request, found, deadline)
        return self._retrieval(request, embedded, found, reranked, clock.finished(), clock.at)

    def _retrieval(
        self,
        request: RetrievalRequest,
        embedded: _Embedded,
        found: Found,
        reranked: Reranked,
        timings: Timings,
        at: datetime,
    ) -> Retrieval:
        return Retrieval(
            request=request,
            embedding_cached=embedded.cached,
            passages=reranked.passages[: request.search.top_k],
            skipped=found.skipped,
            timings=replace(timings, rerank_ms=reranked.took_ms),
            collection=self.store.collection,
            model=self.embedder.model,
            asked_at=at,
            warnings=reranked.warnings,
            rerank_failure=reranked.failure,
        )


class _Clock:
    """When a retrieval began, and how long its parts took."""

    def __init__(self) -> None:
        self.at = datetime.now(UTC)
        self._started = self._embedded = self._searched = time.perf_counter()

    def embedded(self) -> None:
        self._embedded = time.perf_counter()

    def searched(self) -> None:
        self._searched = time.perf_counter()

    def finished(self) -> Timings:
        return Timings(
            embedding_ms=(self._embedded - self._started) * 1000,
            search_ms=(self._searched - self._embedded) * 1000,
            total_ms=(time.perf_counter() - self._started) * 1000,
        )


def _in_order(found: Found) -> tuple[Passage, ...]:
    """Best first and no point twice. The stores answer so already; an answer's guarantees do not rest on it."""
    unique: dict[PointId, Passage] = {}
    for passage in found.passages:
        unique.setdefault(passage.id, passage)
    return tuple(sorted(unique.values(), key=lambda passage: passage.score, reverse=True))
