"""The pipeline's values, all frozen: the same for every contract, store and event source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from handler.core.conditions import Condition
    from handler.core.errors import PassageError

LARGEST_WHOLE = 2**53 - 1
"""The largest integer that every JSON parser reads exactly."""

Vector = Sequence[float]
"""An embedding, shape `(dimension,)`."""

PointId = int | str
"""An unsigned integer or a UUID, the two kinds of id Qdrant has."""

Filters = Mapping[str, "Condition"]
"""A profile's filter fields, each with its condition."""

Stage = tuple[tuple[PointId, Mapping[str, float]], ...]
"""What one stage of a search found, best first: point ids, each with its `score` in that stage. A fused score has its
two parts beside it (`handler.core.fusion`)."""

TextSearch = Literal["words", "titles"]
"""A search without a vector: passages by their words (BM25), or titles and headings by what has been typed so far."""

SearchMode = Literal["dense", "hybrid", "words"]
"""How a collection is searched unless a question says otherwise: by vectors, also by words, or by words alone."""

MinimumScore = float | Literal["noise"]
"""The least `Passage.score`; "noise" for the 90th percentile of the index's `Noise`."""

Order = Literal["relevance", "score"]
"""How an answer's passages are ordered: as the search ranked them (a hybrid one by the fused score), or by descending
`Passage.score`."""

Fit = Literal["strong", "good", "weak", "none"]
"""How well a passage fits its question (`handler.core.fit`)."""


@dataclass(frozen=True)
class Noise:
    """Of the best cosines that questions of other subjects get from an index: the median and the 90th percentile."""

    p50: float
    p90: float


@dataclass(frozen=True)
class Search:
    """One search of a store.

    Attributes:
        top_k: how many passages to find, at least 1.
        score_threshold: the minimum `Passage.score`; None for any.
        filters: conditions that all must hold.
        whole_payload: whether passages have more than the keys that the profile names.
        text: the question's words, for a hybrid search; empty for a dense one. A collection that cannot rank by text
            is searched by the vector alone.
        by: a search by `text` without a vector. Its passages have the score 0, and their BM25 score in `fused`.
        explain: whether the result has its stages.
    """

    top_k: int
    score_threshold: float | None = None
    filters: Filters = field(default_factory=dict)
    with_vectors: bool = False
    whole_payload: bool = False
    text: str = ""
    by: TextSearch | None = None
    explain: bool = False


class Selection(NamedTuple):
    """Which of the passages found an answer has. Each attribute's default changes nothing.

    Attributes:
        offset: how many of the best passages to leave out; None when the caller does not page.
        max_per_page: the most passages of one page (a URL without its fragment).
        diversity: 0 to 1: how much a passage's similarity to better ones counts against it.
        unique: whether passages with the same text as a better one are left out.
        by_section: whether a section (a URL with its fragment, and headings) has only its best passage.
        neighbors: how many chunks before and after each passage, on its page, to return with it.
    """

    offset: int | None = None
    max_per_page: int | None = None
    diversity: float = 0.0
    unique: bool = False
    by_section: bool = False
    neighbors: int = 0


@dataclass(frozen=True)
class RetrievalRequest:
    """A validated question.

    Attributes:
        text: as the caller sent it; empty when `vector`, shape `(dimension,)`, was sent instead.
        collection: the collection that the caller named; None for the profile's.
        order: the order that the caller asked for; None for the contract's.
        score_threshold: the minimum score that the caller asked for; the pipeline sets that of `search`.
        selection: which of the passages found to answer with; None for the best ones.
        titles, fit: whether the answer's passages have these, in any contract.
        options: values for the contract's rendering.
    """

    text: str
    search: Search
    vector: Vector | None = None
    collection: str | None = None
    order: Order | None = None
    score_threshold: MinimumScore | None = None
    selection: Selection | None = None
    titles: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    fit: bool = False


