"""Evaluates an alarm of the template as CloudWatch does, on samples that a test makes up.

CloudWatch looks at an alarm once a minute, through a window that slides along (its default). The window has
EvaluationPeriods datapoints of Period seconds. The alarm goes off when DatapointsToAlarm of them breach.
"""

import operator
from bisect import bisect_left, insort
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

OPERATORS = {"GreaterThanThreshold": operator.gt, "GreaterThanOrEqualToThreshold": operator.ge}


@dataclass
class Metrics:
    """Samples by metric name: the minute they are of, the minute they arrive in CloudWatch, and the value."""

    samples: dict[str, list[tuple[float, float, float]]] = field(default_factory=dict)

    def add(self, name: str, at: float, value: float = 1, *, late: float = 0) -> None:
        insort(self.samples.setdefault(name, []), (at, at + late, value))

    def values(self, name: str, start: float, end: float, now: float) -> list[float]:
        """The values from `start` up to `end`, as far as they have arrived at `now`."""
        samples = self.samples.get(name, [])
        window = samples[bisect_left(samples, (start,)) : bisect_left(samples, (end,))]
        return [value for _, arrival, value in window if arrival <= now]


def watched(alarm: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The metrics of an alarm by their id, each with its Period and Stat. A single one has the id ''."""
    if "Metrics" in alarm:
        return {query["Id"]: query["MetricStat"] for query in alarm["Metrics"] if "MetricStat" in query}
    return {
        "": {"Metric": alarm, "Period": alarm["Period"], "Stat": alarm.get("Statistic", alarm.get("ExtendedStatistic"))}
    }


def period(alarm: Mapping[str, Any]) -> int:
    """Seconds of a datapoint."""
    return int(next(iter(watched(alarm).values()))["Period"])


def goes_off(alarm: Mapping[str, Any], metrics: Metrics, now: int) -> bool:
    """Whether the alarm is on in the evaluation at the minute `now`."""
    breaches, missing = OPERATORS[alarm["ComparisonOperator"]], alarm["TreatMissingData"] == "breaching"
    ends = (now - number * period(alarm) / 60 for number in range(alarm["EvaluationPeriods"]))
    points = [_datapoint(alarm, metrics, end, now) for end in ends]
    breaching = sum(missing if point is None else breaches(point, float(alarm["Threshold"])) for point in points)
    return breaching >= alarm.get("DatapointsToAlarm", alarm["EvaluationPeriods"])


def first_alarm(alarm: Mapping[str, Any], metrics: Metrics, minutes: int, *, start: int = 0) -> int | None:
    """The first minute from `start` on in which the alarm is on; None if it stays off."""
    return next((now for now in range(start, minutes + 1) if goes_off(alarm, metrics, now)), None)


def _datapoint(alarm: Mapping[str, Any], metrics: Metrics, end: float, now: int) -> float | None:
    start = end - period(alarm) / 60
    values = {
        name: _statistic(stat["Stat"], metrics.values(stat["Metric"]["MetricName"], start, end, now))
        for name, stat in watched(alarm).items()
    }
    queries = alarm.get("Metrics", [{"Id": ""}])
    for query in reversed(queries):  # what an expression uses comes after it
        if "Expression" in query:
            values[query["Id"]] = evaluate(query["Expression"], values)
    (returned,) = [query["Id"] for query in queries if query.get("ReturnData") is not False]
    return values[returned]


def _statistic(name: str, values: list[float]) -> float | None:
    if not values:
        return None
    if name.startswith("p"):
        return sorted(values)[ceil(float(name[1:]) / 100 * len(values)) - 1]
    return float({"Sum": sum, "SampleCount": len}[name](values))


def evaluate(text: str, values: Mapping[str, float | None]) -> float | None:
    """One datapoint of a metric math expression; None where a metric has no data and is not filled."""
    functions = {
        "IF": lambda condition, then, otherwise: then if condition else otherwise,
        "FILL": lambda value, filler: filler if value is None else value,
        "RUNNING_SUM": lambda value: value,
    }
    code = text.replace(" AND ", " and ").replace(" OR ", " or ")
    try:
        return float(eval(code, {"__builtins__": {}}, {**functions, **values}))  # noqa: S307 - ours
    except (TypeError, ZeroDivisionError):
        return None
