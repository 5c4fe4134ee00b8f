"""The values a filter accepts: text, a whole number, or a list of these."""

from typing import Annotated, Any

from pydantic import Field, StrictInt, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from handler.contracts.faults import OURS, json_kind
from handler.contracts.fields import WHOLE, Text

Long = Annotated[StrictInt, Field(ge=-(2**63), lt=2**63), WHOLE]
"""A 64-bit integer, the type that Qdrant compares."""

Value = Text | Long

MOST_VALUES = 100


def _filter_value(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """Report one error for a value. Pydantic would report one for each type of the union."""
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError(OURS, "{fault}", {"fault": _filter_fault(value)}) from None


def _filter_fault(value: Any) -> str:
    items = value if isinstance(value, list) else [value]
    if not 1 <= len(items) <= MOST_VALUES:
        return f"must be a list of 1 to {MOST_VALUES} values, not of {len(items)}"
    kind = next((kind for kind in map(_refused_kind, items) if kind), "")
    if kind:
        within = "a list with " if isinstance(value, list) else ""
        return f"must be text, a whole number, or a list of 1 to {MOST_VALUES} of these, not {within}{kind}"
    if any(isinstance(item, str) and not _is_utf8(item) for item in items):
        return "has an unpaired surrogate: it must be text that UTF-8 can encode"
    return "accepts whole numbers from -2^63 to 2^63 - 1"


def _refused_kind(item: Any) -> str:
    """The JSON type of a value that a filter refuses; empty for text and whole numbers."""
    whole = isinstance(item, float) and item.is_integer()
    return "" if whole or (isinstance(item, str | int) and not isinstance(item, bool)) else json_kind(item)


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


FilterValue = Annotated[
    Value | Annotated[list[Value], Field(min_length=1, max_length=MOST_VALUES)], WrapValidator(_filter_value)
]
