"""Seed 001's rules for TestCase and TestSuiteResult, and its success criteria."""

import json
from dataclasses import fields, replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passage.evaluation import cases, thresholds
from passage.evaluation.cases import (
    CaseError,
    PerformanceMetrics,
    RetrievalResult,
    TestCase,
    TestStatus,
    TestSuiteResult,
)
from passage.evaluation.judging import find_unachievable, judge_cases
from passage.evaluation.run import Run, SavedAnswer, SavedHit
from passage.evaluation.suite import Expected, Suite, SuiteQuestion

CASE = TestCase("a case", "What is ROS 2?", "textbook_embeddings", ("doc_a",), ("robot",), 0.7, 5)
HIT = SavedHit(1, "7", "7_0", "https://site.example/a#x", "A", 0.8, "A robot operating system.")
QUESTION = SuiteQuestion("a case", "What is ROS 2?", (Expected("7"),))
NOW = "2026-11-28T00:00:00Z"


def run_of(*pairs: tuple[SuiteQuestion, SavedAnswer], **changes: Any) -> Run:
    questions, answers = zip(*pairs, strict=True) if pairs else ((), ())
    suite = Suite("suite", tuple(questions))
    return replace(Run(suite, tuple(answers), "local", "vector-search", 5, 50, collection="textbook"), **changes)


def answer(*hits: SavedHit, ms: float = 10.0, question: str = "a case", **changes: Any) -> SavedAnswer:
    return replace(SavedAnswer(question, hits, ms), **changes)


def judge(question: SuiteQuestion, given_answer: SavedAnswer, **changes: Any) -> TestCase:
    return judge_cases(run_of((question, given_answer), **changes)).test_results[0]


@pytest.mark.parametrize(
    ("seeded", "names"),
    [
        (
            TestCase,
            "name query_text collection_name expected_doc_ids expected_keywords relevance_threshold top_k status "
            "actual_results error_message",
        ),
        (
            TestSuiteResult,
            "total_tests passed failed errors execution_time_ms test_results performance_metrics timestamp",
        ),
        (PerformanceMetrics, "avg_retrieval_time_ms p95_retrieval_time_ms max_retrieval_time_ms"),
    ],
)
def test_value_has_the_fields_of_the_seed_in_order(seeded: type, names: str) -> None:
    assert [field.name for field in fields(seeded)] == names.split()


def test_defaults_are_those_of_the_seed() -> None:
    case = TestCase("n", "q", "c")
    assert (case.top_k, case.status, case.actual_results, case.error_message) == (10, TestStatus.PENDING, None, None)


def test_name_that_occurs_twice_is_refused() -> None:
    cases.check_names([CASE, replace(CASE, name="other")])
    with pytest.raises(CaseError, match="a case: the name occurs twice"):
        cases.check_names([CASE, replace(CASE, name="other"), CASE])


@pytest.mark.parametrize(
    ("field", "values", "message"),
    [
        ("name", ("", " "), "needs a name"),
        ("query_text", ("", " \n\t"), "a case: query_text must not be empty"),
        ("relevance_threshold", (-0.01, 1.01, float("nan"), float("inf")), "relevance_threshold must be 0 to 1"),
        ("top_k", (0, -1), "top_k must be above 0"),
    ],
)
def test_value_that_breaks_a_rule_is_refused(field: str, values: tuple[Any, ...], message: str) -> None:
    for value in values:
        with pytest.raises(CaseError, match=message):
            replace(CASE, **{field: value})


def test_threshold_above_every_score_is_not_achievable() -> None:
    high, low = (replace(QUESTION, id=name, relevance_threshold=value) for name, value in (("h", 0.9), ("l", 0.8)))
    run = run_of((high, answer(HIT, question="h")), (low, answer(HIT, question="l")))
    assert find_unachievable(run) == ["h"]
    failed = judge_cases(run).test_results[0]
    assert failed.status is TestStatus.FAILED
    assert "may not be achievable" in str(failed.error_message)


ENDS = (TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR)
ORDER = {(TestStatus.PENDING, TestStatus.RUNNING), *((TestStatus.RUNNING, end) for end in ENDS)}


@pytest.mark.parametrize(("before", "after"), list(product(TestStatus, TestStatus)))
def test_status_moves_only_in_the_seeds_order(before: TestStatus, after: TestStatus) -> None:
    assert [status.value for status in TestStatus] == ["pending", "running", "passed", "failed", "error"]
    case = replace(CASE, status=before)
    if (before, after) in ORDER:
        assert case.move(after).status is after
    else:
        with pytest.raises(CaseError, match=f"{after.value} cannot follow {before.value}"):
            case.move(after)


