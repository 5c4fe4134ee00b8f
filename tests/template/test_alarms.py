"""When each alarm goes off: on a site with 3,000 questions a month, on a busy one, and with late metrics."""

from typing import Any

import pytest

from template.cloudformation import Stack
from template.cloudwatch import Metrics, first_alarm, goes_off

EVERY = 30 * 24 * 60 / 3_000
"""Minutes between two questions at 3,000 a month."""

Alarms = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def alarms(made: dict[str, Stack]) -> Alarms:
    """The default stack's alarms, by name."""
    return made["default"].of_type("CloudWatch::Alarm")


def _answered(
    metrics: Metrics, minutes: range, *, rate: int = 1, milliseconds: float = 300, found: bool = True
) -> None:
    for minute in minutes:
        for number in range(rate):
            at = minute + number / rate
            metrics.add("TotalLatency", at, milliseconds)
            if found:
                metrics.add("TopScore", at, 0.6)


@pytest.mark.parametrize("outage", range(15))
def test_outage_alarms_within_15_minutes_at_3000_a_month(outage: int, alarms: Alarms) -> None:
    """Whatever the minute in which the outage starts: the first question that fails is enough."""
    metrics = Metrics()
    for number in range(10):
        at = number * EVERY
        metrics.add("TotalLatency" if at < 60 + outage else "Failed.Upstream", at)
    first = first_alarm(alarms["UpstreamErrorAlarm"], metrics, 120)
    assert first is not None
    assert 60 + outage <= first <= 60 + outage + 15


@pytest.mark.parametrize("rate", [1, 10, 100])
def test_outage_alarms_within_5_minutes_on_a_busy_site(rate: int, alarms: Alarms) -> None:
    metrics = Metrics()
    _answered(metrics, range(60), rate=rate)
    for number in range(10 * rate):
        metrics.add("Failed.Upstream", 60 + number / rate, late=2)
    first = first_alarm(alarms["UpstreamErrorAlarm"], metrics, 70)
    assert first is not None
    assert first <= 65


@pytest.mark.parametrize("rate", [1, 10])
def test_one_failure_among_answers_raises_no_alarm(rate: int, alarms: Alarms) -> None:
    metrics = Metrics()
    _answered(metrics, range(60), rate=rate)
    metrics.add("Failed.Upstream", 30)
    assert first_alarm(alarms["UpstreamErrorAlarm"], metrics, 60) is None


def test_a_tenth_of_failures_on_a_busy_site_alarms(alarms: Alarms) -> None:
    metrics = Metrics()
    _answered(metrics, range(60), rate=10)
    for minute in range(30, 60):
        metrics.add("Failed.Upstream", minute)
        metrics.add("Failed.Upstream", minute)
    assert first_alarm(alarms["UpstreamErrorAlarm"], metrics, 60) is not None


@pytest.mark.parametrize("name", ["ConfigurationErrorAlarm", "UpstreamErrorAlarm", "FunctionErrorAlarm"])
@pytest.mark.parametrize("late", [0, 1, 2, 3, 4])
def test_metric_four_minutes_late_still_alarms(name: str, late: int, alarms: Alarms) -> None:
    """FILL(…, 0) over one period would take the missing minute for a good one and never look back."""
    metrics = Metrics()
    for metric in ("Failed.Ours", "Failed.Upstream", "Errors"):
        metrics.add(metric, 10.5, late=late)
    assert first_alarm(alarms[name], metrics, 30) is not None


@pytest.mark.parametrize("name", ["ConfigurationErrorAlarm", "UpstreamErrorAlarm", "LatencyAlarm", "EmptyResultsAlarm"])
def test_quiet_site_raises_no_alarm(name: str, alarms: Alarms) -> None:
    assert first_alarm(alarms[name], Metrics(), 120) is None


