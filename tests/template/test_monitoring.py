"""Alarms and dashboard look at metrics that the function writes, over all profiles."""

import json
import re
from typing import Any

import pytest

from conftest import ROOT
from template.cloudformation import Stack
from template.options import ALARM_TOPIC, OPTIONS

WATCHED_BY_CODE_DEPLOY = {"FunctionErrorAlarm", "ConfigurationErrorAlarm", "LatencyAlarm"}


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """The metrics that docs/operations.md lists, and their units. Another test holds the list to the code."""
    section = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("\n## Metrics\n")[2]
    return dict(re.findall(r"^\| `([\w.]+)(?:<CODE>)?` \| (\w+)", section.partition("\n## ")[0], re.MULTILINE))


def _dashboard(stack: Stack) -> list[dict[str, Any]]:
    return list(json.loads(stack["Dashboard"]["DashboardBody"])["widgets"])


def _on_dashboard(stack: Stack) -> set[str]:
    """The names of our metrics on the dashboard. One by profile is searched for, so that every profile is found."""
    body = stack["Dashboard"]["DashboardBody"].replace("\\", "")
    plain = re.findall(r'\["Passage", "([\w.]+)", "service", "passage-test", \{', body)
    assert len(plain) == body.count('["Passage", '), "over all profiles"
    return {*plain, *re.findall(r'service="passage-test" MetricName="?(\w+)"?', body)}


def _in_alarms(stack: Stack) -> set[str]:
    """The names of our metrics that alarms watch, each over all profiles."""
    watched = set()
    for alarm in stack.of_type("CloudWatch::Alarm").values():
        metrics = [part["MetricStat"]["Metric"] for part in alarm.get("Metrics", []) if "MetricStat" in part]
        for metric in metrics or [alarm]:
            if metric["Namespace"] == "Passage":
                assert metric["Dimensions"] == [{"Name": "service", "Value": "passage-test"}]
                watched.add(metric["MetricName"])
    return watched


def test_alarms_and_dashboard_use_metrics_that_exist(made: dict[str, Stack], written: dict[str, str]) -> None:
    stack = made["default"]
    shown = _on_dashboard(stack)
    assert {name.replace("Error", "Error.") for name in shown} | _in_alarms(stack) <= written.keys()
    stages = "TotalLatency EmbeddingLatency SearchLatency RerankLatency RerankFailed ColdStart TopScore Heartbeat"
    assert {*stages.split(), "Error", "Failed.Ours", "Failed.Upstream", "Failed.Caller"} <= shown


def test_only_alarms_for_code_deploy_are_in_the_root(made: dict[str, Stack]) -> None:
    """CodeDeploy needs their names, and a canary may not wait for a nested stack."""
    kinds = {name: resource["Type"] for name, resource in made["canary"].resources.items()}
    assert {name for name, kind in kinds.items() if kind == "AWS::CloudWatch::Alarm"} == WATCHED_BY_CODE_DEPLOY


def test_every_alarm_is_documented(made: dict[str, Stack]) -> None:
    alarms = {name for stack in made.values() for name in stack.of_type("CloudWatch::Alarm")}
    for document in ("deploy.md", "operations.md"):
        text = (ROOT / "docs" / document).read_text(encoding="utf-8")
        assert alarms == set(re.findall(r"`(\w+Alarm)`", text)), document


@pytest.mark.parametrize("option", OPTIONS)
def test_every_dead_letter_queue_has_an_alarm(option: str, made: dict[str, Stack]) -> None:
    stack = made[option]
    dead = {"QuestionDeadLetterQueue", "DeadLetterQueue", "AsyncFailureQueue"} & stack.of_type("SQS::Queue").keys()
    watched = {
        alarm["Dimensions"][0]["Value"]["Fn::GetAtt"][1].removeprefix("Outputs.").removesuffix("Name")
        for alarm in stack.of_type("CloudWatch::Alarm").values()
        if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible"
    }
    assert watched == dead


