"""Seed 001's rules for TestCase and TestSuiteResult, each by name."""

import json
from dataclasses import fields, replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passage.evaluation import cases, suite_result, thresholds
from passage.evaluation.cases import CaseError, RetrievalResult, TestCase, TestStatus
from passage.evaluation.judging import judge_cases, unachievable
from passage.evaluation.run import Run, SavedAnswer, SavedHit
from passage.evaluation.suite import Expected, Suite, SuiteQuestion
from passage.evaluation.suite_result import PerformanceMetrics, TestSuiteResult
from passage.evaluation.thresholds import Verdict

CASE = TestCase("a case", "What is ROS 2?", "textbook_embeddings", ("doc_a",), ("robot",), 0.7, 5)
HIT = SavedHit(1, "7", "7_0", "https://site.example/a#x", "A", 0.8, "A robot operating system.")
QUESTION = SuiteQuestion("a case", "What is ROS 2?", (Expected("7"),))


def run_of(*pairs: tuple[SuiteQuestion, SavedAnswer], **changes: Any) -> Run:
    questions, answers = zip(*pairs, strict=True) if pairs else ((), ())
    suite = Suite("suite", tuple(questions))
    return replace(Run(suite, tuple(answers), "local", "vector-search", 5, 50, collection="textbook"), **changes)


def answer(*hits: SavedHit, ms: float = 10.0, question: str = "a case", **changes: Any) -> SavedAnswer:
    return replace(SavedAnswer(question, hits, ms), **changes)


def judge(question: SuiteQuestion, given_answer: SavedAnswer, **changes: Any) -> TestCase:
    return judge_cases(run_of((question, given_answer), **changes)).test_results[0]


def test_test_case_has_the_fields_of_the_seed_in_order() -> None:
    assert [field.name for field in fields(TestCase)] == [
        *("name", "query_text", "collection_name", "expected_doc_ids", "expected_keywords", "relevance_threshold"),
        *("top_k", "status", "actual_results", "error_message"),
    ]
    defaults = TestCase("n", "q", "c")
    assert (defaults.top_k, defaults.status, defaults.actual_results, defaults.error_message) == (
        *(10, TestStatus.PENDING),
        *(None, None),
    )


def test_suite_result_has_the_fields_of_the_seed_in_order() -> None:
    assert [field.name for field in fields(TestSuiteResult)] == [
        *("total_tests", "passed", "failed", "errors", "execution_time_ms", "test_results", "performance_metrics"),
        "timestamp",
    ]
    assert [field.name for field in fields(PerformanceMetrics)] == [
        *("avg_retrieval_time_ms", "p95_retrieval_time_ms", "max_retrieval_time_ms"),
    ]


def test_name_that_occurs_twice_is_refused() -> None:
    with pytest.raises(CaseError, match="a case: the name occurs twice"):
        cases.check_names([CASE, replace(CASE, name="other"), CASE])
    cases.check_names([CASE, replace(CASE, name="other")])


@pytest.mark.parametrize("name", ["", " "])
def test_empty_name_is_refused(name: str) -> None:
    with pytest.raises(CaseError, match="needs a name"):
        replace(CASE, name=name)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_empty_question_is_refused(text: str) -> None:
    with pytest.raises(CaseError, match="a case: query_text must not be empty"):
        replace(CASE, query_text=text)


@pytest.mark.parametrize("threshold", [-0.01, 1.01, float("nan"), float("inf")])
def test_threshold_outside_0_to_1_is_refused(threshold: float) -> None:
    with pytest.raises(CaseError, match="relevance_threshold must be 0 to 1"):
        replace(CASE, relevance_threshold=threshold)


@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_threshold_of_0_to_1_is_accepted(threshold: float) -> None:
    assert replace(CASE, relevance_threshold=threshold).relevance_threshold == threshold


@pytest.mark.parametrize("top_k", [0, -1])
def test_top_k_below_1_is_refused(top_k: int) -> None:
    with pytest.raises(CaseError, match="top_k must be above 0"):
        replace(CASE, top_k=top_k)


def test_threshold_above_every_score_is_not_achievable() -> None:
    high, low = (replace(QUESTION, id=name, relevance_threshold=value) for name, value in (("h", 0.9), ("l", 0.8)))
    run = run_of((high, answer(HIT, question="h")), (low, answer(HIT, question="l")))
    assert unachievable(run) == ["h"]
    failed = judge_cases(run).test_results[0]
    assert failed.status is TestStatus.FAILED
    assert "may not be achievable" in str(failed.error_message)


