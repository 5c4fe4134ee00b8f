"""What the report shows, calculated once: each question's outcome, the measures, and the comparison."""

from collections.abc import Iterable
from dataclasses import dataclass

from passage.evaluation.compare import Comparison
from passage.evaluation.cosine_threshold import Threshold
from passage.evaluation.intervals import Estimate, estimate
from passage.evaluation.judging import judged
from passage.evaluation.measured_run import compared, measured, proposed_threshold, refuse_others
from passage.evaluation.measures import MeasureError, Measures
from passage.evaluation.run import Answer, Hit, Run
from passage.evaluation.suite import Question


@dataclass(frozen=True)
class Outcome:
    """A question, its answer and its value.

    Args:
        value: nDCG@10; None for a question that is not measured.
        failure: why its test case did not pass; empty if it passed.
    """

    question: Question
    answer: Answer
    value: float | None
    failure: str

    @property
    def first_right(self) -> int | None:
        """The place of the first passage of a right page, from 1."""
        return next((hit.rank for hit in self.answer.results if grade(self.question, hit)), None)

    @property
    def best_score(self) -> float:
        return max((hit.score for hit in self.answer.results), default=0.0)


@dataclass(frozen=True)
class Facts:
    """One run, prepared for the report.

    Args:
        measures: None if the run cannot be measured; `unmeasured` says why.
        comparison: empty without a baseline, or if one of the runs cannot be measured.
    """

    run: Run
    outcomes: tuple[Outcome, ...]
    measures: Measures | None
    unmeasured: str
    threshold: Threshold | None
    baseline: "Facts | None" = None
    comparison: tuple[Comparison, ...] = ()

    @property
    def errors(self) -> int:
        return sum(outcome.answer.error is not None for outcome in self.outcomes)

    @property
    def times(self) -> list[float]:
        """The milliseconds of each answer, shortest first."""
        return sorted(outcome.answer.milliseconds for outcome in self.outcomes if outcome.answer.error is None)


def grade(question: Question, hit: Hit) -> int | None:
    """The highest grade of the judgments that this passage matches; None if nobody judged it."""
    return max((each.grade for each in question.expected if hit.matches(each)), default=None)


def facts(run: Run, baseline: Run | None = None) -> Facts:
    """Raises ComparisonError if the runs are not over the same questions."""
    if baseline is None:
        return _of_one(run)
    refuse_others(run, baseline)
    now, before = _of_one(run), _of_one(baseline)
    comparison = compared(run, baseline) if now.measures and before.measures else ()
    return Facts(run, now.outcomes, now.measures, now.unmeasured, now.threshold, before, comparison)


def by_tag(outcomes: Iterable[Outcome], measures: Measures) -> list[tuple[str, Estimate, int]]:
    """hit@k of each tag that at least one measured question has, with the number of questions."""
    hits = measures[f"hit@{measures.k}"].values
    tagged: dict[str, list[float]] = {}
    for outcome in outcomes:
        if outcome.question.id in hits:
            for tag in outcome.question.tags:
                tagged.setdefault(tag, []).append(hits[outcome.question.id])
    return [(tag, estimate(values), len(values)) for tag, values in tagged.items()]


def quantile(ordered: list[float], share: float) -> float:
    """The value that this share of the values does not exceed; 0 without values."""
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else 0.0


def worst_first(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Errors, then measured questions by their value, then by the place of the first right passage."""
    shown = [each for each in outcomes if each.value is not None or each.answer.error is not None]
    return sorted(shown, key=lambda each: (each.value or 0.0, -(each.first_right or 10_000)))


def _of_one(run: Run) -> Facts:
    measures, why = None, ""
    try:
        measures = measured(run)
    except MeasureError as error:
        why = str(error)
    values = measures["nDCG@10"].values if measures else {}
    failures = [case.error_message or "" for case in judged(run).test_results]
    outcomes = tuple(
        Outcome(question, answer, values.get(question.id), failure)
        for (question, answer), failure in zip(run.pairs(), failures, strict=True)
    )
    return Facts(run, outcomes, measures, why, proposed_threshold(run))
