"""Options that exclude each other are rejected before deployment, and the message says what to change."""

from typing import Any

import pytest

from template.cloudformation import PSEUDO, Refused, check, rules
from template.options import (
    ALARM_TOPIC,
    CERTIFICATE,
    EXTENSION,
    LAYER,
    LEAST,
    OPTIONS,
    PARAMETER,
    QUESTION_QUEUE,
    REPLY_QUEUE,
    SECRET,
)

DOMAIN = {name: OPTIONS["domain"][name] for name in ("DomainName", "CertificateArn")}
COLLISIONS: list[tuple[dict[str, str], str]] = [
    ({"CohereApiKey": ""}, "set CohereApiKeySecretArn or CohereApiKey"),
    ({"CohereApiKeySecretArn": SECRET}, "CohereApiKey or CohereApiKeySecretArn, not both"),
    ({"QdrantApiKey": "key", "QdrantApiKeySecretArn": PARAMETER}, "QdrantApiKey or QdrantApiKeySecretArn, not both"),
    ({"QdrantUrl": ""}, "Set EdgeIndexBucket, EdgeIndexLayerArn or QdrantUrl"),
    ({"EdgeIndexBucket": "indexes"}, "Set QdrantUrl or an index"),
    ({"EdgeIndexLayerArn": LAYER}, "Set QdrantUrl or an index"),
    ({"CohereApiKey": "", "EmbeddingProvider": "bedrock"}, "set EmbeddingModel"),
    (
        {**OPTIONS["bedrock"], "RerankProvider": "cohere"},
        "RerankProvider cohere needs CohereApiKeySecretArn or CohereApiKey",
    ),
    ({"RerankModel": "rerank-v3.5"}, "RerankModel needs RerankProvider"),
    ({"QdrantUrl": "", "EdgeIndexBucket": "indexes", "EdgeIndexLayerArn": LAYER}, "EdgeIndexBucket or .*, not both"),
    ({"SnapStart": "true", "ProvisionedConcurrency": "1"}, "leave ProvisionedConcurrency at 0"),
    ({"SnapStart": "true", "EphemeralStorage": "1024"}, "leave it at 512"),
    ({"ReservedConcurrency": "0", "ProvisionedConcurrency": "1"}, "stops the function"),
    ({"ProvisionedConcurrency": "1", "Deployment": "Canary10Percent5Minutes"}, "an alias with two versions"),
    ({"FunctionUrl": "true"}, "FunctionUrl true needs Api none"),
    ({"FunctionUrl": "true", "Access": "key"}, "FunctionUrl true needs Api none"),
    ({"FunctionUrl": "true", "Api": "http", "Access": "iam"}, "FunctionUrl true needs Api none"),
    ({"FunctionUrl": "true", "Api": "none", "Access": "key"}, "With FunctionUrl, Access is open or iam"),
    ({"Api": "http", "Access": "key"}, "Access key needs Api rest"),
    ({"Api": "none", "Access": "iam"}, "Access iam needs"),
    ({"Access": "jwt"}, "Access jwt needs Api http"),
    ({"Api": "http", "Access": "jwt", "JwtIssuer": "https://issuer.example"}, "needs JwtIssuer and JwtAudience"),
    ({"JwtAudience": "site"}, "need Access jwt"),
    ({"Api": "http", "RateLimitPerIp": "100"}, "RateLimitPerIp needs Api rest"),
    ({"DomainName": "api.example.com"}, "DomainName needs CertificateArn"),
    ({"CertificateArn": CERTIFICATE}, "CertificateArn needs DomainName"),
    ({**DOMAIN, "Api": "none"}, "DomainName needs Api rest or http"),
    ({"CloudFront": "true"}, "CloudFront needs DomainName"),
    ({**OPTIONS["cloudfront"], "Access": "iam"}, "CloudFront needs Api rest with Access open"),
    ({"MonthlyBudget": "20"}, "MonthlyBudget needs AlarmEmail"),
    ({"Alarms": "false", "AlarmEmail": "someone@example.com"}, "AlarmEmail and AlarmTopicArn need Alarms true"),
    ({"Alarms": "false", "Deployment": "Canary10Percent5Minutes"}, "needs Alarms true"),
    ({"Alarms": "false", "AlarmTopicArn": ALARM_TOPIC}, "AlarmTopicArn need Alarms true"),
    ({"AlarmEmail": "someone@example.com", "AlarmTopicArn": ALARM_TOPIC}, "AlarmEmail or AlarmTopicArn, not both"),
    ({"SubnetIds": "subnet-0a1b2c3d"}, "SubnetIds and SecurityGroupIds"),
    ({"SecurityGroupIds": "sg-0a1b2c3d"}, "SubnetIds and SecurityGroupIds"),
    ({"QuestionQueue": "standard"}, "need ReplyQueue"),
    ({"QuestionQueueArn": QUESTION_QUEUE}, "need ReplyQueue"),
    ({**OPTIONS["queue"], "QuestionQueueArn": QUESTION_QUEUE}, "QuestionQueue or QuestionQueueArn, not both"),
    ({**OPTIONS["queue"], "ReplyQueueArn": REPLY_QUEUE}, "ReplyQueue or ReplyQueueArn, not both"),
    ({"QuestionQueueArn": QUESTION_QUEUE, "ReplyQueueArn": QUESTION_QUEUE}, "must be two queues"),
]
WRONG: list[dict[str, str]] = [
    {"AllowedOrigins": "https://user.github.io/"},
    {"CohereApiKeySecretArn": "passage/cohere"},
    {"CohereApiKeySecretArn": SECRET.removesuffix("-AbCdEf")},  # of a part of the ARN a role's policy knows nothing
    {"CohereApiKeySecretArn": f"{SECRET}*"},
    {"EmbeddingModel": "*"},
    {"BedrockModelArns": "arn:aws:bedrock:*::foundation-model/*"},
    {"RerankModel": "arn:aws:bedrock:eu-central-1::foundation-model/cohere.rerank-v3-5:0"},
    {"RerankModel": "*"},
    {"RerankProvider": "voyage"},
    {"RerankCandidates": "1001"},
    {"EdgeIndexFolder": "sites/"},
    {"EdgeIndexFolder": "*"},
    {"EdgeIndexPath": "/mnt/index"},
    {"SecretsExtensionLayerArn": EXTENSION.rsplit(":", 1)[0]},
    {"QdrantUrl": "cluster.example"},
    {"RateLimitPerIp": "9"},
    {"DomainName": "https://api.example.com"},
    {"CloudFrontCertificateArn": CERTIFICATE},
    {"JwtIssuer": "issuer.example"},
    {"MonthlyBudget": "0"},
    {"BasePath": "docs-api"},
    {"BasePath": "/docs-api/"},
    {"RequestTimeoutMs": "900001"},
    {"FunctionTimeout": "31"},
    {"LogLevel": "CRITICAL"},
    {"RolePath": "teams"},
    {"PermissionsBoundaryArn": "boundary"},
    {"SubnetIds": "vpc-0a1b2c3d"},
    {"QuestionQueueArn": "my-questions"},
    {"EphemeralStorage": "513"},
    {"AlarmEmail": "someone"},
]


