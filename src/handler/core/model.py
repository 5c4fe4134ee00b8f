"""What the pipeline takes and gives: frozen values, the same for every contract, store and source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Vector = Sequence[float]
"""An embedding, shape `(dimension,)`."""

PointId = int | str
"""An unsigned integer or a UUID, the two kinds of id Qdrant has."""


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """A question, checked.

    `text` is as the caller sent it. `top_k` is the number of passages wanted, at least 1.
    """

    text: str
    top_k: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of the site's own text. `text` and `url` are exactly what the store holds.

    `score` is the store's similarity, finite and unclipped (cosine may leave 0…1 by rounding, or be negative).
    """

    id: PointId
    score: float
    text: str
    url: str
    title: str | None = None
    index: int | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A search's passages, best first, and how many points were left out because their payload was unusable."""

    passages: tuple[Passage, ...]
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds: the embedding call, the search, and the whole retrieval (retries and waits included)."""

    embedding_ms: float
    search_ms: float
    total_ms: float


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The answer, before a contract gives it a shape. `asked_at` is UTC."""

    request: RetrievalRequest
    passages: tuple[Passage, ...]
    skipped: int
    timings: Timings
    collection: str
    model: str
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """What a collection says of itself. `embedding_model` is None when it does not record one."""

    name: str
    vector_size: int
    distance_metric: str
    points_count: int
    indexed_vectors_count: int
    status: str
    embedding_model: str | None = None
