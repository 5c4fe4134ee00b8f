"""Seed 000's rules for its query, its response and its errors; its integrity guarantees are in test_integrity."""

from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from handler.config import profiles
from unit.asking import answered, refusal
from unit.strategies import bounded, passages, words

NAME = "query-response"
PROFILE = profiles.load(NAME)


@given(held=passages(PROFILE), stored=st.integers(0, 50))
@bounded
def test_a_chunk_id_is_the_points_id_and_the_chunks_index(held: list[Any], stored: int) -> None:
    for hit in held:
        hit.payload["chunk_index"] = stored
    body = answered(NAME, held, k=100)
    assert [result["chunk_id"] for result in body["results"]] == [f"{hit.id}_{stored}" for hit in held]


@given(text=words, k=st.integers(1, 100))
@bounded
def test_an_answer_repeats_the_question_and_the_count_as_sent(text: str, k: int) -> None:
    body = answered(NAME, [], text=text, k=k)
    assert (body["query"], body["k"]) == (text, k)


@given(held=passages(PROFILE))
@bounded
def test_timestamps_are_iso_8601_in_utc(held: list[Any]) -> None:
    for body in (answered(NAME, held), refusal(NAME, text=" ")):
        assert body["timestamp"].endswith("Z")
        assert datetime.fromisoformat(body["timestamp"]).utcoffset() is not None


@given(held=passages(PROFILE), text=words)
@bounded
def test_each_query_is_independent_of_the_one_before(held: list[Any], text: str) -> None:
    first = answered(NAME, held, text=text)
    answered(NAME, [], text="another")
    assert answered(NAME, held, text=text) | {"timestamp": first["timestamp"]} == first