def test_status_is_one_of_five() -> None:
    assert [status.value for status in TestStatus] == ["pending", "running", "passed", "failed", "error"]
    with pytest.raises(CaseError, match="a case: status"):
        cases.from_json({**cases.to_json(CASE), "status": "skipped"})


ENDS = (TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR)
ORDER = {(TestStatus.PENDING, TestStatus.RUNNING), *((TestStatus.RUNNING, end) for end in ENDS)}


@pytest.mark.parametrize(("before", "after"), list(product(TestStatus, TestStatus)))
def test_status_moves_only_in_the_seeds_order(before: TestStatus, after: TestStatus) -> None:
    case = replace(CASE, status=before)
    if (before, after) in ORDER:
        assert case.move(after).status is after
    else:
        with pytest.raises(CaseError, match=f"{after.value} cannot follow {before.value}"):
            case.move(after)


def test_document_that_the_collection_lacks_is_an_error() -> None:
    case = judge(QUESTION, answer(), missing={"a case": ("7",)})
    assert case.status is TestStatus.ERROR
    assert "The collection has no document 7" in str(case.error_message)


def test_expected_document_with_good_score_passes() -> None:
    case = judge(replace(QUESTION, keywords=("Operating System",), relevance_threshold=0.8), answer(HIT))
    assert (case.status, case.error_message) == (TestStatus.PASSED, None)
    assert case.actual_results == (
        RetrievalResult(
            id="7",
            score=0.8,
            payload={"content": HIT.text, "source_url": HIT.url, "title": "A", "chunk_id": "7_0"},
            retrieval_time_ms=10.0,
        ),
    )


def test_expected_document_not_in_results_is_missing_document() -> None:
    case = judge(replace(QUESTION, expected=(Expected("8"), Expected("9"))), answer(HIT))
    assert case.status is TestStatus.FAILED
    assert str(case.error_message).startswith("MISSING_DOCUMENT: The first 5 results do not contain any of: 8, 9.")


def test_expected_document_after_top_k_is_missing_document() -> None:
    hits = (HIT, replace(HIT, rank=2, id="8", chunk_id="8_0"))
    question = replace(QUESTION, expected=(Expected("8"),))
    assert judge(replace(question, top_k=2), answer(*hits)).status is TestStatus.PASSED
    assert "MISSING_DOCUMENT" in str(judge(replace(question, top_k=1), answer(*hits)).error_message)


def test_all_expected_documents_are_needed_where_asked() -> None:
    both = replace(QUESTION, expected=(Expected("7"), Expected("8")))
    assert judge(both, answer(HIT)).status is TestStatus.PASSED
    case = judge(replace(both, match="all"), answer(HIT))
    assert "do not contain all of: 8" in str(case.error_message)


def test_document_of_grade_0_is_not_expected() -> None:
    question = replace(QUESTION, expected=(Expected("7"), Expected("8", grade=0)), match="all")
    assert judge(question, answer(HIT)).status is TestStatus.PASSED


@pytest.mark.parametrize(
    ("question", "hits", "message"),
    [
        (replace(QUESTION, relevance_threshold=0.81), (HIT,), "No result has the score 0.81 or more (best: 0.800)"),
        (replace(QUESTION, keywords=("robot", "camera")), (HIT,), "The results do not contain: camera"),
        (SuiteQuestion("a case", "x"), (), "No results"),
        (
            replace(QUESTION, relevance_threshold=0.7),
            (replace(HIT, id="6", chunk_id="6_0"), replace(HIT, rank=2, score=0.5)),
            "No expected document has the score 0.7",
        ),
        (
            replace(QUESTION, expected=(), answerable=False, relevance_threshold=0.5),
            (HIT,),
            "The site has no answer, but a result has the score 0.800",
        ),
    ],
    ids=["threshold", "keyword", "no results", "expected document", "unanswerable"],
)
def test_results_below_the_threshold_are_relevance(
    question: SuiteQuestion, hits: tuple[SavedHit, ...], message: str
) -> None:
    case = judge(question, answer(*hits))
    assert case.status is TestStatus.FAILED
    assert f"RELEVANCE: {message}" in str(case.error_message)


def test_unanswerable_question_passes_below_the_threshold() -> None:
    question = SuiteQuestion("a case", "Best pizza?", answerable=False, relevance_threshold=0.9)
    assert judge(question, answer(HIT)).status is TestStatus.PASSED


