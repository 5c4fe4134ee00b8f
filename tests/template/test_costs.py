"""The costs in docs/deploy.md follow from its own prices and formula."""

import json
import re

import pytest

from conftest import ROOT
from template.cloudwatch import evaluate, watched
from template.options import made

SECONDS = 2_628_000
QUESTIONS = (1_000, 100_000, 10_000_000)
BEATS = 30 * 24 * 12
"""Heartbeats in a month of 30 days."""
FREE_METRICS = 10
"""Custom metrics that cost nothing, and metrics that alarms watch for nothing."""
CUSTOM_METRICS, ALARM_METRICS = 15, 20
"""Metrics that the default stack writes, and that its alarms watch."""
UNITS = {"million": 1e6, "million tokens": 1e6, "GB-second": 1, "GB": 1e6, "thousand": 1e3}
"""How many of a price's unit its row counts: a question's log is in KB."""
COSTS = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8").partition("## What it costs\n")[2]


def _rows(heading: str) -> dict[str, list[str]]:
    """A table of the section on costs, by its first column."""
    table = COSTS.partition(f"| {heading} |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {row[0]: row[1:] for row in cells}


def _number(text: str) -> float:
    return float(re.findall(r"^\d[\d.,]*\d|^\d", text)[0].replace(",", ""))


EACH = {
    name: _number(price) / UNITS[price.partition(" per ")[2]] * _number(amount)
    for name, (price, amount) in _rows("what").items()
}
"""Dollars for one question, by item."""


def _traces(questions: int) -> float:
    rate = questions / SECONDS
    recorded = min(rate, 1) + 0.05 * max(rate - 1, 0)
    return max(recorded * SECONDS - 100_000, 0) * 5 / 1e6


@pytest.mark.parametrize("questions", QUESTIONS)
def test_each_cost_column_matches_its_prices(questions: int) -> None:
    column = QUESTIONS.index(questions)
    table = {name: float(row[column]) for name, row in _rows("questions a month").items()}
    function = EACH["Lambda requests"] + EACH["Lambda duration, arm64"]
    parts = {
        "Lambda": questions * function,
        "REST API": questions * EACH["REST API"],
        "Logs": questions * EACH["CloudWatch logs"],
        "Cohere": questions * EACH["Cohere, embed"],
        "Traces": _traces(questions),
        "Heartbeat": BEATS * (function + EACH["CloudWatch logs"] + EACH["Cohere, embed"]),
        "Fixed": 0.40 + 0.30 * (CUSTOM_METRICS - FREE_METRICS) + 0.10 * (ALARM_METRICS - FREE_METRICS),
    }
    total = sum(parts.values())
    expected = {
        **parts,
        "Sum": total,
        "Sum with an HTTP API": total - questions * (EACH["REST API"] - EACH["HTTP API"]),
        "Reranking, on top": (questions + BEATS) * EACH["Cohere or Bedrock, rerank"],
    }
    assert table == pytest.approx(expected, abs=0.006)


def test_alarms_watch_as_many_metrics_as_the_costs_say() -> None:
    assert sum(len(watched(alarm)) for alarm in made("default").of_type("CloudWatch::Alarm").values()) == ALARM_METRICS
    assert f"{CUSTOM_METRICS} custom metrics" in COSTS
    assert f"{ALARM_METRICS} metrics that alarms watch" in COSTS
    assert f"They watch {ALARM_METRICS} metrics" in (ROOT / "template.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("option", "second", "api"),
    [
        ("default", EACH["Lambda duration, arm64"] / 0.25, EACH["REST API"]),
        ("http-api", EACH["Lambda duration, arm64"] / 0.25, EACH["HTTP API"]),
        ("x86", 0.0000166667, EACH["REST API"]),
        ("function-url", EACH["Lambda duration, arm64"] / 0.25, 0),
    ],
)
def test_dashboard_uses_the_same_prices(option: str, second: float, api: float) -> None:
    widgets = json.loads(made(option)["Dashboard"]["DashboardBody"])["widgets"]
    thousand, so_far = (each["properties"]["metrics"] for each in widgets if "Dollars" in each["properties"]["title"])
    used = {"billed": 413.0, "calls": 7.0, "embedded": 5.0, "reranked": 3.0, "answered": 6.0}
    dollars = 0.413 * second + 7 * (EACH["Lambda requests"] + api)
    dollars += 5 * EACH["Cohere, embed"] + 3 * EACH["Cohere or Bedrock, rerank"]
    assert evaluate(thousand[0][0]["expression"], used) == pytest.approx(1000 * dollars / 6)
    assert evaluate(so_far[0][0]["expression"], used) == pytest.approx(dollars)
    # A cached question has no EmbeddingLatency and costs nothing.
    (embedded,) = [metric[0] for metric in thousand if metric[-1]["id"] == "embedded"]
    assert "MetricName=\"EmbeddingLatency\"', 'SampleCount'" in embedded["expression"]
