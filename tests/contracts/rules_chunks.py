"""Seed 004: Retrieved Chunk, Query Response, their validation rules and the data integrity constraints."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from contracts.shape import (
    Stored,
    anything,
    descending,
    filled,
    items,
    moment,
    natural,
    one_of,
    record,
    sent,
    similarity,
    text,
    web_address,
)

COLLECTION = "rag_embedding"
CODES = ("INVALID_QUERY", "SERVICE_UNAVAILABLE", "TIMEOUT", "INTERNAL_ERROR")
CHUNK = {"content": filled, "url": web_address, "similarity_score": similarity}
DETAILS = {"position": natural, "chunk_id": filled, "created_at": moment}
METADATA = {"query_time_ms": natural, "total_results": natural, "timestamp": moment}


def check_answer(asked: Mapping[str, Any], answer: Any, stored: Stored) -> None:
    record(answer, {"query": text, "results": items, "metadata": anything})
    record(answer["metadata"], METADATA)
    assert answer["query"] == sent(asked, "query_text", "query", "question")
    results = answer["results"]
    limit = sent(asked, "top_k", "k")
    assert answer["metadata"]["total_results"] == len(results) <= (5 if limit is None else limit)
    detailed = asked.get("include_metadata") is not False
    contents = {(payload["url"], payload["content"]) for payload in stored[COLLECTION].values()}
    for result in results:
        record(result, CHUNK | DETAILS if detailed else CHUNK)
        assert (result["url"], result["content"]) in contents
        assert result["similarity_score"] >= (asked.get("threshold") or 0.0) - 1e-6
        if detailed:
            _check_details(result, stored[COLLECTION][result["chunk_id"]])
    if detailed:
        assert len({result["chunk_id"] for result in results}) == len(results)
    assert descending([result["similarity_score"] for result in results])


def _check_details(result: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
    assert (result["content"], result["url"]) == (payload["content"], payload["url"])
    assert result["position"] == payload["position"]
    since = payload["created_at"]  # an epoch or ISO 8601 text
    created_at = datetime.fromisoformat(since) if isinstance(since, str) else datetime.fromtimestamp(since, UTC)
    assert datetime.fromisoformat(result["created_at"]) == created_at.replace(microsecond=0)


def check_error(_: Mapping[str, Any], answer: Any) -> str:
    record(answer, {"error": anything, "metadata": anything})
    record(answer["error"], {"code": one_of(*CODES), "message": filled})
    record(answer["metadata"], METADATA)
    assert answer["metadata"]["total_results"] == 0
    return str(answer["error"]["code"])
