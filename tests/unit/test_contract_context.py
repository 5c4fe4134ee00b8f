"""Seed 002's rules for a query, the retrieved chunks and the assembled context."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config import profiles
from handler.core import errors
from unit.asking import answered, ask, refusal
from unit.strategies import bounded, hits, huge, passages, words
from unit.test_contract_query_response import blank, not_an_integer

NAME = "context"
PROFILE = profiles.load(NAME)
OPTIONAL = ("chapter", "section", "title")


@given(text=blank)
@bounded
def test_text_is_not_empty_or_only_white_space(text: str) -> None:
    assert refusal(NAME, text=text)["code"] == "EMPTY_QUERY"


@given(length=st.integers(990, 1_010))
@bounded
def test_text_has_at_most_1000_characters(length: int) -> None:
    answer = ask(NAME, {"text": "é" * length})
    assert answer.status == (200 if length <= 1_000 else 400)
    assert length <= 1_000 or answer.json["code"] == "INVALID_QUERY"


@given(k=st.integers(-5, 20) | huge)
@bounded
def test_k_is_moved_into_3_to_8(k: int) -> None:
    assert ask(NAME, {"text": "question", "k": k}).searches[0].top_k == min(max(k, 3), 8)


@given(k=not_an_integer)
@bounded
def test_k_is_an_integer(k: Any) -> None:
    assert refusal(NAME, text="question", k=k)["code"] == "INVALID_QUERY"


def test_k_is_5_when_it_is_left_out() -> None:
    assert ask(NAME, {"text": "question"}).searches[0].top_k == 5


@given(held=hits(PROFILE))
@bounded
def test_every_chunk_has_text_score_source_index_and_id(held: list[Hit]) -> None:
    for chunk in answered(NAME, held)["chunks"]:
        assert chunk["text"].strip()
        assert chunk["source_url"].strip()
        assert chunk["chunk_id"].strip()
        assert 0 <= chunk["score"] <= 1
        assert chunk["chunk_index"] >= 0
        assert all(isinstance(chunk[name], str) for name in OPTIONAL)


@given(held=passages(PROFILE, max_size=8), chapter=words, section=words, title=words, number=st.integers(0, 99))
@bounded
def test_every_field_but_the_score_is_the_payloads(
    held: list[Hit], chapter: str, section: str, title: str, number: int
) -> None:
    stored = {"chapter": chapter, "section": section, "title": title, "chunk_index": number, "chunk_id": f"c{number}"}
    held = [replace(hit, payload={**(hit.payload or {}), **stored}) for hit in held]
    for chunk, hit in zip(answered(NAME, held, k=8)["chunks"], held, strict=True):
        assert {name: value for name, value in chunk.items() if name != "score"} == hit.payload
        assert chunk["score"] == max(0.0, min(1.0, hit.score))


@given(held=hits(PROFILE), k=st.integers(3, 8), text=words)
@bounded
def test_count_is_the_number_of_chunks_and_at_most_k(held: list[Hit], k: int, text: str) -> None:
    body = answered(NAME, held, text=text, k=k)
    assert body["count"] == len(body["chunks"]) <= k
    assert (body["query"], body["collection"]) == (text, "textbook_chunks")


def test_no_match_is_count_0_and_an_empty_context() -> None:
    body = answered(NAME, [])
    assert (body["count"], body["chunks"]) == (0, [])
    assert body["context"] == {"formatted_text": "", "chunk_count": 0, "total_chars": 0, "sources": []}


@given(held=passages(PROFILE), k=st.integers(3, 8), budget=st.none() | st.integers(1, 600))
@bounded
def test_the_contexts_counts_are_those_of_its_text(held: list[Hit], k: int, budget: int | None) -> None:
    body = answered(NAME, held, k=k, **({} if budget is None else {"max_chars": budget}))
    made = body["context"]
    assert made["total_chars"] == len(made["formatted_text"])
    assert 0 <= made["chunk_count"] <= body["count"]
    assert budget is not None or made["chunk_count"] == body["count"]
    kept = body["chunks"][: made["chunk_count"]]
    assert made["sources"] == list(dict.fromkeys(chunk["source_url"] for chunk in kept))
    for number, chunk in enumerate(kept, start=1):
        assert (
            f"[Result {number}] Score: {chunk['score']:.2f}\nSource: {chunk['source_url']}\n" in made["formatted_text"]
        )
        assert chunk["text"] in made["formatted_text"]


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (errors.UpstreamUnavailable("down", upstream="store", retry_after=100), "CONNECTION_ERROR"),
        (errors.DeadlineExceeded("late", upstream="store"), "CONNECTION_ERROR"),
        (errors.CollectionNotFound("ours", upstream="store"), "COLLECTION_NOT_FOUND"),
        (errors.UpstreamThrottled("busy", upstream="store", retry_after=100), "RATE_LIMIT"),
    ],
)
def test_an_error_has_the_code_of_its_trigger(failure: errors.PassageError, code: str) -> None:
    body = ask(NAME, {"text": "question"}, store_failure=failure).json
    assert body.keys() == {"code", "message", "details"}
    assert body["code"] == code
