"""docs/deployer-policy.json allows every action that a deployment takes."""

import json
from fnmatch import fnmatchcase
from typing import Any

import pytest

from conftest import ROOT
from template.cloudformation import stacks
from template.options import OPTIONS

POLICY = json.loads((ROOT / "docs" / "deployer-policy.json").read_text(encoding="utf-8"))
ACTIONS = {
    "ApiGateway": ["apigateway:POST", "apigateway:DELETE", "apigateway:PATCH"],
    "ApiGatewayV2": ["apigateway:POST", "apigateway:DELETE", "apigateway:PATCH"],
    "Budgets": ["budgets:ModifyBudget", "budgets:ViewBudget"],
    "CloudFormation": [
        "cloudformation:CreateChangeSet",
        "cloudformation:ExecuteChangeSet",
        "cloudformation:DeleteStack",
    ],
    "CloudFront": ["cloudfront:CreateDistribution", "cloudfront:CreateFunction", "cloudfront:PublishFunction"],
    "CloudWatch": ["cloudwatch:PutMetricAlarm", "cloudwatch:PutDashboard", "cloudwatch:DeleteAlarms"],
    "CodeDeploy": ["codedeploy:CreateApplication", "codedeploy:CreateDeploymentGroup", "codedeploy:CreateDeployment"],
    "DynamoDB": ["dynamodb:CreateTable", "dynamodb:UpdateTimeToLive", "dynamodb:DeleteTable"],
    "ElasticLoadBalancingV2": ["elasticloadbalancing:CreateTargetGroup", "elasticloadbalancing:RegisterTargets"],
    "Events": ["events:PutRule", "events:PutTargets", "events:DeleteRule"],
    "IAM": ["iam:CreateRole", "iam:PutRolePolicy", "iam:PassRole", "iam:DeleteRole"],
    "Lambda": [
        "lambda:CreateFunction",
        "lambda:PublishVersion",
        "lambda:UpdateAlias",
        "lambda:CreateEventSourceMapping",
    ],
    "Logs": ["logs:CreateLogGroup", "logs:PutRetentionPolicy", "logs:PutMetricFilter", "logs:CreateLogDelivery"],
    "Scheduler": ["scheduler:CreateSchedule", "scheduler:DeleteSchedule"],
    "SNS": ["sns:CreateTopic", "sns:Subscribe"],
    "SQS": ["sqs:CreateQueue", "sqs:SetQueueAttributes", "sqs:DeleteQueue"],
    "SecretsManager": ["secretsmanager:CreateSecret", "secretsmanager:GetSecretValue", "secretsmanager:DeleteSecret"],
    "WAFv2": ["wafv2:CreateWebACL", "wafv2:AssociateWebACL", "wafv2:PutLoggingConfiguration"],
}
"""What CloudFormation calls for the resources of a service."""
COMMANDS = [
    "s3:CreateBucket",
    "s3:PutObject",
    "cloudformation:DescribeStacks",
    "logs:FilterLogEvents",
    "lambda:ListTags",
    "ssm:PutParameter",
    "ssm:GetParameter",
]
"""What `make deploy`, `make logs`, `passage index --publish`, `passage doctor` and the page's own commands call."""


def _list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


def _allowed(action: str) -> bool:
    patterns = [pattern for statement in POLICY["Statement"] for pattern in _list(statement["Action"])]
    return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in patterns)


def _services() -> set[str]:
    kinds = {resource["Type"] for stack in stacks(OPTIONS).values() for resource in stack.everything().values()}
    return {kind.split("::")[1] for kind in kinds}


def test_every_service_of_the_templates_is_known_here() -> None:
    assert _services() == set(ACTIONS)


@pytest.mark.parametrize("service", ACTIONS)
def test_policy_allows_a_services_resources(service: str) -> None:
    assert [action for action in ACTIONS[service] if not _allowed(action)] == []


def test_policy_allows_the_commands() -> None:
    assert [action for action in COMMANDS if not _allowed(action)] == []


def test_policy_allows_only() -> None:
    assert POLICY["Version"] == "2012-10-17"
    for statement in POLICY["Statement"]:
        assert statement["Effect"] == "Allow"
        assert set(statement) == {"Sid", "Effect", "Action", "Resource"}


def test_roles_and_stacks_are_bounded_by_name() -> None:
    """A deployer who may touch every role is an administrator."""
    for statement in POLICY["Statement"]:
        actions = _list(statement["Action"])
        if any(action.startswith("iam:") and action != "iam:ListPolicies" for action in actions):
            assert statement["Resource"] != "*"
        if "*" in actions:
            pytest.fail("an administrator's policy")
