"""The checks of a stack, with moto for AWS."""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from passage.doctor.findings import Finding
from passage.doctor.stack_checks import Stack, StackError, checks, read

REGION = "eu-central-1"
TEMPLATE = {
    "Parameters": {"AllowedOrigins": {"Type": "String"}},
    "Resources": {
        "AlarmTopic": {"Type": "AWS::SNS::Topic", "Properties": {}},
        "Dead": {"Type": "AWS::SQS::Queue", "Properties": {}},
    },
    "Outputs": {
        "FunctionArn": {"Value": "retrieval"},
        "HttpApiUrl": {"Value": "https://api.example"},
        "QuestionDeadLetterQueueUrl": {"Value": {"Ref": "Dead"}},
    },
}


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        yield boto3.Session(region_name=REGION).client


def _function(aws: Any, **variables: str) -> None:
    role = aws("iam").create_role(RoleName="r", AssumeRolePolicyDocument=json.dumps({}))["Role"]["Arn"]
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("app.py", "")
    aws("lambda").create_function(
        FunctionName="retrieval",
        Runtime="python3.13",
        Role=role,
        Handler="app.handler",
        Code={"ZipFile": code.getvalue()},
        Environment={"Variables": variables},
    )


def _stack(aws: Any, origins: str = "https://docs.example.com") -> Stack:
    aws("cloudformation").create_stack(
        StackName="passage",
        TemplateBody=json.dumps(TEMPLATE),
        Parameters=[{"ParameterKey": "AllowedOrigins", "ParameterValue": origins}],
    )
    return read(aws, "passage")


def _alarm(aws: Any, name: str, *actions: str, state: str = "OK") -> None:
    aws("cloudwatch").put_metric_alarm(
        AlarmName=name,
        EvaluationPeriods=1,
        ComparisonOperator="GreaterThanThreshold",
        MetricName="m",
        Namespace="n",
        Period=60,
        Statistic="Sum",
        Threshold=1,
        AlarmActions=list(actions),
    )
    aws("cloudwatch").set_alarm_state(AlarmName=name, StateValue=state, StateReason="five failed")


def _of(aws: Any, stack: Stack, check: str) -> list[Finding]:
    return [finding for finding in checks(aws, stack) if finding.check == check]


def test_missing_stack_is_named(aws: Any) -> None:
    with pytest.raises(StackError, match="'nope' cannot be read"):
        read(aws, "nope")


def test_stack_gives_address_function_and_origin(aws: Any) -> None:
    stack = _stack(aws, "*, https://docs.example.com")
    assert (stack.url, stack.function, stack.origin) == ("https://api.example", "retrieval", "https://docs.example.com")


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("CREATE_COMPLETE", "ok"),
        ("ROLLBACK_COMPLETE", "failed"),
        ("UPDATE_ROLLBACK_COMPLETE", "warning"),
        ("UPDATE_IN_PROGRESS", "warning"),
        ("DELETE_FAILED", "failed"),
    ],
)
def test_status_of_the_stack(aws: Any, status: str, state: str) -> None:
    found = _of(aws, Stack("passage", status, "why", {}, {}), "stack")
    assert [each.state for each in found] == [state]


def test_missing_secret_names_its_variable(aws: Any) -> None:
    _function(aws, COHERE_API_KEY_SECRET=f"arn:aws:secretsmanager:{REGION}:123456789012:secret:cohere-AbCdEf#key")
    (found,) = _of(aws, _stack(aws), "secrets")
    assert (found.state, "COHERE_API_KEY_SECRET" in found.found) == ("failed", True)


PARAMETER = f"arn:aws:ssm:{REGION}:123456789012:parameter"


@pytest.mark.parametrize(
    "reference",
    [
        f"{PARAMETER}/passage/cohere",
        f"{PARAMETER}/plain",
        "ssm:/passage/cohere",
        "ssm:plain",
        f"{PARAMETER}/plain#field",
        "qdrant",
        "ARN",
    ],
)
def test_secret_that_exists_is_ok(aws: Any, reference: str) -> None:
    arn = aws("secretsmanager").create_secret(Name="qdrant", SecretString="x")["ARN"]
    for name in ("/passage/cohere", "plain"):
        aws("ssm").put_parameter(Name=name, Value="x", Type="SecureString")
    _function(aws, COHERE_API_KEY_SECRET=arn if reference == "ARN" else reference)
    assert [each.state for each in _of(aws, _stack(aws), "secrets")] == ["ok"]


@pytest.mark.parametrize("reference", ["ssm:/other", f"{PARAMETER}/other", "other", "no name"])
def test_secret_that_does_not_exist_fails(aws: Any, reference: str) -> None:
    _function(aws, COHERE_API_KEY_SECRET=reference)
    (found,) = _of(aws, _stack(aws), "secrets")
    assert (found.state, "COHERE_API_KEY_SECRET" in found.found) == ("failed", True)


def test_no_alarm_is_a_warning(aws: Any) -> None:
    assert [each.state for each in _of(aws, _stack(aws), "alarms")] == ["warning"]


def test_alarms_without_an_action_are_a_warning(aws: Any) -> None:
    stack = _stack(aws)
    _alarm(aws, "passage-ErrorAlarm")
    _alarm(aws, "another-ErrorAlarm", state="ALARM")
    assert [each.found for each in _of(aws, stack, "alarms")] == ["1 alarms tell nobody."]


def test_alarm_that_is_on_fails(aws: Any) -> None:
    stack = _stack(aws)
    _alarm(aws, "passage-ErrorAlarm", state="ALARM")
    assert _of(aws, stack, "alarms")[0].state == "failed"
    assert "five failed" in _of(aws, stack, "alarms")[0].found


class Sns:
    """SNS whose subscriptions are as given: moto confirms each at once."""

    def __init__(self, *subscriptions: dict[str, str]) -> None:
        self._subscriptions = list(subscriptions)

    def list_subscriptions_by_topic(self, **_: str) -> dict[str, list[dict[str, str]]]:
        return {"Subscriptions": self._subscriptions}


@pytest.mark.parametrize(
    ("subscriptions", "state"),
    [
        ([], "warning"),
        ([{"Endpoint": "a@example.com", "SubscriptionArn": "PendingConfirmation"}], "failed"),
        ([{"Endpoint": "a@example.com", "SubscriptionArn": "arn:aws:sns:x"}], "ok"),
    ],
)
def test_alarm_mail_must_be_confirmed(aws: Any, subscriptions: list[dict[str, str]], state: str) -> None:
    stack = _stack(aws)
    _alarm(aws, "passage-ErrorAlarm", f"arn:aws:sns:{REGION}:123456789012:topic")
    found = _of(lambda name: Sns(*subscriptions) if name == "sns" else aws(name), stack, "alarm mail")
    assert [each.state for each in found] == [state]


def test_messages_in_a_dead_letter_queue_are_counted(aws: Any) -> None:
    stack = _stack(aws)
    assert [each.state for each in _of(aws, stack, "dead letters")] == ["ok"]
    aws("sqs").send_message(QueueUrl=stack.outputs["QuestionDeadLetterQueueUrl"], MessageBody="x")
    assert "1 messages" in _of(aws, stack, "dead letters")[0].found


def test_denied_aws_call_is_a_warning(aws: Any) -> None:
    found = _of(aws, _stack(aws), "function")  # there is no function
    assert [each.state for each in found] == ["warning"]
