"""Seed 004's rules for a request, the retrieved chunks and the response."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config import profiles
from passage.indexing.chunks import MAX_CHARACTERS, cut
from passage.sites.model import Page, Section
from unit.asking import answered, code_of, refusal
from unit.strategies import anything, bounded, hits, passages, times

NAME = "chunks"
PROFILE = profiles.load(NAME)


@given(value=anything.filter(lambda value: not isinstance(value, bool | None)))
@bounded
def test_include_metadata_is_a_boolean(value: Any) -> None:
    assert code_of(refusal(NAME, query_text="question", include_metadata=value)) == "INVALID_QUERY"


@given(held=hits(PROFILE))
@bounded
def test_answer_to_any_payload_keeps_the_seeds_rules(held: list[Hit]) -> None:
    body = answered(NAME, held)
    assert all(result["position"] >= 0 and isinstance(result["position"], int) for result in body["results"])
    assert isinstance(body["metadata"]["query_time_ms"], int)
    assert body["metadata"]["query_time_ms"] >= 0
    assert body["metadata"]["timestamp"].endswith("Z")
    without = answered(NAME, held, include_metadata=False)["results"]
    assert all(result.keys() == {"content", "url", "similarity_score"} for result in without)


@given(held=passages(PROFILE), stored=times)
@bounded
def test_content_url_id_and_age_are_the_stored_ones(held: list[Hit], stored: Any) -> None:
    held = [replace(hit, payload={**(hit.payload or {}), "created_at": stored}) for hit in held]
    for result, hit in zip(answered(NAME, held, top_k=20)["results"], held, strict=False):
        assert hit.payload is not None
        assert result.keys() >= {"position", "chunk_id", "created_at"}
        assert (result["content"], result["url"]) == (hit.payload["content"], hit.payload["url"])
        assert result["chunk_id"] == str(hit.id)
        if result["created_at"] is not None:
            assert datetime.fromisoformat(result["created_at"]).utcoffset() is not None


@given(paragraphs=st.lists(st.text(st.sampled_from("ab .\n#`-é"), max_size=3_000), max_size=4))
@bounded
def test_a_stored_chunks_content_is_under_2000_characters(paragraphs: list[str]) -> None:
    page = Page(
        path="page", url="https://example.com/page/", title="Page", sections=(Section((), "\n\n".join(paragraphs)),)
    )
    assert MAX_CHARACTERS < 2_000
    assert all(len(chunk.text) < 2_000 for chunk in cut([page]))
