"""When each alarm goes off: readers who come at random, by day and night, and metrics up to three minutes late.

The figures of docs/operations.md are those of this simulation.
"""

import random
import statistics
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ROOT
from template.cloudformation import Stack
from template.cloudwatch import Metrics, first_alarm, goes_off, period

DAY = 24 * 60
MONTH = 30 * DAY
BY_DAY, WAKING = 0.95, 16 * 60
"""This share of the questions comes in these minutes of a day, the rest at night."""
TRIALS = 100

BY_BEAT = {"refused index": "IndexRefused", "no embedding": "AnsweredByWords"}
BY_QUESTION = {"no reranker": "RerankFailed", "no embedding": "AnsweredByWords"}
"""What each heartbeat and each question counts while something fails."""

Alarms = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def alarms(made: dict[str, Stack]) -> Alarms:
    """Every alarm of two stacks, by name: of the default one, and of one with an index in a bucket."""
    return {**made["edge-bucket"].of_type("CloudWatch::Alarm"), **made["default"].of_type("CloudWatch::Alarm")}


def _chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - a simulation


def _questions(chance: random.Random, month: int, start: float, end: float) -> Iterator[float]:
    """The minutes of questions, `month` of them in a month: a Poisson process, whose rate is lower at night."""
    day, night = month / 30 * BY_DAY / WAKING, month / 30 * (1 - BY_DAY) / (DAY - WAKING)
    at = start
    while (at := at + chance.expovariate(day)) < end:
        if at % DAY < WAKING or chance.random() < night / day:
            yield at


def _beats(chance: random.Random, start: float, end: float) -> Iterator[float]:
    """The minutes of heartbeats: every five minutes, up to a minute late, which is the scheduler's precision."""
    at = start + chance.uniform(0, 5)
    while at < end:
        yield at + chance.uniform(0, 1)
        at += 5


def _late(chance: random.Random) -> float:
    return chance.uniform(0, 3)


def _outage(kind: str, month: int, chance: random.Random, *, start: float, begin: float, end: float) -> Metrics:
    """Metrics of a site on which something fails from `begin` on, and everything was well before."""
    metrics = Metrics()
    for at in _beats(chance, start, end):
        failing = at >= begin
        if kind == "outage":
            metrics.add("Heartbeat", at, 0 if failing else 1, late=_late(chance))
        elif kind in BY_BEAT and failing:
            metrics.add(BY_BEAT[kind], at, late=_late(chance))
    for at in _questions(chance, month, start, end) if month else ():
        failing, late = at >= begin, _late(chance)
        if kind == "outage" and failing:
            metrics.add("Failed.Upstream", at, late=late)
            continue
        metrics.add("TotalLatency", at, 300, late=late)
        metrics.add("RerankLatency", at, 100, late=late)
        if not (kind == "no passages" and failing):
            metrics.add("TopScore", at, 0.6, late=late)
        if kind in BY_QUESTION and failing:
            metrics.add(BY_QUESTION[kind], at, late=late)
    return metrics


ROWS: list[tuple[str, str, int, str]] = [
    ("A total outage", "HeartbeatAlarm", 0, "outage"),
    ("A total outage", "UpstreamErrorAlarm", 3_000, "outage"),
    ("A total outage", "UpstreamErrorAlarm", 100_000, "outage"),
    ("No answer has a passage", "EmptyResultsAlarm", 1_000, "no passages"),
    ("No answer is reranked", "RerankFailureAlarm", 1_000, "no reranker"),
    ("No answer is reranked", "RerankFailureAlarm", 100_000, "no reranker"),
    ("A new index is refused", "IndexRefusedAlarm", 0, "refused index"),
    ("Every answer is by words", "AnsweredByWordsAlarm", 0, "no embedding"),
    ("Every answer is by words", "AnsweredByWordsAlarm", 100_000, "no embedding"),
]


def _minutes_until(alarm: dict[str, Any], kind: str, month: int) -> list[float]:
    """The minutes until an alarm goes off, in trials that begin at any time of a day."""
    chance, taken = _chance(1), []
    window, longest = period(alarm) // 60, 120 if month > 10_000 else 2 * DAY
    for _ in range(TRIALS):
        begin = 2 * DAY + chance.uniform(0, DAY)
        metrics = _outage(kind, month, chance, start=begin - window, begin=begin, end=begin + longest)
        first = first_alarm(alarm, metrics, round(begin) + longest, start=round(begin))
        assert first is not None
        taken.append(max(first - begin, 0))
    return sorted(taken)


