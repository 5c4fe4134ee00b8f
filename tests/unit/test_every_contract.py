"""The rules that several seeds have in common, for each contract: text, count, scores, totals and error codes."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config import profiles
from handler.core import errors
from unit.asking import answered, ask, assert_published, code_of, refusal
from unit.strategies import anything, bounded, hits, huge, not_addresses, passages, words

blank = st.text(st.sampled_from(" \t\n\r\v\f\u00a0\u2003\u3000"), max_size=20)


def _is_integer(value: Any) -> bool:
    """Whether JSON Schema calls the value an integer: 5.0 is one, true is not."""
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


not_an_integer = anything.filter(lambda value: value is not None and not _is_integer(value))


@dataclass(frozen=True)
class Rules:
    """A contract's names and limits, as its seed states them.

    Attributes:
        lengths: of a question, in characters.
        counts: of the passages asked for.
        default: how many passages are asked for by default.
        blank, wrong: the error codes of an empty question and of another wrong field.
        results, score, content, total: the names of the answer's fields.
        sorted: whether scores never rise.
    """

    name: str
    text: str
    count: str
    lengths: tuple[int, int]
    counts: tuple[int, int]
    default: int
    blank: str
    wrong: str
    results: str
    score: str
    content: str
    total: str = "total_results"
    sorted: bool = True

    def question(self, **fields: Any) -> dict[str, Any]:
        return {self.text: "question", **fields}

    def results_of(self, held: list[Hit], **fields: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = answered(self.name, held, **fields)[self.results]
        return found


QUERY_RESPONSE = Rules(
    *("query-response", "text", "k", (1, 10_000), (1, 100), 5, "INVALID_INPUT", "INVALID_INPUT"),
    *("results", "relevance_score", "chunk_text"),
)
VECTOR_SEARCH = Rules(
    *("vector-search", "query_text", "top_k", (1, 10_000), (1, 100), 10, "INVALID_PARAMETER", "INVALID_PARAMETER"),
    *("results", "score", ""),
)
CONTEXT = Rules(
    *("context", "text", "k", (1, 1_000), (3, 8), 5, "EMPTY_QUERY", "INVALID_QUERY", "chunks", "score", "text"),
    *("count", False),
)
RANKED = Rules(
    *("ranked", "text", "top_k", (3, 1_000), (1, 100), 5, "INVALID_QUERY", "INVALID_QUERY"),
    *("results", "similarity_score", "chunk_text"),
)
CHUNKS = Rules(
    *("chunks", "query_text", "top_k", (1, 2_000), (1, 20), 5, "INVALID_QUERY", "INVALID_QUERY"),
    *("results", "similarity_score", "content"),
)
EVERY = (QUERY_RESPONSE, VECTOR_SEARCH, CONTEXT, RANKED, CHUNKS)
each = pytest.mark.parametrize("rules", EVERY, ids=lambda rules: rules.name)


@each
@given(text=blank)
@bounded
def test_blank_text_is_refused(rules: Rules, text: str) -> None:
    assert code_of(refusal(rules.name, **{rules.text: text})) == rules.blank


@each
@given(near=st.integers(-10, 10), at_most=st.booleans(), character=st.sampled_from(["a", "é", "🤖"]))
@bounded
def test_text_keeps_to_its_length(rules: Rules, near: int, at_most: bool, character: str) -> None:
    least, most = rules.lengths
    length = max(1, (most if at_most else least) + near)
    answer = ask(rules.name, {rules.text: character * length})
    assert answer.status == (200 if least <= length <= most else 400)
    assert answer.status == 200 or code_of(answer.json) == rules.wrong


@each
@given(count=st.integers(-5, 110) | huge)
@bounded
def test_count_keeps_to_its_limits(rules: Rules, count: int) -> None:
    least, most = rules.counts
    fields = rules.question(**{rules.count: count})
    if rules is CONTEXT or least <= count <= most:  # seed 002 moves a count into its limits
        assert ask(rules.name, fields).searches[0].top_k == min(max(count, least), most)
    else:
        body = refusal(rules.name, **fields)
        assert code_of(body) == rules.wrong
        assert rules is not RANKED or body["requested_top_k"] == rules.default


@each
@given(threshold=st.floats() | st.floats(0, 1) | st.integers(-2, 2))
@bounded
def test_threshold_is_from_0_to_1(rules: Rules, threshold: float) -> None:
    fields = rules.question(**{"threshold" if rules is CHUNKS else "score_threshold": threshold})
    if 0 <= threshold <= 1:
        assert ask(rules.name, fields).searches[0].score_threshold == threshold
    else:
        assert code_of(refusal(rules.name, **fields)) == rules.wrong


@each
@given(count=not_an_integer)
@bounded
def test_count_is_an_integer(rules: Rules, count: Any) -> None:
    assert code_of(refusal(rules.name, **rules.question(**{rules.count: count}))) == rules.wrong


@each
def test_count_has_its_default(rules: Rules) -> None:
    (search,) = ask(rules.name, rules.question()).searches
    assert search.top_k == rules.default
    assert not search.score_threshold


@each
def test_unknown_field_is_named_in_a_warning(rules: Rules) -> None:
    """A misspelt option must not look as if it had an effect."""
    known = rules.question(**{rules.count: 3}, titles=True, language=None)
    assert "ignored" not in ask(rules.name, known).text
    answer = ask(rules.name, {**known, "limit": 9, "max_pages": None, "a b": 1, "x" * 41: 1})
    assert answer.json["warnings"][-1] == "ignored: limit, max_pages, 2 more"
    assert ask(rules.name, {**known, "<b>": 1}).json["warnings"][-1] == "ignored: 1 unknown"
    assert_published(rules.name, answer)


@each
@given(data=st.data())
@bounded
def test_answer_keeps_the_rules_of_every_seed(rules: Rules, data: st.DataObject) -> None:
    held, text = data.draw(hits(profiles.load(rules.name))), data.draw(words.filter(lambda text: len(text) >= 3))
    count = data.draw(st.integers(*rules.counts))
    body = answered(rules.name, held, **{rules.text: text, rules.count: count})
    results = body[rules.results]
    scores = [result[rules.score] for result in results]
    assert all(isinstance(score, float) and 0 <= score <= 1 for score in scores)
    assert not rules.sorted or scores == sorted(scores, reverse=True)
    totals = body["metadata"] if rules is CHUNKS else body
    assert totals[rules.total] == len(results) <= count
    asked = body.get("query", text)
    assert (asked["text"] if rules is RANKED else asked) == text
    assert not rules.content or all(result[rules.content].strip() for result in results)


@pytest.mark.parametrize("rules", [RANKED, CHUNKS], ids=lambda rules: rules.name)
@given(data=st.data(), address=not_addresses)
@bounded
def test_passage_without_a_web_address_is_left_out(rules: Rules, data: st.DataObject, address: str) -> None:
    profile = profiles.load(rules.name)
    held = data.draw(passages(profile))
    assert rules.results_of(held)
    key = profile.payload.url[0]
    assert rules.results_of([replace(hit, payload={**(hit.payload or {}), key: address}) for hit in held]) == []


@each
def test_titles_are_added_as_stored_where_they_are_asked_for(rules: Rules) -> None:
    keys = profiles.load(rules.name).payload
    text = {keys.text[0]: "Maintenance.", keys.url[0]: "https://docs.example/ros2/bridging-to-ros-2"}
    titles = {keys.keys("title")[0]: "Twins", keys.keys("headings")[0]: ["Twins", "Use"]}
    held = [Hit(1, 0.9, text | titles), Hit(2, 0.8, text)]
    usual, titled = rules.results_of(held), rules.results_of(held, titles=True)
    stored = [{"title": "Twins", "headings": ["Twins", "Use"]}, {"title": "", "headings": []}]
    times = {"retrieval_time_ms": 0}
    assert [one | times for one in titled] == [one | added | times for one, added in zip(usual, stored, strict=True)]
    assert all("headings" not in one for one in usual)


FAILURES: tuple[tuple[errors.PassageError, str, str, str, str, str], ...] = (
    (
        errors.UpstreamUnavailable("down", upstream="store", retry_after=100),
        *("SERVICE_UNAVAILABLE", "CONNECTION_ERROR", "CONNECTION_ERROR", "QDRANT_CONNECTION_FAILED"),
        "SERVICE_UNAVAILABLE",
    ),
    (
        errors.UpstreamUnavailable("down", upstream="embedding", retry_after=100),
        *("SERVICE_UNAVAILABLE", "EMBEDDING_ERROR", "CONNECTION_ERROR", "COHERE_CONNECTION_FAILED"),
        "SERVICE_UNAVAILABLE",
    ),
    (
        errors.UpstreamThrottled("busy", upstream="store", retry_after=100),
        *("SERVICE_UNAVAILABLE", "CONNECTION_ERROR", "RATE_LIMIT", ""),
        "SERVICE_UNAVAILABLE",
    ),
    (
        errors.UpstreamThrottled("busy", upstream="embedding", retry_after=100),
        *("SERVICE_UNAVAILABLE", "", "RATE_LIMIT", "COHERE_RATE_LIMITED"),
        "SERVICE_UNAVAILABLE",
    ),
    (
        errors.DeadlineExceeded("late", upstream="store"),
        *("SERVICE_UNAVAILABLE", "TIMEOUT", "CONNECTION_ERROR", "QDRANT_TIMEOUT", "TIMEOUT"),
    ),
    (
        errors.CollectionNotFound("ours", upstream="store"),
        *("INTERNAL_ERROR", "COLLECTION_NOT_FOUND", "COLLECTION_NOT_FOUND", "COLLECTION_NOT_FOUND", "INTERNAL_ERROR"),
    ),
    (
        errors.DimensionMismatch("ours", upstream="store"),
        *("INTERNAL_ERROR", "DIMENSION_MISMATCH", "", "", "INTERNAL_ERROR"),
    ),
    (
        errors.DimensionMismatch("ours", upstream="embedding"),
        *("INTERNAL_ERROR", "", "", "DIMENSION_MISMATCH", "INTERNAL_ERROR"),
    ),
    (errors.RequestRefused("ours", upstream="embedding"), "INTERNAL_ERROR", "EMBEDDING_ERROR", "", "", ""),
    *(
        (kind("ours", upstream="store"), "INTERNAL_ERROR", "INTERNAL_ERROR", "", "", "INTERNAL_ERROR")
        for kind in (errors.RequestRefused, errors.VectorNameMismatch)
    ),
    (RuntimeError("unhandled"), "INTERNAL_ERROR", "", "", "", ""),  # type: ignore[arg-type]  # no error of ours
)
"""A failure, and its code in each contract in the order of `EVERY`; empty where the seed says nothing."""


@pytest.mark.parametrize(
    ("rules", "failure", "code"),
    [(rules, row[0], code) for row in FAILURES for rules, code in zip(EVERY, row[1:], strict=True) if code],
    ids=lambda value: getattr(value, "name", None) or getattr(value, "upstream", None) or str(value),
)
def test_failure_has_the_seeds_code(rules: Rules, failure: errors.PassageError, code: str) -> None:
    service = "embedding_failure" if getattr(failure, "upstream", "") == "embedding" else "store_failure"
    answer = ask(rules.name, rules.question(**{rules.count: 7}), **{service: failure})
    assert_published(rules.name, answer)
    assert answer.status >= 400
    assert code_of(answer.json) == code
    if rules is QUERY_RESPONSE:
        assert answer.json.keys() == {"error", "code", "timestamp"}
        assert answer.json["error"]
    if rules is CONTEXT:
        assert answer.json.keys() == {"code", "message", "details"}
    if rules is RANKED:
        body = answer.json
        assert (body["status"], body["results"], body["total_results"]) == ("error", [], 0)
        assert (body["requested_top_k"], body["query"]["text"]) == (7, "question")
        assert body["execution_metrics"]["total_execution_time_ms"] >= 0
        assert service == "store_failure" or body["execution_metrics"]["query_embedding_time_ms"] == 0
