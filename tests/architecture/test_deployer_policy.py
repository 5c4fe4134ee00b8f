"""docs/deployer-policy.json allows every action that a deployment takes, on Passage's own resources alone."""

import json
from fnmatch import fnmatchcase
from typing import Any

import pytest

from conftest import ROOT
from template.cloudformation import stacks
from template.options import OPTIONS

POLICY = json.loads((ROOT / "docs" / "deployer-policy.json").read_text(encoding="utf-8"))
ACCOUNT = "eu-central-1:111122223333"
ROLE = "arn:aws:iam::111122223333:role/{}-dev-RetrievalRole-1A"
ACTIONS: dict[str, list[tuple[str, str]]] = {
    "Budgets": [("budgets:ModifyBudget", "arn:aws:budgets::111122223333:budget/{}-dev-Budget-1A")],
    "CloudFormation": [
        (f"cloudformation:{action}", f"arn:aws:cloudformation:{ACCOUNT}:stack/{{}}-dev-Queues-1A/0f0e")
        for action in ("CreateChangeSet", "ExecuteChangeSet", "DeleteStack", "DescribeStacks")
    ],
    "CloudWatch": [
        ("cloudwatch:PutMetricAlarm", f"arn:aws:cloudwatch:{ACCOUNT}:alarm:{{}}-dev-LatencyAlarm-1A"),
        ("cloudwatch:PutDashboard", "arn:aws:cloudwatch::111122223333:dashboard/{}-dev"),
    ],
    "CodeDeploy": [
        ("codedeploy:CreateApplication", f"arn:aws:codedeploy:{ACCOUNT}:application:{{}}-dev-App-1A"),
        ("codedeploy:CreateDeployment", f"arn:aws:codedeploy:{ACCOUNT}:deploymentgroup:{{}}-dev-App-1A/Group"),
    ],
    "DynamoDB": [
        (f"dynamodb:{action}", f"arn:aws:dynamodb:{ACCOUNT}:table/{{}}-dev-Table-1A")
        for action in ("CreateTable", "UpdateTimeToLive", "DeleteTable")
    ],
    "ElasticLoadBalancingV2": [
        # CloudFormation shortens the stack's name to five characters.
        (
            "elasticloadbalancing:CreateTargetGroup",
            f"arn:aws:elasticloadbalancing:{ACCOUNT}:targetgroup/passa-Load-1A/0f",
        ),
    ],
    "Events": [
        ("events:PutRule", f"arn:aws:events:{ACCOUNT}:rule/{{}}-dev-Messages-1A-EventRule-1A"),
        ("events:PutTargets", f"arn:aws:events:{ACCOUNT}:rule/my-bus/{{}}-dev-Messages-1A-EventRule-1A"),
    ],
    "IAM": [
        *((f"iam:{action}", ROLE) for action in ("CreateRole", "PutRolePolicy", "DeleteRole", "PassRole")),
        ("iam:CreateRole", "arn:aws:iam::111122223333:role/teams/docs/{}-dev-RetrievalRole-1A"),
    ],
    "Lambda": [
        *(
            (f"lambda:{action}", f"arn:aws:lambda:{ACCOUNT}:function:{{}}-dev-RetrievalFunction-1A")
            for action in ("CreateFunction", "PublishVersion", "UpdateAlias", "CreateFunctionUrlConfig")
        ),
        ("lambda:PublishLayerVersion", f"arn:aws:lambda:{ACCOUNT}:layer:{{}}-dev-dependencies"),
    ],
    "Logs": [
        ("logs:CreateLogGroup", f"arn:aws:logs:{ACCOUNT}:log-group:{{}}-dev-RetrievalLogGroup-1A:log-stream:"),
        ("logs:PutMetricFilter", f"arn:aws:logs:{ACCOUNT}:log-group:{{}}-dev-RetrievalLogGroup-1A:log-stream:"),
        ("logs:PutRetentionPolicy", f"arn:aws:logs:{ACCOUNT}:log-group:aws-waf-logs-{{}}-dev:log-stream:"),
        ("logs:FilterLogEvents", f"arn:aws:logs:{ACCOUNT}:log-group:{{}}-dev-RetrievalLogGroup-1A:log-stream:"),
    ],
    "SNS": [("sns:CreateTopic", f"arn:aws:sns:{ACCOUNT}:{{}}-dev-AlarmTopic-1A")],
    "SQS": [("sqs:CreateQueue", f"arn:aws:sqs:{ACCOUNT}:{{}}-dev-Queues-1A-QuestionQueue-1A")],
    "Scheduler": [("scheduler:CreateSchedule", f"arn:aws:scheduler:{ACCOUNT}:schedule/default/{{}}-dev-Heartbeat-1A")],
    "SecretsManager": [
        (f"secretsmanager:{action}", f"arn:aws:secretsmanager:{ACCOUNT}:secret:{{}}-dev-ApiAccess-1A-origin-key-AbCdEf")
        for action in ("CreateSecret", "GetSecretValue", "DeleteSecret")
    ],
    "WAFv2": [("wafv2:CreateWebACL", f"arn:aws:wafv2:{ACCOUNT}:regional/webacl/{{}}-dev-ApiAccess-1A/0f0e")],
    "S3": [("s3:PutObject", "arn:aws:s3:::{}-index-111122223333/passage/pointer")],
    "SSM": [("ssm:PutParameter", f"arn:aws:ssm:{ACCOUNT}:parameter/{{}}/cohere")],
}
"""What CloudFormation, `make` and the page's own commands call, each with a resource of the name in braces."""
UNNAMED: dict[str, list[tuple[str, str]]] = {
    "ApiGateway": [("apigateway:POST", "arn:aws:apigateway:eu-central-1::/restapis")],
    "ApiGatewayV2": [("apigateway:DELETE", "arn:aws:apigateway:eu-central-1::/domainnames/api.example.com")],
    "CloudFront": [("cloudfront:CreateDistribution", "arn:aws:cloudfront::111122223333:distribution/E1EXAMPLE")],
    "Lambda": [("lambda:CreateEventSourceMapping", "*")],
    "Logs": [("logs:CreateLogDelivery", "*"), ("logs:PutQueryDefinition", "*")],
    "SNS": [("sns:Subscribe", f"arn:aws:sns:{ACCOUNT}:a-topic-of-yours")],
    "SAM": [("s3:CreateBucket", "arn:aws:s3:::aws-sam-cli-managed-default-samclisourcebucket-1a")],
}
"""The same for resources whose name AWS or someone else chooses."""


