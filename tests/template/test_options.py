"""Each option creates the resources it promises, with the properties that matter, and no others."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from handler.entrypoints.detect import Source, detect
from template import options
from template.cloudformation import PSEUDO, at, stacks
from template.options import ALARM_TOPIC, LEAST, OPTIONS, SECRET, made


def _attribute(resource: str, name: str) -> dict[str, list[str]]:
    return {"Fn::GetAtt": [resource, name]}


def _metric(name: str, dimensions: Any) -> dict[str, Any]:
    return {"Namespace": "AWS/ApiGateway", "MetricName": name, "Dimensions": dimensions}


ALIAS = {"Ref": "RetrievalFunctionAliaslive"}
VARIABLES = "Environment/Variables"
STAGE = "RestApiliveStage"
LIMIT = {"ThrottlingRateLimit": "20", "ThrottlingBurstLimit": "20"}
DEAD_LETTERS = _attribute("DeadLetterQueue", "Arn")
VPC = {"SubnetIds": ["subnet-0a1b2c3d", "subnet-4e5f6071"], "SecurityGroupIds": ["sg-0a1b2c3d"]}
# CloudFront overwrites this header. A caller can send any X-Forwarded-For.
BY_HEADER = {"HeaderName": "x-viewer-address", "FallbackBehavior": "MATCH"}
HEADER = "gatewayresponse.header."
CORS = {f"{HEADER}Access-Control-Allow-Origin": "'*'", f"{HEADER}Access-Control-Expose-Headers": "'Retry-After'"}
OWN_ERRORS = {
    **{name: {"responseParameters": CORS, "responseTemplates": {}} for name in ("DEFAULT_4XX", "DEFAULT_5XX")},
    "THROTTLED": {"responseParameters": {**CORS, f"{HEADER}Retry-After": "'1'"}, "responseTemplates": {}},
}
ERRORS = "Metrics/2/MetricStat/Metric"
REST_API = [{"Name": "ApiName", "Value": "passage-test"}, {"Name": "Stage", "Value": "live"}]
HTTP_API = [{"Name": "ApiId", "Value": {"Ref": "HttpApi"}}, {"Name": "Stage", "Value": "$default"}]
BLOCKED_RULE = "Rules/0/Statement/RateBasedStatement"
NO_OWN_ADDRESS = "Body/servers/0/x-amazon-apigateway-endpoint-configuration/disableExecuteApiEndpoint"
BEHAVIOR = "DistributionConfig/DefaultCacheBehavior"
SUBSCRIBERS = "NotificationsWithSubscribers/0/Subscribers"
OWN_REPLIES = "https://sqs.eu-central-1.amazonaws.com/111122223333/my-replies.fifo"
PROPERTIES: list[tuple[str, str, str, Any]] = [
    ("no-traces", "RetrievalFunction", "TracingConfig/Mode", "PassThrough"),
    ("no-traces", STAGE, "TracingEnabled", False),
    ("default", "RetrievalFunction", "LoggingConfig/LogGroup", {"Ref": "RetrievalLogGroup"}),
    ("default", "RetrievalLogGroup", "RetentionInDays", "30"),
    ("x86", "RetrievalFunction", "Architectures", ["x86_64"]),
    ("vpc", "RetrievalFunction", "VpcConfig", VPC),
    ("reserved", "RetrievalFunction", "EphemeralStorage/Size", "2048"),
    ("reserved", "RetrievalFunction", "ReservedConcurrentExecutions", "20"),
    ("secrets", "RetrievalFunction", "Layers/1", options.EXTENSION),
    ("edge-layer", "RetrievalFunction", "Layers/1", options.LAYER),
    ("snap-start", "RetrievalFunction", "SnapStart/ApplyOn", "PublishedVersions"),
    ("provisioned", ALIAS["Ref"], "ProvisionedConcurrencyConfig/ProvisionedConcurrentExecutions", "2"),
    ("default", "Outputs", "FunctionArn", ALIAS),
    # What the function is told.
    ("settings", "RetrievalFunction", f"{VARIABLES}/PASSAGE_SETTINGS", OPTIONS["settings"]["Settings"]),
    ("secrets", "RetrievalFunction", f"{VARIABLES}/COHERE_API_KEY_SECRET", f"{SECRET}#cohere"),
    ("edge-bucket", "RetrievalFunction", f"{VARIABLES}/EDGE_INDEX_URI", "s3://my-indexes/sites/docs"),
    ("edge-layer", "RetrievalFunction", f"{VARIABLES}/EDGE_INDEX_PATH", "/opt/index"),
    ("queue", "RetrievalFunction", f"{VARIABLES}/REPLY_QUEUE_URL", _attribute("Queues", "Outputs.ReplyQueueUrl")),
    ("reply-topic", "RetrievalFunction", f"{VARIABLES}/REPLY_TOPIC_ARN", options.REPLY_TOPIC),
    ("reply-bus", "RetrievalFunction", f"{VARIABLES}/REPLY_BUS_NAME", options.REPLY_BUS),
    # The APIs. A domain switches the API's own address off.
    ("default", STAGE, "MethodSettings", [{"ResourcePath": "/*", "HttpMethod": "*", **LIMIT}]),
    ("http-api", "HttpApiApiGatewayDefaultStage", "DefaultRouteSettings", LIMIT),
    # Without CORS headers, a page cannot read the API's own 403, 429 or 504. A `statusCode` would be every one's.
    ("default", "RestApi", "Body/x-amazon-apigateway-gateway-responses", OWN_ERRORS),
    ("function-url", "RetrievalFunctionUrl", "AuthType", "NONE"),
    ("iam-function-url", "RetrievalFunctionUrl", "AuthType", "AWS_IAM"),
    ("load-balancer", "LoadBalancerInvokePermission", "SourceAccount", "111122223333"),
    ("load-balancer", "LoadBalancerTargetGroup", "DependsOn", "LoadBalancerInvokePermission"),
    ("api-key", "UsagePlan", "Throttle", {"RateLimit": "20", "BurstLimit": "20"}),
    ("api-key", "UsagePlan", "Quota", {"Limit": "100000", "Period": "MONTH"}),
    ("api-key", "Outputs", "ApiKeyId", _attribute("ApiAccess", "Outputs.ApiKeyId")),
    ("cloudfront", "UsagePlan", "Quota", None),  # the key is all readers' together
    ("domain", "RestApi", NO_OWN_ADDRESS, True),
    ("domain", "DomainMapping", "ApiId", {"Ref": "RestApi"}),
    ("domain", "DomainMapping", "ApiMappingKey", "docs/api"),
    ("domain", "Outputs", "ApiUrl", "https://api.example.com/docs/api"),
    ("domain", "Outputs", "DomainTarget", _attribute("ApiAccess", "Outputs.DomainTarget")),
    ("domain-http-api", "HttpApi", NO_OWN_ADDRESS, True),
    ("domain-http-api", "DomainMapping", "ApiId", {"Ref": "HttpApi"}),
    # AWS WAF: no custom response, because only the API's own has CORS headers. A GET has the question in its query.
    ("firewall", "WebAcl", BLOCKED_RULE, {"AggregateKeyType": "IP", "Limit": "300"}),
    ("firewall", "WebAcl", "Rules/0/Action", {"Block": {}}),
    ("firewall", "WebAclAssociation", "WebACLArn", _attribute("WebAcl", "Arn")),
    ("firewall", "WebAclLogGroup", "LogGroupName", "aws-waf-logs-passage-test"),  # it accepts no other prefix
    ("firewall", "WebAclLogging", "LoggingFilter/DefaultBehavior", "DROP"),
    ("firewall", "WebAclLogging", "RedactedFields/0", {"QueryString": {}}),
    ("cloudfront", "WebAcl", f"{BLOCKED_RULE}/ForwardedIPConfig", BY_HEADER),
    # CloudFront: both read the key from the secret. https-only, because a redirect turns a POST into a GET. The id is
    # AWS's policy AllViewer, which sends Host and the function's header.
    ("cloudfront", "ApiKey", "Value", "{{resolve:secretsmanager:${OriginKey}:SecretString}}"),
    ("cloudfront", "Distribution", "DistributionConfig/Origins/0/OriginCustomHeaders/0/HeaderName", "x-api-key"),
    ("cloudfront", "Distribution", "DistributionConfig/Aliases", ["api.example.com"]),
    (
        "cloudfront",
        "Distribution",
        "DistributionConfig/ViewerCertificate/AcmCertificateArn",
        options.CLOUDFRONT_CERTIFICATE,
    ),
    ("cloudfront", "Distribution", f"{BEHAVIOR}/ViewerProtocolPolicy", "https-only"),
    ("cloudfront", "Distribution", f"{BEHAVIOR}/OriginRequestPolicyId", "216adef6-5c7f-47e4-b989-5492eafa07d3"),
    ("cloudfront", "Outputs", "DomainTarget", _attribute("Front", "Outputs.DomainName")),
    # Messages.
    ("queue", "QuestionQueue", "VisibilityTimeout", 6 * 30),
    ("queue-fifo", "QuestionQueue", "VisibilityTimeout", 6 * 120),
    ("queue-fifo", "QuestionDeadLetterQueue", "FifoQueue", True),  # of its queue's kind
    ("queue", "QuestionQueue", "RedrivePolicy/maxReceiveCount", 5),
    ("queue", "QuestionQueueEventSource", "FunctionResponseTypes", ["ReportBatchItemFailures"]),
    ("own-queues", "QuestionQueueEventSource", "EventSourceArn", _attribute("Queues", "Outputs.QuestionQueueArn")),
    ("own-queues", "Outputs", "Queues.QuestionQueueArn", options.QUESTION_QUEUE),
    ("own-queues", "Outputs", "Queues.QuestionQueueName", "my-questions.fifo"),
    ("own-queues", "Outputs", "Queues.ReplyQueueUrl", OWN_REPLIES),
    ("queue", "IdempotencyTable", "KeySchema", [{"AttributeName": "id", "KeyType": "HASH"}]),
    ("queue", "IdempotencyTable", "TimeToLiveSpecification", {"AttributeName": "expiration", "Enabled": True}),
    (
        "topic",
        "AsyncInvokeConfig",
        "DestinationConfig/OnSuccess/Destination/Fn::GetAtt/1",
        "Outputs.AsyncSuccessQueueArn",
    ),
    (
        "topic",
        "AsyncInvokeConfig",
        "DestinationConfig/OnFailure/Destination/Fn::GetAtt/1",
        "Outputs.AsyncFailureQueueArn",
    ),
    ("topic", "TopicInvokePermission", "SourceArn", options.QUESTION_TOPIC),
    ("topic", "TopicSubscription", "RedrivePolicy/deadLetterTargetArn", DEAD_LETTERS),
    ("bus", "EventInvokePermission", "SourceArn", _attribute("EventRule", "Arn")),
    ("bus", "EventRule", "EventBusName", options.QUESTION_BUS),
    ("bus", "EventRule", "EventPattern/detail-type", ["Question Asked"]),
    ("bus", "EventRule", "Targets/0/DeadLetterConfig/Arn", DEAD_LETTERS),
    # Beside the heartbeat, a release is asked its question.
    ("default", "Schedule", "ScheduleExpression", "rate(5 minutes)"),
    ("default", "Schedule", "Target/RetryPolicy/MaximumRetryAttempts", 0),
    ("own-question", "ReleaseCheckFunction", f"{VARIABLES}/QUESTION", "How do I install it?"),
    # The gateways' own errors. A REST API's name is its title.
    ("default", "RestApi", "Body/info/title", "passage-test"),
    ("default", "GatewayErrorAlarm", ERRORS, _metric("5XXError", REST_API)),
    ("default", "GatewayRefusalAlarm", ERRORS, _metric("4XXError", REST_API)),
    ("http-api", "GatewayErrorAlarm", ERRORS, _metric("5xx", HTTP_API)),
    ("http-api", "GatewayRefusalAlarm", ERRORS, _metric("4xx", HTTP_API)),
    # Money, and who hears of it.
    ("budget", "MonthlyCosts", "Budget/BudgetLimit", {"Amount": "20", "Unit": "USD"}),
    ("budget", "MonthlyCosts", "NotificationsWithSubscribers/1/Notification/NotificationType", "FORECASTED"),
    ("budget", "MonthlyCosts", SUBSCRIBERS, [{"SubscriptionType": "EMAIL", "Address": "someone@example.com"}]),
    ("alarm-topic", "MonthlyCosts", SUBSCRIBERS, [{"SubscriptionType": "SNS", "Address": ALARM_TOPIC}]),
    ("alarm-topic", "Outputs", "AlarmTopicArn", ALARM_TOPIC),
    ("alarm-email", "AlarmTopic", "Subscription", [{"Protocol": "email", "Endpoint": "someone@example.com"}]),
]
"""Option, resource, path within its properties, value. None means that the property is not there."""


@pytest.mark.parametrize(
    ("option", "resource", "path", "value"), PROPERTIES, ids=[f"{row[0]}-{row[1]}-{row[2]}" for row in PROPERTIES]
)
def test_property_of_an_option(option: str, resource: str, path: str, value: Any) -> None:
    assert at(made(option).outputs if resource == "Outputs" else made(option)[resource], path) == value


ENDPOINTS: Mapping[str, str] = {
    "rest": "ApiGateway::RestApi",
    "http": "ApiGatewayV2::Api",
    "function-url": "Lambda::Url",
    "load-balancer": "ElasticLoadBalancingV2::TargetGroup",
}


@pytest.mark.parametrize("option", OPTIONS)
def test_only_the_endpoint_of_api_is_made(option: str) -> None:
    """A second one would go past the first one's throttle, key and WAF."""
    stack = made(option)
    endpoints = [api for api, kind in ENDPOINTS.items() if stack.of_type(kind)]
    api = OPTIONS[option].get("Api", "rest")
    assert endpoints == [api] * (api != "none")
    assert ("ApiUrl" in stack.outputs) == (api in ("rest", "http", "function-url"))
    gateway = api in ("rest", "http") and option != "unwatched"
    assert gateway == ("GatewayErrorAlarm" in stack.resources) == ("GatewayRefusalAlarm" in stack.resources)
    queues = stack.of_type("SQS::Queue").values()
    assert all(queue["SqsManagedSseEnabled"] for queue in queues)
    assert not (queues and option == "own-queues"), "they are there already"


