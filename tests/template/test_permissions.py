"""Each option grants the permissions it needs and no others."""

from typing import Any

import pytest

from template.cloudformation import Stack
from template.options import (
    BOUNDARY,
    INFERENCE_PROFILE,
    KMS_KEY,
    MODEL,
    OPTIONS,
    PARAMETER,
    QUESTION_QUEUE,
    REPLY_BUS,
    REPLY_QUEUE,
    REPLY_TOPIC,
    SECRET,
)

ALWAYS = {
    "logs:CreateLogStream": ["RetrievalLogGroup"],
    "logs:PutLogEvents": ["RetrievalLogGroup"],
    "xray:PutTraceSegments": ["*"],  # these two know no other resource
    "xray:PutTelemetryRecords": ["*"],
    "secretsmanager:GetSecretValue": [SECRET],
    "ssm:GetParameter": [SECRET],
}
READ = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
READ_QUEUE = {key: ["QuestionQueue"] for key in READ}
TABLE = {f"dynamodb:{action}Item": ["IdempotencyTable"] for action in ("Get", "Put", "Update", "Delete")}
NETWORK = (
    *("CreateNetworkInterface", "DescribeNetworkInterfaces", "DeleteNetworkInterface", "DescribeSubnets"),
    *("AssignPrivateIpAddresses", "UnassignPrivateIpAddresses"),
)
MORE: dict[str, dict[str, list[str]]] = {
    "secrets": {
        "secretsmanager:GetSecretValue": [SECRET, PARAMETER],
        "ssm:GetParameter": [SECRET, PARAMETER],
        "kms:Decrypt": [KMS_KEY],
    },
    "bedrock": {"bedrock:InvokeModel": [INFERENCE_PROFILE, MODEL]},
    "edge-bucket": {"s3:GetObject": ["arn:aws:s3:::my-indexes/sites/docs/*"]},
    "queue": {**READ_QUEUE, "sqs:SendMessage": ["ReplyQueue"], **TABLE},
    "queue-fifo": {**READ_QUEUE, "sqs:SendMessage": ["ReplyQueue"]},
    "reply-topic": {**READ_QUEUE, "sns:Publish": [REPLY_TOPIC]},
    "reply-bus": {**READ_QUEUE, "events:PutEvents": [REPLY_BUS]},
    "own-queues": {
        **{key: [QUESTION_QUEUE] for key in READ},
        "sqs:SendMessage": [REPLY_QUEUE],
        "kms:Decrypt": [KMS_KEY],
        "kms:GenerateDataKey": [KMS_KEY],
    },
    "vpc": {f"ec2:{action}": ["*"] for action in NETWORK},
    "topic": {"sqs:SendMessage": ["AsyncSuccessQueue", "AsyncFailureQueue"]},
}
"""Permissions of an option besides `ALWAYS`. Other options add none."""
NOT_ALWAYS = {"no-traces": ("xray:",), "bedrock": ("secretsmanager:", "ssm:")}
"""Permissions of `ALWAYS` that an option does without."""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name(resource: Any) -> str:
    return str(resource["Fn::GetAtt"][0]) if isinstance(resource, dict) else str(resource)


@pytest.mark.parametrize("option", OPTIONS)
def test_permissions_of_the_function(option: str, made: dict[str, Stack]) -> None:
    allowed: dict[str, list[str]] = {}
    role = made[option]["RetrievalRole"]
    assert "ManagedPolicyArns" not in role
    further = made[option].of_type("IAM::Policy").values()
    assert all(policy["Roles"] == [{"Ref": "RetrievalRole"}] for policy in further)
    for policy in (*role["Policies"], *further):
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Allow"
            for action in _list(statement["Action"]):
                allowed.setdefault(action, []).extend(map(_name, _list(statement["Resource"])))
    without = NOT_ALWAYS.get(option, ())
    always = {action: on for action, on in ALWAYS.items() if not action.startswith(without)}
    assert allowed == {**always, **MORE.get(option, {})}


@pytest.mark.parametrize("option", OPTIONS)
def test_nothing_else_is_open(option: str, made: dict[str, Stack]) -> None:
    stack = made[option]
    shifts, beats = stack.parameters["Deployment"] != "AllAtOnce", stack.parameters["Heartbeat"] != "false"
    wanted = {"RetrievalRole": True, "ScheduleRole": beats, "DeploymentRole": shifts, "ReleaseCheckRole": shifts}
    assert set(stack.of_type("IAM::Role")) == {name for name, has in wanted.items() if has}
    for policy in stack.of_type("SQS::QueuePolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Condition"]["ArnEquals"]["aws:SourceArn"]
            assert statement["Action"] == "sqs:SendMessage"
    for name, permission in stack.of_type("Lambda::Permission").items():
        if permission["Principal"] == "*":  # a function URL is everyone's
            by_url = permission.get("FunctionUrlAuthType") == "NONE" or permission.get("InvokedViaFunctionUrl") is True
            assert by_url, name
        else:
            assert permission["Principal"].endswith(".amazonaws.com")
            assert permission["SourceArn"] != "*"


def test_boundary_and_path_are_of_every_role(made: dict[str, Stack]) -> None:
    roles = made["bounded-roles"].of_type("IAM::Role")
    assert len(roles) == 4
    assert {(role["PermissionsBoundary"], role["Path"]) for role in roles.values()} == {(BOUNDARY, "/teams/docs/")}


def test_release_check_may_only_invoke_and_report(made: dict[str, Stack]) -> None:
    (policy,) = made["canary"]["ReleaseCheckRole"]["Policies"]
    allowed = {
        action: statement["Resource"]
        for statement in policy["PolicyDocument"]["Statement"]
        for action in _list(statement["Action"])
        if not action.startswith("logs:")
    }
    assert allowed == {
        "lambda:InvokeFunction": "${RetrievalFunction.Arn}:*",
        "codedeploy:PutLifecycleEventHookExecutionStatus": (
            "arn:aws:codedeploy:eu-central-1:111122223333:deploymentgroup:passage-test-*"
        ),
    }