@pytest.mark.parametrize(
    ("option", "metrics", "dimensions"),
    [
        ("default", ["5XXError", "4XXError"], {"ApiName": "passage-test", "Stage": "live"}),
        ("http-api", ["5xx", "4xx"], {"ApiId": {"Ref": "HttpApi"}, "Stage": "$default"}),
    ],
)
def test_gateway_alarms_name_their_api(
    option: str, metrics: list[str], dimensions: dict[str, Any], made: dict[str, Stack]
) -> None:
    for name, metric in zip(("GatewayErrorAlarm", "GatewayRefusalAlarm"), metrics, strict=True):
        parts = {part["Id"]: part for part in made[option][name]["Metrics"]}
        errors = parts["errors"]["MetricStat"]["Metric"]
        assert (errors["Namespace"], errors["MetricName"]) == ("AWS/ApiGateway", metric)
        assert {entry["Name"]: entry["Value"] for entry in errors["Dimensions"]} == dimensions
    assert made["default"]["RestApi"]["Body"]["info"]["title"] == "passage-test", "which is its ApiName"
    assert not {"GatewayErrorAlarm", "GatewayRefusalAlarm"} & made["function-url"].everything().keys()


@pytest.mark.parametrize(
    ("option", "actions"), [("alarm-email", [{"Ref": "AlarmTopic"}]), ("alarm-topic", [ALARM_TOPIC]), ("default", [])]
)
def test_alarms_are_sent_to_the_address(option: str, actions: list[Any], made: dict[str, Stack]) -> None:
    stack = made[option]
    assert ("AlarmTopic" in stack) == (option == "alarm-email")
    if "AlarmTopic" in stack:
        assert stack["AlarmTopic"]["Subscription"] == [{"Protocol": "email", "Endpoint": "someone@example.com"}]
    alarms = stack.of_type("CloudWatch::Alarm")
    assert all(alarm["AlarmActions"] == alarm["OKActions"] == actions for alarm in alarms.values())
    breaching = {name for name, alarm in alarms.items() if alarm["TreatMissingData"] != "notBreaching"}
    assert breaching == {"HeartbeatAlarm"}, "a night without a question is no problem, one without heartbeats is"


def test_queries_use_fields_of_the_log(made: dict[str, Stack]) -> None:
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("\n## Log fields\n")[2]
    documented = set(re.findall(r"`(\w+)`", text)) | {"timestamp"}
    words = {"filter", "fields", "sort", "desc", "limit", "stats", "count", "as", "pct", "by", "bin", "and"}
    labels = {"questions", "embedding", "search", "reranking", "total"}
    queries = made["default"].of_type("Logs::QueryDefinition")
    assert len(queries) == 4
    for query in queries.values():
        assert query["LogGroupNames"] == [{"Ref": "RetrievalLogGroup"}]
        plain = re.sub(r"'[^']*'", "", query["QueryString"])
        assert set(re.findall(r"[a-z_]{2,}", plain)) - words - labels <= documented
    shown = [each["properties"]["query"] for each in _dashboard(made["default"]) if each["type"] == "log"]
    assert len(shown) == 2
    for query in shown:
        assert query.removeprefix("SOURCE '${LogGroupName}' | ") in [each["QueryString"] for each in queries.values()]


def test_billed_duration_is_read_from_lambdas_report(made: dict[str, Stack]) -> None:
    """The filter splits at white space, tabs included."""
    pattern = made["default"]["BilledDurationFilter"]["FilterPattern"].strip("[]").split(", ")
    report = "REPORT RequestId: 8f5\tDuration: 12.34 ms\tBilled Duration: 413 ms\tMemory Size: 1024 MB"
    fields = {}
    for part, word in zip(pattern[:-1], report.split(), strict=False):
        name, _, expected = part.partition("=")
        assert expected in ("", f'"{word}"')
        fields[name] = word
    assert pattern[-1] == "..."
    (transformation,) = made["default"]["BilledDurationFilter"]["MetricTransformations"]
    assert fields[transformation["MetricValue"].removeprefix("$")] == "413"
