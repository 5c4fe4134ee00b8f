"""What a run must reach: named figures with a limit each, by default the success criteria of seed 001."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from passage.evaluation.judging import CRITERIA, UPPER, criteria
from passage.evaluation.measured_run import K, measured
from passage.evaluation.measures import MeasureError
from passage.evaluation.run import Run
from passage.evaluation.suite_result import TestSuiteResult

TIMES: Mapping[str, Callable[[TestSuiteResult], float]] = {
    "avg_ms": lambda result: result.performance_metrics.avg_retrieval_time_ms,
    "p95_ms": lambda result: result.performance_metrics.p95_retrieval_time_ms,
    "max_ms": lambda result: result.performance_metrics.max_retrieval_time_ms,
}
MEASURES = re.compile(r"(?:hit|recall)@([1-9][0-9]{0,2})|mrr|ndcg@10", re.IGNORECASE)
ALLOWED = f"{', '.join(CRITERIA)}, pass_rate, {', '.join(TIMES)}, hit@K, recall@K, MRR and nDCG@10"


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
        return "<" if is_upper(self.name) else "≥"

    @property
    def shown_value(self) -> str:
        return "not measured" if self.value is None else f"{self.value:,.3f}"

    @property
    def what(self) -> str:
        """What a success criterion measures; empty for another figure, whose name says it."""
        return CRITERIA[self.name][0] if self.name in CRITERIA else ""


def is_upper(name: str) -> bool:
    """Whether a figure must stay below its limit."""
    return name in UPPER or name in TIMES


def read(texts: Iterable[str]) -> dict[str, float]:
    """Thresholds as a command line gives them: `NAME=VALUE`, several separated by commas.

    Raises:
        ThresholdError: a name or value is wrong.
    """
    found: dict[str, float] = {}
    for text in (part for given in texts for part in given.split(",")):
        name, _, value = text.strip().partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise ThresholdError(f"'{text.strip()}' must be NAME=VALUE, as in hit@5=0.95.") from None
    return checked(found)


def checked(thresholds: Mapping[str, float]) -> dict[str, float]:
    """The thresholds, with names that exist.

    Raises:
        ThresholdError: a name is unknown, or a limit is out of its range.
    """
    for name, limit in thresholds.items():
        if name not in CRITERIA and name not in TIMES and name != "pass_rate" and not MEASURES.fullmatch(name):
            raise ThresholdError(f"'{name}' is not a figure of a run; allowed: {ALLOWED}.")
        most = float("inf") if is_upper(name) else 100.0 if name == "pass_rate" else 1.0
        if not 0 <= limit <= most:
            raise ThresholdError(f"'{name}' must be 0 to {most:g}, not {limit:g}.")
    return dict(thresholds)


def most_pages(thresholds: Iterable[str]) -> int:
    """The largest K of hit@K and recall@K; 0 without one."""
    found = (MEASURES.fullmatch(name) for name in thresholds)
    return max((int(each[1]) for each in found if each and each[1]), default=0)


def verdicts(run: Run, result: TestSuiteResult, thresholds: Mapping[str, float]) -> list[Verdict]:
    """Each threshold with the run's figure. Without any, the six success criteria of seed 001."""
    if not thresholds:
        return [Verdict(each.name, each.value, each.threshold, each.met) for each in criteria(run, result)]
    return [_verdict(name, limit, run, result) for name, limit in thresholds.items()]


def _verdict(name: str, limit: float, run: Run, result: TestSuiteResult) -> Verdict:
    if name in CRITERIA:
        found = next(each for each in criteria(run, result, {name: limit}) if each.name == name)
        return Verdict(name, found.value, limit, found.met)
    if name == "pass_rate":
        return Verdict(name, result.pass_rate, limit, result.pass_rate >= limit)
    if name in TIMES:
        took = TIMES[name](result)
        return Verdict(name, took, limit, took < limit)
    value = _measure(name, run)
    return Verdict(name, value, limit, value is not None and value >= limit)


def _measure(name: str, run: Run) -> float | None:
    """A measure's mean; None where a question has an error, or none has a relevant document."""
    matched = MEASURES.fullmatch(name)
    k = int(matched[1]) if matched and matched[1] else K
    try:
        measures = measured(run, k=k)
    except MeasureError:
        return None
    return next(each.mean for each in measures.measured if each.name.lower() == name.lower())
