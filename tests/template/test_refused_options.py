"""Options that exclude each other are rejected before deployment, and the message says what to change."""

import json
import re

import pytest

from template.cloudformation import PSEUDO, Refused, check, expanded
from template.options import ALARM_TOPIC, CERTIFICATE, DOMAIN, EXTENSION, LAYER, LEAST, OPTIONS, QUESTION_QUEUE, SECRET

COLLISIONS: list[tuple[dict[str, str], str]] = [
    ({"CohereApiKeySecretArn": ""}, "Set CohereApiKeySecretArn; or BedrockModelArns"),
    ({"QdrantUrl": ""}, "Set EdgeIndex or QdrantUrl, where"),
    ({"EdgeIndex": "s3://indexes"}, "Set EdgeIndex or QdrantUrl, not both"),
    ({"EdgeIndex": LAYER}, "Set EdgeIndex or QdrantUrl, not both"),
    ({"SnapStart": "true", "ProvisionedConcurrency": "1"}, "leave ProvisionedConcurrency at 0"),
    ({"SnapStart": "true", "EphemeralStorage": "1024"}, "leave it at 512"),
    ({"ReservedConcurrency": "0", "ProvisionedConcurrency": "1"}, "stops the function"),
    ({"ProvisionedConcurrency": "1", "Deployment": "Canary10Percent5Minutes"}, "an alias with two versions"),
    ({"Api": "function-url", "Access": "key"}, "With Api function-url, Access is open or iam"),
    ({"Api": "http", "Access": "key"}, "Access key needs Api rest"),
    ({"Api": "none", "Access": "iam"}, "Access iam needs Api"),
    ({"Api": "load-balancer", "Access": "iam"}, "Access iam needs Api"),
    ({"Access": "jwt"}, "Access jwt needs Api http"),
    ({"Api": "http", "Access": "jwt", "JwtIssuer": "https://issuer.example"}, "needs JwtIssuer and JwtAudience"),
    ({"JwtAudience": "site"}, "need Access jwt"),
    ({"Api": "http", "RateLimitPerIp": "100"}, "RateLimitPerIp needs Api rest"),
    ({"DomainName": "api.example.com"}, "DomainName needs CertificateArn"),
    ({"CertificateArn": CERTIFICATE}, "need DomainName"),
    ({**DOMAIN, "Api": "none"}, "DomainName needs Api rest or http"),
    ({**DOMAIN, "Api": "function-url"}, "DomainName needs Api rest or http"),
    ({"CloudFrontCertificateArn": OPTIONS["cloudfront"]["CloudFrontCertificateArn"]}, "need DomainName"),
    ({**OPTIONS["cloudfront"], "Access": "iam"}, "needs Api rest with Access open"),
    ({"MonthlyBudget": "20"}, "MonthlyBudget needs AlarmAddress"),
    ({"Alarms": "false", "AlarmAddress": "someone@example.com"}, "AlarmAddress needs Alarms true"),
    ({"Alarms": "false", "AlarmAddress": ALARM_TOPIC}, "AlarmAddress needs Alarms true"),
    ({"Alarms": "false", "Deployment": "Canary10Percent5Minutes"}, "needs Alarms true"),
    ({"SubnetIds": "subnet-0a1b2c3d"}, "SubnetIds and SecurityGroupIds"),
    ({"SecurityGroupIds": "sg-0a1b2c3d"}, "SubnetIds and SecurityGroupIds"),
    ({"QuestionsFrom": "standard"}, "needs RepliesTo"),
    ({"QuestionsFrom": QUESTION_QUEUE, "RepliesTo": QUESTION_QUEUE}, "must differ"),
]
# Of a part of a secret's ARN, a role's policy knows nothing.
WRONG: dict[str, list[str]] = {
    "AllowedOrigins": ["https://user.github.io/"],
    "CohereApiKeySecretArn": ["passage/cohere", SECRET.removesuffix("-AbCdEf"), f"{SECRET}*"],
    "Settings": ["rerank by cohere"],
    "BedrockModelArns": ["arn:aws:bedrock:*::foundation-model/*"],
    "EdgeIndex": ["s3://indexes/sites/", "s3://indexes/*", LAYER.rsplit(":", 1)[0]],
    "SecretsExtensionLayerArn": [EXTENSION.rsplit(":", 1)[0]],
    "QdrantUrl": ["cluster.example"],
    "RateLimitPerIp": ["9"],
    "DomainName": ["https://api.example.com"],
    "CloudFrontCertificateArn": [CERTIFICATE],
    "JwtIssuer": ["issuer.example"],
    "BasePath": ["docs-api", "/docs-api/"],
    "FunctionTimeout": ["31"],
    "RolePath": ["teams"],
    "PermissionsBoundaryArn": ["boundary"],
    "SubnetIds": ["vpc-0a1b2c3d"],
    "QuestionsFrom": ["my-questions"],
    "RepliesTo": [SECRET],
    "EphemeralStorage": ["513"],
    "AlarmAddress": ["someone"],
    "Heartbeat": ['What does "arm" mean?'],
}


REFUSED = [*COLLISIONS, *(({name: value}, f"^{name} ") for name, values in WRONG.items() for value in values)]


@pytest.mark.parametrize(("parameters", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_wrong_parameters_are_refused(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(Refused, match=message):
        check({**LEAST, **parameters})


def test_valid_combinations_are_accepted() -> None:
    for parameters in ({"RateLimitPerIp": "10"}, {"ReservedConcurrency": "0"}, {"BasePath": "/docs-api"}):
        check({**LEAST, **parameters})


@pytest.mark.parametrize("option", ["snap-start", "function-url", "budget", "cloudfront"])
@pytest.mark.parametrize("partition", ["aws-cn", "aws-us-gov"])
def test_what_a_partition_lacks_is_refused(option: str, partition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PSEUDO, "AWS::Partition", partition)
    check(LEAST)
    with pytest.raises(Refused, match=r"China and GovCloud|commercial regions"):
        check(OPTIONS[option])


def test_rules_use_functions_that_cloudformation_allows_there() -> None:
    """A Condition fails (aws-cloudformation/cloudformation-coverage-roadmap#1183), and cfn-lint does not know."""
    functions = re.findall(r'"(Ref|Condition|Fn::\w+)":', json.dumps(expanded()["Rules"]))
    assert set(functions) <= {"Ref", "Fn::And", "Fn::Or", "Fn::Not", "Fn::Equals"}
