"""What is wrong with a request's field, in plain words: pydantic's own reach no caller."""

from collections.abc import Container, Mapping
from typing import Any

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
