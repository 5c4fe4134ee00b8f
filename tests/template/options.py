"""The options of template.yaml, each as the parameters that switch it on. Tests run over all of them.

python -m template.options FOLDER    writes each option's resources as CloudFormation, for scanners
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from template.cloudformation import stacks

ACCOUNT = "eu-central-1:111122223333"
SECRET = f"arn:aws:secretsmanager:{ACCOUNT}:secret:passage-AbCdEf"
PARAMETER = f"arn:aws:ssm:{ACCOUNT}:parameter/passage/qdrant"
KMS_KEY = f"arn:aws:kms:{ACCOUNT}:key/0f0e0d0c-0b0a-0908-0706-050403020100"
LAYER = f"arn:aws:lambda:{ACCOUNT}:layer:an-index:3"
EXTENSION = "arn:aws:lambda:eu-central-1:187925254637:layer:AWS-Parameters-and-Secrets-Lambda-Extension-Arm64:12"
TOPIC = f"arn:aws:sns:{ACCOUNT}:questions"
REPLY_TOPIC = f"arn:aws:sns:{ACCOUNT}:replies"
INFERENCE_PROFILE = f"arn:aws:bedrock:{ACCOUNT}:inference-profile/eu.cohere.embed-v4:0"
MODEL_BEHIND_IT = "arn:aws:bedrock:eu-west-1::foundation-model/cohere.embed-v4:0"

LEAST = {"CohereApiKey": "a-key", "QdrantUrl": "https://cluster.example"}
"""The required parameters."""

QUESTION_QUEUE = f"arn:aws:sqs:{ACCOUNT}:my-questions.fifo"
REPLY_QUEUE = f"arn:aws:sqs:{ACCOUNT}:my-replies.fifo"
REPLY_BUS = f"arn:aws:events:{ACCOUNT}:event-bus/my-bus"
ALARM_TOPIC = f"arn:aws:sns:{ACCOUNT}:alarms"
BOUNDARY = "arn:aws:iam::111122223333:policy/teams/boundary"

_BEDROCK = {"EmbeddingProvider": "bedrock", "EmbeddingModel": "cohere.embed-multilingual-v3", "CohereApiKey": ""}
_EDGE = {"QdrantUrl": ""}
CERTIFICATE = f"arn:aws:acm:{ACCOUNT}:certificate/0f0e0d0c-0b0a-0908-0706-050403020100"
CLOUDFRONT_CERTIFICATE = CERTIFICATE.replace("eu-central-1", "us-east-1")
_DOMAIN = {"DomainName": "api.example.com", "CertificateArn": CERTIFICATE}

_CHANGES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "x86": {"Architecture": "x86_64"},
    "http-api": {"Api": "http"},
    "function-url": {"Api": "none", "FunctionUrl": "true"},
    "load-balancer": {"Api": "none", "LoadBalancerTarget": "true"},
    "api-key": {"Access": "key"},
    "iam": {"Access": "iam"},
    "iam-http-api": {"Api": "http", "Access": "iam"},
    "iam-function-url": {"Api": "none", "FunctionUrl": "true", "Access": "iam"},
    "jwt": {
        "Api": "http",
        "Access": "jwt",
        "JwtIssuer": "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example",
        "JwtAudience": "site,app",
    },
    "firewall": {"RateLimitPerIp": "300"},
    "domain": {**_DOMAIN, "BasePath": "/docs-api"},
    "domain-http-api": {**_DOMAIN, "Api": "http"},
    "cloudfront": {
        **_DOMAIN,
        "CloudFront": "true",
        "CloudFrontCertificateArn": CLOUDFRONT_CERTIFICATE,
        "RateLimitPerIp": "300",
    },
    "budget": {"AlarmEmail": "someone@example.com", "MonthlyBudget": "20"},
    "snap-start": {"SnapStart": "true"},
    "provisioned": {"ProvisionedConcurrency": "2"},
    "reserved": {"ReservedConcurrency": "20", "EphemeralStorage": "2048"},
    "canary": {"Deployment": "Canary10Percent5Minutes"},
    "secrets": {
        "CohereApiKey": "",
        "CohereApiKeySecretArn": f"{SECRET}#cohere",
        "QdrantApiKeySecretArn": PARAMETER,
        "KmsKeyArns": KMS_KEY,
        "SecretsExtensionLayerArn": EXTENSION,
    },
    "bedrock": _BEDROCK,
    "bedrock-profile": {
        **_BEDROCK,
        "EmbeddingModel": "eu.cohere.embed-v4:0",
        "BedrockModelArns": f"{INFERENCE_PROFILE},{MODEL_BEHIND_IT}",
    },
    "reranker": {"RerankProvider": "cohere", "RerankCandidates": "100"},
    "bedrock-reranker": {**_BEDROCK, "RerankProvider": "bedrock"},
    "edge-bucket": {**_EDGE, "EdgeIndexBucket": "my-indexes", "EdgeIndexFolder": "sites/docs"},
    "edge-layer": {**_EDGE, "EdgeIndexLayerArn": LAYER},
    "queue": {"QuestionQueue": "standard", "ReplyQueue": "standard", "RepliesOnce": "true"},
    "queue-fifo": {"QuestionQueue": "fifo", "ReplyQueue": "fifo"},
    "notifications": {
        "QuestionTopicArn": TOPIC,
        "QuestionBusName": "default",
        "AsynchronousAnswers": "true",
    },
    "replies": {"QuestionQueue": "standard", "ReplyTopicArn": REPLY_TOPIC, "ReplyBusName": "answers"},
    "own-queues": {
        "QuestionQueueArn": QUESTION_QUEUE,
        "ReplyQueueArn": REPLY_QUEUE,
        "ReplyBusName": REPLY_BUS,
        "KmsKeyArns": KMS_KEY,
    },
    "queue-alone": {"Api": "none", "QuestionQueue": "standard", "ReplyQueue": "standard", "FunctionTimeout": "120"},
    "no-api": {"Api": "none"},
    "vpc": {"SubnetIds": "subnet-0a1b2c3d,subnet-4e5f6071", "SecurityGroupIds": "sg-0a1b2c3d"},
    "bounded-roles": {
        "PermissionsBoundaryArn": BOUNDARY,
        "RolePath": "/teams/docs/",
        "Deployment": "Linear10PercentEvery1Minute",
    },
    "quiet": {"Tracing": "false", "LogLevel": "WARNING"},
    "alarm-topic": {"AlarmTopicArn": ALARM_TOPIC, "MonthlyBudget": "20"},
    "alarm-email": {"AlarmEmail": "someone@example.com"},
    "unwatched": {"Alarms": "false", "Dashboard": "false"},
}
OPTIONS: Mapping[str, Mapping[str, str]] = {name: {**LEAST, **change} for name, change in _CHANGES.items()}


def write(folder: Path) -> None:
    """Write each option's resources, nested stacks included: one CloudFormation file with all values filled in."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for name, stack in stacks(OPTIONS).items():
        template = {"AWSTemplateFormatVersion": "2010-09-09", "Resources": stack.everything()}
        (folder / f"{name}.json").write_text(json.dumps(template, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
