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
    """The names of the question and of the count in all shipped profiles. Send each under one name only."""

    query: str
    question: str
    k: int
    top_k: int


class AnyAnswer(TypedDict):
    warnings: NotRequired[list[str]]


class QueryResponseQuestion(AnyQuestion, total=False):
    text: str


class QueryResponseResult(TypedDict):
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
    score_threshold: float
    filters: dict[str, Any]
    with_vectors: bool
    with_payload: bool


class VectorSearchResult(TypedDict):
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


class ContextChunk(TypedDict):
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


class RankedResult(TypedDict):
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


class ChunksResult(TypedDict):
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
