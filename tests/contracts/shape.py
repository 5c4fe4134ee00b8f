"""Checks a record for exactly the given fields, each of exactly its type."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

Check = Callable[[Any], bool]
Stored = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""The store's points: a collection's name, to a point's id as text, to its payload."""


def record(value: Any, fields: Mapping[str, Check]) -> None:
    """Check that `value` is an object with exactly these fields, each of its type."""
    assert isinstance(value, dict)
    assert value.keys() == fields.keys()
    for name, check in fields.items():
        assert check(value[name]), f"{name} is {value[name]!r}"


def text(value: Any) -> bool:
    return isinstance(value, str)


def filled(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def whole_number(value: Any) -> bool:
    """An integer as in JSON Schema, which includes 5.0."""
    return whole(value) or (isinstance(value, float) and value.is_integer())


def natural(value: Any) -> bool:
    return whole(value) and value >= 0


def duration(value: Any) -> bool:
    """Milliseconds as a float."""
    return isinstance(value, float) and value >= 0


def similarity(value: Any) -> bool:
    return isinstance(value, float) and 0 <= value <= 1


def items(value: Any) -> bool:
    return isinstance(value, list)


def anything(_: Any) -> bool:
    return True


def one_of(*allowed: str) -> Check:
    return lambda value: value in allowed


def web_address(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://")) and " " not in value


def moment(value: Any) -> bool:
    """ISO 8601, in UTC, ending in Z."""
    if not isinstance(value, str) or not value.endswith("Z"):
        return False
    return datetime.fromisoformat(value).astimezone(UTC).year >= 2020


def encodable(value: str) -> bool:
    """Whether UTF-8 can encode it: an unpaired surrogate cannot."""
    return value == value.encode("utf-8", "replace").decode()


def descending(scores: Sequence[float]) -> bool:
    return all(earlier >= later for earlier, later in itertools.pairwise(scores))


def sent(asked: Mapping[str, Any], *names: str) -> Any:
    """A request's value under any of the names; None without one."""
    return next((asked[name] for name in names if name in asked), None)