@pytest.mark.parametrize(("ms", "status"), [(499.9, TestStatus.PASSED), (500.0, TestStatus.FAILED)])
def test_retrieval_of_500_ms_is_performance(ms: float, status: TestStatus) -> None:
    case = judge(QUESTION, answer(HIT, ms=ms))
    assert case.status is status
    assert (case.error_message or "").startswith("PERFORMANCE:") is (status is TestStatus.FAILED)


def test_reported_search_time_is_the_retrieval_time() -> None:
    case = judge(QUESTION, answer(HIT, ms=900.0, search_ms=20.0))
    assert case.status is TestStatus.PASSED
    assert case.actual_results is not None
    assert case.actual_results[0].retrieval_time_ms == 20.0


def test_question_without_an_answer_is_error() -> None:
    case = judge(QUESTION, answer(error="HTTP 429", error_kind="rate_limit"))
    assert (case.status, case.error_message) == (TestStatus.ERROR, "HTTP 429")


statuses = st.lists(st.sampled_from(ENDS), max_size=30)


@given(statuses)
def test_totals_and_rates_add_up(ends: list[TestStatus]) -> None:
    executed = [replace(CASE, name=str(number), status=end) for number, end in enumerate(ends)]
    result = TestSuiteResult.of(executed, [], 1.0, "2026-11-28T00:00:00Z")
    assert result.passed + result.failed + result.errors == result.total_tests == len(ends)
    if ends:
        assert result.pass_rate == ends.count(TestStatus.PASSED) / len(ends) * 100
        assert result.failure_rate == ends.count(TestStatus.FAILED) / len(ends) * 100
        errors = result.errors / result.total_tests * 100
        assert result.pass_rate + result.failure_rate + errors == pytest.approx(100)
    else:
        assert (result.pass_rate, result.failure_rate) == (0, 0)


@pytest.mark.parametrize(
    "change",
    [{"total_tests": 2}, {"passed": 0}, {"failed": 1}, {"errors": 1}, {"test_results": ()}],
    ids=lambda change: next(iter(change)),
)
def test_totals_that_do_not_add_up_are_refused(change: dict[str, Any]) -> None:
    result = TestSuiteResult.of([replace(CASE, status=TestStatus.PASSED)], [], 1.0, "2026-11-28T00:00:00Z")
    with pytest.raises(CaseError):
        replace(result, **change)


def test_pending_test_case_is_refused_in_a_result() -> None:
    with pytest.raises(CaseError, match="total_tests"):
        TestSuiteResult.of([CASE], [], 1.0, "2026-11-28T00:00:00Z")


def test_execution_time_and_timestamp_are_those_of_the_run() -> None:
    result = judge_cases(run_of((QUESTION, answer(HIT)), elapsed_ms=5432.1, started_at="2025-12-12T14:30:00Z"))
    assert (result.execution_time_ms, result.timestamp) == (5432.1, "2025-12-12T14:30:00Z")


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=100))
def test_average_p95_and_maximum_are_of_the_times(times: list[float]) -> None:
    metrics = PerformanceMetrics.of(times)
    assert metrics.max_retrieval_time_ms == max(times)
    assert metrics.avg_retrieval_time_ms == pytest.approx(sum(times) / len(times))
    assert sum(time <= metrics.p95_retrieval_time_ms for time in times) >= 0.95 * len(times)
    assert metrics.p95_retrieval_time_ms in times


def test_p95_of_1_to_100_is_95() -> None:
    assert PerformanceMetrics.of(range(1, 101)) == PerformanceMetrics(50.5, 95, 100)


def test_times_of_errors_are_not_counted() -> None:
    failed = answer(question="b", ms=9_000.0, error="no answer")
    result = judge_cases(run_of((QUESTION, answer(HIT)), (replace(QUESTION, id="b"), failed)))
    assert result.performance_metrics == PerformanceMetrics(10.0, 10.0, 10.0)


def test_test_case_in_json_is_read_unchanged() -> None:
    executed = judge(QUESTION, answer(HIT))
    for case in (CASE, executed):
        assert cases.from_json(json.loads(json.dumps(cases.to_json(case)))) == case


