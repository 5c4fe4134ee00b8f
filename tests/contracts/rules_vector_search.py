"""Seed 001: RetrievalQuery, RetrievalResult, its payload, and the validation rules of queries and results."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from contracts.shape import (
    Stored,
    anything,
    descending,
    duration,
    filled,
    items,
    moment,
    natural,
    one_of,
    record,
    sent,
    similarity,
    text,
    whole,
)
from handler.config.payload_keys import is_ranked

COLLECTION = "textbook_embeddings"
DIMENSION = 1024
CODES = (
    "DIMENSION_MISMATCH",
    "COLLECTION_NOT_FOUND",
    "INVALID_PARAMETER",
    "CONNECTION_ERROR",
    "TIMEOUT",
    "EMBEDDING_ERROR",
    "INTERNAL_ERROR",
)
PAYLOAD = {
    "content": text,
    "source_url": text,
    "chunk_id": whole,
    "chunk_index": natural,
    "total_chunks": natural,
    "timestamp": text,
    "embedding_model": text,
}


def check_answer(asked: Mapping[str, Any], answer: Any, stored: Stored) -> None:
    record(answer, {"collection_name": filled, "results": items, "total_results": natural, "timestamp": moment})
    collection = answer["collection_name"]
    assert collection == (asked.get("collection_name") or COLLECTION)
    results = answer["results"]
    limit = sent(asked, "top_k", "k")
    assert answer["total_results"] == len(results) <= (10 if limit is None else limit)
    for result in results:
        _check_result(asked, result, stored[collection], expected=collection == COLLECTION)
    assert len({str(result["id"]) for result in results}) == len(results)
    if asked.get("order") == "score":  # the seed does not promise it
        assert descending([result["score"] for result in results])
    assert len({result["retrieval_time_ms"] for result in results}) <= 1  # one search found them all


def _check_result(
    asked: Mapping[str, Any], result: Any, points: Mapping[str, Mapping[str, Any]], *, expected: bool
) -> None:
    record(
        result,
        {
            "id": lambda value: natural(value) or filled(value),
            "score": similarity,
            "vector": anything,
            "payload": anything,
            "retrieval_time_ms": duration,
        },
    )
    # What only the search by words reads is not part of a document's metadata.
    payload = {key: value for key, value in points[str(result["id"])].items() if not is_ranked(key)}
    assert result["payload"] == (payload if asked.get("with_payload") is not False else {})
    if expected:
        for name, check in PAYLOAD.items():
            assert check(payload[name]), f"{name} is {payload[name]!r}"
    if asked.get("with_vectors", False):
        assert isinstance(result["vector"], list)
        assert len(result["vector"]) == DIMENSION
        assert all(isinstance(number, float) for number in result["vector"])
        assert math.hypot(*result["vector"]) == pytest.approx(1, abs=1e-3)  # as a collection of cosines keeps it
    else:
        assert result["vector"] is None
    assert result["score"] >= (asked.get("score_threshold") or 0) - 1e-6
    for field, value in (asked.get("filters") or {}).items():
        assert payload[field] in (value if isinstance(value, list) else [value])


def check_error(_: Mapping[str, Any], answer: Any) -> str:
    record(answer, {"error": anything, "timestamp": moment})
    record(answer["error"], {"code": one_of(*CODES), "message": filled})
    return str(answer["error"]["code"])
