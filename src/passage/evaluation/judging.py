"""Judges a run by seed 001: the status of each test case, and the success criteria SC-001 to SC-006."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from passage.evaluation.cases import RetrievalResult, TestCase, TestStatus
from passage.evaluation.run import Answer, Run
from passage.evaluation.suite import Expected, Question
from passage.evaluation.suite_result import TestSuiteResult

FailureKind = Literal["RELEVANCE", "MISSING_DOCUMENT", "PERFORMANCE"]

FIRST = 5
"""The results that SC-003 looks at."""

CRITERIA: Mapping[str, tuple[str, float]] = {
    "SC-001": ("retrieval by id, average ms", 100.0),
    "SC-002": ("similarity search, average ms", 500.0),
    "SC-003": ("share of questions with an expected document in the first 5", 0.95),
    "SC-004": ("share of test cases that passed", 1.0),
    "SC-005": ("share of wrong requests that got the contract's error", 1.0),
    "SC-006": ("share of repeated questions with the same answer", 1.0),
}
"""What the seed's success criteria measure, and its thresholds. The first two are upper limits."""

UPPER = frozenset({"SC-001", "SC-002"})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a test case failed."""

    kind: FailureKind
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Criterion:
    """A measured success criterion. `value` is None where the run has nothing to measure it by."""

    name: str
    what: str
    value: float | None
    threshold: float

    @property
    def met(self) -> bool:
        """A criterion that was not measured is not missed."""
        if self.value is None:
            return True
        return self.value < self.threshold if self.name in UPPER else self.value >= self.threshold


def retrieval_ms(answer: Answer) -> float:
    """The time of the search, where the target reports it; else of the whole answer."""
    return answer.milliseconds if answer.search_ms is None else answer.search_ms


def judged(run: Run, most_ms: float = CRITERIA["SC-002"][1]) -> TestSuiteResult:
    """Every question as an executed test case.

    Args:
        most_ms: a test case whose retrieval takes as long fails.
    """
    best = max((hit.score for answer in run.answers for hit in answer.results), default=0.0)
    executed = [_executed(run, question, answer, most_ms, best) for question, answer in run.pairs()]
    times = [retrieval_ms(answer) for answer in run.answers if answer.error is None]
    return TestSuiteResult.of(executed, times, run.elapsed_ms, run.started_at)


def pending(question: Question, collection: str, top_k: int) -> TestCase:
    """A question as a test case.

    Raises:
        CaseError: it breaks a rule of the seed.
    """
    return TestCase(
        name=question.id,
        query_text=question.text,
        collection_name=collection,
        expected_doc_ids=tuple(expected.value for expected in question.relevant),
        expected_keywords=question.keywords,
        relevance_threshold=question.relevance_threshold or 0.0,
        top_k=top_k if question.top_k is None else question.top_k,
    )


def _executed(run: Run, question: Question, answer: Answer, most_ms: float, best: float) -> TestCase:
    case = pending(question, run.collection, run.top_k).moved(TestStatus.RUNNING)
    if answer.error is not None:
        return case.moved(TestStatus.ERROR, (), answer.error)
    results = [
        RetrievalResult(
            id=hit.id or hit.chunk_id,
            score=hit.score,
            payload={"content": hit.text, "source_url": hit.url, "title": hit.title, "chunk_id": hit.chunk_id},
            retrieval_time_ms=retrieval_ms(answer),
        )
        for hit in answer.results[: case.top_k]
    ]
    absent = run.missing.get(question.id, ())
    if absent:
        message = f"The collection has no document {', '.join(absent)}: correct the suite, or index the site again."
        return case.moved(TestStatus.ERROR, results, message)
    failures = [str(failure) for failure in _failures(case, question, answer, most_ms, best)]
    status = TestStatus.FAILED if failures else TestStatus.PASSED
    return case.moved(status, results, " ".join(failures) or None)


def _failures(case: TestCase, question: Question, answer: Answer, most_ms: float, best: float) -> Iterator[Failure]:
    if not found(question, answer, case.top_k):
        missing = ", ".join(expected.value for expected in _absent(question, answer, case.top_k))
        which = "all of" if question.match == "all" else "any of"
        yield Failure("MISSING_DOCUMENT", f"The first {case.top_k} results do not contain {which}: {missing}.")
    yield from _irrelevance(case, question, answer, best)
    took = retrieval_ms(answer)
    if took >= most_ms:
        yield Failure("PERFORMANCE", f"The retrieval took {took:,.0f} ms; it must take less than {most_ms:,.0f} ms.")


def _irrelevance(case: TestCase, question: Question, answer: Answer, best: float) -> Iterator[Failure]:
    threshold = case.relevance_threshold
    hits = answer.results[: case.top_k]
    relevant = [hit for hit in hits if hit.score >= threshold]
    if not question.answerable:
        if threshold > 0 and relevant:
            score = relevant[0].score
            yield Failure("RELEVANCE", f"The site has no answer, but a result has the score {score:.3f}.")
        return
    judged_hits = [hit for hit in relevant if any(map(hit.matches, question.relevant))]
    in_reach = any(hit.matches(expected) for hit in hits for expected in question.relevant)
    if not relevant or (in_reach and not judged_hits):
        top = max((hit.score for hit in hits), default=0.0)
        hint = (
            f" No result of this run has it (best: {best:.3f}): it may not be achievable." if threshold > best else ""
        )
        what = "expected document" if relevant else "result"
        message = f"No {what} has the score {threshold:g} or more (best: {top:.3f}).{hint}" if hits else "No results."
        yield Failure("RELEVANCE", message)
    text = "\n".join(hit.text for hit in relevant).casefold()
    absent = [keyword for keyword in case.expected_keywords if keyword.casefold() not in text]
    if absent:
        yield Failure("RELEVANCE", f"The results do not contain: {', '.join(absent)}.")


def found(question: Question, answer: Answer, first: int) -> bool:
    """Whether the first results have the expected documents: one, or all of them, as the question says."""
    absent = _absent(question, answer, first)
    return not absent or (question.match == "any" and len(absent) < len(question.relevant))


def _absent(question: Question, answer: Answer, first: int) -> list[Expected]:
    hits = answer.results[:first]
    return [expected for expected in question.relevant if not any(hit.matches(expected) for hit in hits)]


def unachievable(run: Run) -> list[str]:
    """The questions whose relevance_threshold is above every score of the run."""
    best = max((hit.score for answer in run.answers for hit in answer.results), default=None)
    if best is None:
        return []
    return [question.id for question in run.suite.questions if (question.relevance_threshold or 0.0) > best]


def criteria(run: Run, result: TestSuiteResult, thresholds: Mapping[str, float] | None = None) -> list[Criterion]:
    """The success criteria, in order. An error counts as a question without its document.

    Args:
        thresholds: replace those of the seed, by name.
    """
    answerable = [(question, answer) for question, answer in run.pairs() if question.answerable and question.relevant]
    values: Mapping[str, float | None] = {
        "SC-001": _share(sum(run.by_id_ms), len(run.by_id_ms)),
        "SC-002": result.performance_metrics.avg_retrieval_time_ms if result.total_tests > result.errors else None,
        "SC-003": _share(sum(found(question, answer, FIRST) for question, answer in answerable), len(answerable)),
        "SC-004": _share(result.passed, result.total_tests),
        "SC-005": _share(sum(right for _, right in run.error_checks), len(run.error_checks)),
        "SC-006": _share(sum(same for _, same in run.repeated), len(run.repeated)),
    }
    asked = {**{name: limit for name, (_, limit) in CRITERIA.items()}, **(thresholds or {})}
    return [Criterion(name, what, values[name], asked[name]) for name, (what, _) in CRITERIA.items()]


def _share(number: float, total: int) -> float | None:
    return number / total if total else None