def _list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _allowed(action: str, resource: str) -> bool:
    return any(
        fnmatchcase(action.lower(), pattern.lower())
        and any(fnmatchcase(resource, allowed) for allowed in _list(statement["Resource"]))
        for statement in POLICY["Statement"]
        for pattern in _list(statement["Action"])
    )


def test_every_service_of_the_templates_is_known_here() -> None:
    kinds = {resource["Type"] for stack in stacks(OPTIONS).values() for resource in stack.resources.values()}
    assert {kind.split("::")[1] for kind in kinds} <= ACTIONS.keys() | UNNAMED.keys()


@pytest.mark.parametrize(
    ("action", "resource"), [call for calls in (*ACTIONS.values(), *UNNAMED.values()) for call in calls]
)
def test_policy_allows_what_a_deployment_calls(action: str, resource: str) -> None:
    assert _allowed(action, resource.format("passage"))


@pytest.mark.parametrize(
    ("action", "resource"), [call for calls in ACTIONS.values() for call in calls if "{}" in call[1]]
)
def test_policy_allows_nothing_on_others_resources(action: str, resource: str) -> None:
    assert not _allowed(action, resource.format("payments"))


def test_only_named_services_get_a_role() -> None:
    """Whoever may pass a role to any service has that role's rights."""
    (statement,) = [each for each in POLICY["Statement"] if "iam:PassRole" in _list(each["Action"])]
    assert statement["Condition"]["StringEquals"]["iam:PassedToService"] == [
        f"{service}.amazonaws.com" for service in ("lambda", "codedeploy", "scheduler")
    ]


def test_policy_has_no_open_statement() -> None:
    assert POLICY["Version"] == "2012-10-17"
    for statement in POLICY["Statement"]:
        actions = _list(statement["Action"])
        assert statement["Effect"] == "Allow"
        assert "*" not in actions
        assert not any(action == "secretsmanager:*" for action in actions)
        assert statement["Resource"] != "*" or not any(action.startswith("iam:Pass") for action in actions)
