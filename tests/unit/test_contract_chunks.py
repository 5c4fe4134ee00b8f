"""Seed 004's rules for a request, the retrieved chunks and the response."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config import profiles
from handler.core import errors
from passage.indexing.chunks import MAX_CHARACTERS, cut
from passage.sites.model import Page, Section
from unit.asking import answered, ask, assert_published, refusal
from unit.strategies import anything, bounded, hits, huge, not_addresses, passages, times, words
from unit.test_contract_query_response import blank, not_an_integer

NAME = "chunks"
PROFILE = profiles.load(NAME)
METADATA = {"position", "chunk_id", "created_at"}


def code(body: dict[str, Any]) -> str:
    found: str = body["error"]["code"]
    return found


@given(text=blank)
@bounded
def test_query_text_is_not_empty(text: str) -> None:
    assert code(refusal(NAME, query_text=text)) == "INVALID_QUERY"


@given(length=st.integers(1_990, 2_010))
@bounded
def test_query_text_has_at_most_2000_characters(length: int) -> None:
    assert ask(NAME, {"query_text": "é" * length}).status == (200 if length <= 2_000 else 400)


@given(top_k=st.integers(-5, 30) | huge)
@bounded
def test_top_k_is_from_1_to_20(top_k: int) -> None:
    if 1 <= top_k <= 20:
        assert ask(NAME, {"query_text": "question", "top_k": top_k}).searches[0].top_k == top_k
    else:
        assert code(refusal(NAME, query_text="question", top_k=top_k)) == "INVALID_QUERY"


@given(top_k=not_an_integer)
@bounded
def test_top_k_is_an_integer(top_k: Any) -> None:
    assert code(refusal(NAME, query_text="question", top_k=top_k)) == "INVALID_QUERY"


@given(threshold=st.floats() | st.floats(0, 1) | st.integers(-2, 2))
@bounded
def test_threshold_is_from_0_to_1(threshold: float) -> None:
    if 0 <= threshold <= 1:
        assert ask(NAME, {"query_text": "question", "threshold": threshold}).searches[0].score_threshold == threshold
    else:
        assert code(refusal(NAME, query_text="question", threshold=threshold)) == "INVALID_QUERY"


@given(value=anything.filter(lambda value: not isinstance(value, bool)))
@bounded
def test_include_metadata_is_a_boolean(value: Any) -> None:
    assert code(refusal(NAME, query_text="question", include_metadata=value)) == "INVALID_QUERY"


@given(held=passages(PROFILE))
@bounded
def test_missing_fields_have_the_seeds_defaults(held: list[Hit]) -> None:
    (search,) = ask(NAME, {"query_text": "question"}).searches
    assert search.top_k == 5
    assert not search.score_threshold
    assert all(result.keys() >= METADATA for result in answered(NAME, held)["results"])


@given(held=hits(PROFILE))
@bounded
def test_without_metadata_position_id_and_age_are_left_out(held: list[Hit]) -> None:
    results = answered(NAME, held, include_metadata=False)["results"]
    assert all(result.keys() == {"content", "url", "similarity_score"} for result in results)


@given(held=hits(PROFILE))
@bounded
def test_similarity_scores_are_from_0_to_1_and_descend(held: list[Hit]) -> None:
    found = [result["similarity_score"] for result in answered(NAME, held, top_k=20)["results"]]
    assert all(0 <= score <= 1 for score in found)
    assert found == sorted(found, reverse=True)


@given(held=hits(PROFILE))
@bounded
def test_content_is_not_empty(held: list[Hit]) -> None:
    assert all(result["content"].strip() for result in answered(NAME, held)["results"])


@given(held=passages(PROFILE), address=not_addresses)
@bounded
def test_url_is_a_valid_url(held: list[Hit], address: str) -> None:
    bad = [replace(hit, payload={**(hit.payload or {}), "url": address}) for hit in held]
    assert answered(NAME, bad)["results"] == []
    assert answered(NAME, held)["results"]


@given(held=hits(PROFILE))
@bounded
def test_position_is_an_integer_that_is_not_negative(held: list[Hit]) -> None:
    positions = [result["position"] for result in answered(NAME, held)["results"]]
    assert all(isinstance(position, int) and position >= 0 for position in positions)


@given(held=passages(PROFILE), stored=times)
@bounded
def test_all_metadata_fields_are_present_and_valid(held: list[Hit], stored: Any) -> None:
    held = [replace(hit, payload={**(hit.payload or {}), "created_at": stored}) for hit in held]
    results = answered(NAME, held, top_k=20)["results"]
    for result, hit in zip(results, held, strict=False):
        assert result["chunk_id"] == str(hit.id)
        if result["created_at"] is not None:
            assert datetime.fromisoformat(result["created_at"]).utcoffset() is not None


@given(held=passages(PROFILE))
@bounded
def test_content_and_url_are_exactly_the_stored_ones(held: list[Hit]) -> None:
    for result, hit in zip(answered(NAME, held, top_k=20)["results"], held, strict=False):
        assert hit.payload is not None
        assert (result["content"], result["url"]) == (hit.payload["content"], hit.payload["url"])


@given(held=hits(PROFILE), top_k=st.integers(1, 20), text=words)
@bounded
def test_results_are_0_to_top_k_and_total_results_counts_them(held: list[Hit], top_k: int, text: str) -> None:
    body = answered(NAME, held, query_text=text, top_k=top_k)
    assert body["query"] == text
    assert body["metadata"]["total_results"] == len(body["results"]) <= top_k


@given(held=hits(PROFILE))
@bounded
def test_query_time_is_a_whole_number_that_is_not_negative(held: list[Hit]) -> None:
    metadata = answered(NAME, held)["metadata"]
    assert isinstance(metadata["query_time_ms"], int)
    assert metadata["query_time_ms"] >= 0
    assert metadata["timestamp"].endswith("Z")


@given(paragraphs=st.lists(st.text(st.sampled_from("ab .\n#`-é"), max_size=3_000), max_size=4))
@bounded
def test_a_stored_chunks_content_is_under_2000_characters(paragraphs: list[str]) -> None:
    page = Page(
        path="page", url="https://example.com/page/", title="Page", sections=(Section((), "\n\n".join(paragraphs)),)
    )
    assert MAX_CHARACTERS < 2_000
    assert all(len(chunk.text) < 2_000 for chunk in cut([page]))


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (errors.UpstreamUnavailable("down", upstream="store", retry_after=100), "SERVICE_UNAVAILABLE"),
        (errors.UpstreamThrottled("busy", upstream="embedding", retry_after=100), "SERVICE_UNAVAILABLE"),
        (errors.DeadlineExceeded("late", upstream="store"), "TIMEOUT"),
        (errors.CollectionNotFound("ours", upstream="store"), "INTERNAL_ERROR"),
    ],
)
def test_a_failure_is_an_error_and_never_an_empty_success(failure: errors.PassageError, expected: str) -> None:
    answer = ask(NAME, {"query_text": "question"}, store_failure=failure)
    assert answer.status >= 429
    assert_published(NAME, answer)
    assert code(answer.json) == expected
