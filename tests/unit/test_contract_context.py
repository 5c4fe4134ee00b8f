"""Seed 002's rules for a query, the retrieved chunks and the assembled context."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config import profiles
from unit.asking import answered
from unit.strategies import bounded, hits, passages, words

NAME = "context"
PROFILE = profiles.load(NAME)
OPTIONAL = ("chapter", "section", "title")


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


def test_no_match_is_count_0_and_an_empty_context() -> None:
    body = answered(NAME, [])
    assert (body["count"], body["chunks"], body["collection"]) == (0, [], "textbook_chunks")
    assert body["context"] == {"formatted_text": "", "chunk_count": 0, "total_chars": 0, "sources": []}
