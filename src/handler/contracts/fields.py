"""Fields of requests and answers: read from JSON, renamed, validated, held to a profile's limits, made fit for JSON."""

import json
import math
from collections.abc import Container, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from aws_lambda_powertools.utilities.parser import ValidationError, parse
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Discriminator,
    Field,
    StrictInt,
    StrictStr,
    Tag,
    WithJsonSchema,
)
from pydantic_core import PydanticKnownError

from handler.config.profiles import CountLimit, Profile, TextLimit
from handler.contracts.faults import MOST_LEVELS, describe_fault, is_deep, json_fault, refuse_constant, too_deep
from handler.core.errors import BlankText, InvalidRequest
from handler.core.model import LARGEST_WHOLE, Passage, PointId
from handler.core.texts import INVISIBLE

Model = TypeVar("Model", bound=BaseModel)

BYTE_ORDER_MARK = "\ufeff"
"""Editors on Windows put one before a file's text."""


def is_encodable(text: str) -> bool:
    """Whether UTF-8 can encode a text. A JSON escape can give a text an unpaired surrogate, which it cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _encodable(value: str) -> str:
    """Refuse an unpaired surrogate, which pydantic accepts."""
    if not is_encodable(value):
        raise PydanticKnownError("string_unicode")
    return value


Text = Annotated[StrictStr, AfterValidator(_encodable)]
"""Text from a caller: a JSON string. Other types are refused, not converted."""


def as_whole(value: object) -> object:
    """5.0 as the integer 5, as JSON Schema has it; any other value as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(as_whole)
"""Must come last among an integer's annotations: a limit after it would be checked, but missing from the schema."""

Integer = Annotated[StrictInt, WHOLE]
"""A whole number. Text and booleans are refused, not converted."""

CHARACTERS_PER_TOKEN = 4
"""A rough average for English: the model that will read the passages is unknown, so their tokens are an estimate."""

MOST_FAULTS = 8
"""The most faults an error names. A long list could have one per item, too many for a response."""

Score = Annotated[
    float,
    Field(ge=0, le=1, description="Cosine similarity or, where passages are reranked, relevance; clipped to 0…1."),
]


def _kind_of_threshold(value: object) -> str:
    return "word" if value == "noise" else "number"


Threshold = Annotated[
    Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1), Tag("number")]
    | Annotated[Literal["noise"], Tag("word")],
    Discriminator(_kind_of_threshold),  # so that a message says what a number must be
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "enum": ["noise"]}]}),
]
"""See `handler.core.model.MinimumScore`."""

MINIMUM = "The minimum similarity; 0 returns any {}, `noise` those above the noise."


def read_object(text: str, what: str) -> dict[str, Any]:
    """The fields of a JSON object. `what` holds the text, as a message begins: "The body".

    Raises:
        NotJson: it does not follow JSON's grammar.
        InvalidRequest: it is not an object, is nested too deep, or holds a number that is too long.
    """
    fields = read_json(text, what)
    if not isinstance(fields, dict):
        raise InvalidRequest(f"{what} is JSON, but not an object: it must be one with a name for each value.")
    return fields


def read_json(text: str, what: str) -> Any:
    """Any JSON value; `what` and the errors are those of `read_object`."""
    try:
        value = json.loads(text.removeprefix(BYTE_ORDER_MARK), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise json_fault(error, what) from None
    if text.count("[") + text.count("{") > MOST_LEVELS and is_deep(value):
        raise too_deep(what)
    return value


def validate_fields(fields: Mapping[str, Any], model: type[Model], ours: Container[str] = ()) -> Model:
    """Validate `fields` as `model`. Messages may repeat the keys `ours`, which a profile declares.

    Raises:
        InvalidRequest: names each wrong field, what it accepts and the type it got; never the value.
    """
    try:
        return parse(event=dict(fields), model=model)
    except ValidationError as error:
        faults = list(dict.fromkeys(describe_fault(item, ours) for item in error.errors(include_url=False)))
        more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
        raise InvalidRequest("; ".join(faults[:MOST_FAULTS] + more)) from None


def read_question(
    fields: Mapping[str, Any], profile: Profile, model: type[Model], *, text: str, count: str
) -> tuple[Model, str, int]:
    """A contract's request, its question ("" without one) and its number of passages, as the profile limits them.

    `text` and `count` name these two in `model`. Raises InvalidRequest, as the functions that it calls.
    """
    limits = profile.query
    named = rename_fields(fields, {text: limits.text.names, count: limits.count.names})
    query = validate_fields(named, model, profile.filters)
    sent = getattr(query, text)
    question = "" if sent is None else check_text(limits.text, sent)
    return query, question, check_count(limits.count, getattr(query, count))


def rename_fields(fields: Mapping[str, Any], aliases: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """The fields under the contract's own names: those of `aliases`, each with the names that a request may use.

    Raises:
        InvalidRequest: a field was sent under two names.
    """
    own: dict[str, Any] = {}
    for name, allowed in aliases.items():
        sent = [alias for alias in allowed if alias in fields]
        given = [alias for alias in sent if fields[alias] is not None] or sent[:1]  # a null beside a value is absent
        if len(given) > 1:
            raise InvalidRequest(f"{' and '.join(repr(alias) for alias in given)} mean the same: send one of them")
        if given:
            own[name] = fields[given[0]]
    taken = {alias for allowed in aliases.values() for alias in allowed}
    return {**{name: value for name, value in fields.items() if name not in taken}, **own}


def check_text(limit: TextLimit, text: str) -> str:
    """Check the text against the profile's limits and return it unchanged.

    Raises:
        BlankText: it is empty, or has only white space and invisible characters.
        InvalidRequest: it is too short or too long.
    """
    if not text.strip(INVISIBLE):
        raise BlankText(f"'{limit.names[0]}' is blank: it must have {limit.min} to {limit.max:,} characters.")
    if not limit.min <= len(text) <= limit.max:
        raise InvalidRequest(
            f"'{limit.names[0]}' has {len(text):,} characters: it must have {limit.min} to {limit.max:,}."
        )
    return text


def check_count(limit: CountLimit, count: int | None) -> int:
    """The number of passages to retrieve: the profile's default for None.

    Raises:
        InvalidRequest: it is out of range and the profile does not clamp.
    """
    if count is None:
        return limit.default
    if limit.outside == "clamp":
        return max(limit.min, min(count, limit.max))
    if not limit.min <= count <= limit.max:
        raise InvalidRequest(f"'{limit.names[0]}' is out of range: it must be {limit.min} to {limit.max}.")
    return count


def clip(score: float) -> float:
    """The score, limited to 0…1. Clipping never reorders passages."""
    return max(0.0, min(1.0, score))


def has_web_address(passage: Passage) -> bool:
    """Whether the passage's URL is one a browser could open."""
    try:
        parts = urlsplit(passage.url)
    except ValueError:  # the text in brackets is not an IP address
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(map(str.isspace, passage.url))


def json_safe(value: Any) -> Any:
    """A stored value as JSON can carry it: NaN and infinity become null, lone surrogates become U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {json_safe(str(key)): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_safe(item) for item in value]
    return value


def json_id(point: PointId) -> PointId:
    """A point's id that every JSON reader takes exactly: JavaScript rounds integers above 2^53, so those are text."""
    return str(point) if isinstance(point, int) and point > LARGEST_WHOLE else point


def zulu(moment: datetime) -> str:
    """UTC as ISO 8601 ending in Z, to the second."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"  # strftime does not pad a year below 1000


def to_json(body: BaseModel) -> str:
    """A body as it is sent: only the fields that are set."""
    return body.model_dump_json(exclude_unset=True)
