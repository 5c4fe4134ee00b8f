"""Seed 001's rules for a query, its results, the collection and the errors."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config import profiles, validation
from handler.core.model import CollectionInfo
from unit.asking import answered, ask, assert_published, code_of, refusal
from unit.strategies import anything, bounded, hits, huge, passages, wild, words

NAME = "vector-search"
PROFILE = profiles.load(NAME)
DIMENSION = PROFILE.collection.dimension


@given(size=st.integers(DIMENSION - 2, DIMENSION + 2) | st.integers(0, 3) | st.just(768))
@bounded
def test_a_query_vector_has_1024_dimensions(size: int) -> None:
    assert DIMENSION == 1024
    if size == DIMENSION:
        assert answered(NAME, [], query_vector=[0.5] * size)["results"] == []
    else:
        assert code_of(refusal(NAME, query_vector=[0.5] * size)) == "DIMENSION_MISMATCH"


@given(value=st.none() | st.booleans() | wild | st.sampled_from([1e39, -1e300, float("nan"), float("inf"), [0.5]]))
@bounded
def test_a_query_vector_holds_numbers_that_a_vector_can_hold(value: Any) -> None:
    assert code_of(refusal(NAME, query_vector=[*[0.5] * (DIMENSION - 1), value])) == "INVALID_PARAMETER"


@given(text=words)
@bounded
def test_a_question_is_either_in_words_or_a_vector(text: str) -> None:
    vector = [0.5] * DIMENSION
    for fields in ({"query_text": text, "query_vector": vector}, {"query_text": None}, {}):
        error = refusal(NAME, **fields)
        assert code_of(error) == "INVALID_PARAMETER"
        assert error["error"]["message"] == "Send exactly one of 'query_text' and 'query_vector'."


@given(name=wild.filter(bool))
@bounded
def test_only_served_collections_are_accepted(name: str) -> None:
    answer = ask(NAME, {"query_text": "question", "collection_name": name})
    if name in ("textbook_embeddings", "rag_embeddings"):
        assert answer.json["collection_name"] == name
    else:
        assert answer.status in (400, 404)
        assert not answer.embedded
        assert code_of(answer.json) in ("COLLECTION_NOT_FOUND", "INVALID_PARAMETER")


@given(field=wild, value=wild | st.integers())
@bounded
def test_a_filter_is_on_a_declared_field(field: str, value: Any) -> None:
    answer = ask(NAME, {"query_text": "question", "filters": {field: value}})
    if answer.status == 200:
        assert field in PROFILE.filters
    else:
        assert code_of(answer.json) == "INVALID_PARAMETER"


@given(value=anything | huge)
@bounded
def test_filter_value_is_text_or_int64_or_a_list_of_them(value: Any) -> None:
    field = next(iter(PROFILE.filters))
    answer = ask(NAME, {"query_text": "question", "filters": {field: value}})
    assert_published(NAME, answer)
    if answer.status == 200:
        (values,) = answer.searches[0].filters.values()
        assert list(values) == (value if isinstance(value, list) else [value])
        assert all(isinstance(item, str) or -(2**63) <= item < 2**63 for item in values)
    else:
        assert code_of(answer.json) == "INVALID_PARAMETER"


@given(held=passages(PROFILE))
@bounded
def test_results_carry_their_payload_and_no_vector_unless_asked(held: list[Hit]) -> None:
    usual = answered(NAME, held, top_k=100)["results"]
    assert [result["payload"] for result in usual] == [hit.payload for hit in held]
    assert all(result["vector"] is None and result["retrieval_time_ms"] >= 0 for result in usual)
    assert all(result["payload"] == {} for result in answered(NAME, held, with_payload=False)["results"])
    assert ask(NAME, {"query_text": "question", "with_vectors": True}).searches[0].with_vectors


@given(held=hits(PROFILE))
@bounded
def test_every_result_has_a_valid_id_that_occurs_once(held: list[Hit]) -> None:
    identities = [result["id"] for result in answered(NAME, held, top_k=100)["results"]]
    assert len(set(map(str, identities))) == len(identities)
    for identity in identities:
        assert str(identity) in [str(hit.id) for hit in held]
        if isinstance(identity, int):
            assert 0 <= identity < 2**53, "JavaScript rounds larger numbers"
        else:
            assert int(identity) >= 2**53 if identity.isdigit() else UUID(identity)


@given(held=hits(PROFILE))
@bounded
def test_result_payload_has_the_stored_text_and_url(held: list[Hit]) -> None:
    keys = PROFILE.payload
    for result in answered(NAME, held, top_k=100)["results"]:
        for meaning in ("text", "url"):
            tops = {key.split(".")[0] for key in keys.keys(meaning)} | set(keys.keys(meaning))
            assert tops & result["payload"].keys()


@pytest.mark.parametrize("number", [0.0, 1e-30, -1e-5], ids=["zeros", "denormal", "short"])
def test_query_vector_that_cannot_be_compared_is_400(number: float) -> None:
    message = refusal(NAME, query_vector=[number] * DIMENSION)["error"]["message"]
    assert "'query_vector' cannot be compared" in message


def test_collection_that_is_empty_or_red_is_a_problem() -> None:
    empty = CollectionInfo("textbook_embeddings", DIMENSION, "Cosine", 0, 0, "green")
    red = CollectionInfo("textbook_embeddings", DIMENSION, "Cosine", 5, 5, "red")
    assert "is empty" in str(*validation.problems(PROFILE, empty))
    assert "red" in str(*validation.problems(PROFILE, red))


@given(size=st.integers(1, 4_096))
def test_query_vector_size_must_match_the_collection(size: int) -> None:
    info = CollectionInfo("textbook_embeddings", size, "Cosine", 1, 1, "green")
    assert bool(validation.problems(PROFILE, info)) == (size != DIMENSION)
