"""When each alarm goes off: readers who come at random, by day and night, and metrics up to three minutes late.

The figures of docs/operations.md are those of this simulation.
"""

import statistics
from collections.abc import Iterator, Mapping
from random import Random as Chance
from typing import Any

import pytest

from conftest import ROOT
from template.cloudwatch import Metrics, first_alarm, goes_off, period
from template.options import made

DAY = 24 * 60
MONTH = 30 * DAY
BY_DAY, WAKING = 0.95, 16 * 60
"""This share of the questions comes in these minutes of a day, the rest at night."""
TRIALS = 100

Alarms = dict[str, dict[str, Any]]
Counts = Mapping[str, tuple[float | None, float | None]]
"""The metrics of a heartbeat or a question: their value if all is well, and if something fails. None: not counted."""

ONLY_FAILING = (None, 1)
ANSWERED: Counts = {"TotalLatency": (300, 300), "RerankLatency": (100, 100), "TopScore": (0.6, 0.6)}
NO_ANSWER: Counts = {**dict.fromkeys(ANSWERED, (1, None)), "Failed.Upstream": ONLY_FAILING}
NO_EMBEDDING: Counts = {"AnsweredByWords": ONLY_FAILING}
EVENTS: dict[str, tuple[Counts, Counts]] = {
    "A total outage": ({"Heartbeat": (1, 0)}, NO_ANSWER),
    "No answer has a passage": ({}, {**ANSWERED, "TopScore": (0.6, None)}),
    "No answer is reranked": ({}, {**ANSWERED, "RerankFailed": ONLY_FAILING}),
    "A new index is refused": ({"IndexRefused": ONLY_FAILING}, ANSWERED),
    "Every answer is by words": (NO_EMBEDDING, {**ANSWERED, **NO_EMBEDDING}),
}
"""What each heartbeat and each question counts."""
SINGLE_FAILURES: dict[str, Counts] = {
    "HeartbeatAlarm": {"Heartbeat": (1, 0)},
    "UpstreamErrorAlarm": NO_ANSWER,
    "AnsweredByWordsAlarm": {**ANSWERED, **NO_EMBEDDING},
}


@pytest.fixture(scope="module")
def alarms() -> Alarms:
    """Every alarm of two stacks, by name: of the default one, and of one with an index in a bucket."""
    return {**made("edge-bucket").of_type("CloudWatch::Alarm"), **made("default").of_type("CloudWatch::Alarm")}


def _questions(chance: Chance, month: int, start: float, end: float) -> Iterator[float]:
    """The minutes of questions, `month` of them in a month: a Poisson process, whose rate is lower at night."""
    day, night = month / 30 * BY_DAY / WAKING, month / 30 * (1 - BY_DAY) / (DAY - WAKING)
    at = start
    while month and (at := at + chance.expovariate(day)) < end:
        if at % DAY < WAKING or chance.random() < night / day:
            yield at


def _beats(chance: Chance, start: float, end: float) -> Iterator[float]:
    """The minutes of heartbeats: every five minutes, up to a minute late, which is the scheduler's precision."""
    at = start + chance.uniform(0, 5)
    while at < end:
        yield at + chance.uniform(0, 1)
        at += 5


def _count(metrics: Metrics, counts: Counts, at: float, failing: bool, chance: Chance) -> None:
    """Add the metrics of one heartbeat or question, which arrive up to three minutes late."""
    values = {name: value for name, pair in counts.items() if (value := pair[failing]) is not None}
    late = chance.uniform(0, 3) if values else 0
    for name, value in values.items():
        metrics.add(name, at, value, late=late)


def _documented(heading: str) -> list[list[str]]:
    """The rows of a table of docs/operations.md, with the questions a month as a number."""
    section = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition(f"| {heading} |")[2]
    lines = section.partition("\n\n")[0].split("\n")[2:]
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    return [[*row[:2], row[2].replace(",", "").replace("any", "0"), *row[3:]] for row in rows]


def _minutes_until(alarm: dict[str, Any], event: str, month: int) -> list[float]:
    """The minutes until an alarm goes off, in trials that begin at any time of a day, after all was well."""
    chance, taken = Chance(1), []  # noqa: S311 - a simulation
    window, longest = period(alarm) // 60, 120 if month > 10_000 else 2 * DAY
    for _ in range(TRIALS):
        begin = 2 * DAY + chance.uniform(0, DAY)
        start, end, metrics = begin - window, begin + longest, Metrics()
        sources = (_beats(chance, start, end), _questions(chance, month, start, end))
        for counts, minutes in zip(EVENTS[event], sources, strict=True):
            for at in minutes:
                _count(metrics, counts, at, at >= begin, chance)
        first = first_alarm(alarm, metrics, round(begin) + longest, start=round(begin))
        assert first is not None
        taken.append(max(first - begin, 0))
    return sorted(taken)


def _time(minutes: float) -> str:
    return f"{minutes / 60:.1f} hours" if minutes >= 90 else f"{minutes:.0f} minutes"


@pytest.mark.parametrize("row", _documented("what happens"), ids=lambda row: "-".join(row[1:3]))
def test_alarm_comes_when_the_docs_say(row: list[str], alarms: Alarms) -> None:
    event, alarm, month, *times = row
    taken = _minutes_until(alarms[alarm], event, int(month))
    assert times == [_time(statistics.median(taken)), _time(taken[round(0.95 * TRIALS) - 1]), _time(taken[-1])]


