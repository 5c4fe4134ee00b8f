"""What a contract is, and what all contracts share: validation, field names, clipped scores, times."""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from aws_lambda_powertools.utilities.parser import ValidationError, parse
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StrictInt, StrictStr
from pydantic_core import PydanticKnownError

from handler.config.profiles import CountLimit, Profile, TextLimit
from handler.contracts.faults import explained
from handler.core.errors import BlankText, InvalidRequest, PassageError
from handler.core.model import Passage, Retrieval, RetrievalRequest

Model = TypeVar("Model", bound=BaseModel)


def _encodable(value: str) -> str:
    """JSON can escape half of a surrogate pair, which no encoder downstream can carry; pydantic itself lets it pass."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PydanticKnownError("string_unicode") from None
    return value


Text = Annotated[StrictStr, AfterValidator(_encodable)]
"""What a caller wrote: a string, never something made into one."""


def _whole(value: object) -> object:
    """JSON has one kind of number: to it, and to JSON Schema, 5.0 is the integer 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Comes last among an integer's annotations: a limit that follows it is checked, but not published."""

Integer = Annotated[StrictInt, WHOLE]
"""A whole number: never text or a truth value made into one."""

MOST_FAULTS = 8
"""How many faults of a request are named: each item of a long list may have one, and their sum outgrow an answer."""

Score = Annotated[
    float,
    Field(ge=0, le=1, description="Cosine similarity or, where passages are reranked, relevance; clipped to 0…1."),
]
Threshold = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)]


@dataclass(frozen=True)
class ErrorContext:
    """What is known of a request that failed.

    Attributes:
        at: when, UTC.
        elapsed_ms: milliseconds since the request came in.
        fields: what the caller sent, as far as it could be read.
        profile: None when it is the profile that could not be had.
    """

    at: datetime
    elapsed_ms: float
    fields: Mapping[str, Any]
    profile: Profile | None


@dataclass(frozen=True)
class Notice:
    """Something about an answer that its operator should know: a log line, and a count where a metric is named."""

    message: str
    figures: Mapping[str, Any]
    metric: str | None = None


class Answer(BaseModel):
    """What the answers of all contracts have in common."""

    warnings: list[str] = Field(
        default_factory=list, description="Why the answer is less than it could be, for a person; only when it is."
    )


def _same(chunk_id: str) -> str:
    return chunk_id


@dataclass(frozen=True)
class Contract:
    """A shape of question and answer.

    Attributes:
        request_model: what a caller sends, by the contract's own field names.
        response_model, error_model: what a caller gets. Only fields that are set are sent.
        text, count: the names of the request's fields that a profile's limits apply to.
        parse: the caller's fields to a checked request. Raises InvalidRequest.
        render: an answer to `response_model`, but for its warnings: those are the same in all contracts.
        render_error: an error to `error_model`.
        displayable: whether the contract can show a passage; others are left out and counted. None shows them all.
        notices: what is worth a line in the log about an answer; None for nothing.
        stored_id: the id to find a chunk by, given the one this contract shows for it.
        plain: an answer as plain text, for a caller who accepts that; None when the contract has no such form.
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
    displayable: Callable[[Passage], bool] | None = None
    notices: Callable[[Retrieval], Iterable[Notice]] | None = None
    stored_id: Callable[[str], str] = _same
    plain: Callable[[BaseModel], str] | None = None

    def answer(self, retrieval: Retrieval) -> Answer:
        """The rendered answer, with its warnings."""
        body = self.render(retrieval)
        return body.model_copy(update={"warnings": list(retrieval.warnings)}) if retrieval.warnings else body


def validated(fields: Mapping[str, Any], model: type[Model], ours: Container[str] = ()) -> Model:
    """`fields` as `model`.

    Args:
        ours: keys within fields that messages may repeat, because a profile declares them.

    Raises:
        InvalidRequest: names each field that is wrong, what it takes and which kind of value came; never the value.
    """
    try:
        return parse(event=dict(fields), model=model)
    except ValidationError as error:
        told = list(dict.fromkeys(explained(item, ours) for item in error.errors(include_url=False)))
        more = [f"and {len(told) - MOST_FAULTS} more"] if len(told) > MOST_FAULTS else []
        raise InvalidRequest("; ".join(told[:MOST_FAULTS] + more)) from None


def named(fields: Mapping[str, Any], aliases: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """`fields` under the contract's own names, where a profile lets a request use others (`query` for `text`).

    Args:
        aliases: the contract's name of a field to the names a request may use.

    Raises:
        InvalidRequest: a field is there under two names.
    """
    renamed: dict[str, Any] = {}
    for name, allowed in aliases.items():
        given = [alias for alias in allowed if alias in fields]
        if len(given) > 1:
            raise InvalidRequest(f"{' and '.join(repr(alias) for alias in given)} mean the same: send one of them")
        if given:
            renamed[name] = fields[given[0]]
    taken = {alias for allowed in aliases.values() for alias in allowed}
    return {**{name: value for name, value in fields.items() if name not in taken}, **renamed}


def limited_text(limit: TextLimit, text: str) -> str:
    """The text as sent, when it is within the profile's limits.

    Raises:
        BlankText: it is empty or only white space.
        InvalidRequest: it is too short or too long.
    """
    if not text.strip():
        raise BlankText(f"'{limit.names[0]}' is blank: it takes {limit.min} to {limit.max:,} characters.")
    if not limit.min <= len(text) <= limit.max:
        raise InvalidRequest(
            f"'{limit.names[0]}' has {len(text):,} characters: allowed are {limit.min} to {limit.max:,}."
        )
    return text


def limited_count(limit: CountLimit, count: int | None) -> int:
    """How many passages to retrieve: the profile's default for None.

    Raises:
        InvalidRequest: it is beyond the limits, where the profile rejects rather than clamps.
    """
    if count is None:
        return limit.default
    if limit.outside == "clamp":
        return max(limit.min, min(count, limit.max))
    if not limit.min <= count <= limit.max:
        raise InvalidRequest(f"'{limit.names[0]}' is out of range: allowed are {limit.min} to {limit.max}.")
    return count


def clipped(score: float) -> float:
    """A score within 0…1. Clipping keeps the order: what was at least as much still is."""
    return max(0.0, min(1.0, score))


def has_web_address(passage: Passage) -> bool:
    """Whether the passage's URL is one a browser could open."""
    try:
        parts = urlsplit(passage.url)
    except ValueError:  # what stands in brackets is no address
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(map(str.isspace, passage.url))


def json_safe(value: Any) -> Any:
    """A stored value without what JSON cannot carry: numbers that are none become null, lone surrogates U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {json_safe(str(key)): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    return value


def zulu(moment: datetime) -> str:
    """UTC as ISO 8601 ending in Z, to the second."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"  # strftime does not pad a year below 1000


def to_json(body: BaseModel) -> str:
    """A body as it is sent: only the fields that are set."""
    return body.model_dump_json(exclude_unset=True)
