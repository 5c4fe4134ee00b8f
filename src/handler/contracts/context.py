"""The context contract (seed 002): takes `text` and `k`, returns chunks and a context for a language model."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictInt

from handler.config.profiles import Profile
from handler.contracts.base import Answer, Contract, ErrorContext, Expandable
from handler.contracts.fields import CHARACTERS_PER_TOKEN, WHOLE, Integer, Score, Text, clip, read_question
from handler.core import errors
from handler.core.model import Passage, Retrieval, RetrievalRequest, Search

Code = Literal["EMPTY_QUERY", "INVALID_QUERY", "CONNECTION_ERROR", "COLLECTION_NOT_FOUND", "RATE_LIMIT"]
Budget = Annotated[StrictInt, Field(ge=1), WHOLE]

RULE = "---"
"""The line between a block's header and its body, as in the seed's example."""

SEPARATOR = "\n\n" + "=" * 40 + "\n\n"
"""The text between two blocks."""


class ContextRequest(BaseModel):
    """A question. Its limits are the profile's."""

    text: Text = Field(description="The natural language question.")
    k: Integer | None = Field(None, description="How many chunks to retrieve.")
    max_chars: Budget | None = Field(
        None, description="The most characters the context may have. Chunks beyond it are left out."
    )
    max_tokens: Budget | None = Field(None, description="The same in tokens, estimated at four characters each.")


class RetrievedChunk(Expandable):
    text: str
    score: Score
    source_url: str
    chapter: str = Field(description="Empty when the chunk has none.")
    section: str = Field(description="Empty when the chunk has none.")
    chunk_index: int = Field(ge=0)
    title: str = Field(description="Empty when the page has none.")
    chunk_id: str


class AssembledContext(BaseModel):
    formatted_text: str
    chunk_count: int = Field(ge=0, description="How many chunks the context holds.")
    total_chars: int = Field(ge=0)
    sources: list[str] = Field(description="The context's pages, each once, in order of first appearance.")


class RetrievalResult(Answer):
    query: str
    chunks: list[RetrievedChunk] = Field(description="Best first.")
    count: int = Field(ge=0)
    collection: str
    context: AssembledContext


class RetrievalError(BaseModel):
    code: Code
    message: str
    details: str = Field(description="Empty when there is nothing to add.")


def parse(fields: Mapping[str, Any], profile: Profile) -> RetrievalRequest:
    query, text, top_k = read_question(fields, profile, ContextRequest, text="text", count="k")
    budgets = [query.max_chars, query.max_tokens and query.max_tokens * CHARACTERS_PER_TOKEN]
    return RetrievalRequest(
        text=text,
        search=Search(top_k=top_k),
        options={"max_chars": min((budget for budget in budgets if budget), default=None)},
    )


def render(retrieval: Retrieval) -> RetrievalResult:
    chunks = [_chunk(passage) for passage in retrieval.passages]
    context = assemble(chunks, retrieval.request.options["max_chars"])
    return RetrievalResult(
        query=retrieval.request.text,
        chunks=chunks[: context.chunk_count],  # `[Result n]` is `chunks[n-1]`, so what is dropped leaves both
        count=context.chunk_count,
        collection=retrieval.collection,
        context=context,
    )


def _chunk(passage: Passage) -> RetrievedChunk:
    # The assembled context needs it; other contracts leave it to `options`.
    expanded: dict[str, Any] = {} if passage.expanded is None else {"text_with_neighbors": passage.expanded}
    return RetrievedChunk(
        text=passage.text,
        score=clip(passage.score),
        source_url=passage.url,
        chapter=passage.chapter or "",
        section=passage.section or (passage.headings[-1] if passage.headings else ""),
        chunk_index=passage.index or 0,
        title=passage.title or "",
        chunk_id=passage.chunk_id or str(passage.id),
        **expanded,
    )


def assemble(chunks: list[RetrievedChunk], max_chars: int | None) -> AssembledContext:
    """The chunks as one text. Over budget, whole blocks are dropped from the end: half a passage misleads."""
    blocks = [block(number, chunk) for number, chunk in enumerate(chunks, start=1)]
    while max_chars is not None and blocks and len(SEPARATOR.join(blocks)) > max_chars:
        blocks.pop()
    text = SEPARATOR.join(blocks)
    return AssembledContext(
        formatted_text=text,
        chunk_count=len(blocks),
        total_chars=len(text),
        sources=list(dict.fromkeys(chunk.source_url for chunk in chunks[: len(blocks)])),
    )


def block(number: int, chunk: RetrievedChunk) -> str:
    """One chunk under its header. An unknown part of the header is left out, with its separator."""
    places = [("Title", chunk.title), ("Chapter", chunk.chapter), ("Section", chunk.section)]
    place = " | ".join(f"{label}: {value}" for label, value in places if value)
    header = [f"[Result {number}] Score: {chunk.score:.2f}", f"Source: {chunk.source_url}", place, RULE]
    return "\n".join([*(line for line in header if line), chunk.text_with_neighbors or chunk.text])


def plain(answer: BaseModel) -> str:
    """The assembled context alone."""
    assert isinstance(answer, RetrievalResult)  # noqa: S101 - what `render` returns
    return answer.context.formatted_text


def render_error(error: errors.PassageError, context: ErrorContext) -> RetrievalError:  # noqa: ARG001 - every contract's signature
    return RetrievalError(code=_code(error), message=str(error), details="")


def _code(error: errors.PassageError) -> Code:
    match error:
        case errors.BlankText():
            return "EMPTY_QUERY"
        case errors.UpstreamThrottled():
            return "RATE_LIMIT"
        case errors.CollectionNotFound():
            return "COLLECTION_NOT_FOUND"
        case errors.UpstreamError() | errors.DeadlineExceeded() | errors.CredentialsRefused():
            return "CONNECTION_ERROR"
        case _:
            return "INVALID_QUERY"  # the seed has no code for other errors


CONTRACT = Contract(
    name="context",
    request_model=ContextRequest,
    response_model=RetrievalResult,
    error_model=RetrievalError,
    text="text",
    count="k",
    parse=parse,
    render=render,
    render_error=render_error,
    plain=plain,
    results="chunks",
)