PASSING = [
    (replace(QUESTION, keywords=("Operating System",), relevance_threshold=0.8), answer(HIT)),
    (replace(QUESTION, expected=(Expected("7"), Expected("8"))), answer(HIT)),
    (replace(QUESTION, expected=(Expected("7"), Expected("8", grade=0)), match="all"), answer(HIT)),
    (replace(QUESTION, expected=(Expected("8"),), top_k=2), answer(HIT, replace(HIT, rank=2, id="8"))),
    (SuiteQuestion("a case", "Best pizza?", answerable=False, relevance_threshold=0.9), answer(HIT)),
    (QUESTION, answer(HIT, ms=499.9)),
    (QUESTION, answer(HIT, ms=900.0, search_ms=20.0)),
]


@pytest.mark.parametrize(
    ("question", "given_answer"),
    PASSING,
    ids=["score", "any document", "grade 0", "within top_k", "off topic", "in time", "search in time"],
)
def test_good_answer_passes(question: SuiteQuestion, given_answer: SavedAnswer) -> None:
    case = judge(question, given_answer)
    assert (case.status, case.error_message) == (TestStatus.PASSED, None)


def test_executed_test_case_has_its_results() -> None:
    assert judge(QUESTION, answer(HIT, ms=900.0, search_ms=20.0)).actual_results == (
        RetrievalResult(
            id="7",
            score=0.8,
            payload={"content": HIT.text, "source_url": HIT.url, "title": "A", "chunk_id": "7_0"},
            retrieval_time_ms=20.0,
        ),
    )


FAILING = [
    (
        replace(QUESTION, expected=(Expected("8"), Expected("9"))),
        answer(HIT),
        "MISSING_DOCUMENT: The first 5 results do not contain any of: 8, 9.",
    ),
    (
        replace(QUESTION, expected=(Expected("8"),), top_k=1),
        answer(HIT, replace(HIT, rank=2, id="8")),
        "MISSING_DOCUMENT: The first 1 results",
    ),
    (replace(QUESTION, expected=(Expected("7"), Expected("8")), match="all"), answer(HIT), "do not contain all of: 8"),
    (
        replace(QUESTION, relevance_threshold=0.81),
        answer(HIT),
        "RELEVANCE: No result has the score 0.81 or more (best: 0.800)",
    ),
    (
        replace(QUESTION, keywords=("robot", "camera")),
        answer(HIT),
        "RELEVANCE: The results do not contain: camera",
    ),
    (SuiteQuestion("a case", "x"), answer(), "RELEVANCE: No results"),
    (
        replace(QUESTION, relevance_threshold=0.7),
        answer(replace(HIT, id="6", chunk_id="6_0"), replace(HIT, rank=2, score=0.5)),
        "RELEVANCE: No expected document has the score 0.7",
    ),
    (
        replace(QUESTION, expected=(), answerable=False, relevance_threshold=0.5),
        answer(HIT),
        "RELEVANCE: The site has no answer, but a result has the score 0.800",
    ),
    (QUESTION, answer(HIT, ms=500.0), "PERFORMANCE: The retrieval took 500 ms"),
]


@pytest.mark.parametrize(
    ("question", "given_answer", "message"),
    FAILING,
    ids=["missing", "after top_k", "all", "threshold", "keyword", "no results", "document", "off topic", "slow"],
)
def test_bad_answer_fails_with_its_reason(question: SuiteQuestion, given_answer: SavedAnswer, message: str) -> None:
    case = judge(question, given_answer)
    assert case.status is TestStatus.FAILED
    assert message in str(case.error_message)


def test_question_without_an_answer_or_document_is_an_error() -> None:
    case = judge(QUESTION, answer(error="HTTP 429", error_kind="rate_limit"))
    assert (case.status, case.error_message) == (TestStatus.ERROR, "HTTP 429")
    case = judge(QUESTION, answer(), missing={"a case": ("7",)})
    assert case.status is TestStatus.ERROR
    assert "The collection has no document 7" in str(case.error_message)


@given(st.lists(st.sampled_from(ENDS), max_size=30))
def test_totals_and_rates_add_up(ends: list[TestStatus]) -> None:
    executed = [replace(CASE, name=str(number), status=end) for number, end in enumerate(ends)]
    result = TestSuiteResult.of(executed, [], 1.0, NOW)
    assert result.passed + result.failed + result.errors == result.total_tests == len(ends)
    total = len(ends) or 1
    assert result.pass_rate == ends.count(TestStatus.PASSED) / total * 100
    assert result.failure_rate == ends.count(TestStatus.FAILED) / total * 100


@pytest.mark.parametrize(
    "change",
    [{"total_tests": 2}, {"passed": 0}, {"failed": 1}, {"errors": 1}, {"test_results": ()}],
    ids=lambda change: next(iter(change)),
)
def test_totals_that_do_not_add_up_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(CaseError):
        replace(TestSuiteResult.of([replace(CASE, status=TestStatus.PASSED)], [], 1.0, NOW), **change)
    with pytest.raises(CaseError, match="total_tests"):
        TestSuiteResult.of([CASE], [], 1.0, NOW)  # it is pending


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=100))
def test_average_p95_and_maximum_are_of_the_times(times: list[float]) -> None:
    metrics = PerformanceMetrics.of(times)
    assert metrics.max_retrieval_time_ms == max(times)
    assert metrics.avg_retrieval_time_ms == pytest.approx(sum(times) / len(times))
    assert sum(time <= metrics.p95_retrieval_time_ms for time in times) >= 0.95 * len(times)
    assert metrics.p95_retrieval_time_ms in times
    assert PerformanceMetrics.of(range(1, 101)) == PerformanceMetrics(50.5, 95, 100)


