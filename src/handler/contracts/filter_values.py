"""Filters in a request: for each field a value, a list of values, bounds, or the beginning of a text."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StrictInt, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from handler.config.payload_keys import Kind
from handler.config.profiles import Profile
from handler.contracts.faults import OURS, json_kind
from handler.contracts.fields import WHOLE, Text, is_encodable
from handler.core.errors import InvalidRequest
from handler.core.model import Filters

if TYPE_CHECKING:
    from handler.core.conditions import Condition, Prefix, Range

Long = Annotated[StrictInt, Field(ge=-(2**63), lt=2**63), WHOLE]
"""A 64-bit integer, the type that Qdrant compares."""

Value = Text | Long

MOST_VALUES = 100
BOUNDS = ("gt", "gte", "lt", "lte")
PREFIX_CHARACTERS = 1_000

ALLOWED = (
    f"text, a whole number, a list of 1 to {MOST_VALUES} of these, or an object with gt, gte, lt or lte, or with prefix"
)


def _filter_value(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """Report one error for a value. Pydantic would report one for each type of the union."""
    try:
        if isinstance(value, Mapping):
            return _condition(value)
        return check(value)
    except ValidationError:
        raise PydanticCustomError(OURS, "{fault}", {"fault": _filter_fault(value)}) from None


def _condition(given: Mapping[Any, Any]) -> "Range | Prefix":
    """The condition that an object states. Raises PydanticCustomError for other keys, or a value of a wrong type."""
    from handler.core.conditions import Prefix, Range  # noqa: PLC0415 - most filters are plain values

    if given.keys() == {"prefix"}:
        prefix = given["prefix"]
        if isinstance(prefix, str) and 1 <= len(prefix) <= PREFIX_CHARACTERS and is_encodable(prefix):
            return Prefix(prefix)
        fault = f"'prefix' must be text of 1 to {PREFIX_CHARACTERS:,} characters"
    elif given and given.keys() <= set(BOUNDS):
        bounds = {name: _bound(given[name]) for name in BOUNDS if name in given}
        wrong = next((name for name, bound in bounds.items() if bound is None), None)
        if wrong is None and len({isinstance(bound, str) for bound in bounds.values()}) == 1:
            return Range(**bounds)
        fault = (
            "must not mix bounds that are numbers with bounds that are times"
            if wrong is None
            else f"'{wrong}' must be a number from -2^63 to 2^63, or a date or time as in 2026-01-31T12:00:00Z"
        )
    else:
        fault = f"must be {ALLOWED}"
    raise PydanticCustomError(OURS, "{fault}", {"fault": fault})


def _bound(value: Any) -> float | str | None:
    """A bound as a store compares it; None where it is invalid. A time is in UTC: Qdrant reads no seconds in a zone."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
        except (ValueError, OverflowError):
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -(2**63) <= value <= 2**63 else None  # false for NaN


def _filter_fault(value: Any) -> str:
    items = value if isinstance(value, list) else [value]
    if not 1 <= len(items) <= MOST_VALUES:
        return f"must be a list of 1 to {MOST_VALUES} values, not of {len(items)}"
    kind = next((kind for kind in map(_refused_kind, items) if kind), "")
    if kind:
        within = "a list with " if isinstance(value, list) else ""
        return f"must be {ALLOWED}, not {within}{kind}"
    if any(isinstance(item, str) and not is_encodable(item) for item in items):
        return "has an unpaired surrogate: it must be text that UTF-8 can encode"
    return "accepts whole numbers from -2^63 to 2^63 - 1"


def _refused_kind(item: Any) -> str:
    """The JSON type of a value that a filter refuses; empty for text and whole numbers."""
    whole = isinstance(item, float) and item.is_integer()
    return "" if whole or (isinstance(item, str | int) and not isinstance(item, bool)) else json_kind(item)


FilterValue = Annotated[
    Value | Annotated[list[Value], Field(min_length=1, max_length=MOST_VALUES)], WrapValidator(_filter_value)
]
"""Validates to a value, a list of values, a Range or a Prefix. The OpenAPI document adds objects field by field."""


def conditions(given: Mapping[str, Any] | None, profile: Profile) -> Filters:
    """Validated filters as the stores take them.

    Raises:
        InvalidRequest: the profile does not declare a field, or the field's values are of another kind.
    """
    unknown = [field for field in given or () if field not in profile.filters]
    if unknown:
        allowed = ", ".join(profile.filters) or "none"
        raise InvalidRequest(f"'filters' has a field that this profile does not declare. It declares: {allowed}.")
    return {field: _of_kind(field, value, profile) for field, value in (given or {}).items()}


def _of_kind(field: str, value: Any, profile: Profile) -> "Condition":
    """A field's condition, if the profile's values can meet it. A time becomes an epoch where one is stored."""
    kinds = {profile.kind(key) for key in profile.filters[field]}
    if isinstance(value, str | int | list):
        return tuple(_value(field, one, kinds) for one in (value if isinstance(value, list) else [value]))
    from handler.core.conditions import Prefix, Range  # noqa: PLC0415 - most filters are plain values

    if isinstance(value, Prefix):
        if kinds and kinds <= {"number", "time", "epoch"}:
            raise InvalidRequest(f"'filters.{field}' is not text: a prefix needs text.")
        return value
    bounds: Range = value
    limits = {name: getattr(bounds, name) for name in BOUNDS if getattr(bounds, name) is not None}
    times = isinstance(next(iter(limits.values())), str)
    if kinds == {"text"}:
        raise InvalidRequest(f"'filters.{field}' is text: send a value, a list of values, or a prefix.")
    if times and kinds == {"number"}:
        raise InvalidRequest(f"'filters.{field}' is a number: its bounds must be numbers.")
    if not times and kinds == {"time"}:
        raise InvalidRequest(f"'filters.{field}' is a time: its bounds must be as in 2026-01-31T12:00:00Z.")
    if times and kinds == {"epoch"}:
        return Range(**{name: datetime.fromisoformat(time).timestamp() for name, time in limits.items()})
    return bounds


def _value(field: str, value: str | int, kinds: Collection[Kind]) -> "str | int | Range":
    """A value that a field of these kinds can hold, a time as the range of that moment; others raise InvalidRequest."""
    if kinds == {"text"} and isinstance(value, int):
        raise InvalidRequest(f"'filters.{field}' is text: a number is never equal to it.")
    if kinds == {"number"} and isinstance(value, str):
        raise InvalidRequest(f"'filters.{field}' is a number: text is never equal to it.")
    if kinds not in ({"time"}, {"epoch"}) or (kinds == {"epoch"} and isinstance(value, int)):
        return value
    time = _bound(value) if isinstance(value, str) else None
    if not isinstance(time, str):
        raise InvalidRequest(f"'filters.{field}' is a time: send it as in 2026-01-31T12:00:00Z, or send bounds.")
    from handler.core.conditions import Range  # noqa: PLC0415 - most filters are plain values

    moment = time if kinds == {"time"} else datetime.fromisoformat(time).timestamp()
    return Range(gte=moment, lte=moment)
