"""What the seeds promise of an answer, asked of real stores. The published schema has the fields' types and bounds.

`tests/unit/test_contract_*.py` and `test_every_contract.py` have each seed's own rules, for any payload.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import pytest

from handler.config.payload_keys import is_ranked
from handler.config.profiles import Profile

Stored = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""The store's points: a collection's name, to a point's id as text, to its payload."""

SORTED = ("query-response", "ranked", "chunks")
"""Profiles whose seeds promise that scores never rise."""


def check_answer(profile: Profile, asked: Mapping[str, Any], answer: Any, stored: Stored) -> None:
    results = answer["chunks"] if "chunks" in answer else answer["results"]
    total = answer.get("total_results", answer.get("count", answer.get("metadata", {}).get("total_results")))
    count = sent(asked, profile.query.count.names)
    assert total == len(results) <= (profile.query.count.max if count is None else max(count, profile.query.count.min))
    question = sent(asked, profile.query.text.names)
    repeated = answer.get("query", question)
    assert (repeated["text"] if isinstance(repeated, dict) else repeated) == question
    points = stored[answer.get("collection_name", profile.collection.name)]
    for result in results:
        _check_result(profile, asked, result, points)
    identities = [str(result.get("chunk_id", result.get("id"))) for result in results]
    assert len(set(identities)) == len(results) or set(identities) == {"None"}
    scores = [_score(result) for result in results]
    if profile.name in SORTED or asked.get("order") == "score":
        assert all(earlier >= later for earlier, later in itertools.pairwise(scores))
    assert all(score >= (asked.get("score_threshold") or asked.get("threshold") or 0) - 1e-6 for score in scores)
    if "context" in answer:
        budgets = [asked.get("max_chars") or math.inf, 4 * (asked.get("max_tokens") or math.inf)]
        assert answer["context"]["total_chars"] == len(answer["context"]["formatted_text"]) <= min(budgets)


def _check_result(
    profile: Profile, asked: Mapping[str, Any], result: Any, points: Mapping[str, Mapping[str, Any]]
) -> None:
    """Text and URL are exactly the stored ones; a payload is whole, and a vector is a unit vector where it is asked."""
    text, url = profile.payload.text[0], profile.payload.url[0]
    if "payload" in result:
        stored = {key: value for key, value in points[str(result["id"])].items() if not is_ranked(key)}
        assert result["payload"] == (stored if asked.get("with_payload") is not False else {})
        assert (result["vector"] is not None) == bool(asked.get("with_vectors"))
        assert result["vector"] is None or math.hypot(*result["vector"]) == pytest.approx(1, abs=1e-3)
        for field, value in (asked.get("filters") or {}).items():
            assert stored[field] in (value if isinstance(value, list) else [value])
        return
    shown = result.get("chunk_text", result.get("text", result.get("content")))
    address = result.get("url", result.get("source_url", result.get("metadata", {}).get("source_url")))
    assert (shown, address) in {(payload[text], payload[url]) for payload in points.values()}


def _score(result: Mapping[str, Any]) -> float:
    (score,) = (value for name, value in result.items() if name.endswith("score"))
    return float(score)


def sent(asked: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """A request's value under any of the names; None without one."""
    return next((asked[name] for name in names if name in asked), None)


def code_of(error: Any) -> str:
    code: str = (error["error"] if isinstance(error.get("error"), dict) else error)["code"]
    return code
