"""What the report shows, calculated once: each question's outcome, the measures, and the comparison."""

from dataclasses import dataclass

from passage.evaluation.compare import Comparison
from passage.evaluation.intervals import Estimate, estimate
from passage.evaluation.judging import judge_cases
from passage.evaluation.measured_run import Threshold, compare_runs, measure_run, refuse_others, threshold_of_run
from passage.evaluation.measures import Measured, MeasureError, Measures
from passage.evaluation.run import Run, SavedAnswer, SavedHit
from passage.evaluation.suite import Expected, SuiteQuestion

PLACES = {**{str(place): (place, place) for place in range(1, 6)}, "6-10": (6, 10), "> 10": (11, 10**9)}
TIMES = (10, 20, 50, 100, 200, 500, 1000, 2000)
"""Upper bounds of the columns, in milliseconds."""

Column = tuple[str, int, str]
"""A label, a count, and the style sheet's class of its colour."""


@dataclass(frozen=True)
class Outcome:
    """A question, its answer and its value.

    Args:
        value: nDCG@10; None for a question that is not measured.
        failure: why its test case did not pass; empty if it passed.
    """

    question: SuiteQuestion
    answer: SavedAnswer
    value: float | None
    failure: str

    @property
    def first_right(self) -> int | None:
        """The place of the first passage of a right page, from 1."""
        return next((hit.rank for hit in self.answer.results if grade_of(self.question, hit)), None)

    @property
    def best_score(self) -> float:
        return max((hit.score for hit in self.answer.results), default=0.0)

    def place_of(self, expected: Expected) -> int | None:
        """The place of an expected document, from 1."""
        return next((hit.rank for hit in self.answer.results if hit.matches(expected)), None)


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
    def measured(self) -> tuple[Measured, ...]:
        """Each measure; empty if the run cannot be measured."""
        return self.measures.measured if self.measures else ()

    @property
    def errors(self) -> int:
        return sum(outcome.answer.error is not None for outcome in self.outcomes)

    @property
    def times(self) -> list[float]:
        """The milliseconds of each answer, shortest first."""
        return sorted(outcome.answer.milliseconds for outcome in self.outcomes if outcome.answer.error is None)

    @property
    def changes(self) -> list[tuple[Outcome, Outcome, float]]:
        """Each measured question with the baseline's outcome and the change of its nDCG@10, losses first."""
        pairs = zip(self.outcomes, self.baseline.outcomes, strict=True) if self.comparison and self.baseline else ()
        measured_pairs = [
            (now, before, now.value - before.value)
            for now, before in pairs
            if now.value is not None and before.value is not None
        ]
        return sorted(measured_pairs, key=lambda pair: pair[2])

    @property
    def worst_first(self) -> list[Outcome]:
        """Errors, then measured questions by their value, then by the place of the first right passage."""
        shown = [each for each in self.outcomes if each.value is not None or each.answer.error is not None]
        return sorted(shown, key=lambda each: (each.value or 0.0, -(each.first_right or 10_000)))

    @property
    def off_topic(self) -> list[Outcome]:
        """The answers to questions that the site does not answer, best score first."""
        answered = [each for each in self.outcomes if not each.question.answerable and each.answer.error is None]
        return sorted(answered, key=lambda each: -each.best_score)

    @property
    def tags(self) -> list[tuple[str, Estimate, int]]:
        """hit@k of each tag that at least one measured question has, with the number of questions."""
        hits = self.measures[f"hit@{self.measures.k}"].values if self.measures else {}
        tagged: dict[str, list[float]] = {}
        for outcome in self.outcomes:
            for tag in outcome.question.tags if outcome.question.id in hits else ():
                tagged.setdefault(tag, []).append(hits[outcome.question.id])
        return [(tag, estimate(values), len(values)) for tag, values in tagged.items()]

    @property
    def places(self) -> list[Column]:
        """How many measured questions have their first right passage at each place."""
        first = [outcome.first_right for outcome in self.outcomes if outcome.value is not None]
        counts = [
            (label, sum(place is not None and low <= place <= high for place in first), "plain")
            for label, (low, high) in PLACES.items()
        ]
        return [*counts, ("none", first.count(None), "loss")]

    @property
    def time_columns(self) -> list[Column]:
        """How many answers took how long, without the empty columns at both ends."""
        bounds = [(f"< {high}", low, high) for low, high in zip((0, *TIMES), TIMES, strict=False)]
        bounds.append((f"≥ {TIMES[-1]}", TIMES[-1], 10**9))
        columns = [(label, sum(low <= each < high for each in self.times), "plain") for label, low, high in bounds]
        full = [number for number, (_, count, _) in enumerate(columns) if count]
        return columns[max(0, full[0] - 1) : full[-1] + 2] if full else []


def grade_of(question: SuiteQuestion, hit: SavedHit) -> int | None:
    """The highest grade of the judgments that this passage matches; None if nobody judged it."""
    return max((each.grade for each in question.expected if hit.matches(each)), default=None)


def facts(run: Run, baseline: Run | None = None) -> Facts:
    """Raises ComparisonError if the runs are not over the same questions."""
    if baseline is None:
        return _of_one(run)
    refuse_others(run, baseline)
    now, before = _of_one(run), _of_one(baseline)
    comparison = compare_runs(run, baseline) if now.measures and before.measures else ()
    return Facts(run, now.outcomes, now.measures, now.unmeasured, now.threshold, before, comparison)


def _of_one(run: Run) -> Facts:
    measures, why = None, ""
    try:
        measures = measure_run(run)
    except MeasureError as error:
        why = str(error)
    values = measures["nDCG@10"].values if measures else {}
    failures = [case.error_message or "" for case in judge_cases(run).test_results]
    outcomes = tuple(
        Outcome(question, answer, values.get(question.id), failure)
        for (question, answer), failure in zip(run.pairs(), failures, strict=True)
    )
    return Facts(run, outcomes, measures, why, threshold_of_run(run))


def cut(text: str, characters: int) -> str:
    """A text in one line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= characters else line[: characters - 1].rstrip() + "…"


def quantile(ordered: list[float], share: float) -> float:
    """The value that this share of the values does not exceed; 0 without values."""
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else 0.0