@pytest.mark.parametrize("row", _documented("false alarms"), ids=lambda row: "-".join(row[1:3]))
def test_false_alarms_are_as_rare_as_the_docs_say(row: list[str], alarms: Alarms) -> None:
    """One call in 200 is too slow, each by itself."""
    alarm, month = row[1], int(row[2])
    chance = Chance(1)  # noqa: S311 - a simulation
    total, months = 0, 10 if month < 10_000 else 2
    for _ in range(months):
        metrics, minutes = Metrics(), set()  # it can only go off in the minutes after a failure
        for at in list(_questions(chance, month, 0, MONTH) if month else _beats(chance, 0, MONTH)):
            bad = chance.random() < 0.005
            _count(metrics, SINGLE_FAILURES[alarm], at, bad, chance)
            if bad and at > 30:
                minutes.update(range(int(at), int(at) + 25))
        on = {now for now in minutes if goes_off(alarms[alarm], metrics, now)}
        total += sum(now - 1 not in on for now in on)
    assert row[3] == f"{total / months:.1f} a month"


Samples = tuple[str, list[float], float, float]
"""A metric, the minutes of its samples, their value, and how late they are."""


def _each(count: float, metric: str = "TotalLatency", start: float = 0, value: float = 1, late: float = 0) -> Samples:
    """A metric, `count` times a minute from `start` up to the hour's end."""
    return metric, [start + number / count for number in range(round((60 - start) * count))], value, late


def _at(metric: str, *minutes: float, value: float = 1, late: float = 0) -> Samples:
    return metric, list(minutes), value, late


BUSY = _each(20)
SLOW = _each(3, start=30, value=5_000)
SCENARIOS: list[tuple[str, str, list[Samples], int | None]] = [
    *((name, "silence", [], None) for name in ("ConfigurationErrorAlarm", "UpstreamErrorAlarm", "LatencyAlarm")),
    ("ConfigurationErrorAlarm", "one failure", [_at("Failed.Ours", 10.5)], None),
    ("ConfigurationErrorAlarm", "two failures", [_at("Failed.Ours", 10.5, 20.5)], 21),
    ("ConfigurationErrorAlarm", "two, three minutes late", [_at("Failed.Ours", 10.5, 20.5, late=3)], 24),
    ("FunctionErrorAlarm", "one failure", [_at("Errors", 10.5)], None),
    ("FunctionErrorAlarm", "two failures", [_at("Errors", 10.5, 20.5)], 21),
    # A canary lasts five minutes. A tenth of the answers, those of the new version, fail or become slow.
    ("ConfigurationErrorAlarm", "canary", [BUSY, _at("Failed.Ours", *range(30, 60), late=2)], 33),
    ("FunctionErrorAlarm", "canary", [BUSY, _at("Errors", *range(30, 60), late=2)], 33),
    ("LatencyAlarm", "canary", [BUSY, SLOW], 33),
    # A percentile of fewer than 200 answers counts, too.
    ("LatencyAlarm", "two slow minutes", [_each(1), _at("TotalLatency", 20, 25, value=5_000)], None),
    ("LatencyAlarm", "three slow minutes", [_each(1), _at("TotalLatency", 20, 25, 30, value=5_000)], 31),
    ("UpstreamErrorAlarm", "a twentieth fails", [BUSY, _each(1, "Failed.Upstream", 30)], None),
    ("UpstreamErrorAlarm", "an eighth fails", [BUSY, _each(3, "Failed.Upstream", 30)], 42),
    ("EmptyResultsAlarm", "no answer ever has a passage", [_at("TotalLatency", *range(10))], 10),
    # Throttled requests, say, or a missing permission: Lambda is not called, so only the API counts anything.
    ("GatewayErrorAlarm", "the API's own", [_at("5XXError", *range(0, 30, 3))], 6),
    ("GatewayRefusalAlarm", "the API's own", [_each(2, "4XXError")], 10),
    ("GatewayRefusalAlarm", "a few", [_each(1, "4XXError")], None),
    # What the function answers is its own, not the API's. Its metric comes a little later than the API's, and its
    # question may end in the next minute.
    *(
        (alarm, f"{blame} {late} late", [_each(10, metric), _each(10, blame, 0.05, late=late)], None)
        for alarm, metric, blames in (
            ("GatewayErrorAlarm", "5XXError", ("Failed.Ours", "Failed.Upstream")),
            ("GatewayRefusalAlarm", "4XXError", ("Failed.Caller", "Failed.Upstream")),
        )
        for blame in blames
        for late in range(3)
    ),
]
"""Alarm, what happens, its metrics in an hour, and the first minute of the alarm, if any."""


@pytest.mark.parametrize(
    ("name", "samples", "first"),
    [(row[0], *row[2:]) for row in SCENARIOS],
    ids=[" ".join(row[:2]) for row in SCENARIOS],
)
def test_alarm_after_what_happened(name: str, samples: list[Samples], first: int | None, alarms: Alarms) -> None:
    metrics = Metrics()
    for metric, minutes, value, late in samples:
        for minute in minutes:
            metrics.add(metric, minute, value, late=late)
    assert first_alarm(alarms[name], metrics, 60) == first
