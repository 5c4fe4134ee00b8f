"""The options of template.yaml, each as the parameters that switch it on. Tests run over all of them.

python -m template.options FOLDER    writes each option's resources as CloudFormation, for scanners
"""

import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from template.cloudformation import Stack, stacks

ACCOUNT = "eu-central-1:111122223333"
SECRET = f"arn:aws:secretsmanager:{ACCOUNT}:secret:passage-AbCdEf"
PARAMETER = f"arn:aws:ssm:{ACCOUNT}:parameter/passage/qdrant"
KMS_KEY = f"arn:aws:kms:{ACCOUNT}:key/0f0e0d0c-0b0a-0908-0706-050403020100"
LAYER = f"arn:aws:lambda:{ACCOUNT}:layer:an-index:3"
EXTENSION = "arn:aws:lambda:eu-central-1:187925254637:layer:AWS-Parameters-and-Secrets-Lambda-Extension-Arm64:12"
INFERENCE_PROFILE = f"arn:aws:bedrock:{ACCOUNT}:inference-profile/eu.cohere.embed-v4:0"
MODEL = "arn:aws:bedrock:eu-central-1::foundation-model/cohere.embed-v4:0"
QUESTION_QUEUE = f"arn:aws:sqs:{ACCOUNT}:my-questions.fifo"
QUESTION_TOPIC = f"arn:aws:sns:{ACCOUNT}:questions"
QUESTION_BUS = f"arn:aws:events:{ACCOUNT}:event-bus/default"
REPLY_QUEUE = f"arn:aws:sqs:{ACCOUNT}:my-replies.fifo"
REPLY_TOPIC = f"arn:aws:sns:{ACCOUNT}:replies"
REPLY_BUS = f"arn:aws:events:{ACCOUNT}:event-bus/my-bus"
ALARM_TOPIC = f"arn:aws:sns:{ACCOUNT}:alarms"
BOUNDARY = "arn:aws:iam::111122223333:policy/teams/boundary"
CERTIFICATE = f"arn:aws:acm:{ACCOUNT}:certificate/0f0e0d0c-0b0a-0908-0706-050403020100"
CLOUDFRONT_CERTIFICATE = CERTIFICATE.replace("eu-central-1", "us-east-1")
ISSUER = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example"

LEAST = {"CohereApiKeySecretArn": SECRET, "QdrantUrl": "https://cluster.example"}
"""The required parameters."""

DOMAIN = {"DomainName": "api.example.com", "CertificateArn": CERTIFICATE}

_CHANGES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "x86": {"Architecture": "x86_64"},
    "settings": {"Settings": "RERANK_PROVIDER=cohere;RERANK_CANDIDATES=100\nMCP_DESCRIPTION=robots, arms"},
    "http-api": {"Api": "http"},
    "function-url": {"Api": "function-url"},
    "load-balancer": {"Api": "load-balancer"},
    "no-api": {"Api": "none"},
    "api-key": {"Access": "key"},
    "iam": {"Access": "iam"},
    "iam-http-api": {"Api": "http", "Access": "iam"},
    "iam-function-url": {"Api": "function-url", "Access": "iam"},
    "jwt": {"Api": "http", "Access": "jwt", "JwtIssuer": ISSUER, "JwtAudience": "site,app"},
    "firewall": {"RateLimitPerIp": "300"},
    "domain": {**DOMAIN, "BasePath": "/docs/api"},
    "domain-http-api": {**DOMAIN, "Api": "http"},
    "cloudfront": {**DOMAIN, "CloudFrontCertificateArn": CLOUDFRONT_CERTIFICATE, "RateLimitPerIp": "300"},
    "budget": {"AlarmAddress": "someone@example.com", "MonthlyBudget": "20"},
    "snap-start": {"SnapStart": "true"},
    "provisioned": {"ProvisionedConcurrency": "2"},
    "reserved": {"ReservedConcurrency": "20", "EphemeralStorage": "2048"},
    "canary": {"Deployment": "Canary10Percent5Minutes"},
    "secrets": {
        "CohereApiKeySecretArn": f"{SECRET}#cohere",
        "QdrantApiKeySecretArn": PARAMETER,
        "KmsKeyArns": KMS_KEY,
        "SecretsExtensionLayerArn": EXTENSION,
    },
    "bedrock": {
        "CohereApiKeySecretArn": "",
        "BedrockModelArns": f"{INFERENCE_PROFILE},{MODEL}",
        "Settings": "EMBEDDING_PROVIDER=bedrock,EMBEDDING_MODEL=eu.cohere.embed-v4:0",
    },
    "edge-bucket": {"QdrantUrl": "", "EdgeIndex": "s3://my-indexes/sites/docs"},
    "edge-layer": {"QdrantUrl": "", "EdgeIndex": LAYER},
    "queue": {"QuestionsFrom": "standard", "RepliesTo": "standard", "RepliesOnce": "true"},
    "queue-fifo": {"Api": "none", "QuestionsFrom": "fifo", "RepliesTo": "fifo", "FunctionTimeout": "120"},
    "topic": {"QuestionsFrom": QUESTION_TOPIC, "AsynchronousAnswers": "true"},
    "bus": {"QuestionsFrom": QUESTION_BUS},
    "reply-topic": {"QuestionsFrom": "standard", "RepliesTo": REPLY_TOPIC},
    "reply-bus": {"QuestionsFrom": "standard", "RepliesTo": REPLY_BUS},
    "own-queues": {"QuestionsFrom": QUESTION_QUEUE, "RepliesTo": REPLY_QUEUE, "KmsKeyArns": KMS_KEY},
    "vpc": {"SubnetIds": "subnet-0a1b2c3d,subnet-4e5f6071", "SecurityGroupIds": "sg-0a1b2c3d"},
    "bounded-roles": {
        "PermissionsBoundaryArn": BOUNDARY,
        "RolePath": "/teams/docs/",
        "Deployment": "Linear10PercentEvery1Minute",
    },
    "no-traces": {"Tracing": "false"},
    "own-question": {"Heartbeat": "How do I install it?", "Deployment": "Canary10Percent5Minutes"},
    "no-heartbeat": {"Heartbeat": "false"},
    "alarm-topic": {"AlarmAddress": ALARM_TOPIC, "MonthlyBudget": "20"},
    "alarm-email": {"AlarmAddress": "someone@example.com"},
    "unwatched": {"Alarms": "false", "Dashboard": "false"},
}
OPTIONS: Mapping[str, Mapping[str, str]] = {name: {**LEAST, **change} for name, change in _CHANGES.items()}


@cache
def _stacks() -> dict[str, Stack]:
    return stacks(OPTIONS)


def made(option: str) -> Stack:
    """What an option makes."""
    return _stacks()[option]


def write(folder: Path) -> None:
    """Write each option's resources, nested stacks included: one CloudFormation file with all values filled in."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for name, stack in _stacks().items():
        template = {"AWSTemplateFormatVersion": "2010-09-09", "Resources": stack.resources}
        (folder / f"{name}.json").write_text(json.dumps(template, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
