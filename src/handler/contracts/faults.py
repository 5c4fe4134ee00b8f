"""Describes what is wrong with a caller's JSON or with one of its fields. No pydantic term reaches a caller."""

import json
import sys
from collections.abc import Container, Mapping
from typing import Any, NoReturn

from handler.core.errors import InvalidRequest

OURS = "passage"
"""The type of a PydanticCustomError whose message is written for callers."""

KINDS: Mapping[type, str] = {
    type(None): "null",
    bool: "true or false",
    str: "text",
    int: "a number",
    float: "a number",
    list: "a list",
    tuple: "a list",
}

LARGEST_PLAIN = 1e15

_NESTS = (dict, list)

MOST_LEVELS = 100
"""How deep lists and objects may be nested. Python's limit differs by version and also breaks later code."""

MESSAGES: Mapping[str, str] = {
    "string_type": "must be text, not {kind}",
    "int_type": "must be a whole number, not {kind}",
    "int_from_float": "must be a whole number, not {kind}",
    "float_type": "must be a number, not {kind}",
    "bool_type": "must be true or false, not {kind}",
    "list_type": "must be a list, not {kind}",
    "dict_type": "must be an object, not {kind}",
    "model_type": "must be an object, not {kind}",
    "model_attributes_type": "must be an object, not {kind}",
    "finite_number": "must be a finite number",
    "greater_than_equal": "must be {ge} or more",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be {le} or less",
    "less_than": "must be less than {lt}",
    "too_short": "must have {min_length} or more values",
    "too_long": "must have at most {max_length} values",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have at most {max_length} characters",
    "int_parsing_size": "must be a smaller number",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_unicode": "has an unpaired surrogate: it must be text that UTF-8 can encode",
    "missing": "is required",
}
"""By pydantic's error type, with the names of its context. `kind` is the JSON type of the value."""


def describe_fault(item: Any, ours: Container[str]) -> str:
    """An item of `ValidationError.errors()` as a sentence: the field, the allowed values, and the type of the value.

    Args:
        ours: keys that may be repeated. Other keys within a field can be a caller's text.
    """
    first, *inner = item["loc"] or ("",)
    field = ".".join([str(first), *(str(part) for part in inner if isinstance(part, int) or part in ours)])
    kind, value = item["type"], item.get("input")
    if kind in ("too_short", "too_long") and isinstance(value, str):
        kind = f"string_{kind}"
    if kind in MESSAGES:
        limits = {name: _plain(limit) for name, limit in (item.get("ctx") or {}).items()}
        what = MESSAGES[kind].format_map({"kind": json_kind(value), **limits})
    elif kind in (OURS, "value_error"):
        what = str(item["msg"]).removeprefix("Value error, ")
    else:
        what = f"must not be this value, {json_kind(value)}"
    return f"'{field}' {what}" if field else f"The request {what}"


def _plain(value: Any) -> Any:
    """A bound without needless decimals: 1, not 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_PLAIN else value


def json_kind(value: Any) -> str:
    """A value's type, in JSON's terms."""
    if isinstance(value, float) and not value.is_integer():
        return "a fraction"
    return KINDS.get(type(value), "an object")


class NotJson(InvalidRequest):
    """The text is not JSON."""


class _NoNumber(ValueError):
    """A word that Python reads as a number: NaN, Infinity or -Infinity."""


def refuse_constant(word: str) -> NoReturn:
    """Refuse NaN and infinities; `parse_constant` of json.loads."""
    raise _NoNumber(word)


def json_fault(error: Exception, what: str) -> InvalidRequest:
    """The error for a text that json.loads could not read."""
    match error:
        case json.JSONDecodeError():
            place = f"line {error.lineno}, column {error.colno}"
            return NotJson(f"{what} is not valid JSON ({place}): it must be a JSON object.")
        case RecursionError():
            return too_deep(what)
        case _NoNumber():
            return NotJson(f"{what} is not valid JSON: {error} is not a JSON number.")
        case _:  # too many digits for Python's integers
            most = f"{sys.get_int_max_str_digits():,}"
            return InvalidRequest(f"{what} has a number of more than {most} digits.")


def too_deep(what: str) -> InvalidRequest:
    """The error for JSON that is nested too deep."""
    return InvalidRequest(f"{what} is nested too deep: lists and objects may have {MOST_LEVELS} levels.")


def is_deep(value: Any, levels: int = MOST_LEVELS) -> bool:
    """Whether lists and objects are nested in more than `levels` levels."""
    if not isinstance(value, _NESTS):
        return False
    inner = value.values() if isinstance(value, dict) else value  # a vector has thousands: no call for each
    return levels == 0 or any(is_deep(each, levels - 1) for each in inner if isinstance(each, _NESTS))
