"""Alarms and dashboard: on metrics that the function writes, for every code of an error that there is."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from conftest import ROOT
from handler.core import errors
from handler.core.errors import InvalidRequest, NotFound, PassageError
from template.cloudformation import Stack
from template.options import OPTIONS


def _codes(kind: type[PassageError] = PassageError) -> Iterator[str]:
    yield kind.code
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from _codes(child)


def _of_callers() -> set[str]:
    return {*_codes(InvalidRequest), *_codes(NotFound)}


@pytest.fixture(scope="module")
def written() -> set[str]:
    """The metrics that docs/operations.md lists, which another test holds to the code."""
    section = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("\n## Metrics\n")[2]
    return set(re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE))


def _dashboard(stack: Stack) -> list[dict[str, Any]]:
    return list(json.loads(stack["Figures"]["DashboardBody"])["widgets"])


def _on_dashboard(stack: Stack) -> Iterator[tuple[str, str]]:
    for widget in _dashboard(stack):
        for metric in widget["properties"]["metrics"]:
            if metric[0] == "Passage":
                assert metric[2:4] == ["service", "passage-test"]
                yield metric[1], metric[5]


def _in_alarms(stack: Stack) -> Iterator[tuple[str, str, str]]:
    for name, alarm in stack.of_type("CloudWatch::Alarm").items():
        metrics = [part["MetricStat"]["Metric"] for part in alarm.get("Metrics", []) if "MetricStat" in part]
        for metric in metrics or [alarm]:
            if metric["Namespace"] == "Passage":
                dimensions = {entry["Name"]: entry["Value"] for entry in metric["Dimensions"]}
                assert dimensions.keys() == {"service", "profile"}
                yield name, metric["MetricName"], dimensions["profile"]


def test_alarms_and_dashboard_look_at_what_is_written(made: dict[str, Stack], written: set[str]) -> None:
    stack = made["default"]
    looked_at = {*_on_dashboard(stack), *((metric, profile) for _, metric, profile in _in_alarms(stack))}
    codes = set(_codes())
    for metric, profile in looked_at:
        assert metric in written or metric.removeprefix("Error.") in codes
        assert profile in ("query-response", "unknown", "none")


def test_every_error_is_on_the_dashboard_by_its_code(made: dict[str, Stack]) -> None:
    shown = {metric for metric, _ in _on_dashboard(made["default"])}
    assert {f"Error.{code}" for code in _codes()} <= shown


def test_every_error_that_is_not_the_callers_has_an_alarm(made: dict[str, Stack]) -> None:
    alarms: dict[str, set[str]] = {}
    for name, metric, _ in _in_alarms(made["default"]):
        alarms.setdefault(name, set()).add(metric.removeprefix("Error."))
    passing = alarms["ServicesFail"] - {"TotalLatency"}
    assert alarms["OursToRepair"] | passing == set(_codes()) - _of_callers()
    assert passing == {"DEADLINE_EXCEEDED", *_codes(errors.UpstreamError)}


def test_an_alarm_has_no_more_metrics_than_cloudwatch_allows(made: dict[str, Stack]) -> None:
    for alarm in made["default"].of_type("CloudWatch::Alarm").values():
        assert len([part for part in alarm.get("Metrics", []) if "MetricStat" in part]) <= 10
        returned = [part for part in alarm.get("Metrics", []) if part.get("ReturnData") is not False]
        assert len(returned) == (1 if "Metrics" in alarm else 0)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_dead_letter_queue_has_an_alarm(option: str, made: dict[str, Stack]) -> None:
    stack = made[option]
    dead = {"UnansweredQuestions", "UndeliveredQuestions", "AsynchronousFailures"} & stack.of_type("SQS::Queue").keys()
    watched = {
        alarm["Dimensions"][0]["Value"]["Fn::GetAtt"][0]
        for alarm in stack.of_type("CloudWatch::Alarm").values()
        if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible"
    }
    assert watched == dead


def test_alarms_are_sent_where_there_is_an_address(made: dict[str, Stack]) -> None:
    assert made["alarm-email"]["AlarmTopic"] == {
        "Subscription": [{"Protocol": "email", "Endpoint": "someone@example.com"}]
    }
    for option, actions in (("alarm-email", [{"Ref": "AlarmTopic"}]), ("default", [])):
        for alarm in made[option].of_type("CloudWatch::Alarm").values():
            assert alarm["AlarmActions"] == alarm["OKActions"] == actions
            assert alarm["TreatMissingData"] == "notBreaching", "a night without a question is none"


def test_the_dashboard_shows_the_stages_of_an_answer(made: dict[str, Stack]) -> None:
    shown: dict[str, set[str]] = {}
    for widget in _dashboard(made["default"]):
        for metric in widget["properties"]["metrics"]:
            if metric[0] == "Passage":
                shown.setdefault(metric[1], set()).add(metric[-1]["stat"])
    for metric in ("TotalLatency", "EmbeddingLatency", "SearchLatency"):
        assert {"p50", "p95", "p99"} <= shown[metric]
    assert {"ColdStart", "TopScore"} <= shown.keys()


@pytest.mark.parametrize(
    ("option", "second", "call"),
    [
        ("default", "0.0000133334", "0.0000035"),
        ("http-api", "0.0000133334", "0.000001"),
        ("x86", "0.0000166667", "0.0000035"),
        ("function-url", "0.0000133334", "0"),
    ],
)
def test_the_dashboard_knows_what_a_thousand_questions_cost(
    option: str, second: str, call: str, made: dict[str, Stack]
) -> None:
    lambda_and_api = "billed / 1000 * 1024 / 1024 * {} + calls * (0.0000002 + {})"
    formula = f"1000 * ({lambda_and_api} + FILL(embedded, 0) * 0.0000024) / answered"
    widget = next(each["properties"] for each in _dashboard(made[option]) if "Dollars" in each["properties"]["title"])
    assert widget["metrics"][0][0]["expression"] == formula.format(second, call)
    assert widget["title"] == "Dollars per thousand questions: Lambda, embedding and the API"
    # A remembered question has no EmbeddingLatency, and costs none.
    (embedded,) = [metric for metric in widget["metrics"] if metric[-1]["id"] == "embedded"]
    assert embedded[:2] == ["Passage", "EmbeddingLatency"]
    assert embedded[-1]["stat"] == "SampleCount"


def test_dashboard_shows_rerank_time_failures_and_cost(made: dict[str, Stack], written: set[str]) -> None:
    shown: dict[str, set[str]] = {}
    for metric, profile in _on_dashboard(made["reranker"]):
        shown.setdefault(metric, set()).add(profile)
    assert shown["RerankLatency"] == shown["RerankFailed"] == {"query-response"}
    assert shown.keys() - set(dict(_on_dashboard(made["default"]))) == {"RerankLatency", "RerankFailed"} <= written
    formula = "+ FILL(embedded, 0) * 0.0000024 + FILL(reranked, 0) * 0.002) / answered"
    assert formula in json.dumps(_dashboard(made["reranker"]))
    assert "rerank" not in json.dumps(_dashboard(made["default"])).lower()


@pytest.mark.parametrize("option", ["default", "reranker"])
def test_widgets_do_not_overlap(option: str, made: dict[str, Stack]) -> None:
    taken: set[tuple[int, int]] = set()
    for widget in _dashboard(made[option]):
        columns = range(widget["x"], widget["x"] + widget["width"])
        cells = {(x, y) for x in columns for y in range(widget["y"], widget["y"] + widget["height"])}
        assert not cells & taken
        assert max(columns) < 24
        taken |= cells


def test_what_is_billed_is_read_from_lambdas_report(made: dict[str, Stack]) -> None:
    """The filter takes words apart at white space, of which the report has tabs as well."""
    pattern = made["default"]["BilledDuration"]["FilterPattern"].strip("[]").split(", ")
    report = "REPORT RequestId: 8f5\tDuration: 12.34 ms\tBilled Duration: 413 ms\tMemory Size: 1024 MB"
    fields = {}
    for part, word in zip(pattern[:-1], report.split(), strict=False):
        name, _, expected = part.partition("=")
        assert expected in ("", f'"{word}"')
        fields[name] = word
    assert pattern[-1] == "..."
    (transformation,) = made["default"]["BilledDuration"]["MetricTransformations"]
    assert fields[transformation["MetricValue"].removeprefix("$")] == "413"
