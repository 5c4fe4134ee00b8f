"""The chunks contract (seed 004): takes `query_text`, returns chunks with their position and age."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field, StrictBool

from handler.config.profiles import Profile
from handler.contracts.base import Answer, Contract, ErrorContext, Titled
from handler.contracts.fields import (
    MINIMUM,
    Integer,
    Score,
    Text,
    Threshold,
    clip,
    has_web_address,
    read_question,
    zulu,
)
from handler.core import errors
from handler.core.model import Passage, Retrieval, RetrievalRequest, Search

Code = Literal["INVALID_QUERY", "SERVICE_UNAVAILABLE", "TIMEOUT", "INTERNAL_ERROR"]


class QueryRequest(BaseModel):
    """A question. Its limits are the profile's."""

    query_text: Text = Field(description="The natural language question.")
    top_k: Integer | None = Field(None, description="How many chunks to return.")
    threshold: Threshold | None = Field(None, description=MINIMUM.format("chunk"))
    include_metadata: StrictBool | None = Field(
        None, description="Whether results carry position, chunk_id and created_at. By default true."
    )


class RetrievedChunk(Titled):
    """Without metadata, the last three are left out."""

    content: str = Field(min_length=1)
    url: str
    similarity_score: Score
    position: int = Field(0, ge=0, description="The chunk's place on its page, from 0.")
    chunk_id: str = Field("", description="The point's id.")
    created_at: str | None = Field(None, description="When it was stored: UTC, ISO 8601; null if unknown.")


class Metadata(BaseModel):
    query_time_ms: int = Field(ge=0)
    total_results: int = Field(ge=0)
    timestamp: str = Field(description="When the question was asked: UTC, ISO 8601.")


class QueryResponse(Answer):
    query: str
    results: list[RetrievedChunk] = Field(description="Best first.")
    metadata: Metadata


class ErrorDetail(BaseModel):
    code: Code
    message: str


class ErrorResponse(BaseModel):
    error: ErrorDetail
    metadata: Metadata


def parse(fields: Mapping[str, Any], profile: Profile) -> RetrievalRequest:
    query, text, top_k = read_question(fields, profile, QueryRequest, text="query_text", count="top_k")
    return RetrievalRequest(
        text=text,
        search=Search(top_k=top_k),
        score_threshold=query.threshold,
        options={"include_metadata": query.include_metadata is not False},
    )


def render(retrieval: Retrieval) -> QueryResponse:
    whole = retrieval.request.options["include_metadata"]
    results = [_result(passage, whole=whole) for passage in retrieval.passages]
    return QueryResponse(
        query=retrieval.request.text,
        results=results,
        metadata=Metadata(
            query_time_ms=round(retrieval.timings.total_ms),
            total_results=len(results),
            timestamp=zulu(retrieval.asked_at),
        ),
    )


def _result(passage: Passage, *, whole: bool) -> RetrievedChunk:
    metadata: dict[str, Any] = {
        "position": passage.index or 0,
        "chunk_id": str(passage.id),
        "created_at": zulu(passage.created_at) if passage.created_at else None,
    }
    return RetrievedChunk(
        content=passage.text,
        url=passage.url,
        similarity_score=clip(passage.score),
        **(metadata if whole else {}),
    )


def render_error(error: errors.PassageError, context: ErrorContext) -> ErrorResponse:
    return ErrorResponse(
        error=ErrorDetail(code=_code(error), message=str(error)),
        metadata=Metadata(query_time_ms=round(context.elapsed_ms), total_results=0, timestamp=zulu(context.at)),
    )


def _code(error: errors.PassageError) -> Code:
    match error:
        case errors.InvalidRequest() | errors.NotFound():
            return "INVALID_QUERY"
        case errors.DeadlineExceeded():
            return "TIMEOUT"
        case errors.UpstreamError():
            return "SERVICE_UNAVAILABLE"
        case _:
            return "INTERNAL_ERROR"


CONTRACT = Contract(
    name="chunks",
    request_model=QueryRequest,
    response_model=QueryResponse,
    error_model=ErrorResponse,
    text="query_text",
    count="top_k",
    parse=parse,
    render=render,
    render_error=render_error,
    order="score",
    displayable=has_web_address,
)
