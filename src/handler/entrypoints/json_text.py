"""Reads JSON from callers and names its faults."""

import json
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

from handler.core.errors import InvalidRequest


class NotJson(InvalidRequest):
    """The text does not follow JSON's grammar at all."""


MOST_LEVELS = 100
"""How deep lists and objects may be nested. Python's limit differs by version and also breaks later code."""

BYTE_ORDER_MARK = "\ufeff"
"""Editors on Windows put this character before a file's text."""


def read_object(text: str, what: str) -> dict[str, Any]:
    """The fields of a JSON object.

    Args:
        what: what holds the text, as a message begins: "The body".

    Raises:
        NotJson: it does not follow JSON's grammar.
        InvalidRequest: it is not an object, is nested too deep, or holds a number that is too long.
    """
    fields = read_json(text, what)
    if not isinstance(fields, dict):
        raise InvalidRequest(f"{what} is JSON, but not an object: it must be one with the question in a field.")
    return fields


def read_json(text: str, what: str) -> Any:
    """Any JSON value; `what` and the errors are those of `read_object`."""
    try:
        value = json.loads(text.removeprefix(BYTE_ORDER_MARK), parse_constant=_refuse)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise NotJson(f"{what} is not valid JSON ({place}): it must be a JSON object.") from None
    except RecursionError:
        raise _too_deep(what) from None
    except _NoNumber as error:
        raise NotJson(f"{what} is not valid JSON: {error} is not a JSON number.") from None
    except ValueError:  # Python's limit on the digits of an integer
        most = f"{sys.get_int_max_str_digits():,}"
        raise InvalidRequest(f"{what} has a number of more than {most} digits.") from None
    if text.count("[") + text.count("{") > MOST_LEVELS and _is_deep(value):
        raise _too_deep(what)
    return value


class _NoNumber(Exception):
    """A word that Python reads as a number: NaN, Infinity or -Infinity."""


def _refuse(word: str) -> NoReturn:
    raise _NoNumber(word)


def _too_deep(what: str) -> InvalidRequest:
    return InvalidRequest(f"{what} is nested too deep: lists and objects may have {MOST_LEVELS} levels.")


def _is_deep(value: Any) -> bool:
    level = _nested([value])
    for _ in range(MOST_LEVELS):
        level = [inner for outer in level for inner in _nested(outer.values() if isinstance(outer, dict) else outer)]
    return bool(level)


def _nested(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]
