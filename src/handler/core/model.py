"""The pipeline's values, all frozen: the same for every contract, store and event source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

LARGEST_WHOLE = 2**53 - 1
"""The largest integer that every JSON reader takes exactly."""

Vector = Sequence[float]
"""An embedding, shape `(dimension,)`."""

PointId = int | str
"""An unsigned integer or a UUID, the two kinds of id Qdrant has."""

Filters = Mapping[str, tuple[str | int, ...]]
"""A profile's filter fields to the values of which a passage must have one."""


@dataclass(frozen=True)
class Search:
    """One search of a store.

    Attributes:
        top_k: how many passages are wanted, at least 1.
        score_threshold: the least score a passage may have; None for any.
        with_vectors: whether passages carry their vectors.
        whole_payload: whether passages carry all that is stored with them, or only what the profile reads.
    """

    top_k: int
    score_threshold: float | None = None
    filters: Filters = field(default_factory=dict)
    with_vectors: bool = False
    whole_payload: bool = False


@dataclass(frozen=True)
class RetrievalRequest:
    """A question, checked.

    Attributes:
        text: as the caller sent it; empty when `vector`, shape `(dimension,)`, was sent instead.
        collection: another collection than the profile's, when the caller named one.
        options: what the contract's own rendering wants to see again.
    """

    text: str
    search: Search
    vector: Vector | None = None
    collection: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Passage:
    """A piece of the site's own text. `text` and `url` are exactly what the store holds.

    Attributes:
        score: the store's similarity, finite and unclipped (cosine may leave 0…1 by rounding, or be negative); once
            reranked, the relevance.
        index: its position on its page, from 0.
        headings: the titles above it, outermost first.
        chunk_id: the id its owner gave it, where one is stored.
        tokens: about how many tokens it has, where that is stored.
        created_at: when it was stored, UTC.
        vector: shape `(dimension,)`, when asked for.
    """

    id: PointId
    score: float
    text: str
    url: str
    title: str | None = None
    index: int | None = None
    chapter: str | None = None
    section: str | None = None
    headings: tuple[str, ...] = ()
    chunk_id: str | None = None
    tokens: int | None = None
    created_at: datetime | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    vector: Vector | None = None


@dataclass(frozen=True)
class SearchResult:
    """A search's passages, best first.

    Attributes:
        skipped: how many points were left out because their payload was unusable.
        warnings: why, each a sentence for a person.
    """

    passages: tuple[Passage, ...]
    skipped: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Timings:
    """Milliseconds: the embedding call, the search, and the whole retrieval (retries and waits included).

    rerank_ms: the reranking call, failed or not; None when none was made.
    """

    embedding_ms: float
    search_ms: float
    total_ms: float
    rerank_ms: float | None = None


@dataclass(frozen=True)
class Retrieval:
    """The answer, before a contract gives it a shape.

    Attributes:
        asked_at: UTC.
        warnings: why the answer is less complete than it could be; each a sentence for a person.
        left_out: how many passages were dropped because the answer was too large to be sent with them.
        embedding_cached: whether the question's embedding cost no call; None when the caller sent the vector.
        rerank_failure: why the passages were not reranked although they should have been.
    """

    request: RetrievalRequest
    passages: tuple[Passage, ...]
    skipped: int
    timings: Timings
    collection: str
    model: str
    asked_at: datetime
    left_out: int = 0
    embedding_cached: bool | None = None
    warnings: tuple[str, ...] = ()
    rerank_failure: Exception | None = None


@dataclass(frozen=True)
class Point:
    """A stored point, as it lies in the store. `payload` is whole; `vector`, shape `(dimension,)`, when asked for."""

    id: PointId
    payload: Mapping[str, Any]
    vector: Vector | None = None


@dataclass(frozen=True)
class CollectionInfo:
    """Collection metadata. `embedding_model` is None when the collection does not record one."""

    name: str
    vector_size: int
    distance_metric: str
    points_count: int
    indexed_vectors_count: int
    status: str
    embedding_model: str | None = None
