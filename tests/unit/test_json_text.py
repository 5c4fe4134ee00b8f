"""JSON from callers: valid forms are read, and errors name each fault."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.contracts.faults import MOST_LEVELS
from handler.contracts.fields import read_json, read_object
from handler.core.errors import InvalidRequest

FAULTS = {
    "a bracket alone": ("{", "The body is not valid JSON (line 1, column 2)"),
    "a later line": ('{\n"text": twin}', "(line 2, column 9)"),
    "a number of 5,000 digits": ('{"k": ' + "9" * 5_000 + "}", "a number of more than 4,300 digits"),
    "a list in 10,000 others": ("[" * 10_000 + "]" * 10_000, "nested too deep: lists and objects may have 100 levels"),
    "an object in 100 others": ('{"a":' * 101 + "1" + "}" * 101, "nested too deep"),
    "a list never closed": ("[" * 100_000, "The body is n"),
    "NaN": ('{"k": NaN}', "NaN is not a JSON number"),
    "infinity": ('{"k": -Infinity}', "-Infinity is not a JSON number"),
    "two marks": ('\ufeff\ufeff{"k": 1}', "not valid JSON"),
    "a list": ("[]", "is JSON, but not an object"),
    "text": ('"text"', "is JSON, but not an object"),
    "null": ("null", "is JSON, but not an object"),
}


@pytest.mark.parametrize(("text", "says"), FAULTS.values(), ids=FAULTS.keys())
def test_fault_is_named(text: str, says: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_object(text, "The body")
    assert says in str(caught.value)
    assert len(str(caught.value)) < 200


def test_byte_order_mark_is_read_over() -> None:
    assert read_object('\ufeff{"text": "twin"}', "The body") == {"text": "twin"}


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_deepest_allowed_value_is_read(opening: str, closing: str) -> None:
    text = opening * MOST_LEVELS + "1" + closing * MOST_LEVELS
    assert read_json(text, "The body") == json.loads(text)


def test_many_brackets_side_by_side_are_read() -> None:
    assert len(read_json("[" + "[]," * 500 + "{}]", "The body")) == 501


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_any_json_is_read_unchanged(value: Any, mark: bool) -> None:
    assert read_json("\ufeff" * mark + json.dumps(value), "The body") == value


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except ValueError:
        with pytest.raises(InvalidRequest):
            read_json(text, "The message")
