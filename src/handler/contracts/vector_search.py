"""The vector_search contract (seed 001): takes text or a vector, returns scored points with their payload."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StrictBool, model_validator

from handler.config.profiles import Profile
from handler.contracts.base import Answer, Contract, ErrorContext, Titled
from handler.contracts.fields import (
    MINIMUM,
    Integer,
    Score,
    Text,
    Threshold,
    clip,
    json_id,
    json_safe,
    read_question,
    zulu,
)
from handler.contracts.filter_values import FilterValue, conditions
from handler.core import errors
from handler.core.embedding import has_direction
from handler.core.model import Passage, Retrieval, RetrievalRequest, Search

Code = Literal[
    "DIMENSION_MISMATCH",
    "COLLECTION_NOT_FOUND",
    "INVALID_PARAMETER",
    "CONNECTION_ERROR",
    "TIMEOUT",
    "EMBEDDING_ERROR",
    "INTERNAL_ERROR",
]
LARGEST_NUMBER = 2.0**55
"""Far beyond any embedding. The length of 65,536 such numbers is still a 32-bit float."""

Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]


class RetrievalQuery(BaseModel):
    """A question as text or as a vector: exactly one of the two."""

    collection_name: Text | None = Field(
        None,
        min_length=1,
        description="The collection to search. It must be one this deployment serves; by default the profile's.",
    )
    query_text: Text | None = Field(None, description="The question as text.")
    query_vector: list[Number] | None = Field(None, description="The question embedded with the collection's model.")
    top_k: Integer | None = Field(None, description="How many points to return.")
    score_threshold: Threshold | None = Field(None, description=MINIMUM.format("point"))
    filters: dict[Text, FilterValue] | None = Field(
        None, description="What each field must be: a value, one of a list, within bounds, or text with a prefix."
    )
    with_vectors: StrictBool | None = Field(None, description="Whether results carry their vectors. By default false.")
    with_payload: StrictBool | None = Field(None, description="Whether results carry their payload. By default true.")

    @model_validator(mode="after")
    def _has_one_question(self) -> Self:
        if (self.query_text is None) == (self.query_vector is None):
            raise errors.InvalidRequest("Send exactly one of 'query_text' and 'query_vector'.")
        return self


class RetrievalResult(Titled):
    id: int | str = Field(description="The point's id; an integer of 2^53 or more as text.")
    score: Score
    vector: list[float] | None = Field(description="The point's vector; null unless with_vectors is true.")
    payload: dict[str, Any] = Field(description="The point's whole payload; empty if with_payload is false.")
    retrieval_time_ms: float = Field(ge=0, description="Milliseconds the search took.")


class VectorSearchResponse(Answer):
    collection_name: str
    results: list[RetrievalResult] = Field(description="Best first.")
    total_results: int = Field(ge=0)
    timestamp: str = Field(description="When the question was asked: UTC, ISO 8601.")


class ErrorDetail(BaseModel):
    code: Code
    message: str


class ErrorResponse(BaseModel):
    error: ErrorDetail
    timestamp: str


def parse(fields: Mapping[str, Any], profile: Profile) -> RetrievalRequest:
    query, text, top_k = read_question(fields, profile, RetrievalQuery, text="query_text", count="top_k")
    vector, dimension = query.query_vector, profile.collection.dimension
    if vector is not None and len(vector) != dimension:
        raise errors.VectorSizeWrong(f"'query_vector' has {len(vector)} numbers: it must have {dimension}.")
    if vector is not None and not has_direction(vector):
        raise errors.InvalidRequest(
            "'query_vector' cannot be compared: it is all zeros, or its length is beyond 32-bit floats."
        )
    return RetrievalRequest(
        text=text,
        vector=vector,
        collection=query.collection_name,
        search=Search(
            top_k=top_k,
            filters=conditions(query.filters, profile),
            with_vectors=bool(query.with_vectors),
            whole_payload=True,
        ),
        score_threshold=query.score_threshold,
        options={"with_payload": query.with_payload is not False},
    )


def render(retrieval: Retrieval) -> VectorSearchResponse:
    results = [_result(passage, retrieval) for passage in retrieval.passages]
    return VectorSearchResponse(
        collection_name=retrieval.collection,
        results=results,
        total_results=len(results),
        timestamp=zulu(retrieval.asked_at),
    )


def _result(passage: Passage, retrieval: Retrieval) -> RetrievalResult:
    return RetrievalResult(
        id=json_id(passage.id),
        score=clip(passage.score),
        vector=None if passage.vector is None else list(passage.vector),
        payload=json_safe(passage.payload) if retrieval.request.options["with_payload"] else {},
        retrieval_time_ms=retrieval.timings.search_ms,
    )


def render_error(error: errors.PassageError, context: ErrorContext) -> ErrorResponse:
    return ErrorResponse(error=ErrorDetail(code=_code(error), message=str(error)), timestamp=zulu(context.at))


def _code(error: errors.PassageError) -> Code:  # noqa: PLR0911 - a table of classes reads best as one
    match error:
        case errors.VectorSizeWrong() | errors.DimensionMismatch():
            return "DIMENSION_MISMATCH"
        case errors.CollectionNotServed() | errors.CollectionNotFound():
            return "COLLECTION_NOT_FOUND"
        case errors.InvalidRequest() | errors.NotFound():
            return "INVALID_PARAMETER"
        case errors.DeadlineExceeded():
            return "TIMEOUT"
        case errors.PassageError(upstream="embedding"):
            return "EMBEDDING_ERROR"
        case errors.CredentialsRefused(upstream="store") | errors.UpstreamError(upstream="store"):
            return "CONNECTION_ERROR"
        case _:  # a wrong configuration, or an unexpected exception
            return "INTERNAL_ERROR"


CONTRACT = Contract(
    name="vector_search",
    request_model=RetrievalQuery,
    response_model=VectorSearchResponse,
    error_model=ErrorResponse,
    text="query_text",
    count="top_k",
    parse=parse,
    render=render,
    render_error=render_error,
    raw=True,
)
