"""The costs in docs/deploy.md follow from its own prices and formula."""

import json
import re

import pytest

from conftest import ROOT
from template.cloudformation import Stack
from template.cloudwatch import evaluate

SECONDS = 2_628_000
QUESTIONS = (1_000, 100_000, 10_000_000)
BEATS = 30 * 24 * 12
"""Heartbeats in a month of 30 days."""
FREE_METRICS = 10
"""Custom metrics that cost nothing, and metrics that alarms watch for nothing."""
CUSTOM_METRICS = 15
ALARM_METRICS = 20
"""Metrics that the alarms of the default stack watch."""


def _rows(heading: str) -> dict[str, list[str]]:
    """A table of the section on costs, by its first column."""
    section = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8").partition("## What it costs\n")[2]
    table = section.partition(f"| {heading} |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {row[0]: row[1:] for row in cells}


def _number(text: str) -> float:
    found = re.match(r"[\d.,]+[\d]", text) or re.match(r"\d", text)
    assert found, text
    return float(found[0].replace(",", ""))


@pytest.fixture(scope="module")
def each() -> dict[str, float]:
    """Dollars for one question, by item."""
    units = {
        "million": 1e6,
        "million tokens": 1e6,
        "GB-second": 1,
        "GB": 1e6,
        "thousand": 1e3,
    }  # a question's log is in KB
    return {
        name: _number(price) / units[price.partition(" per ")[2]] * _number(amount)
        for name, (price, amount) in _rows("what").items()
    }


def _traces(questions: int) -> float:
    rate = questions / SECONDS
    recorded = min(rate, 1) + 0.05 * max(rate - 1, 0)
    return max(recorded * SECONDS - 100_000, 0) * 5 / 1e6


@pytest.mark.parametrize("column", range(3), ids=[f"{questions:,}" for questions in QUESTIONS])
def test_each_cost_column_matches_its_prices(column: int, each: dict[str, float]) -> None:
    questions = QUESTIONS[column]
    table = {name: float(row[column]) for name, row in _rows("questions a month").items()}
    parts = {
        "Lambda": questions * (each["Lambda requests"] + each["Lambda duration, arm64"]),
        "REST API": questions * each["REST API"],
        "Logs": questions * each["CloudWatch logs"],
        "Cohere": questions * each["Cohere, embed"],
        "Traces": _traces(questions),
        "Heartbeat": BEATS
        * sum(each[name] for name in ("Lambda requests", "Lambda duration, arm64", "CloudWatch logs", "Cohere, embed")),
        "Fixed": 0.40 + 0.30 * (CUSTOM_METRICS - FREE_METRICS) + 0.10 * (ALARM_METRICS - FREE_METRICS),
    }
    cheaper = questions * (each["REST API"] - each["HTTP API"])
    expected = {
        **parts,
        "Sum": sum(parts.values()),
        "Sum with an HTTP API": sum(parts.values()) - cheaper,
        "Reranking, on top": (questions + BEATS) * each["Cohere or Bedrock, rerank"],
    }
    assert table == pytest.approx(expected, abs=0.006)


def test_alarms_watch_as_many_metrics_as_the_costs_say(made: dict[str, Stack]) -> None:
    alarms = made["default"].of_type("CloudWatch::Alarm").values()
    watched = [sum("MetricStat" in part for part in alarm.get("Metrics", [])) or 1 for alarm in alarms]
    assert sum(watched) == ALARM_METRICS
    section = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8").partition("## What it costs\n")[2]
    assert f"{CUSTOM_METRICS} custom metrics" in section
    assert f"{ALARM_METRICS} metrics that alarms watch" in section
    assert f"They watch {ALARM_METRICS} metrics" in (ROOT / "template.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("option", "architecture", "api"),
    [
        ("default", "arm64", "REST API"),
        ("http-api", "arm64", "HTTP API"),
        ("x86", "x86", "REST API"),
        ("function-url", "arm64", None),
    ],
)
def test_dashboard_uses_the_same_prices(
    option: str, architecture: str, api: str | None, each: dict[str, float], made: dict[str, Stack]
) -> None:
    second = {"arm64": each["Lambda duration, arm64"] / 0.25, "x86": 0.0000166667}[architecture]
    widgets = json.loads(made[option]["Dashboard"]["DashboardBody"])["widgets"]
    thousand, so_far = (each["properties"] for each in widgets if "Dollars" in each["properties"]["title"])
    used = {"billed": 413.0, "calls": 7.0, "embedded": 5.0, "reranked": 3.0, "answered": 6.0}
    dollars = 0.413 * second + 7 * (each["Lambda requests"] + (each[api] if api else 0))
    dollars += 5 * each["Cohere, embed"] + 3 * each["Cohere or Bedrock, rerank"]
    assert evaluate(thousand["metrics"][0][0]["expression"], used) == pytest.approx(1000 * dollars / 6)
    assert evaluate(so_far["metrics"][0][0]["expression"], used) == pytest.approx(dollars)
    # A cached question has no EmbeddingLatency and costs nothing.
    (embedded,) = [metric[0] for metric in thousand["metrics"] if metric[-1]["id"] == "embedded"]
    assert "MetricName=\"EmbeddingLatency\"', 'SampleCount'" in embedded["expression"]
