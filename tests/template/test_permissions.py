"""Each option grants the permissions it needs and no others."""

from typing import Any

import pytest

from template import options
from template.options import BOUNDARY, INFERENCE_PROFILE, KMS_KEY, MODEL, OPTIONS, PARAMETER, SECRET, made

Permissions = dict[str, list[str]]
"""The resources of each action. One of the stack by its name."""

ALWAYS: Permissions = {
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
MORE: dict[str, Permissions] = {
    "secrets": {
        "secretsmanager:GetSecretValue": [SECRET, PARAMETER],
        "ssm:GetParameter": [SECRET, PARAMETER],
        "kms:Decrypt": [KMS_KEY],
    },
    "bedrock": {"bedrock:InvokeModel": [INFERENCE_PROFILE, MODEL]},
    "edge-bucket": {"s3:GetObject": ["arn:aws:s3:::my-indexes/sites/docs/*"]},
    "queue": {**READ_QUEUE, "sqs:SendMessage": ["ReplyQueue"], **TABLE},
    "queue-fifo": {**READ_QUEUE, "sqs:SendMessage": ["ReplyQueue"]},
    "reply-topic": {**READ_QUEUE, "sns:Publish": [options.REPLY_TOPIC]},
    "reply-bus": {**READ_QUEUE, "events:PutEvents": [options.REPLY_BUS]},
    "own-queues": {
        **{key: [options.QUESTION_QUEUE] for key in READ},
        "sqs:SendMessage": [options.REPLY_QUEUE],
        **{f"kms:{action}": [KMS_KEY] for action in ("Decrypt", "GenerateDataKey")},
    },
    "vpc": {f"ec2:{action}": ["*"] for action in NETWORK},
    "topic": {"sqs:SendMessage": ["AsyncSuccessQueue", "AsyncFailureQueue"]},
}
"""Permissions of an option besides `ALWAYS`. Other options add none."""
NOT_ALWAYS = {"no-traces": ("xray:",), "bedrock": ("secretsmanager:", "ssm:")}
"""Permissions of `ALWAYS` that an option does without."""

INVOKE = "lambda:InvokeFunction"
DEPLOYMENT_GROUP = "arn:aws:codedeploy:eu-central-1:111122223333:deploymentgroup:passage-test-*"
OTHER_ROLES: dict[str, Permissions] = {
    "ScheduleRole": {INVOKE: ["RetrievalFunctionAliaslive"]},
    "DeploymentRole": {INVOKE: ["ReleaseCheckFunction"]},
    "ReleaseCheckRole": {
        **{f"logs:{action}": ["ReleaseCheckLogGroup"] for action in ("CreateLogStream", "PutLogEvents")},
        INVOKE: ["${RetrievalFunction.Arn}:*"],
        "codedeploy:PutLifecycleEventHookExecutionStatus": [DEPLOYMENT_GROUP],
    },
}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name(resource: Any) -> str:
    return str(resource.get("Ref") or resource["Fn::GetAtt"][0]) if isinstance(resource, dict) else str(resource)


def _allowed(*policies: dict[str, Any]) -> Permissions:
    allowed: Permissions = {}
    for policy in policies:
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Allow"
            for action in _list(statement["Action"]):
                allowed.setdefault(action, []).extend(map(_name, _list(statement["Resource"])))
    return allowed


@pytest.mark.parametrize("option", OPTIONS)
def test_permissions_of_the_function(option: str) -> None:
    role = made(option)["RetrievalRole"]
    assert "ManagedPolicyArns" not in role
    further = made(option).of_type("IAM::Policy").values()
    assert all(policy["Roles"] == [{"Ref": "RetrievalRole"}] for policy in further)
    always = {action: on for action, on in ALWAYS.items() if not action.startswith(NOT_ALWAYS.get(option, ()))}
    assert _allowed(*role["Policies"], *further) == {**always, **MORE.get(option, {})}


@pytest.mark.parametrize("option", OPTIONS)
def test_nothing_else_is_open(option: str) -> None:
    stack = made(option)
    shifts, beats = "Deployment" in OPTIONS[option], OPTIONS[option].get("Heartbeat") != "false"
    wanted = {"RetrievalRole": True, "ScheduleRole": beats, "DeploymentRole": shifts, "ReleaseCheckRole": shifts}
    roles = stack.of_type("IAM::Role")
    assert set(roles) == {name for name, has in wanted.items() if has}
    others = {name: _allowed(*role["Policies"]) for name, role in roles.items() if name != "RetrievalRole"}
    assert others == {name: OTHER_ROLES[name] for name in others}
    bounds = (BOUNDARY, "/teams/docs/") if option == "bounded-roles" else (None, "/")
    assert {(role.get("PermissionsBoundary"), role["Path"]) for role in roles.values()} == {bounds}
    for policy in stack.of_type("SQS::QueuePolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Condition"]["ArnEquals"]["aws:SourceArn"]
            assert statement["Action"] == "sqs:SendMessage"
    for name, permission in stack.of_type("Lambda::Permission").items():
        if permission["Principal"] == "*":
            assert option == "function-url", "which is everyone's"
            by_url = permission.get("FunctionUrlAuthType") == "NONE" or permission.get("InvokedViaFunctionUrl") is True
            assert by_url, name
        else:
            assert permission["Principal"].endswith(".amazonaws.com")
            assert permission["SourceArn"] != "*"
