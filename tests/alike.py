"""Compares answers to the same question from different times."""

import json
from typing import Any

import pytest

OF_THE_MOMENT = ("timestamp", "query_id", "apiRequestId")
"""Fields that no two answers share, beside those that end in `_time_ms`."""


def alike(one: Any, other: Any, *, words: bool = True) -> None:
    """Assert that two answers are the same, except for times and for score differences below float32 precision.

    Args:
        words: whether errors say the same, too.
    """
    one, other = _parsed(one), _parsed(other)
    assert type(one) is type(other), (one, other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            if name in OF_THE_MOMENT or name.endswith("_time_ms"):
                continue
            if words or not (name == "message" or (name == "error" and isinstance(one[name], str))):
                alike(one[name], other[name], words=words)
    elif isinstance(one, list):
        assert len(one) == len(other)
        for first, second in zip(one, other, strict=True):
            alike(first, second, words=words)
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=1e-5)
    else:
        assert one == other


def _parsed(value: Any) -> Any:
    """A body as JSON; text that is only a number stays text."""
    if isinstance(value, str) and value.startswith(("{", "[")):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
