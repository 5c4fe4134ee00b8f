"""The query_response contract (seed 000): takes `text` and `k`, returns passages with their URLs and scores."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field

from handler.config.profiles import Profile
from handler.contracts.base import Answer, Contract, ErrorContext, Titled
from handler.contracts.fields import Integer, Score, Text, clip, read_question, zulu
from handler.core import errors
from handler.core.model import Passage, Retrieval, RetrievalRequest, Search

SHOWN_ID = re.compile(r"([0-9]+|[0-9a-fA-F-]{32,36})_[0-9]+")
"""A chunk id as this contract shows it: the point's id (an integer or a UUID), an underscore, an index."""

Code = Literal["INVALID_INPUT", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR"]


class QueryResponseRequest(BaseModel):
    """A question. Its limits are the profile's."""

    text: Text = Field(description="The natural language question.")
    k: Integer | None = Field(None, description="How many passages to return.")


class Result(Titled):
    chunk_text: str = Field(description="The passage, exactly as stored.")
    url: str = Field(description="The URL of its page, exactly as stored.")
    chunk_id: str = Field(description="The point's id and the passage's index in its page, joined by an underscore.")
    relevance_score: Score


class QueryResponse(Answer):
    query: str = Field(description="The question as sent.")
    k: int = Field(ge=1, description="How many passages were asked for.")
    results: list[Result] = Field(description="Best first.")
    total_results: int = Field(ge=0, description="How many passages `results` has.")
    timestamp: str = Field(description="When the question was asked: UTC, ISO 8601.")


class ErrorResponse(BaseModel):
    error: str = Field(description="What went wrong, for a person.")
    code: Code = Field(description="What went wrong, for a program.")
    timestamp: str = Field(description="UTC, ISO 8601.")


def parse(fields: Mapping[str, Any], profile: Profile) -> RetrievalRequest:
    _, text, top_k = read_question(fields, profile, QueryResponseRequest, text="text", count="k")
    return RetrievalRequest(text=text, search=Search(top_k=top_k))


def render(retrieval: Retrieval) -> QueryResponse:
    results = [_result(passage) for passage in retrieval.passages]
    return QueryResponse(
        query=retrieval.request.text,
        k=retrieval.request.search.top_k,
        results=results,
        total_results=len(results),
        timestamp=zulu(retrieval.asked_at),
    )


def _result(passage: Passage) -> Result:
    return Result(
        chunk_text=passage.text,
        url=passage.url,
        # 0 where no index is stored: the point's id alone is unique.
        chunk_id=f"{passage.id}_{passage.index or 0}",
        relevance_score=clip(passage.score),
    )


def stored_id(chunk_id: str) -> str:
    shown = SHOWN_ID.fullmatch(chunk_id)
    return shown[1] if shown else chunk_id


def render_error(error: errors.PassageError, context: ErrorContext) -> ErrorResponse:
    return ErrorResponse(error=str(error), code=_code(error), timestamp=zulu(context.at))


def _code(error: errors.PassageError) -> Code:
    match error:
        case errors.InvalidRequest() | errors.NotFound():
            return "INVALID_INPUT"
        case errors.UpstreamError() | errors.DeadlineExceeded():
            return "SERVICE_UNAVAILABLE"
        case _:
            return "INTERNAL_ERROR"


CONTRACT = Contract(
    name="query_response",
    request_model=QueryResponseRequest,
    response_model=QueryResponse,
    error_model=ErrorResponse,
    text="text",
    count="k",
    parse=parse,
    render=render,
    render_error=render_error,
    order="score",
    stored_id=stored_id,
)