KEY, SIGNATURE, TOKEN = [{"api_key": []}], [{"iam": []}], [{"jwt": []}]


@pytest.mark.parametrize(
    ("option", "api", "security"),
    [
        ("default", "RestApi", []),
        ("api-key", "RestApi", KEY),
        ("cloudfront", "RestApi", KEY),
        ("iam", "RestApi", SIGNATURE),
        ("http-api", "HttpApi", None),
        ("iam-http-api", "HttpApi", SIGNATURE),
        ("jwt", "HttpApi", TOKEN),
    ],
)
def test_api_asks_for_what_access_says(option: str, api: str, security: Any) -> None:
    body = made(option)[api]["Body"]
    asked = [methods.get("x-amazon-apigateway-any-method") for methods in body["paths"].values()]
    asked = [method for method in asked if method]
    assert [method.get("security") for method in asked] == [security] * len(asked) != []
    # A browser sends its preflight without a key, a signature or a token.
    preflights = [methods["options"] for methods in body["paths"].values() if "options" in methods]
    assert [preflight.get("security") for preflight in preflights] == [None, None]
    # Every path is the function's, as its alias. CORS headers are its own: two copies fail in browsers.
    uris = [at(method, "x-amazon-apigateway-integration/uri") for method in (*asked, *preflights)]
    assert {uri.rpartition("/functions/")[2] for uri in uris} == {"${RetrievalFunction.Arn}:live/invocations"}
    assert "x-amazon-apigateway-cors" not in body
    schemes = at(body, "components/securitySchemes") or {}
    if security == SIGNATURE:
        assert schemes["iam"]["x-amazon-apigateway-authtype"] == "awsSigv4"
    if security == TOKEN:
        configuration = at(schemes, "jwt/x-amazon-apigateway-authorizer/jwtConfiguration")
        assert configuration == {"issuer": options.ISSUER, "audience": ["site", "app"]}