@dataclass(frozen=True)
class Passage:
    """A piece of the site's text. `text` and `url` are exactly as stored.

    Attributes:
        score: the store's similarity, finite and unclipped (cosine may leave 0…1 by rounding, or be negative); 0 after
            a search without a vector. Once reranked, the relevance.
        index: its position on its page, from 0.
        headings: the headings above it, outermost first.
        tokens: the stored, approximate number of tokens.
        created_at: when it was stored, UTC.
        vector: shape `(dimension,)`, if requested.
        fused: the fused score of a hybrid search, 0 to 1, or the BM25 score of one without a vector; only comparable
            within its result. None after a dense search.
        expanded: its text with that of its neighbors, if requested.
        cosine: the store's similarity of a passage that was reranked; None while `score` is that.
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
    fused: float | None = None
    expanded: str | None = None
    cosine: float | None = None
    fit: Fit | None = None


@dataclass(frozen=True)
class SearchResult:
    """A search's passages, best first: by the fused score, or by the score of a dense search.

    Attributes:
        skipped: how many points were skipped because their payload or score was invalid.
        warnings: the reasons, each a sentence for a person.
        stages: what each stage found, if `Search.explain` is set: "dense" with cosines and, of a hybrid search,
            "text" with BM25 scores and "fused" with fused scores.
        balance: of a hybrid search that is explained: how much vectors count against words, from 0 to 1.
        other_model: the model that the collection was embedded with, if not comparable with the profile's.
    """

    passages: tuple[Passage, ...]
    skipped: int = 0
    warnings: tuple[str, ...] = ()
    stages: Mapping[str, Stage] = field(default_factory=dict)
    balance: float | None = None
    other_model: str | None = None


class Timings(NamedTuple):
    """Milliseconds of each step and of the whole retrieval, with failed calls, retries and waits.

    None for a call that was not made.
    """

    embedding_ms: float
    search_ms: float
    total_ms: float = 0.0
    rerank_ms: float | None = None
    neighbors_ms: float | None = None


@dataclass(frozen=True)
class Retrieval:
    """The result of a question, before a contract renders it.

    Attributes:
        asked_at: UTC.
        warnings: why the answer is incomplete; each a sentence for a person.
        left_out: how many passages were dropped to fit the response limit.
        model: that embedded the question; empty for a search without a vector.
        embedding_cached: whether the question's embedding was cached; None when it was not embedded.
        embedding_failure: why the question was answered by words although it should have been embedded.
        rerank_failure: why the passages are not reranked although they should be.
        noise: of the index, if the question asks for fits or for passages above it; None where the index has none.
        stages: as in `SearchResult`; also "rerank", if the passages were reranked, and "selection", the answer.
        candidates: the passages that the answer was chosen from, best first, if `Search.explain` is set.
        dropped: why each of the other candidates is not in the answer, if `Search.explain` is set.
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
    embedding_failure: "PassageError | None" = None
    warnings: tuple[str, ...] = ()
    rerank_failure: "PassageError | None" = None
    noise: Noise | None = None
    stages: Mapping[str, Stage] = field(default_factory=dict)
    balance: float | None = None
    candidates: tuple[Passage, ...] = ()
    dropped: Mapping[PointId, str] = field(default_factory=dict)

    def with_times(self, **milliseconds: float) -> "Retrieval":
        """The same with some of its `Timings` changed."""
        return replace(self, timings=self.timings._replace(**milliseconds))


@dataclass(frozen=True)
class CollectionInfo:
    """Collection metadata.

    Attributes:
        embedding_model: None when the collection does not record one.
        notes: why it is not searched as the profile says, and what would change that; each for a person.
        noise: None where nobody measured it.
    """

    name: str
    vector_size: int
    distance_metric: str
    points_count: int
    indexed_vectors_count: int
    status: str
    embedding_model: str | None = None
    search: SearchMode = "dense"
    notes: tuple[str, ...] = ()
    noise: Noise | None = None