def _documented(heading: str) -> dict[tuple[str, ...], list[str]]:
    section = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition(f"| {heading} |")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.partition("\n\n")[0].split("\n")]
    return {tuple(row[:3]): row[3:] for row in rows[2:]}


def _time(minutes: float) -> str:
    return f"{minutes / 60:.1f} hours" if minutes >= 90 else f"{minutes:.0f} minutes"


@pytest.mark.parametrize(("event", "alarm", "month", "kind"), ROWS, ids=[f"{row[1]}-{row[2]}" for row in ROWS])
def test_alarm_comes_when_the_docs_say(event: str, alarm: str, month: int, kind: str, alarms: Alarms) -> None:
    taken = _minutes_until(alarms[alarm], kind, month)
    found = [_time(statistics.median(taken)), _time(taken[round(0.95 * TRIALS) - 1]), _time(taken[-1])]
    assert _documented("what happens")[event, f"`{alarm}`", f"{month:,}" if month else "any"] == found


@pytest.mark.parametrize("late", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", ["failed", "missing"])
def test_outage_is_known_within_15_minutes_at_any_traffic(kind: str, late: float, alarms: Alarms) -> None:
    for seed in range(100):
        chance, metrics = _chance(seed), Metrics()
        begin = 60 + seed / 20
        for at in _beats(chance, 0, 120):
            if at < begin:
                metrics.add("Heartbeat", at, late=late)
            elif kind == "failed":
                metrics.add("Heartbeat", at, 0, late=late)
        first = first_alarm(alarms["HeartbeatAlarm"], metrics, 120, start=20)
        assert first is not None
        assert begin <= first <= begin + 15


def test_heartbeat_alarm_is_silent_after_one_failure(alarms: Alarms) -> None:
    """Also where beats come a minute late and their metric three."""
    for seed in range(20):
        chance, metrics = _chance(seed), Metrics()
        for number, at in enumerate(_beats(chance, 0, 300)):
            metrics.add("Heartbeat", at, 0 if number == 30 else 1, late=_late(chance))
        assert first_alarm(alarms["HeartbeatAlarm"], metrics, 300, start=20) is None


def _false_alarms(alarm: dict[str, Any], metrics: Metrics, failed: list[float]) -> int:
    """How often the alarm goes off. It can only do so in the minutes after a failure."""
    minutes = sorted({now for at in failed for now in range(int(at), int(at) + 25)})
    on = [now for now in minutes if goes_off(alarm, metrics, now)]
    return sum(now - 1 not in on for now in on)


@pytest.mark.parametrize(
    ("alarm", "month"),
    [
        ("HeartbeatAlarm", 0),
        ("UpstreamErrorAlarm", 3_000),
        ("UpstreamErrorAlarm", 100_000),
        ("AnsweredByWordsAlarm", 20_000),
    ],
)
def test_false_alarms_are_as_rare_as_the_docs_say(alarm: str, month: int, alarms: Alarms) -> None:
    """One call in 200 is too slow, each by itself."""
    chance, total, months = _chance(1), 0, 10 if month < 10_000 else 2
    for _ in range(months):
        metrics, failed = Metrics(), []
        for at in list(_questions(chance, month, 0, MONTH) if month else _beats(chance, 0, MONTH)):
            bad, late = chance.random() < 0.005, _late(chance)
            if bad:
                failed.append(at)
            if alarm == "AnsweredByWordsAlarm":
                metrics.add("TotalLatency", at, late=late)
                if bad:
                    metrics.add("AnsweredByWords", at, late=late)
            elif not month:
                metrics.add("Heartbeat", at, 0 if bad else 1, late=late)
            else:
                metrics.add("Failed.Upstream" if bad else "TotalLatency", at, late=late)
        total += _false_alarms(alarms[alarm], metrics, [at for at in failed if at > 30])
    row = "One call in 200 fails by itself", f"`{alarm}`", f"{month:,}" if month else "any"
    assert _documented("false alarms")[row] == [f"{total / months:.1f} a month"]


@pytest.mark.parametrize(
    ("name", "metric"), [("ConfigurationErrorAlarm", "Failed.Ours"), ("FunctionErrorAlarm", "Errors")]
)
@pytest.mark.parametrize("late", [0, 1, 2, 3])
def test_two_failures_alarm_and_one_does_not(name: str, metric: str, late: float, alarms: Alarms) -> None:
    metrics = Metrics()
    metrics.add(metric, 10.5, late=late)
    assert first_alarm(alarms[name], metrics, 60) is None
    metrics.add(metric, 20.5, late=late)
    assert first_alarm(alarms[name], metrics, 60) == 21 + late
    assert not goes_off(alarms[name], metrics, 40), "it ends by itself"


def _answered(metrics: Metrics, minutes: range, *, rate: int = 1, milliseconds: float = 300) -> None:
    for minute in minutes:
        for number in range(rate):
            metrics.add("TotalLatency", minute + number / rate, milliseconds)


def test_a_canary_that_fails_alarms_within_its_five_minutes(alarms: Alarms) -> None:
    """A tenth of the answers, those of the new version, fail or become slow."""
    metrics = Metrics()
    _answered(metrics, range(60), rate=20)
    _answered(metrics, range(30, 60), rate=3, milliseconds=5_000)
    for minute in range(30, 60):
        metrics.add("Failed.Ours", minute, late=2)
        metrics.add("Errors", minute, late=2)
    for name in ("ConfigurationErrorAlarm", "FunctionErrorAlarm", "LatencyAlarm"):
        first = first_alarm(alarms[name], metrics, 60)
        assert first is not None
        assert first <= 35


@pytest.mark.parametrize(("failing", "alarm"), [(1, False), (3, True)])
def test_a_tenth_of_failures_on_a_busy_site_alarms(failing: int, alarm: bool, alarms: Alarms) -> None:
    metrics = Metrics()
    _answered(metrics, range(60), rate=20)
    for minute in range(30, 60):
        for number in range(failing):
            metrics.add("Failed.Upstream", minute + number / 10)
    assert (first_alarm(alarms["UpstreamErrorAlarm"], metrics, 60) is not None) == alarm


@pytest.mark.parametrize("slow", [2, 3])
def test_three_slow_minutes_of_30_alarm(slow: int, alarms: Alarms) -> None:
    """A percentile of fewer than 200 answers counts, too."""
    metrics = Metrics()
    _answered(metrics, range(60))
    for number in range(slow):
        metrics.add("TotalLatency", 20 + 5 * number, 5_000)
    assert (first_alarm(alarms["LatencyAlarm"], metrics, 60) is not None) == (slow == 3)


@pytest.mark.parametrize("name", ["ConfigurationErrorAlarm", "UpstreamErrorAlarm", "LatencyAlarm", "EmptyResultsAlarm"])
def test_quiet_site_raises_no_alarm(name: str, alarms: Alarms) -> None:
    assert first_alarm(alarms[name], Metrics(), 120) is None


@pytest.mark.parametrize(
    ("name", "metric", "own"), [("GatewayErrorAlarm", "5XXError", 10), ("GatewayRefusalAlarm", "4XXError", 60)]
)
def test_what_the_gateway_answers_by_itself_alarms(name: str, metric: str, own: int, alarms: Alarms) -> None:
    """Throttled requests, say, or a missing permission: Lambda is not called, so only the API counts anything."""
    metrics = Metrics()
    for number in range(own):
        metrics.add(metric, number * 30 / own)
    first = first_alarm(alarms[name], metrics, 60)
    assert first is not None
    assert first <= 30


@pytest.mark.parametrize(
    ("name", "metric", "blame"),
    [
        ("GatewayErrorAlarm", "5XXError", "Failed.Ours"),
        ("GatewayErrorAlarm", "5XXError", "Failed.Upstream"),
        ("GatewayRefusalAlarm", "4XXError", "Failed.Caller"),
        ("GatewayRefusalAlarm", "4XXError", "Failed.Upstream"),
    ],
)
@pytest.mark.parametrize("late", [0, 1, 2])
def test_what_the_function_answers_is_not_the_gateways(
    name: str, metric: str, blame: str, late: int, alarms: Alarms
) -> None:
    """The function's own metric comes a little later than the API's, and its question may end in the next minute."""
    metrics = Metrics()
    for number in range(600):
        at = number / 10
        metrics.add(metric, at)
        metrics.add(blame, at + 0.05, late=late)
    assert first_alarm(alarms[name], metrics, 60) is None


def test_a_few_refused_requests_raise_no_alarm(alarms: Alarms) -> None:
    metrics = Metrics()
    for number in range(60):
        metrics.add("4XXError", number)
    assert first_alarm(alarms["GatewayRefusalAlarm"], metrics, 60) is None
