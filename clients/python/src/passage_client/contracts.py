"""Types of each contract's question and answer. A test holds their fields to the API's OpenAPI document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

Question = TypeVar("Question", bound=Mapping[str, object])
Answer = TypeVar("Answer", bound=Mapping[str, object])


@dataclass(frozen=True)
class Contract(Generic[Question, Answer]):
    """The shape of a profile's questions and answers. It types a client; it changes no request."""

    name: str


class AnyQuestion(TypedDict, total=False):
    """What every question can have: two names of the question and of the count, of which one is sent, and options.

    The API's documentation explains the options. A profile without payload indexes or positions has fewer.
    """

    query: str
    question: str
    k: int
    top_k: int
    filters: dict[str, Any]
    language: str
    version: str
    score_threshold: float
    offset: int
    max_per_page: int
    diversity: float
    unique: bool
    neighbors: int
    order: Literal["relevance", "score"]
    debug: bool


class DebugFusion(TypedDict, total=False):
    weights: list[float]
    k: int


class DebugPassage(TypedDict):
    id: int | str
    url: NotRequired[str]
    dropped: NotRequired[str]
    stages: dict[str, Any]


class Debug(TypedDict, total=False):
    """How an answer came about."""

    profile: str
    collection: str
    model: str
    mode: Literal["dense", "hybrid"]
    fusion: DebugFusion
    embedding_cached: bool | None
    times_ms: dict[str, float]
    found: dict[str, int]
    passages: list[DebugPassage]


class AnyAnswer(TypedDict):
    """What every answer can have: the reasons why it is incomplete, and `debug` if the question asked for it."""

    warnings: NotRequired[list[str]]
    debug: NotRequired[Debug]


class Expandable(TypedDict):
    """A result that has its neighbors' text, if the question asked for it."""

    text_with_neighbors: NotRequired[str]


class QueryResponseQuestion(AnyQuestion, total=False):
    text: str


class QueryResponseResult(Expandable):
    chunk_text: str
    url: str
    chunk_id: str
    relevance_score: float


class QueryResponseAnswer(AnyAnswer):
    query: str
    k: int
    results: list[QueryResponseResult]
    total_results: int
    timestamp: str


QueryResponseCode = Literal["INVALID_INPUT", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR"]


class VectorSearchQuestion(AnyQuestion, total=False):
    query_text: str
    query_vector: list[float]
    collection_name: str
    with_vectors: bool
    with_payload: bool


class VectorSearchResult(Expandable):
    id: int | str
    score: float
    vector: list[float] | None
    payload: dict[str, Any]
    retrieval_time_ms: float


class VectorSearchAnswer(AnyAnswer):
    collection_name: str
    results: list[VectorSearchResult]
    total_results: int
    timestamp: str


VectorSearchCode = Literal[
    "DIMENSION_MISMATCH",
    "COLLECTION_NOT_FOUND",
    "INVALID_PARAMETER",
    "CONNECTION_ERROR",
    "TIMEOUT",
    "EMBEDDING_ERROR",
    "INTERNAL_ERROR",
]


class ContextQuestion(AnyQuestion, total=False):
    text: str
    max_chars: int
    max_tokens: int


class ContextChunk(Expandable):
    text: str
    score: float
    source_url: str
    chapter: str
    section: str
    chunk_index: int
    title: str
    chunk_id: str


class ContextText(TypedDict):
    formatted_text: str
    chunk_count: int
    total_chars: int
    sources: list[str]


class ContextAnswer(AnyAnswer):
    query: str
    chunks: list[ContextChunk]
    count: int
    collection: str
    context: ContextText


ContextCode = Literal["EMPTY_QUERY", "INVALID_QUERY", "CONNECTION_ERROR", "COLLECTION_NOT_FOUND", "RATE_LIMIT"]


class RankedQuestion(AnyQuestion, total=False):
    text: str
    query_id: str


class RankedQuery(TypedDict):
    text: str
    query_id: str


class RankedMetadata(TypedDict):
    source_url: str
    page_title: str
    section_headers: list[str]
    chunk_index: int
    tokens: int


class RankedResult(Expandable):
    chunk_id: str
    chunk_text: str
    similarity_score: float
    rank: int
    metadata: RankedMetadata


class RankedMetrics(TypedDict):
    query_embedding_time_ms: NotRequired[float]
    vector_search_time_ms: NotRequired[float]
    total_execution_time_ms: float
    embedding_model: str
    collection_name: str


RankedCode = Literal[
    "INVALID_QUERY",
    "COHERE_CONNECTION_FAILED",
    "COHERE_RATE_LIMITED",
    "QDRANT_CONNECTION_FAILED",
    "QDRANT_TIMEOUT",
    "COLLECTION_NOT_FOUND",
    "DIMENSION_MISMATCH",
    "NO_RESULTS",
    "INTERNAL_ERROR",
]


class RankedError(TypedDict):
    code: RankedCode
    message: str


class RankedAnswer(AnyAnswer):
    status: str
    query: RankedQuery
    results: list[RankedResult]
    total_results: int
    requested_top_k: int
    execution_metrics: RankedMetrics
    error: NotRequired[RankedError]


class ChunksQuestion(AnyQuestion, total=False):
    query_text: str
    threshold: float
    include_metadata: bool


class ChunksResult(Expandable):
    content: str
    url: str
    similarity_score: float
    position: NotRequired[int]
    chunk_id: NotRequired[str]
    created_at: NotRequired[str | None]


class ChunksMetadata(TypedDict):
    query_time_ms: int
    total_results: int
    timestamp: str


class ChunksAnswer(AnyAnswer):
    query: str
    results: list[ChunksResult]
    metadata: ChunksMetadata


ChunksCode = Literal["INVALID_QUERY", "SERVICE_UNAVAILABLE", "TIMEOUT", "INTERNAL_ERROR"]

QUERY_RESPONSE: Contract[QueryResponseQuestion, QueryResponseAnswer] = Contract("query_response")
VECTOR_SEARCH: Contract[VectorSearchQuestion, VectorSearchAnswer] = Contract("vector_search")
CONTEXT: Contract[ContextQuestion, ContextAnswer] = Contract("context")
RANKED: Contract[RankedQuestion, RankedAnswer] = Contract("ranked")
CHUNKS: Contract[ChunksQuestion, ChunksAnswer] = Contract("chunks")