@pytest.mark.parametrize(
    ("option", "question"),
    [("default", "What is this documentation about?"), ("own-question", "How do I install it?"), ("no-heartbeat", "")],
)
def test_schedule_sends_the_function_a_heartbeat(option: str, question: str) -> None:
    expected = {"HeartbeatAlarm", "Schedule"} if question else set()
    assert {"HeartbeatAlarm", "Schedule"} & made(option).resources.keys() == expected
    if question:
        call = json.loads(made(option)["Schedule"]["Target"]["Input"])
        assert (call["FunctionName"], call["InvocationType"]) == ("${FunctionAlias}", "RequestResponse")
        assert json.loads(call["Payload"]) == {"heartbeat": question}
        assert detect(json.loads(call["Payload"])) is Source.HEARTBEAT


def test_viewer_address_is_the_header_that_the_firewall_counts() -> None:
    code = made("cloudfront")["ViewerAddress"]["FunctionCode"]
    assert f"headers['{BY_HEADER['HeaderName']}'] = {{ value: event.viewer.ip }}" in code


@pytest.mark.parametrize(
    ("partition", "console"),
    [
        ("aws-cn", "console.amazonaws.cn"),
        ("aws-us-gov", "console.amazonaws-us-gov.com"),
        ("aws-eusc", "eusc-de-east-1.console.amazonaws-eusc.eu"),
    ],
)
def test_other_partitions_have_arns_and_links_of_their_own(
    partition: str, console: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PSEUDO, "AWS::Partition", partition)
    least = {**LEAST, "CohereApiKeySecretArn": SECRET.replace("arn:aws:", f"arn:{partition}:")}
    index = {"QdrantUrl": "", "EdgeIndex": "s3://my-indexes/docs"}
    stack = stacks({partition: {**least, **index, "QuestionsFrom": "standard", "RepliesTo": "standard"}})[partition]
    has_traces = partition != "aws-cn"
    assert stack["RetrievalFunction"]["TracingConfig"] == {"Mode": "Active" if has_traces else "PassThrough"}
    assert stack[STAGE]["TracingEnabled"] is has_traces
    assert stack.outputs["DashboardUrl"].startswith(f"https://{console}/cloudwatch/")
    assert "arn:aws:" not in json.dumps(stack.resources)
