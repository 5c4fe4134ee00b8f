"""Alarms and dashboard look at metrics that the function writes, over all profiles."""

import json
import re
from typing import Any

import pytest

from conftest import ROOT
from template.cloudformation import at
from template.cloudwatch import watched
from template.options import ALARM_TOPIC, OPTIONS, made

OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
SERVICE = [{"Name": "service", "Value": "passage-test"}]


def test_alarms_and_dashboard_use_metrics_that_exist() -> None:
    """Each over all profiles. Another test holds the list in docs/operations.md to the code."""
    section = OPERATIONS.partition("\n## Metrics\n")[2].partition("\n## ")[0]
    written = set(re.findall(r"^\| `([\w.]+)(?:<CODE>)?` \| \w+", section, re.MULTILINE))
    body = made("default")["Dashboard"]["DashboardBody"].replace("\\", "")
    plain = re.findall(r'\["Passage", "([\w.]+)", "service", "passage-test", \{', body)
    assert len(plain) == body.count('["Passage", ')
    # A metric by profile is searched for, so that every profile is found.
    shown = {*plain, *re.findall(r'service="passage-test" MetricName="?(\w+)"?', body)}
    alarms = made("default").of_type("CloudWatch::Alarm").values()
    metrics = [stat["Metric"] for alarm in alarms for stat in watched(alarm).values()]
    ours = [metric for metric in metrics if metric["Namespace"] == "Passage"]
    assert [metric["Dimensions"] for metric in ours] == [SERVICE] * len(ours)
    assert {name.replace("Error", "Error.") for name in shown} | {metric["MetricName"] for metric in ours} <= written
    stages = "TotalLatency EmbeddingLatency SearchLatency RerankLatency RerankFailed ColdStart TopScore Heartbeat"
    assert {*stages.split(), "Error", "Failed.Ours", "Failed.Upstream", "Failed.Caller"} <= shown


def test_every_alarm_is_documented() -> None:
    alarms = {name for option in OPTIONS for name in made(option).of_type("CloudWatch::Alarm")}
    for document in ("deploy.md", "operations.md"):
        text = (ROOT / "docs" / document).read_text(encoding="utf-8")
        assert alarms == set(re.findall(r"`(\w+Alarm)`", text)), document


@pytest.mark.parametrize("option", OPTIONS)
def test_every_dead_letter_queue_has_an_alarm(option: str) -> None:
    stack = made(option)
    dead = {"QuestionDeadLetterQueue", "DeadLetterQueue", "AsyncFailureQueue"} & stack.of_type("SQS::Queue").keys()
    names = [
        at(alarm, "Dimensions/0/Value/Fn::GetAtt/1")
        for alarm in stack.of_type("CloudWatch::Alarm").values()
        if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible"
    ]
    assert sorted(names) == sorted(f"Outputs.{name}Name" for name in dead)


@pytest.mark.parametrize(
    ("option", "actions"), [("alarm-email", [{"Ref": "AlarmTopic"}]), ("alarm-topic", [ALARM_TOPIC]), ("default", [])]
)
def test_alarms_are_sent_to_the_address(option: str, actions: list[Any]) -> None:
    assert bool(made(option).of_type("SNS::Topic")) == (option == "alarm-email")
    alarms = made(option).of_type("CloudWatch::Alarm")
    assert all(alarm["AlarmActions"] == alarm["OKActions"] == actions for alarm in alarms.values())
    breaching = {name for name, alarm in alarms.items() if alarm["TreatMissingData"] != "notBreaching"}
    assert breaching == {"HeartbeatAlarm"}, "a night without a question is no problem, one without heartbeats is"


def test_queries_use_fields_of_the_log() -> None:
    documented = set(re.findall(r"`(\w+)`", OPERATIONS.partition("\n## Log fields\n")[2])) | {"timestamp"}
    words = {"filter", "fields", "sort", "desc", "limit", "stats", "count", "as", "pct", "by", "bin", "and"}
    labels = {"questions", "embedding", "search", "reranking", "total"}
    queries = made("default").of_type("Logs::QueryDefinition").values()
    assert len(queries) == 4
    for query in queries:
        assert query["LogGroupNames"] == [{"Ref": "RetrievalLogGroup"}]
        plain = re.sub(r"'[^']*'", "", query["QueryString"])
        assert set(re.findall(r"[a-z_]{2,}", plain)) - words - labels <= documented
    widgets = json.loads(made("default")["Dashboard"]["DashboardBody"])["widgets"]
    shown = [each["properties"]["query"].partition(" | ") for each in widgets if each["type"] == "log"]
    assert [source for source, _, _ in shown] == ["SOURCE '${LogGroupName}'"] * 2
    assert {query for _, _, query in shown} <= {query["QueryString"] for query in queries}


def test_billed_duration_is_read_from_lambdas_report() -> None:
    """The filter splits at white space, tabs included."""
    *parts, rest = made("default")["BilledDurationFilter"]["FilterPattern"].strip("[]").split(", ")
    report = "REPORT RequestId: 8f5\tDuration: 12.34 ms\tBilled Duration: 413 ms\tMemory Size: 1024 MB"
    fields = {}
    for part, word in zip(parts, report.split(), strict=False):
        name, _, expected = part.partition("=")
        assert expected in ("", f'"{word}"')
        fields[name] = word
    assert rest == "..."
    (transformation,) = made("default")["BilledDurationFilter"]["MetricTransformations"]
    assert fields[transformation["MetricValue"].removeprefix("$")] == "413"