@pytest.mark.parametrize(("parameters", "message"), COLLISIONS, ids=[message for _, message in COLLISIONS])
def test_id_collision_is_refused_with_the_reason(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(Refused, match=message):
        check({**LEAST, **parameters})


@pytest.mark.parametrize("parameters", WRONG, ids=str)
def test_a_wrong_value_is_refused(parameters: dict[str, str]) -> None:
    (name,) = parameters
    with pytest.raises(Refused, match=f"^{name} "):
        check({**LEAST, **parameters})


def test_valid_combinations_are_accepted() -> None:
    for option in OPTIONS.values():
        check(option)
    for parameters in ({"RateLimitPerIp": "10"}, {"ReservedConcurrency": "0"}, {"BasePath": "/docs-api"}):
        check({**LEAST, **parameters})


@pytest.mark.parametrize("partition", ["aws-cn", "aws-us-gov"])
def test_snap_start_is_refused_outside_commercial_regions(partition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PSEUDO, "AWS::Partition", partition)
    with pytest.raises(Refused, match="no SnapStart for Python"):
        check(OPTIONS["snap-start"])


def test_rules_use_what_cloudformation_allows_there() -> None:
    """Ref and the functions of rules; a Condition fails (aws-cloudformation/cloudformation-coverage-roadmap#1183)."""
    allowed = {"Ref", "Fn::And", "Fn::Or", "Fn::Not", "Fn::Equals"}

    def look(node: Any) -> None:
        if isinstance(node, dict):
            assert node.keys() <= allowed, node
            for name, arguments in node.items():
                if name in ("Fn::And", "Fn::Or"):
                    assert 2 <= len(arguments) <= 10, "its limits"
                look(arguments)
        elif isinstance(node, list):
            for part in node:
                look(part)
        else:
            assert isinstance(node, str), node

    for rule in rules().values():
        look(rule.get("RuleCondition", {}))
        for assertion in rule["Assertions"]:
            look(assertion["Assert"])
