"""The Contract type: what a module of this room defines."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from handler.config.profiles import Profile
from handler.core.errors import PassageError
from handler.core.model import Fit, Order, Passage, Retrieval, RetrievalRequest


class ErrorContext(NamedTuple):
    """The context of a failed request, for rendering its error.

    Attributes:
        at: the time of the error, UTC.
        elapsed_ms: milliseconds since the request came in.
        fields: the caller's fields, as far as they could be read.
        profile: None when the profile itself could not be found or loaded.
    """

    at: datetime
    elapsed_ms: float
    fields: Mapping[str, Any]
    profile: Profile | None


class Notice(NamedTuple):
    """A warning about an answer, for the operator: a log line, and a count if a metric is named."""

    message: str
    figures: Mapping[str, Any]
    metric: str | None = None


OPTIONS = frozenset(
    {
        *("filters", "language", "version", "score_threshold", "offset", "max_per_page"),
        *("diversity", "unique", "by_section", "neighbors", "titles", "order", "search", "fit", "debug"),
    }
)
"""The names of the options in `handler.contracts.options`, which is imported for a request that has one."""


class Expandable(BaseModel):
    """A result that may have its headings, its neighbors' text and its fit."""

    text_with_neighbors: str = Field(
        default="", description="The text with that of the chunks around it. Absent unless `neighbors` asks for it."
    )
    headings: list[str] = Field(
        default_factory=list,
        description="The headings above the passage, outermost first; empty if none are stored. Absent unless `titles` "
        "asks for it.",
    )
    fit: Fit = Field(
        default="none", description="How well it fits the question; `none` means no answer. Absent unless asked for."
    )


class Titled(Expandable):
    """A result that may also have a title. In `context`, every result has one."""

    title: str = Field(
        default="", description="Its page's title; empty if none is stored. Absent unless `titles` asks for it."
    )


class Answer(BaseModel):
    """The fields that every contract's answer has."""

    warnings: list[str] = Field(
        default_factory=list,
        description="Why the answer is incomplete, or which fields were ignored. Absent without such a reason.",
    )
    debug: dict[str, Any] = Field(
        default_factory=dict, description="How the answer came about. Absent unless `debug` asks for it."
    )


@dataclass(frozen=True)
class Contract:
    """A shape of request, response and error.

    Attributes:
        name: of its module, as a profile names it.
        request_model, response_model, error_model: with the contract's own names. Only fields that are set are sent.
        results: the name of the answer's list of results, each `Expandable` with a title.
        text, count: the names of the request's fields that a profile's limits apply to.
        parse: turns the caller's fields into a checked request. Raises InvalidRequest.
        render: turns a result into `response_model`, without warnings: `answer` adds those for all contracts.
        render_error: turns an error into `error_model`.
        order: the order of an answer's passages, unless the request asks for another: "score" where the seed promises
            descending scores.
        displayable: whether the contract can show a passage; others are left out and counted. None shows them all.
        notices: yields warnings about an answer, for the log; None for a contract without any.
        stored_id: turns the chunk id that this contract shows into the one to look up.
        plain: renders an answer as plain text, for a caller who accepts that; None without such a form.
        raw: whether callers see points as they are stored, with their whole payload and vector.
    """

    name: str
    request_model: type[BaseModel]
    response_model: type[Answer]
    error_model: type[BaseModel]
    text: str
    count: str
    parse: Callable[[Mapping[str, Any], Profile], RetrievalRequest]
    render: Callable[[Retrieval], Answer]
    render_error: Callable[[PassageError, ErrorContext], BaseModel]
    order: Order = "relevance"
    displayable: Callable[[Passage], bool] | None = None
    notices: Callable[[Retrieval], Iterable[Notice]] | None = None
    stored_id: Callable[[str], str] = str
    plain: Callable[[BaseModel], str] | None = None
    results: str = "results"
    raw: bool = False