def test_alarm_ends_after_the_last_failure(alarms: Alarms) -> None:
    metrics = Metrics()
    metrics.add("Failed.Ours", 10)
    alarm = alarms["ConfigurationErrorAlarm"]
    assert goes_off(alarm, metrics, 11)
    assert not goes_off(alarm, metrics, 20)


def test_three_slow_minutes_alarm_with_few_questions(alarms: Alarms) -> None:
    """A percentile of fewer than 200 answers counts, too."""
    metrics = Metrics()
    for at in (2, 12, 22):
        metrics.add("TotalLatency", at, 5_000)
    assert first_alarm(alarms["LatencyAlarm"], metrics, 60) == 23


def test_slow_answers_within_a_canary_alarm(alarms: Alarms) -> None:
    """A tenth of the answers, those of the new version, become slow: the canary must see it in its five minutes."""
    metrics = Metrics()
    _answered(metrics, range(60), rate=20)
    _answered(metrics, range(30, 60), rate=3, milliseconds=5_000)
    first = first_alarm(alarms["LatencyAlarm"], metrics, 60)
    assert first is not None
    assert first <= 35


def test_two_slow_answers_raise_no_alarm(alarms: Alarms) -> None:
    metrics = Metrics()
    _answered(metrics, range(60))
    metrics.add("TotalLatency", 20, 5_000)
    metrics.add("TotalLatency", 40, 5_000)
    assert first_alarm(alarms["LatencyAlarm"], metrics, 60) is None


def test_empty_results_alarm_from_ten_questions_an_hour(alarms: Alarms) -> None:
    metrics = Metrics()
    _answered(metrics, range(0, 60, 6), found=False)
    assert first_alarm(alarms["EmptyResultsAlarm"], metrics, 60) is not None
    few = Metrics()
    _answered(few, range(0, 60, 10), found=False)
    assert first_alarm(alarms["EmptyResultsAlarm"], few, 60) is None


def test_gateway_5xx_without_an_answer_alarms(alarms: Alarms) -> None:
    """The permission is gone, say: Lambda is not called, so only the API counts anything."""
    metrics = Metrics()
    for number in range(10):
        metrics.add("5XXError", number * EVERY)
    first = first_alarm(alarms["GatewayErrorAlarm"], metrics, 60)
    assert first is not None
    assert first <= 30


@pytest.mark.parametrize("blame", ["Failed.Ours", "Failed.Upstream"])
@pytest.mark.parametrize("late", [0, 1, 2])
def test_function_5xx_is_not_the_gateways(blame: str, late: int, alarms: Alarms) -> None:
    """The function's own metric comes a little later than the API's, and its question may end in the next minute."""
    metrics = Metrics()
    for number in range(600):
        at = number / 10
        metrics.add("5XXError", at)
        metrics.add(blame, at + 0.05, late=late)
    assert first_alarm(alarms["GatewayErrorAlarm"], metrics, 60) is None


def test_throttled_requests_alarm(alarms: Alarms) -> None:
    metrics = Metrics()
    for number in range(60):
        metrics.add("4XXError", number / 4)
    assert first_alarm(alarms["GatewayRefusalAlarm"], metrics, 15) is not None


@pytest.mark.parametrize("blame", ["Failed.Caller", "Failed.Upstream"])
def test_function_4xx_is_not_the_gateways(blame: str, alarms: Alarms) -> None:
    """A wrong question is answered 400 by the function, and an upstream that throttles 429."""
    metrics = Metrics()
    for number in range(600):
        metrics.add("4XXError", number / 10)
        metrics.add(blame, number / 10 + 0.05, late=1)
    assert first_alarm(alarms["GatewayRefusalAlarm"], metrics, 60) is None


def test_a_few_refused_requests_raise_no_alarm(alarms: Alarms) -> None:
    metrics = Metrics()
    for number in range(60):
        metrics.add("4XXError", number)
    assert first_alarm(alarms["GatewayRefusalAlarm"], metrics, 60) is None
