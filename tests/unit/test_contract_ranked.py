"""Seed 003's rules for a query, its results and the whole response."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config import profiles
from handler.contracts import registry
from handler.contracts.base import Notice
from handler.contracts.ranked import notices
from handler.core.model import Passage, Retrieval, RetrievalRequest, Search, Timings
from published import published_schema
from unit.asking import answered
from unit.strategies import bounded, hashed, hits, passages, words

NAME = "ranked"
PROFILE = profiles.load(NAME)
METADATA = {"source_url", "page_title", "section_headers", "chunk_index", "tokens"}
TIMES = ("query_embedding_time_ms", "vector_search_time_ms", "total_execution_time_ms")


def noticed(passage: Passage, question: str = "question", *, embedding: float = 1, total: float = 2) -> list[Notice]:
    """What an answer leaves in the log."""
    request, timings = RetrievalRequest(text=question, search=Search(top_k=5)), Timings(embedding, 1, total)
    return list(notices(Retrieval(request, (passage,), 0, timings, "c", "m", datetime.now(UTC))))


def test_schema_states_the_language_of_text() -> None:
    assert PROFILE.embedding.model == "embed-english-v3.0"
    assert "language of the collection's model" in str(published_schema(PROFILE, "Request"))


@given(
    text=st.text(min_size=1, max_size=9),
    embedding=st.floats(0, 5_000),
    total=st.floats(0, 5_000),
    score=st.floats(-1, 1),
)
def test_short_slow_or_unlikely_answer_leaves_a_warning(
    text: str, embedding: float, total: float, score: float
) -> None:
    passage = Passage(id=1, score=score, text="text", url="https://example.com/")
    warnings = [notice.message for notice in noticed(passage, text, embedding=embedding, total=total)]
    assert ("very short question" in warnings) == (len(text) < 5)
    assert ("slow embedding" in warnings) == (embedding > 1_000)
    assert ("slow retrieval" in warnings) == (total > 2_000)
    assert ("low scores, possibly irrelevant" in warnings) == (score < 0.3)


@given(text=words, url=st.just("https://example.com/"), other=words)
@bounded
def test_chunk_id_with_a_wrong_hash_is_reported_and_shown(text: str, url: str, other: str) -> None:
    assume(other not in (text, url + text))
    for chunk_id, genuine in ((hashed(url + text), True), (hashed(text), True), (hashed(other), False)):
        payload = {"chunk_text": text, "source_url": url, "chunk_id": chunk_id}
        (result,) = answered(NAME, [Hit(1, 0.9, payload)])["results"]
        assert result["chunk_id"] == chunk_id
        passage = Passage(id=1, score=0.9, text=text, url=url, chunk_id=chunk_id)
        found = [notice.metric for notice in noticed(passage)]
        assert ("ChunkIdMismatch" in found) == (not genuine)


@given(held=hits(PROFILE), top_k=st.integers(1, 100))
@bounded
def test_answer_to_any_payload_keeps_the_seeds_rules(held: list[Hit], top_k: int) -> None:
    body = answered(NAME, held, top_k=top_k)
    assert body["requested_top_k"] == top_k
    assert [result["rank"] for result in body["results"]] == list(range(1, len(body["results"]) + 1))
    for result in body["results"]:
        metadata = result["metadata"]
        assert metadata.keys() == METADATA
        assert metadata["page_title"].strip()
        assert metadata["section_headers"]
        assert all(header.strip() for header in metadata["section_headers"])
        assert metadata["chunk_index"] >= 0
        assert metadata["tokens"] >= 0
    assert body["status"] == ("success" if body["results"] else "error")
    assert body.get("error", {}).get("code") == (None if body["results"] else "NO_RESULTS")
    metrics = body["execution_metrics"]
    assert all(isinstance(metrics[name], float) and metrics[name] >= 0 for name in TIMES)
    assert metrics["embedding_model"] == PROFILE.embedding.model == "embed-english-v3.0"
    assert metrics["collection_name"] == PROFILE.collection.name == "textbook_passages"


@given(held=passages(PROFILE))
@bounded
def test_text_url_and_score_are_exactly_the_stored_ones(held: list[Hit]) -> None:
    results = answered(NAME, held, top_k=100)["results"]
    for result, hit in zip(results, held, strict=True):
        assert hit.payload is not None
        assert result["chunk_text"] == hit.payload["chunk_text"]
        assert result["metadata"]["source_url"] == hit.payload["source_url"]
        assert result["similarity_score"] == max(0.0, min(1.0, hit.score))


@given(text=words.filter(lambda text: len(text) >= 3), query_id=st.text(min_size=1, max_size=200))
@bounded
def test_the_question_and_its_id_are_repeated(text: str, query_id: str) -> None:
    assert answered(NAME, [], text=text, query_id=query_id)["query"] == {"text": text, "query_id": query_id}


def test_question_without_an_id_gets_a_new_one() -> None:
    first, second = (answered(NAME, [])["query"]["query_id"] for _ in range(2))
    assert first
    assert first != second


@given(held=passages(PROFILE, min_size=2), broken=st.integers(1, 6))
@bounded
def test_a_partial_failure_is_a_success_with_fewer_results(held: list[Hit], broken: int) -> None:
    damaged = [Hit(hit.id, hit.score, None) for hit in held[:broken]]
    body = answered(NAME, [*damaged, *held[broken:]], top_k=100)
    assert body["total_results"] == max(0, len(held) - broken)
    assert body["status"] == ("success" if len(held) > broken else "error")


def test_published_schema_is_as_strict_as_the_seeds() -> None:
    """The models that publish the schema also build answers. Their bounds are as strict as the seed's."""
    schema: Any = registry.find(PROFILE).response_model.model_json_schema()
    assert schema["$defs"]["SearchResult"]["properties"]["rank"]["minimum"] == 1
    assert schema["$defs"]["Metadata"]["properties"]["section_headers"]["minItems"] == 1
