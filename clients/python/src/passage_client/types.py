"""The API's questions, answers and error codes. Written from its OpenAPI document by `make openapi`: do not edit."""

from typing import Any, Literal, NotRequired, TypedDict

from passage_client.records import Record

ChunksCode = Literal["INVALID_QUERY", "SERVICE_UNAVAILABLE", "TIMEOUT", "INTERNAL_ERROR"]

ContextCode = Literal["EMPTY_QUERY", "INVALID_QUERY", "CONNECTION_ERROR", "COLLECTION_NOT_FOUND", "RATE_LIMIT"]

QueryResponseCode = Literal["INVALID_INPUT", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR"]

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

VectorSearchCode = Literal[
    "DIMENSION_MISMATCH",
    "COLLECTION_NOT_FOUND",
    "INVALID_PARAMETER",
    "CONNECTION_ERROR",
    "TIMEOUT",
    "EMBEDDING_ERROR",
    "INTERNAL_ERROR",
]


class AskOptions(TypedDict):
    """Options that every contract's question can have."""

    filters: NotRequired[dict[str, Any]]
    """What each field must be: a value, one of a list, within bounds, or text with a prefix."""
    language: NotRequired[str]
    """The language that passages must have, as in `en`. Send it or `filters.language`, not both."""
    version: NotRequired[str]
    """The version of the site that passages must have, as in `2.1`. Send it or `filters.version`, not both."""
    offset: NotRequired[int]
    """How many of the best passages to skip. Send it with every page of a list, also 0."""
    max_per_page: NotRequired[int]
    """The most passages of one page: a URL without its fragment."""
    diversity: NotRequired[float]
    """How much a passage's similarity to better ones counts against it."""
    unique: NotRequired[bool]
    """Whether passages with the same text are returned once."""
    by_section: NotRequired[bool]
    """Whether each section is returned once: its best passage stands for the others."""
    neighbors: NotRequired[int]
    """How many chunks before and after each passage, on its page, `text_with_neighbors` has."""
    titles: NotRequired[bool]
    """Whether each passage has its page's `title` and its `headings`."""
    order: NotRequired[Literal["relevance", "score"]]
    """Whether results come as the search ranks them, or by descending score."""
    search: NotRequired[Literal["words", "titles"]]
    """`words` searches by words alone, `titles` in titles by what was typed so far. Scores are then 0."""
    fit: NotRequired[bool]
    """Whether each passage has its `fit`: how well it fits, beside other subjects' questions."""
    debug: NotRequired[bool]
    """Whether the answer explains itself in `debug`. The deployment must allow it."""


class DebugPlace(Record):
    rank: int
    score: float
    """When fused: balance * vectors + (1 - balance) * words."""
    vectors: float | None
    """When fused: the similarity on a scale from the lowest, 0, to 1."""
    words: float | None
    """When fused: the BM25 score as a share of the highest."""


class DebugPassage(Record):
    id: int | str
    url: str | None
    """Of a candidate."""
    dropped: str | None
    """Why the passage is not in the answer."""
    stages: dict[str, DebugPlace]
    """By stage: dense, text, fused, rerank, selection."""


class Debug(Record):
    """How an answer came about."""

    profile: str
    collection: str
    model: str
    """The model that embedded the question; empty without a vector."""
    mode: Literal["dense", "hybrid", "words", "titles"]
    balance: float | None
    """Of a hybrid search: how much vectors count against words, 0 to 1."""
    embedding_cached: bool | None
    """Null if the question was not embedded."""
    times_ms: dict[str, float]
    """Milliseconds of each step."""
    found: dict[str, int]
    """Passages found by each stage."""
    passages: list[DebugPassage]
    """Those of the answer first, then the other candidates, then what else a stage found."""


class AnyAnswer(Record):
    """What every contract's answer can have."""

    warnings: list[str] | None
    """Why the answer is incomplete, or which fields were ignored. Absent without such a reason."""
    debug: Debug | None
    """How the answer came about. Absent unless `debug` asks for it."""


class ChunksQuestion(AskOptions):
    """A question. Its limits are the profile's."""

    query_text: str
    """The natural language question. Also called `query` or `question`."""
    top_k: NotRequired[int]
    """How many chunks to return. By default 5. Also called `k`."""
    threshold: NotRequired[float | Literal["noise"]]
    """The minimum similarity; 0 returns any chunk, `noise` those above the noise. Also called `score_threshold`."""
    include_metadata: NotRequired[bool]
    """Whether results carry position, chunk_id and created_at. By default true."""


class ChunksRetrievedChunk(Record):
    """Without metadata, the last three are left out."""

    text_with_neighbors: str | None
    """The text with that of the chunks around it. Absent unless `neighbors` asks for it."""
    headings: list[str] | None
    """The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it."""
    fit: Literal["strong", "good", "weak", "none"] | None
    """How well it fits the question; `none` means no answer. Absent unless asked for."""
    title: str | None
    """Its page's title; empty if none is stored. Absent unless `titles` asks for it."""
    content: str
    url: str
    similarity_score: float
    """Cosine similarity or, where passages are reranked, relevance; clipped to 0…1."""
    position: int | None
    """The chunk's place on its page, from 0."""
    chunk_id: str | None
    """The point's id."""
    created_at: str | None
    """When it was stored: UTC, ISO 8601; null if unknown."""


class ChunksMetadata(Record):
    query_time_ms: int
    total_results: int
    timestamp: str
    """When the question was asked: UTC, ISO 8601."""


class ChunksAnswer(AnyAnswer):
    query: str
    results: list[ChunksRetrievedChunk]
    """Best first."""
    metadata: ChunksMetadata


class ContextQuestion(AskOptions):
    """A question. Its limits are the profile's."""

    text: str
    """The natural language question. Also called `query` or `question`."""
    k: NotRequired[int]
    """How many chunks to retrieve. By default 5. Outside 3 to 8, the nearest limit counts. Also called `top_k`."""
    max_chars: NotRequired[int]
    """The most characters the context may have. Chunks beyond it are left out."""
    max_tokens: NotRequired[int]
    """The same in tokens, estimated at four characters each."""
    score_threshold: NotRequired[float | Literal["noise"]]
    """The minimum similarity; 0 returns any passage, `noise` those above the noise."""


class ContextRetrievedChunk(Record):
    text_with_neighbors: str | None
    """The text with that of the chunks around it. Absent unless `neighbors` asks for it."""
    headings: list[str] | None
    """The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it."""
    fit: Literal["strong", "good", "weak", "none"] | None
    """How well it fits the question; `none` means no answer. Absent unless asked for."""
    text: str
    score: float
    """Cosine similarity or, where passages are reranked, relevance; clipped to 0…1."""
    source_url: str
    chapter: str
    """Empty when the chunk has none."""
    section: str
    """Empty when the chunk has none."""
    chunk_index: int
    title: str
    """Empty when the page has none."""
    chunk_id: str


class ContextAssembledContext(Record):
    formatted_text: str
    chunk_count: int
    """How many chunks the context holds."""
    total_chars: int
    sources: list[str]
    """The context's pages, each once, in order of first appearance."""


class ContextAnswer(AnyAnswer):
    query: str
    chunks: list[ContextRetrievedChunk]
    """Best first."""
    count: int
    collection: str
    context: ContextAssembledContext


class QueryResponseQuestion(AskOptions):
    """A question. Its limits are the profile's."""

    text: str
    """The natural language question. Also called `query` or `question`."""
    k: NotRequired[int]
    """How many passages to return. By default 5. Also called `top_k`."""
    score_threshold: NotRequired[float | Literal["noise"]]
    """The minimum similarity; 0 returns any passage, `noise` those above the noise."""


class QueryResponseResult(Record):
    text_with_neighbors: str | None
    """The text with that of the chunks around it. Absent unless `neighbors` asks for it."""
    headings: list[str] | None
    """The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it."""
    fit: Literal["strong", "good", "weak", "none"] | None
    """How well it fits the question; `none` means no answer. Absent unless asked for."""
    title: str | None
    """Its page's title; empty if none is stored. Absent unless `titles` asks for it."""
    chunk_text: str
    """The passage, exactly as stored."""
    url: str
    """The URL of its page, exactly as stored."""
    chunk_id: str
    """The point's id and the passage's index in its page, joined by an underscore."""
    relevance_score: float
    """Cosine similarity or, where passages are reranked, relevance; clipped to 0…1."""


class QueryResponseAnswer(AnyAnswer):
    query: str
    """The question as sent."""
    k: int
    """How many passages were asked for."""
    results: list[QueryResponseResult]
    """Best first."""
    total_results: int
    """How many passages `results` has."""
    timestamp: str
    """When the question was asked: UTC, ISO 8601."""


class RankedQuestion(AskOptions):
    """A question. Its limits are the profile's."""

    text: str
    """The natural language question, in the language of the collection's model. Also called `query` or `question`."""
    top_k: NotRequired[int]
    """How many results to return. By default 5. Also called `k`."""
    query_id: NotRequired[str]
    """The caller's id for the question; generated when absent."""
    score_threshold: NotRequired[float | Literal["noise"]]
    """The minimum similarity; 0 returns any passage, `noise` those above the noise."""


class RankedQueryEcho(Record):
    text: str
    query_id: str


class RankedMetadata(Record):
    source_url: str
    page_title: str
    section_headers: list[str]
    """The headings above the chunk, outermost first."""
    chunk_index: int
    tokens: int
    """The chunk's approximate number of tokens."""


class RankedSearchResult(Record):
    text_with_neighbors: str | None
    """The text with that of the chunks around it. Absent unless `neighbors` asks for it."""
    headings: list[str] | None
    """The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it."""
    fit: Literal["strong", "good", "weak", "none"] | None
    """How well it fits the question; `none` means no answer. Absent unless asked for."""
    title: str | None
    """Its page's title; empty if none is stored. Absent unless `titles` asks for it."""
    chunk_id: str
    chunk_text: str
    similarity_score: float
    """Cosine similarity or, where passages are reranked, relevance; clipped to 0…1."""
    rank: int
    metadata: RankedMetadata


class RankedExecutionMetrics(Record):
    """Milliseconds. After an error, only the known values."""

    query_embedding_time_ms: float | None
    vector_search_time_ms: float | None
    total_execution_time_ms: float
    embedding_model: str
    collection_name: str


class RankedErrorDetail(Record):
    code: RankedCode
    message: str


class RankedAnswer(AnyAnswer):
    """With `status` "error", `error` is present and `results` is empty; with "success", the reverse."""

    status: Literal["success", "error"]
    query: RankedQueryEcho
    results: list[RankedSearchResult]
    total_results: int
    requested_top_k: int
    execution_metrics: RankedExecutionMetrics
    error: RankedErrorDetail | None


class VectorSearchQuestion(AskOptions):
    """A question as text or as a vector: exactly one of the two."""

    query_text: NotRequired[str]
    """The question as text. Also called `query` or `question`."""
    top_k: NotRequired[int]
    """How many points to return. By default 10. Also called `k`."""
    collection_name: NotRequired[str]
    """The collection to search. It must be one this deployment serves; by default the profile's."""
    query_vector: NotRequired[list[float]]
    """The question embedded with the collection's model."""
    score_threshold: NotRequired[float | Literal["noise"]]
    """The minimum similarity; 0 returns any point, `noise` those above the noise."""
    with_vectors: NotRequired[bool]
    """Whether results carry their vectors. By default false."""
    with_payload: NotRequired[bool]
    """Whether results carry their payload. By default true."""


class VectorSearchRetrievalResult(Record):
    text_with_neighbors: str | None
    """The text with that of the chunks around it. Absent unless `neighbors` asks for it."""
    headings: list[str] | None
    """The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` asks for it."""
    fit: Literal["strong", "good", "weak", "none"] | None
    """How well it fits the question; `none` means no answer. Absent unless asked for."""
    title: str | None
    """Its page's title; empty if none is stored. Absent unless `titles` asks for it."""
    id: int | str
    """The point's id; an integer of 2^53 or more as text."""
    score: float
    """Cosine similarity or, where passages are reranked, relevance; clipped to 0…1."""
    vector: list[float] | None
    """The point's vector; null unless with_vectors is true."""
    payload: dict[str, Any]
    """The point's whole payload; empty if with_payload is false."""
    retrieval_time_ms: float
    """Milliseconds the search took."""


class VectorSearchAnswer(AnyAnswer):
    collection_name: str
    results: list[VectorSearchRetrievalResult]
    """Best first."""
    total_results: int
    timestamp: str
    """When the question was asked: UTC, ISO 8601."""


class Chunk(Record):
    id: int | str
    score: float
    """1: the id matches."""
    payload: dict[str, Any]
    vector: list[float] | None
    retrieval_time_ms: float


class Noise(Record):
    """The best similarities of other subjects' questions: the median, and what nine of ten miss."""

    p50: float
    p90: float


class CollectionInfo(Record):
    name: str
    vector_size: int
    """0 without vectors."""
    distance_metric: str
    """Empty without vectors."""
    points_count: int
    indexed_vectors_count: int
    status: Literal["green", "yellow", "red"]
    embedding_model: str | None
    search: Literal["dense", "hybrid", "words"] | None
    """By vectors alone, also by words, or by words alone."""
    notes: list[str] | None
    """Why the collection is not searched as the profile says, and what would change that."""
    noise: Noise | None
    problems: list[str] | None
    """Where collection and profile disagree."""


class Profile(Record):
    name: str
    contract: str
    collection: str
    dimension: int
    embedding_model: str
    query: str
    """The path that queries it."""


class ProfileList(Record):
    default: str
    profiles: list[Profile]


class AskFields(TypedDict, total=False):
    """The fields of all contracts' questions, besides the question itself."""

    top_k: int
    threshold: float | Literal["noise"]
    include_metadata: bool
    filters: dict[str, Any]
    language: str
    version: str
    offset: int
    max_per_page: int
    diversity: float
    unique: bool
    by_section: bool
    neighbors: int
    titles: bool
    order: Literal["relevance", "score"]
    search: Literal["words", "titles"]
    fit: bool
    debug: bool
    k: int
    max_chars: int
    max_tokens: int
    score_threshold: float | Literal["noise"]
    query_id: str
    collection_name: str
    with_vectors: bool
    with_payload: bool


OPTIONAL = frozenset(
    [
        "balance",
        "chunk_id",
        "created_at",
        "debug",
        "dropped",
        "embedding_model",
        "error",
        "fit",
        "headings",
        "noise",
        "notes",
        "position",
        "problems",
        "query_embedding_time_ms",
        "search",
        "text_with_neighbors",
        "title",
        "url",
        "vector_search_time_ms",
        "vectors",
        "warnings",
        "words",
    ]
)
"""The fields that an answer may lack."""
