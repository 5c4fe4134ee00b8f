"""Each option grants the permissions it needs and no others."""

from typing import Any

import pytest

from template.cloudformation import Stack
from template.options import (
    BOUNDARY,
    INFERENCE_PROFILE,
    KMS_KEY,
    MODEL_BEHIND_IT,
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
}
BUS = "arn:aws:events:eu-central-1:111122223333:event-bus/answers"
MODEL = "arn:aws:bedrock:eu-central-1::foundation-model/cohere.embed-multilingual-v3"
RERANK_MODEL = "arn:aws:bedrock:eu-central-1::foundation-model/cohere.rerank-v3-5:0"
READ_QUEUE = {
    f"sqs:{action}": ["SqsQuestionQueue"] for action in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
}
TABLE = {f"dynamodb:{action}": ["IdempotencyTable"] for action in ("GetItem", "PutItem", "UpdateItem", "DeleteItem")}
MORE: dict[str, dict[str, list[str]]] = {
    "secrets": {
        "secretsmanager:GetSecretValue": [SECRET, PARAMETER],
        "ssm:GetParameter": [SECRET, PARAMETER],
        "kms:Decrypt": [KMS_KEY],
    },
    "bedrock": {"bedrock:InvokeModel": [MODEL]},
    "bedrock-profile": {"bedrock:InvokeModel": [INFERENCE_PROFILE, MODEL_BEHIND_IT]},
    "bedrock-reranker": {"bedrock:InvokeModel": [MODEL, RERANK_MODEL]},
    "edge-bucket": {"s3:GetObject": ["arn:aws:s3:::my-indexes/sites/docs/*"]},
    "queue": {**READ_QUEUE, "sqs:SendMessage": ["SqsReplyQueue"], **TABLE},
    "queue-fifo": {**READ_QUEUE, "sqs:SendMessage": ["SqsReplyQueue"]},
    "replies": {**READ_QUEUE, "sns:Publish": [REPLY_TOPIC], "events:PutEvents": [BUS]},
    "own-queues": {
        **{action: [QUESTION_QUEUE] for action in READ_QUEUE},
        "sqs:SendMessage": [REPLY_QUEUE],
        "events:PutEvents": [REPLY_BUS],
        "kms:Decrypt": [KMS_KEY],
        "kms:GenerateDataKey": [KMS_KEY],
    },
    "queue-alone": {**READ_QUEUE, "sqs:SendMessage": ["SqsReplyQueue"]},
    "vpc": {
        f"ec2:{action}": ["*"]
        for action in (
            *("CreateNetworkInterface", "DescribeNetworkInterfaces", "DeleteNetworkInterface", "DescribeSubnets"),
            *("AssignPrivateIpAddresses", "UnassignPrivateIpAddresses"),
        )
    },
    "notifications": {"sqs:SendMessage": ["AsyncSuccessQueue", "AsyncFailureQueue"]},
}
"""Permissions of an option besides `ALWAYS`. Other options add none."""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name(resource: Any) -> str:
    return str(resource["Fn::GetAtt"][0]) if isinstance(resource, dict) else str(resource)


@pytest.mark.parametrize("option", OPTIONS)
def test_permissions_of_the_function(option: str, made: dict[str, Stack]) -> None:
    allowed: dict[str, list[str]] = {}
    role = made[option]["RetrievalRole"]
    assert "ManagedPolicyArns" not in role
    for policy in role["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Allow"
            for action in _list(statement["Action"]):
                allowed.setdefault(action, []).extend(map(_name, _list(statement["Resource"])))
    always = {action: on for action, on in ALWAYS.items() if option != "quiet" or not action.startswith("xray:")}
    assert allowed == {**always, **MORE.get(option, {})}


@pytest.mark.parametrize("option", OPTIONS)
def test_only_a_function_url_is_everyones(option: str, made: dict[str, Stack]) -> None:
    for name, permission in made[option].of_type("Lambda::Permission").items():
        if permission["Principal"] == "*":
            assert permission.get("FunctionUrlAuthType") == "NONE" or permission.get("InvokedViaFunctionUrl") is True, (
                name
            )
        else:
            assert permission["Principal"].endswith(".amazonaws.com")
            assert permission["SourceArn"] != "*"


@pytest.mark.parametrize("option", OPTIONS)
def test_no_other_role_and_no_policy_is_open(option: str, made: dict[str, Stack]) -> None:
    roles = set(made[option].of_type("IAM::Role"))
    shifts = made[option].parameters["Deployment"] != "AllAtOnce"
    assert roles == {"RetrievalRole"} | ({"DeploymentRole", "ReleaseCheckRole"} if shifts else set())
    for policy in made[option].of_type("SQS::QueuePolicy").values():
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Condition"]["ArnEquals"]["aws:SourceArn"]
            assert statement["Action"] == "sqs:SendMessage"


def test_boundary_and_path_are_of_every_role(made: dict[str, Stack]) -> None:
    roles = made["bounded-roles"].of_type("IAM::Role")
    assert len(roles) == 3
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


def test_named_secret_leaves_the_key_variable_empty(made: dict[str, Stack]) -> None:
    variables = made["secrets"]["RetrievalFunction"]["Environment"]["Variables"]
    assert (variables["COHERE_API_KEY"], variables["QDRANT_API_KEY"]) == ("", "")
    assert variables["COHERE_API_KEY_SECRET"] == f"{SECRET}#cohere"
    assert variables["QDRANT_API_KEY_SECRET"] == PARAMETER