def test_result_has_the_runs_times_without_those_of_errors() -> None:
    failed = answer(question="b", ms=9_000.0, error="no answer")
    pairs = (QUESTION, answer(HIT)), (replace(QUESTION, id="b"), failed)
    result = judge_cases(run_of(*pairs, elapsed_ms=5432.1, started_at=NOW))
    assert result.performance_metrics == PerformanceMetrics(10.0, 10.0, 10.0)
    assert (result.execution_time_ms, result.timestamp) == (5432.1, NOW)


def test_case_in_json_is_read_unchanged() -> None:
    result = judge_cases(run_of((QUESTION, answer(HIT))))
    values = json.loads(json.dumps(cases.result_to_json(result)))
    assert (values["pass_rate"], values["failure_rate"]) == (100.0, 0.0)
    for case in (CASE, *result.test_results):
        assert cases.from_json(json.loads(json.dumps(cases.to_json(case)))) == case


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "a case: colour: unexpected"),
        ({"top_k": "5"}, "a case: top_k must be a whole number, not '5'"),
        ({"expected_doc_ids": [7]}, "a case: expected_doc_ids.0 must be text, not 7"),
        ({"query_text": " "}, "a case: query_text must not be empty"),
        ({"status": "skipped"}, "a case: status"),
    ],
)
def test_wrong_test_case_in_json_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        cases.from_json({**cases.to_json(CASE), **change})


def verdict(run: Run, name: str, limits: dict[str, float] | None = None) -> tuple[float | None, bool]:
    verdicts = thresholds.judge(run, judge_cases(run), limits or {})
    return next((each.value, each.met) for each in verdicts if each.name == name)


GOOD = run_of((QUESTION, answer(HIT)), by_id_ms=(20.0,), error_checks=(("blank", True),), repeated=(("a case", True),))
OTHER = replace(QUESTION, id="b", expected=(Expected("8"),))
NUMBERED = [replace(HIT, rank=rank, id=str(rank), chunk_id=f"{rank}_0") for rank in range(1, 7)]


@pytest.mark.parametrize(
    ("run", "name", "value", "met"),
    [
        *((GOOD, f"SC-00{number}", value, True) for number, value in enumerate((20.0, 10.0, 1.0, 1.0, 1.0, 1.0), 1)),
        *((run_of(), f"SC-00{number}", None, True) for number in range(1, 7)),  # not measured is not missed
        (replace(GOOD, by_id_ms=(99.9,)), "SC-001", 99.9, True),
        (replace(GOOD, by_id_ms=(100.0,)), "SC-001", 100.0, False),
        (run_of((QUESTION, answer(HIT, ms=499.9))), "SC-002", 499.9, True),
        (run_of((QUESTION, answer(HIT, ms=500.0))), "SC-002", 500.0, False),
        (run_of((QUESTION, answer(HIT)), (OTHER, answer(question="b", error="HTTP 503"))), "SC-003", 0.5, False),
        (run_of((replace(QUESTION, expected=(Expected("5", "id"),)), answer(*NUMBERED))), "SC-003", 1.0, True),
        (
            run_of((replace(QUESTION, expected=(Expected("6", "id"),), top_k=10), answer(*NUMBERED))),
            "SC-003",
            0.0,
            False,
        ),
        (run_of((QUESTION, answer(HIT)), (OTHER, answer(HIT, question="b"))), "SC-004", 0.5, False),
        (replace(GOOD, error_checks=(("blank", True), ("count", False))), "SC-005", 0.5, False),
        (replace(GOOD, repeated=(("a case", True), ("b", False))), "SC-006", 0.5, False),
    ],
)
def test_success_criterion_is_measured_and_met(run: Run, name: str, value: float | None, met: bool) -> None:
    assert verdict(run, name) == (value, met)


@pytest.mark.parametrize(("wrong", "met"), [(1, True), (2, False)])
def test_sc_003_is_95_percent_of_answerable_questions(wrong: int, met: bool) -> None:
    absent = replace(HIT, id="8", chunk_id="8_0")
    pairs = [
        (replace(QUESTION, id=str(number)), answer(absent if number < wrong else HIT, question=str(number)))
        for number in range(20)
    ]
    off_topic = SuiteQuestion("off", "Best pizza?", answerable=False)
    assert verdict(run_of(*pairs, (off_topic, answer(question="off"))), "SC-003")[1] is met


def test_threshold_of_a_criterion_can_be_replaced() -> None:
    assert verdict(replace(GOOD, repeated=(("a case", True), ("b", False))), "SC-006", {"SC-006": 0.5}) == (0.5, True)
