"""What a run must reach: named figures with a limit each, by default the success criteria of seed 001."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from passage.evaluation.cases import TestSuiteResult
from passage.evaluation.judging import has_expected
from passage.evaluation.measured_run import K, measure_run
from passage.evaluation.measures import MeasureError
from passage.evaluation.run import Run

FIRST = 5
"""The results that SC-003 looks at."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a run.

    Attributes:
        value: calculates it; None where the run has nothing to measure it by.
        what: what a success criterion measures; empty for another figure, whose name says it.
        limit: of the success criterion.
        most: the highest limit that can be asked for. None for a time, which must stay below its limit.
    """

    value: Callable[[Run, TestSuiteResult], float | None]
    what: str = ""
    limit: float = 1.0
    most: float | None = 1.0


def _share(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _right_first(run: Run, _: TestSuiteResult) -> float | None:
    """An error counts as a question without its document."""
    answerable = [pair for pair in run.pairs() if pair[0].answerable and pair[0].relevant]
    return _share([has_expected(question, answer, FIRST) for question, answer in answerable])


def _search_ms(_: Run, result: TestSuiteResult) -> float | None:
    return result.performance_metrics.avg_retrieval_time_ms if result.total_tests > result.errors else None


CRITERIA: Mapping[str, Figure] = {
    "SC-001": Figure(lambda run, _: _share(run.by_id_ms), "retrieval by id, average ms", 100.0, None),
    "SC-002": Figure(_search_ms, "similarity search, average ms", 500.0, None),
    "SC-003": Figure(_right_first, "share of questions with an expected document in the first 5", 0.95),
    "SC-004": Figure(
        lambda _, result: result.passed / result.total_tests if result.total_tests else None,
        "share of test cases that passed",
    ),
    "SC-005": Figure(
        lambda run, _: _share([right for _, right in run.error_checks]),
        "share of wrong requests that got the contract's error",
    ),
    "SC-006": Figure(
        lambda run, _: _share([same for _, same in run.repeated]),
        "share of repeated questions with the same answer",
    ),
}
"""The success criteria of seed 001, with its limits."""

FIGURES: Mapping[str, Figure] = {
    **CRITERIA,
    "pass_rate": Figure(lambda _, result: result.pass_rate, most=100.0),
    "avg_ms": Figure(lambda _, result: result.performance_metrics.avg_retrieval_time_ms, most=None),
    "p95_ms": Figure(lambda _, result: result.performance_metrics.p95_retrieval_time_ms, most=None),
    "max_ms": Figure(lambda _, result: result.performance_metrics.max_retrieval_time_ms, most=None),
}
MEASURES = re.compile(r"(?:hit|recall)@([1-9][0-9]{0,2})|mrr|ndcg@10", re.IGNORECASE)
ALLOWED = f"{', '.join(FIGURES)}, hit@K, recall@K, MRR and nDCG@10"


class ThresholdError(ValueError):
    """A threshold cannot be read; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A figure beside its limit. `value` is None where the run has nothing to measure it by."""

    name: str
    value: float | None
    limit: float
    met: bool

    @property
    def relation(self) -> str:
        """The sign between the value and the limit."""
        return "<" if figure(self.name).most is None else "≥"

    @property
    def shown_value(self) -> str:
        return "not measured" if self.value is None else f"{self.value:,.3f}"

    @property
    def what(self) -> str:
        """What a success criterion measures; empty for another figure."""
        return figure(self.name).what


def figure(name: str) -> Figure:
    """The figure of a name. Any measure is one.

    Raises:
        KeyError: there is none.
    """
    return Figure(lambda run, _: _mean(name, run)) if MEASURES.fullmatch(name) else FIGURES[name]


def read(texts: Iterable[str]) -> dict[str, float]:
    """Thresholds as a command line gives them: `NAME=VALUE`, several separated by commas.

    Raises:
        ThresholdError: a name or value is wrong.
    """
    limits: dict[str, float] = {}
    for text in (part for given in texts for part in given.split(",")):
        name, _, value = text.strip().partition("=")
        try:
            limits[name.strip()] = float(value)
        except ValueError:
            raise ThresholdError(f"'{text.strip()}' must be NAME=VALUE, as in hit@5=0.95.") from None
    return check_thresholds(limits)


def check_thresholds(thresholds: Mapping[str, float]) -> dict[str, float]:
    """The thresholds, with names that exist.

    Raises:
        ThresholdError: a name is unknown, or a limit is out of its range.
    """
    for name, limit in thresholds.items():
        if name not in FIGURES and not MEASURES.fullmatch(name):
            raise ThresholdError(f"'{name}' is not a figure of a run; allowed: {ALLOWED}.")
        most = figure(name).most
        if not 0 <= limit <= (float("inf") if most is None else most):
            raise ThresholdError(f"'{name}' must be 0 to {most or float('inf'):g}, not {limit:g}.")
    return dict(thresholds)


def most_pages(thresholds: Iterable[str]) -> int:
    """The largest K of hit@K and recall@K; 0 without one."""
    matches = (MEASURES.fullmatch(name) for name in thresholds)
    return max((int(each[1]) for each in matches if each and each[1]), default=0)


def judge(run: Run, result: TestSuiteResult, thresholds: Mapping[str, float]) -> list[Verdict]:
    """Each threshold with the run's figure. Without any, the six success criteria of seed 001.

    A criterion that the run has nothing to measure by is not missed. Any other figure is.
    """
    limits = thresholds or {name: criterion.limit for name, criterion in CRITERIA.items()}
    verdicts = []
    for name, limit in limits.items():
        value = figure(name).value(run, result)
        is_time = figure(name).most is None
        met = name in CRITERIA if value is None else value < limit if is_time else value >= limit
        verdicts.append(Verdict(name, value, limit, met))
    return verdicts


def _mean(name: str, run: Run) -> float | None:
    """A measure's mean; None where a question has an error, or none has a relevant document."""
    matched = MEASURES.fullmatch(name)
    k = int(matched[1]) if matched and matched[1] else K
    try:
        measures = measure_run(run, k=k)
    except MeasureError:
        return None
    return next(each.mean for each in measures.measured if each.name.lower() == name.lower())
