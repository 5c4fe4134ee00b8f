"""Judges the questions of a run by seed 001: the status of each test case."""

from collections.abc import Iterator

from passage.evaluation.cases import RetrievalResult, TestCase, TestStatus, TestSuiteResult
from passage.evaluation.run import Run, SavedAnswer
from passage.evaluation.suite import Expected, SuiteQuestion

MOST_MS = 500.0
"""A test case whose retrieval takes as long fails."""


def retrieval_ms(answer: SavedAnswer) -> float:
    """The time of the search, where the target reports it; else of the whole answer."""
    return answer.milliseconds if answer.search_ms is None else answer.search_ms


def judge_cases(run: Run) -> TestSuiteResult:
    """Every question as an executed test case."""
    best = max((hit.score for answer in run.answers for hit in answer.results), default=0.0)
    executed = [_execute(run, question, answer, best) for question, answer in run.pairs()]
    times = [retrieval_ms(answer) for answer in run.answers if answer.error is None]
    return TestSuiteResult.of(executed, times, run.elapsed_ms, run.started_at)


def to_case(question: SuiteQuestion, collection: str, top_k: int) -> TestCase:
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


def _execute(run: Run, question: SuiteQuestion, answer: SavedAnswer, best: float) -> TestCase:
    case = to_case(question, run.collection, run.top_k).move(TestStatus.RUNNING)
    if answer.error is not None:
        return case.move(TestStatus.ERROR, (), answer.error)
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
        return case.move(TestStatus.ERROR, results, message)
    failures = list(_failures(case, question, answer, best))
    status = TestStatus.FAILED if failures else TestStatus.PASSED
    return case.move(status, results, " ".join(failures) or None)


def _failures(case: TestCase, question: SuiteQuestion, answer: SavedAnswer, best: float) -> Iterator[str]:
    if not has_expected(question, answer, case.top_k):
        missing = ", ".join(expected.value for expected in _absent(question, answer, case.top_k))
        which = "all of" if question.match == "all" else "any of"
        yield f"MISSING_DOCUMENT: The first {case.top_k} results do not contain {which}: {missing}."
    yield from _irrelevance(case, question, answer, best)
    took = retrieval_ms(answer)
    if took >= MOST_MS:
        yield f"PERFORMANCE: The retrieval took {took:,.0f} ms; it must take less than {MOST_MS:,.0f} ms."


def _irrelevance(case: TestCase, question: SuiteQuestion, answer: SavedAnswer, best: float) -> Iterator[str]:
    threshold = case.relevance_threshold
    hits = answer.results[: case.top_k]
    relevant = [hit for hit in hits if hit.score >= threshold]
    if not question.answerable:
        if threshold > 0 and relevant:
            score = relevant[0].score
            yield f"RELEVANCE: The site has no answer, but a result has the score {score:.3f}."
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
        yield f"RELEVANCE: {message}"
    text = "\n".join(hit.text for hit in relevant).casefold()
    absent = [keyword for keyword in case.expected_keywords if keyword.casefold() not in text]
    if absent:
        yield f"RELEVANCE: The results do not contain: {', '.join(absent)}."


def has_expected(question: SuiteQuestion, answer: SavedAnswer, first: int) -> bool:
    """Whether the first results have the expected documents: one, or all of them, as the question says."""
    absent = _absent(question, answer, first)
    return not absent or (question.match == "any" and len(absent) < len(question.relevant))


def _absent(question: SuiteQuestion, answer: SavedAnswer, first: int) -> list[Expected]:
    hits = answer.results[:first]
    return [expected for expected in question.relevant if not any(hit.matches(expected) for hit in hits)]


def find_unachievable(run: Run) -> list[str]:
    """The questions whose relevance_threshold is above every score of the run."""
    best = max((hit.score for answer in run.answers for hit in answer.results), default=None)
    if best is None:
        return []
    return [question.id for question in run.suite.questions if (question.relevance_threshold or 0.0) > best]
