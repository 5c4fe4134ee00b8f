"""An error about a field names the field, its allowed values, and the type of the wrong value."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.config import profiles
from handler.contracts import registry
from handler.core.errors import InvalidRequest
from handler.entrypoints.http.gateways import payload_2_event
from passage.local.http_event import http_api_event
from unit.strategies import at_most

VECTOR_SEARCH = profiles.load("vector-search")
PYDANTIC = re.compile(
    r"input should|valid \w|pydantic|instance of|dictionary|constrained|function-|literal|\[type|type=|union|"
    r"\bstr\b|\bint\b|\bbool\b|\bfloat\b|\bdict\b|NoneType|errors\.pydantic",
    re.IGNORECASE,
)


def refusal(name: str, fields: dict[str, Any]) -> str:
    profile = profiles.load(name)
    with pytest.raises(InvalidRequest) as caught:
        registry.find(profile).parse(fields, profile)
    return str(caught.value)


OBJECT = "or an object with gt, gte, lt or lte, or with prefix"
ALLOWED = f"must be text, a whole number, a list of 1 to 100 of these, {OBJECT}, not "


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"above": 5}, f"must be text, a whole number, a list of 1 to 100 of these, {OBJECT}"),
        ({}, f"must be text, a whole number, a list of 1 to 100 of these, {OBJECT}"),
        ({"gt": 5, "prefix": "a"}, f"must be text, a whole number, a list of 1 to 100 of these, {OBJECT}"),
        ({"gt": "soon"}, "'gt' must be a number from -2^63 to 2^63, or a date or time as in 2026-01-31T12:00:00Z"),
        ({"lte": 2**64}, "'lte' must be a number from -2^63 to 2^63, or a date"),
        ({"gt": 1, "lt": "2026-01-31"}, "must not mix bounds that are numbers with bounds that are times"),
        ({"prefix": ""}, "'prefix' must be text of 1 to 1,000 characters"),
        ({"prefix": 7}, "'prefix' must be text of 1 to 1,000 characters"),
        ({"gt": 5}, "is text: send a value, a list of values, or a prefix"),
        (True, ALLOWED + "true or false"),
        (None, ALLOWED + "null"),
        (1.5, ALLOWED + "a fraction"),
        (["a", True], ALLOWED + "a list with true or false"),
        ([5.0, {}], ALLOWED + "a list with an object"),
        ([["a"]], ALLOWED + "a list with a list"),
        ([], "must be a list of 1 to 100 values, not of 0"),
        (["a"] * 101, "must be a list of 1 to 100 values, not of 101"),
        (2**63, "accepts whole numbers from -2^63 to 2^63 - 1"),
        ([1, -(2**63) - 1], "accepts whole numbers from -2^63 to 2^63 - 1"),
        ("\ud800", "has an unpaired surrogate"),
    ],
)
def test_wrong_filter_value_names_field_kind_and_what_is_allowed(value: object, says: str) -> None:
    message = refusal("vector-search", {"query_text": "twin", "filters": {"source_url": value}})
    assert message.startswith(f"'filters.source_url' {says}")
    assert message.count("'filters") == 1, "one sentence, not one for each form"


def test_undeclared_filter_field_is_not_repeated() -> None:
    message = refusal("vector-search", {"query_text": "twin", "filters": {"caller's own words": {}}})
    assert message.startswith("'filters' must be text")
    assert "caller" not in message


@pytest.mark.parametrize("value", ["a", 7, 7.0, ["a", 7], [7.0]])
def test_valid_filter_value_is_accepted(value: object) -> None:
    fields = {"query_text": "twin", "filters": {"chunk_id": value}}
    registry.find(VECTOR_SEARCH).parse(fields, VECTOR_SEARCH)


@pytest.mark.parametrize(
    ("name", "fields", "says"),
    [
        ("query-response", {"text": 5}, "'text' must be text, not a number"),
        ("query-response", {"text": "a", "k": "5"}, "'k' must be a whole number, not text"),
        ("query-response", {"text": "a", "k": 2.5}, "'k' must be a whole number, not a fraction"),
        ("query-response", {}, "'text' is required"),
        ("vector-search", {"query_vector": {"a": 1}}, "'query_vector' must be a list, not an object"),
        ("vector-search", {"query_vector": [0.5, "a"]}, "'query_vector.1' must be a number, not text"),
        ("vector-search", {"query_text": "a", "score_threshold": 2}, "'score_threshold' must be 1 or less"),
        ("vector-search", {"query_text": "a", "filters": [1]}, "'filters' must be an object, not a list"),
        ("vector-search", {"query_text": "a", "with_vectors": "yes"}, "'with_vectors' must be true or false, not text"),
        ("chunks", {"query_text": "a", "threshold": "high"}, "'threshold' must be a number, not text"),
    ],
)
def test_wrong_field_says_what_it_must_be(name: str, fields: dict[str, Any], says: str) -> None:
    assert says in refusal(name, fields)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("name", profiles.names())
@given(data=st.data())
@settings(max_examples=at_most(150))
def test_no_refusal_has_a_term_of_pydantics(name: str, data: st.DataObject) -> None:
    profile = profiles.load(name)
    contract = registry.find(profile)
    keys = [*contract.request_model.model_fields, *profile.query.text.names, *profile.query.count.names]
    fields = data.draw(st.dictionaries(st.sampled_from(keys), ANYTHING, max_size=4))
    if data.draw(st.booleans()):
        fields["filters"] = data.draw(st.dictionaries(st.sampled_from(["source_url", "chunk_id"]), ANYTHING))
    message = ""
    try:
        contract.parse(fields, profile)
    except InvalidRequest as error:
        message = str(error)
    assert not PYDANTIC.search(message), message


@pytest.mark.parametrize(("part", "value"), [("body", {"text": "twin"}), ("rawPath", None), ("headers", 5)])
def test_event_with_a_wrong_part_is_named_by_its_own_keys(part: str, value: Any) -> None:
    event = {**http_api_event("POST", "/query", body=b"{}"), part: value}
    with pytest.raises(InvalidRequest, match=f"'{part}'") as caught:
        payload_2_event(event)
    assert not PYDANTIC.search(str(caught.value)), str(caught.value)
    assert "twin" not in str(caught.value)
