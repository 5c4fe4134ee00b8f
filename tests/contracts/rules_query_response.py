"""Seed 000: Query, RetrievalResult, QueryResponse, ErrorResponse and the five integrity guarantees."""

from collections.abc import Mapping
from typing import Any

from contracts.shape import Stored, descending, filled, items, moment, natural, one_of, record, sent, similarity, text

COLLECTION = "rag_embeddings"
CODES = ("INVALID_INPUT", "SERVICE_UNAVAILABLE", "INTERNAL_ERROR")


def check_answer(asked: Mapping[str, Any], answer: Any, stored: Stored) -> None:
    record(answer, {"query": text, "k": natural, "results": items, "total_results": natural, "timestamp": moment})
    assert answer["query"] == sent(asked, "text", "query", "question")
    count = sent(asked, "k", "top_k")
    assert answer["k"] == (5 if count is None else count)
    assert 1 <= answer["k"] <= 100
    results = answer["results"]
    assert answer["total_results"] == len(results) <= answer["k"]  # Count Accuracy
    for result in results:
        record(result, {"chunk_text": filled, "url": filled, "chunk_id": filled, "relevance_score": similarity})
        point_id, _, chunk_index = result["chunk_id"].rpartition("_")
        payload = stored[COLLECTION][point_id]
        assert chunk_index == str(payload["chunk_index"])
        assert result["chunk_text"] == payload["text_content"]  # Text Integrity
        assert result["url"] == payload["source_url"]  # URL Integrity
    assert len({result["chunk_id"] for result in results}) == len(results)  # ID Uniqueness
    assert descending([result["relevance_score"] for result in results])  # Score Ordering


def check_error(_: Mapping[str, Any], answer: Any) -> str:
    record(answer, {"error": filled, "code": one_of(*CODES), "timestamp": moment})
    return str(answer["code"])
