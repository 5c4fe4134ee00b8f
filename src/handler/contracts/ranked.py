"""The ranked contract (seed 003): takes `text`, `query_id` and `top_k`, returns ranked results with metrics."""

import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from handler.config.profiles import Profile
from handler.contracts.base import Answer, Contract, ErrorContext, Notice, Titled
from handler.contracts.fields import CHARACTERS_PER_TOKEN, Integer, Score, Text, clip, has_web_address, read_question
from handler.core import errors
from handler.core.model import Passage, Retrieval, RetrievalRequest, Search

Code = Literal[
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

# Seed 003's thresholds for a warning in the log.
SHORT_TEXT = 5
SLOW_EMBEDDING_MS = 1000
SLOW_TOTAL_MS = 2000
LOW_SCORE = 0.3

ECHOED = 10_000
"""The most characters of a refused question that its error repeats. Response size is limited."""

SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")


class RankedRequest(BaseModel):
    """A question. Its limits are the profile's."""

    text: Text = Field(description="The natural language question, in the language of the collection's model.")
    query_id: Text | None = Field(
        None, min_length=1, max_length=200, description="The caller's id for the question; generated when absent."
    )
    top_k: Integer | None = Field(None, description="How many results to return.")


class QueryEcho(BaseModel):
    text: str
    query_id: str


class Metadata(BaseModel):
    source_url: str
    page_title: str = Field(min_length=1)
    section_headers: list[str] = Field(min_length=1, description="The headings above the chunk, outermost first.")
    chunk_index: int = Field(ge=0)
    tokens: int = Field(ge=0, description="The chunk's approximate number of tokens.")


class SearchResult(Titled):
    chunk_id: str
    chunk_text: str = Field(min_length=1)
    similarity_score: Score
    rank: int = Field(ge=1)
    metadata: Metadata


class ExecutionMetrics(BaseModel):
    """Milliseconds. After an error, only the known values."""

    query_embedding_time_ms: float = Field(0, ge=0)
    vector_search_time_ms: float = Field(0, ge=0)
    total_execution_time_ms: float = Field(ge=0)
    embedding_model: str
    collection_name: str


class ErrorDetail(BaseModel):
    code: Code
    message: str


class RetrievalResponse(Answer):
    """With `status` "error", `error` is present and `results` is empty; with "success", the reverse."""

    status: Literal["success", "error"]
    query: QueryEcho
    results: list[SearchResult]
    total_results: int = Field(ge=0)
    requested_top_k: int = Field(ge=1)
    execution_metrics: ExecutionMetrics
    error: ErrorDetail = Field(default_factory=lambda: ErrorDetail(code="INTERNAL_ERROR", message=""))


def parse(fields: Mapping[str, Any], profile: Profile) -> RetrievalRequest:
    query, text, top_k = read_question(fields, profile, RankedRequest, text="text", count="top_k")
    return RetrievalRequest(text=text, search=Search(top_k=top_k), options={"query_id": query.query_id or _new_id()})


def _new_id() -> str:
    return f"q_{uuid.uuid4().hex}"


def render(retrieval: Retrieval) -> RetrievalResponse:
    request, timings = retrieval.request, retrieval.timings
    results = [_result(rank, passage) for rank, passage in enumerate(retrieval.passages, start=1)]
    outcome: dict[str, Any] = {"status": "success"}
    if not results:  # the seed allows "success" only with results; nothing failed, so the HTTP status stays 200
        outcome = {"status": "error", "error": ErrorDetail(code="NO_RESULTS", message=_why_empty(retrieval))}
    return RetrievalResponse(
        query=QueryEcho(text=request.text, query_id=request.options["query_id"]),
        results=results,
        total_results=len(results),
        requested_top_k=request.search.top_k,
        execution_metrics=ExecutionMetrics(
            query_embedding_time_ms=timings.embedding_ms,
            vector_search_time_ms=timings.search_ms,
            total_execution_time_ms=timings.total_ms,
            embedding_model=retrieval.model,
            collection_name=retrieval.collection,
        ),
        **outcome,
    )


def _why_empty(retrieval: Retrieval) -> str:
    if retrieval.left_out or retrieval.skipped:
        return "Passages match the question, but none of them can be shown: 'warnings' says why."
    return "Nothing matches the question."


def _result(rank: int, passage: Passage) -> SearchResult:
    title = passage.title or next(iter(passage.headings), None) or passage.section or passage.url
    return SearchResult(
        chunk_id=passage.chunk_id or str(passage.id),
        chunk_text=passage.text,
        similarity_score=clip(passage.score),
        rank=rank,
        metadata=Metadata(
            source_url=passage.url,
            page_title=title,
            section_headers=list(passage.headings) or [passage.section or title],
            chunk_index=passage.index or 0,
            tokens=max(1, len(passage.text) // CHARACTERS_PER_TOKEN) if passage.tokens is None else passage.tokens,
        ),
    )


def notices(retrieval: Retrieval) -> Iterator[Notice]:
    """The warnings that the seed asks for, and one for chunk ids whose hash does not match their text."""
    timings = retrieval.timings
    if len(retrieval.request.text) < SHORT_TEXT:
        yield Notice("very short question", {"characters": len(retrieval.request.text)})
    if timings.embedding_ms > SLOW_EMBEDDING_MS:
        yield Notice("slow embedding", {"embedding_ms": round(timings.embedding_ms)})
    if timings.total_ms > SLOW_TOTAL_MS:
        yield Notice("slow retrieval", {"total_ms": round(timings.total_ms)})
    low = sum(1 for passage in retrieval.passages if passage.score < LOW_SCORE)
    if low:
        yield Notice("low scores, possibly irrelevant", {"results": low})
    forged = [str(passage.id) for passage in retrieval.passages if not _id_holds(passage)]
    if forged:
        yield Notice("chunk ids do not match their text", {"points": forged}, metric="ChunkIdMismatch")


def _id_holds(passage: Passage) -> bool:
    """Whether a SHA-256 chunk id matches: the hash of URL and text (as in the seed) or of the text. Others pass."""
    if passage.chunk_id is None or not SHA256.match(passage.chunk_id):
        return True
    hashed = (passage.url + passage.text, passage.text)
    return passage.chunk_id.lower() in {hashlib.sha256(text.encode()).hexdigest() for text in hashed}


def render_error(error: errors.PassageError, context: ErrorContext) -> RetrievalResponse:
    profile = context.profile
    text = _find_sent(context, profile.query.text.names if profile else ("text",))
    metrics: dict[str, Any] = {
        "total_execution_time_ms": context.elapsed_ms,
        "embedding_model": profile.embedding.model if profile else "",
        "collection_name": profile.collection.name if profile else "",
    }
    if error.upstream == "embedding":
        metrics["query_embedding_time_ms"] = 0.0  # seed 003, "Error States"
    return RetrievalResponse(
        status="error",
        query=QueryEcho(text=_plain(text), query_id=_plain(context.fields.get("query_id")) or _new_id()),
        results=[],
        total_results=0,
        requested_top_k=_read_count(context),
        execution_metrics=ExecutionMetrics(**metrics),
        error=ErrorDetail(code=_code(error), message=str(error)),
    )


def _find_sent(context: ErrorContext, names: tuple[str, ...]) -> Any:
    return next((context.fields[name] for name in names if name in context.fields), None)


def _plain(value: Any) -> str:
    """The sent value as text for the echo, even if it was invalid; empty if it is not text."""
    return value[:ECHOED].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _read_count(context: ErrorContext) -> int:
    """The requested number if it is valid, else the default."""
    if context.profile is None:
        return 5
    limit = context.profile.query.count
    sent = _find_sent(context, limit.names)
    valid = isinstance(sent, int) and not isinstance(sent, bool) and limit.min <= sent <= limit.max
    return sent if valid else limit.default


def _code(error: errors.PassageError) -> Code:  # noqa: PLR0911 - a table of classes reads best as one
    match error:
        case errors.InvalidRequest() | errors.NotFound():
            return "INVALID_QUERY"
        case errors.CollectionNotFound():
            return "COLLECTION_NOT_FOUND"
        case errors.DimensionMismatch():
            return "DIMENSION_MISMATCH"
        case errors.UpstreamThrottled(upstream="embedding"):
            return "COHERE_RATE_LIMITED"
        case errors.DeadlineExceeded(upstream="store"):
            return "QDRANT_TIMEOUT"
        case errors.UpstreamError() | errors.DeadlineExceeded() | errors.CredentialsRefused():
            return "COHERE_CONNECTION_FAILED" if error.upstream == "embedding" else "QDRANT_CONNECTION_FAILED"
        case _:
            return "INTERNAL_ERROR"


CONTRACT = Contract(
    name="ranked",
    request_model=RankedRequest,
    response_model=RetrievalResponse,
    error_model=RetrievalResponse,
    text="text",
    count="top_k",
    parse=parse,
    render=render,
    render_error=render_error,
    order="score",
    displayable=has_web_address,
    notices=notices,
)
