"""Seed 000's rules for its query, its response and its errors; its integrity guarantees are in test_integrity."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.config import profiles
from handler.core import errors
from unit.asking import answered, ask, refusal
from unit.strategies import anything, bounded, huge, passages, scores, words

NAME = "query-response"
PROFILE = profiles.load(NAME)
blank = st.text(st.sampled_from(" \t\n\r\v\f\u00a0\u2003\u3000"), max_size=20)


def _is_integer(value: Any) -> bool:
    """Whether JSON Schema calls the value an integer: 5.0 is one, true is not."""
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


not_an_integer = anything.filter(lambda value: value is not None and not _is_integer(value))


@given(text=blank)
@bounded
def test_text_is_not_empty_after_trimming(text: str) -> None:
    assert refusal(NAME, text=text)["code"] == "INVALID_INPUT"


@given(length=st.integers(9_990, 10_010), character=st.sampled_from(["a", "é", "🤖"]))
@bounded
def test_text_has_at_most_10_000_characters(length: int, character: str) -> None:
    answer = ask(NAME, {"text": character * length})
    assert answer.status == (200 if length <= 10_000 else 400)


@given(k=st.integers(-5, 110) | huge)
@bounded
def test_k_is_from_1_to_100(k: int) -> None:
    if 1 <= k <= 100:
        assert answered(NAME, [], k=k)["k"] == k
    else:
        assert refusal(NAME, text="question", k=k)["code"] == "INVALID_INPUT"


@given(k=not_an_integer)
@bounded
def test_k_is_an_integer(k: Any) -> None:
    assert refusal(NAME, text="question", k=k)["code"] == "INVALID_INPUT"


def test_k_is_5_when_it_is_left_out() -> None:
    assert answered(NAME, [])["k"] == 5


@given(held=passages(PROFILE), stored=st.integers(0, 50))
@bounded
def test_a_chunk_id_is_the_points_id_and_the_chunks_index(held: list[Any], stored: int) -> None:
    for hit in held:
        hit.payload["chunk_index"] = stored
    body = answered(NAME, held, k=100)
    assert [result["chunk_id"] for result in body["results"]] == [f"{hit.id}_{stored}" for hit in held]


@given(held=passages(PROFILE), found=st.lists(scores, min_size=12, max_size=12))
@bounded
def test_a_relevance_score_is_from_0_to_1(held: list[Any], found: list[float]) -> None:
    body = answered(NAME, [replace(hit, score=score) for hit, score in zip(held, found, strict=False)], k=100)
    assert all(0 <= result["relevance_score"] <= 1 for result in body["results"])


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


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (errors.UpstreamUnavailable("down", upstream="store", retry_after=100), "SERVICE_UNAVAILABLE"),
        (errors.UpstreamThrottled("busy", upstream="store", retry_after=100), "SERVICE_UNAVAILABLE"),
        (errors.DeadlineExceeded("late", upstream="store"), "SERVICE_UNAVAILABLE"),
        (errors.CollectionNotFound("ours", upstream="store"), "INTERNAL_ERROR"),
        (RuntimeError("unhandled"), "INTERNAL_ERROR"),
    ],
)
@pytest.mark.parametrize("service", ["embedding_failure", "store_failure"])
def test_an_error_has_the_code_of_its_trigger(failure: Any, code: str, service: str) -> None:
    body = ask(NAME, {"text": "question"}, **{service: failure}).json
    assert body.keys() == {"error", "code", "timestamp"}
    assert body["code"] == code
    assert body["error"]