def test_suite_result_in_json_is_read_unchanged() -> None:
    result = judge_cases(run_of((QUESTION, answer(HIT))))
    values = json.loads(json.dumps(suite_result.to_json(result)))
    assert (values["pass_rate"], values["failure_rate"]) == (100.0, 0.0)
    assert suite_result.from_json(values) == result


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, "a case: colour: unexpected"),
        ({"top_k": "5"}, "a case: top_k must be a whole number, not '5'"),
        ({"expected_doc_ids": [7]}, "a case: expected_doc_ids.0 must be text, not 7"),
        ({"query_text": " "}, "a case: query_text must not be empty"),
    ],
)
def test_wrong_test_case_in_json_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError, match=message):
        cases.from_json({**cases.to_json(CASE), **change})


def verdicts(run: Run, limits: dict[str, float] | None = None) -> list[Verdict]:
    return thresholds.judge(run, judge_cases(run), limits or {})


def met(run: Run) -> dict[str, bool]:
    return {verdict.name: verdict.met for verdict in verdicts(run)}


def value(run: Run, name: str) -> float | None:
    return next(verdict.value for verdict in verdicts(run) if verdict.name == name)


GOOD = run_of((QUESTION, answer(HIT)), by_id_ms=(20.0,), error_checks=(("blank", True),), repeated=(("a case", True),))


def test_good_run_meets_sc_001_to_sc_006() -> None:
    assert met(GOOD) == {f"SC-00{number}": True for number in range(1, 7)}
    assert [value(GOOD, f"SC-00{number}") for number in range(1, 7)] == [20.0, 10.0, 1.0, 1.0, 1.0, 1.0]


def test_criterion_without_a_measurement_is_not_missed() -> None:
    run = run_of()
    assert set(met(run).values()) == {True}
    assert [verdict.value for verdict in verdicts(run)] == [None] * 6


@pytest.mark.parametrize(("ms", "expected"), [(99.9, True), (100.0, False)])
def test_sc_001_is_retrieval_by_id_under_100_ms(ms: float, expected: bool) -> None:
    assert met(replace(GOOD, by_id_ms=(ms,)))["SC-001"] is expected


@pytest.mark.parametrize(("ms", "expected"), [(499.9, True), (500.0, False)])
def test_sc_002_is_average_search_under_500_ms(ms: float, expected: bool) -> None:
    assert met(run_of((QUESTION, answer(HIT, ms=ms))))["SC-002"] is expected


@pytest.mark.parametrize(("wrong", "expected"), [(1, True), (2, False)])
def test_sc_003_is_95_percent_relevance_in_top_5(wrong: int, expected: bool) -> None:
    ids = [str(number) for number in range(20)]
    absent = replace(HIT, id="8", chunk_id="8_0")
    pairs = [
        (replace(QUESTION, id=name), answer(absent if number < wrong else HIT, question=name))
        for number, name in enumerate(ids)
    ]
    off_topic = SuiteQuestion("off", "Best pizza?", answerable=False)
    assert met(run_of(*pairs, (off_topic, answer(question="off"))))["SC-003"] is expected


def test_sc_003_looks_at_the_first_five_results() -> None:
    hits = [replace(HIT, rank=rank, id=str(rank), chunk_id=f"{rank}_0") for rank in range(1, 7)]
    for wanted, found in (("5", 1.0), ("6", 0.0)):
        run = run_of((replace(QUESTION, expected=(Expected(wanted, "id"),), top_k=10), answer(*hits)))
        assert value(run, "SC-003") == found


def test_sc_003_counts_an_error_as_not_found() -> None:
    pairs = [(QUESTION, answer(HIT)), (replace(QUESTION, id="b"), answer(question="b", error="HTTP 503"))]
    assert value(run_of(*pairs), "SC-003") == 0.5


def test_sc_004_is_100_percent_of_test_cases_passed() -> None:
    other = replace(QUESTION, id="b", expected=(Expected("8"),))
    run = run_of((QUESTION, answer(HIT)), (other, answer(HIT, question="b")))
    assert value(run, "SC-004") == 0.5
    assert not met(run)["SC-004"]


def test_sc_005_is_100_percent_of_errors_handled() -> None:
    assert not met(replace(GOOD, error_checks=(("blank", True), ("count", False))))["SC-005"]


def test_sc_006_is_the_same_answer_again() -> None:
    assert not met(replace(GOOD, repeated=(("a case", True), ("b", False))))["SC-006"]


def test_threshold_of_a_criterion_can_be_replaced() -> None:
    run = replace(GOOD, repeated=(("a case", True), ("b", False)))
    assert [(verdict.name, verdict.met) for verdict in verdicts(run, {"SC-006": 0.5})] == [("SC-006", True)]
