"""Seed 003: SearchResult, RetrievalResponse, their constraints, the consistency rules and the error states."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from contracts.shape import (
    Stored,
    anything,
    descending,
    duration,
    encodable,
    filled,
    items,
    natural,
    one_of,
    record,
    sent,
    similarity,
    text,
    web_address,
    whole,
    whole_number,
)

COLLECTION = "textbook_passages"
MODEL = "embed-english-v3.0"
CODES = (
    "INVALID_QUERY",
    "COHERE_CONNECTION_FAILED",
    "COHERE_RATE_LIMITED",
    "QDRANT_CONNECTION_FAILED",
    "QDRANT_TIMEOUT",
    "COLLECTION_NOT_FOUND",
    "DIMENSION_MISMATCH",
    "NO_RESULTS",
    "INTERNAL_ERROR",
)
RESPONSE = {
    "status": text,
    "query": anything,
    "results": items,
    "total_results": natural,
    "requested_top_k": lambda value: whole(value) and 1 <= value <= 100,
    "execution_metrics": anything,
}
RESULT = {
    "chunk_id": filled,
    "chunk_text": filled,
    "similarity_score": similarity,
    "rank": natural,
    "metadata": anything,
}
METADATA = {
    "source_url": web_address,
    "page_title": filled,
    "section_headers": lambda value: isinstance(value, list) and value != [] and all(map(filled, value)),
    "chunk_index": natural,
    "tokens": natural,
}
KNOWN_AT_ONCE = {"total_execution_time_ms": duration, "embedding_model": text, "collection_name": text}
TIMES = {"query_embedding_time_ms": duration, "vector_search_time_ms": duration}


def check_answer(asked: Mapping[str, Any], answer: Any, stored: Stored) -> None:
    record(answer, RESPONSE)  # no error
    assert answer["status"] == "success"
    _check_echo(asked, answer)
    _check_metrics(answer["execution_metrics"])
    results = answer["results"]
    assert results, "success needs results"
    assert answer["total_results"] == len(results) <= answer["requested_top_k"]
    by_chunk_id = {payload["chunk_id"]: payload for payload in stored[COLLECTION].values()}
    for result in results:
        record(result, RESULT)
        record(result["metadata"], METADATA)
        payload, metadata = by_chunk_id[result["chunk_id"]], result["metadata"]
        assert result["chunk_text"] == payload["chunk_text"]
        for name in ("source_url", "page_title", "section_headers", "chunk_index"):
            assert metadata[name] == payload[name]
        assert result["chunk_id"] in {
            sha256(content.encode()).hexdigest()
            for content in (metadata["source_url"] + result["chunk_text"], result["chunk_text"])
        }
    assert [result["rank"] for result in results] == list(range(1, len(results) + 1))
    assert descending([result["similarity_score"] for result in results])


def _check_echo(asked: Mapping[str, Any], answer: Any) -> None:
    record(answer["query"], {"text": text, "query_id": filled})
    question = sent(asked, "text", "query", "question")
    if isinstance(question, str) and encodable(question):
        assert answer["query"]["text"] == question
    if filled(asked.get("query_id")):
        assert answer["query"]["query_id"] == asked["query_id"]
    count = sent(asked, "top_k", "k")
    allowed = whole_number(count) and 1 <= count <= 100
    assert answer["requested_top_k"] == (count if allowed else 5)


def _check_metrics(metrics: Any) -> None:
    record(metrics, KNOWN_AT_ONCE | TIMES)
    _check_names(metrics)
    parts = metrics["query_embedding_time_ms"] + metrics["vector_search_time_ms"]
    assert parts <= metrics["total_execution_time_ms"] + 0.001


def _check_names(metrics: Any) -> None:
    assert metrics["embedding_model"] == MODEL
    assert metrics["collection_name"] == COLLECTION


def check_error(asked: Mapping[str, Any], answer: Any) -> str:
    record(answer, RESPONSE | {"error": anything})
    assert answer["status"] == "error"
    assert answer["results"] == []
    assert answer["total_results"] == 0
    record(answer["error"], {"code": one_of(*CODES), "message": filled})
    _check_echo(asked, answer)
    code, metrics = str(answer["error"]["code"]), answer["execution_metrics"]
    if code == "NO_RESULTS":  # nothing failed, so everything was measured
        _check_metrics(metrics)
        return code
    assert metrics.keys() >= KNOWN_AT_ONCE.keys()
    record(metrics, {name: check for name, check in (KNOWN_AT_ONCE | TIMES).items() if name in metrics})
    _check_names(metrics)
    if code.startswith("COHERE_"):
        assert metrics["query_embedding_time_ms"] == 0
    return code
