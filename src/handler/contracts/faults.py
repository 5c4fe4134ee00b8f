"""What is wrong with a caller's JSON or with one of its fields, in plain words. No pydantic term reaches a caller."""

import json
import sys
from collections.abc import Container, Iterable, Mapping
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

MOST_LEVELS = 100
"""How deep lists and objects may be nested. Python's own limit differs by version, and ends later code, too."""

TAKES: Mapping[str, str] = {
    "string_type": "takes text",
    "int_type": "takes a whole number",
    "int_from_float": "takes a whole number",
    "float_type": "takes a number",
    "bool_type": "takes true or false",
    "list_type": "takes a list",
    "dict_type": "takes an object",
    "model_type": "takes an object",
    "model_attributes_type": "takes an object",
}
"""By pydantic's type of error, for a value of the wrong kind."""

BOUNDS: Mapping[str, str] = {
    "finite_number": "takes a finite number",
    "greater_than_equal": "takes {ge} or more",
    "greater_than": "takes more than {gt}",
    "less_than_equal": "takes {le} or less",
    "less_than": "takes less than {lt}",
    "too_short": "takes {min_length} or more values",
    "too_long": "takes at most {max_length} values",
    "string_too_short": "takes {min_length} or more characters",
    "string_too_long": "takes at most {max_length} characters",
    "int_parsing_size": "takes a smaller number",
    "literal_error": "takes {expected}",
    "enum": "takes {expected}",
    "string_unicode": "holds an unpaired surrogate: it takes text that UTF-8 can carry",
    "missing": "is required",
}
"""The same, for a value that is absent or outside its bounds."""


def explained(item: Any, ours: Container[str]) -> str:
    """One sentence about one of pydantic's errors: the field, what it takes, and the kind of value that came.

    Args:
        item: from `ValidationError.errors()`, with its input.
        ours: keys that may be repeated; all others within a field can be a caller's own words.
    """
    first, *inner = item["loc"] or ("",)
    field = ".".join([str(first), *(str(part) for part in inner if isinstance(part, int) or part in ours)])
    kind, context = item["type"], item.get("ctx") or {}
    if kind in TAKES:
        what = f"{TAKES[kind]}, not {json_kind(item.get('input'))}"
    elif kind in BOUNDS:
        what = BOUNDS[kind].format_map({name: _plain(value) for name, value in context.items()})
    elif kind in (OURS, "value_error"):
        what = str(item["msg"]).removeprefix("Value error, ")
    else:
        what = f"does not take this value, {json_kind(item.get('input'))}"
    return f"'{field}' {what}" if field else f"The request {what}"


def _plain(value: Any) -> Any:
    """A bound as people write it: 1, not 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_PLAIN else value


def json_kind(value: Any) -> str:
    """What JSON calls a value."""
    if isinstance(value, float) and not value.is_integer():
        return "a fraction"
    return KINDS.get(type(value), "an object")


class NotJson(InvalidRequest):
    """The text does not follow JSON's grammar at all."""


class _NoNumber(ValueError):
    """A word that Python reads as a number: NaN, Infinity or -Infinity."""


def refuse_constant(word: str) -> NoReturn:
    """For json.loads: refuse what only Python calls a number."""
    raise _NoNumber(word)


def json_fault(error: Exception, what: str) -> InvalidRequest:
    """What is wrong with a text that json.loads could not read."""
    match error:
        case json.JSONDecodeError():
            place = f"line {error.lineno}, column {error.colno}"
            return NotJson(f"{what} is not valid JSON ({place}): it must be a JSON object.")
        case RecursionError():
            return too_deep(what)
        case _NoNumber():
            return NotJson(f"{what} is not valid JSON: {error} is not a JSON number.")
        case _:  # Python's limit on the digits of an integer
            most = f"{sys.get_int_max_str_digits():,}"
            return InvalidRequest(f"{what} has a number of more than {most} digits.")


def too_deep(what: str) -> InvalidRequest:
    """The error for JSON of too many levels."""
    return InvalidRequest(f"{what} is nested too deep: lists and objects may have {MOST_LEVELS} levels.")


def is_deep(value: Any) -> bool:
    """Whether lists and objects are nested in more than `MOST_LEVELS` levels."""
    level = _nested([value])
    for _ in range(MOST_LEVELS):
        level = [inner for outer in level for inner in _nested(outer.values() if isinstance(outer, dict) else outer)]
    return bool(level)


def _nested(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]
