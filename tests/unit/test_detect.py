"""An event's source is detected by its shape; an unknown shape is refused."""

from types import SimpleNamespace
from typing import Any

import pytest

from conftest import EVENTS
from handler.core.errors import InvalidRequest
from handler.entrypoints.detect import Source, detect, tool_name

PREFIXES = {
    "agent-core": Source.DIRECT,
    "alb": Source.ALB,
    "bedrock-agent": Source.BEDROCK_AGENT,
    "direct-batch": Source.DIRECT_BATCH,
    "direct": Source.DIRECT,
    "event-bridge": Source.EVENT_BRIDGE,
    "function-url": Source.FUNCTION_URL,
    "heartbeat": Source.HEARTBEAT,
    "http-api": Source.HTTP_API,
    "pipes": Source.PIPES,
    "rest-api": Source.REST_API,
    "sns": Source.SNS,
    "sqs": Source.SQS,
    "step-functions": Source.DIRECT,
}
"""Prefixes of sample events' names, mapped to their source; the first match counts."""

SAMPLES = sorted(path.stem for path in EVENTS.glob("*.json"))
SQS_RECORD = {"eventSource": "aws:sqs", "messageId": "1", "body": '{"text": "a"}'}
SNS_RECORD = {"EventSource": "aws:sns", "Sns": {"MessageId": "1", "Message": '{"text": "a"}'}}


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_events_source_matches_its_name(name: str, load_event: Any) -> None:
    expected = next(source for prefix, source in PREFIXES.items() if name.startswith(prefix))
    assert detect(load_event(name)) is expected


def test_every_source_has_a_sample_event() -> None:
    found = {next(source for prefix, source in PREFIXES.items() if name.startswith(prefix)) for name in SAMPLES}
    assert found == set(Source) - {Source.AGENT_CORE}, "the context tells its call, not the event"


@pytest.mark.parametrize(
    ("event", "source"),
    [
        # The envelope decides, never what a sender put beside or into it.
        ({"Records": [SQS_RECORD], "text": "question", "profile": "ranked"}, Source.SQS),
        ({"Records": [SNS_RECORD], "detail-type": "x", "detail": {}, "source": "y"}, Source.SNS),
        ({"Records": [SQS_RECORD], "requestContext": {"http": {}}}, Source.SQS),
        ({"detail-type": "x", "detail": {}, "source": "y", "text": "question"}, Source.EVENT_BRIDGE),
        ({"detail-type": "x", "detail": {"Records": [SQS_RECORD]}, "source": "y", "version": "0"}, Source.EVENT_BRIDGE),
        ({"requestContext": {"elb": {}, "http": {}}, "httpMethod": "GET", "path": "/query"}, Source.ALB),
        ({"requestContext": {"elb": {}}, "httpMethod": "GET", "path": "/query"}, Source.ALB),
        ({"requestContext": {"http": {}}, "httpMethod": "GET", "text": "question"}, Source.HTTP_API),
        ({"requestContext": {"http": {}, "domainName": "x.lambda-url.eu-central-1.on.aws"}}, Source.FUNCTION_URL),
        ({"requestContext": {"http": {}, "domainName": None}}, Source.HTTP_API),
        ({"requestContext": {"stage": "prod"}, "httpMethod": "GET", "version": "1.0"}, Source.REST_API),
        ({"requestContext": {}, "text": "question"}, Source.DIRECT),
        ({"requestContext": None, "text": "question"}, Source.DIRECT),
        ({"text": "question", "version": "2.0", "source": "docs", "detail": "more"}, Source.DIRECT),
        ([{"text": "question"}], Source.DIRECT_BATCH),
        ([SQS_RECORD], Source.PIPES),
        ([{"text": "question"}, SQS_RECORD], Source.PIPES),
        ([{"eventSource": "aws:kinesis", "text": "question"}], Source.PIPES),
        (
            {"messageVersion": "1.0", "agent": {}, "actionGroup": "a", "function": "f", "text": "q"},
            Source.BEDROCK_AGENT,
        ),
        ({"messageVersion": "1.0", "agent": {}, "actionGroup": "a", "apiPath": "/query"}, Source.BEDROCK_AGENT),
        ({"type": "REQUEST", "text": "question"}, Source.DIRECT),
        ([5, None, {"profile": "ranked"}], Source.DIRECT_BATCH),
    ],
)
def test_where_shapes_overlap_the_envelope_decides(event: object, source: Source) -> None:
    assert detect(event) is source


@pytest.mark.parametrize(
    "event",
    [
        *({}, [], None, "text", 7, 1.5, True, [[]], [{}], [5], [[{"text": "question"}]]),
        *({"Records": []}, {"Records": None, "text": "question"}, {"Records": {}}, {"Records": [None]}),
        {"Records": [{"eventSource": "aws:s3"}], "text": "question"},
        {"Records": [{"eventSource": "aws:dynamodb"}]},
        {"Records": [{"EventSource": "aws:sqs"}]},
        {"Records": [{"eventSource": "aws:sns"}]},
        {"Records": [SQS_RECORD, SNS_RECORD]},
        {"Records": [SQS_RECORD, {"eventSource": "aws:s3"}]},
        {"detail-type": "x", "detail": {}},
        {"detail-type": "x", "detail": {}, "text": "question"},
        *({"requestContext": None}, {"requestContext": {"http": None}}, {"requestContext": {"stage": "prod"}}),
        {"requestContext": {"stage": "prod"}, "text": "question"},
        {"httpMethod": "GET"},
        {"httpMethod": "GET", "path": "/query"},
        *({"warmup": True}, {"k": 5}, {"Text": "question"}, [{"Records": [SQS_RECORD]}]),
        {"awslogs": {"data": "H4sI"}},
        *({"heartbeat": True}, {"heartbeat": "question", "k": 3}),
        {"requestContext": {"routeKey": "$connect", "eventType": "CONNECT"}},
    ],
)
def test_an_unknown_shape_is_refused_with_the_known_ones_named(event: object) -> None:
    with pytest.raises(InvalidRequest, match="no known shape") as refused:
        detect(event)
    for known in (
        "SQS",
        "SNS",
        "EventBridge",
        "Load Balancer",
        "HTTP API",
        "Function URL",
        "REST API",
        "bare question",
    ):
        assert known in str(refused.value)


@pytest.mark.parametrize("key", ["text", "query", "question", "query_text", "query_vector", "profile"])
def test_bare_question_of_any_value_is_a_direct_invocation(key: str) -> None:
    assert detect({key: None}) is Source.DIRECT
    assert detect([{key: None}]) is Source.DIRECT_BATCH


AUTHORIZERS: dict[str, dict[str, Any]] = {
    "token": {"type": "TOKEN", "methodArn": "arn:aws:execute-api:…", "authorizationToken": "a", "text": "question"},
    "REST request": {"type": "REQUEST", "methodArn": "arn", "httpMethod": "POST", "requestContext": {"stage": "prod"}},
    "HTTP API 1.0": {
        "type": "REQUEST",
        "methodArn": "arn",
        "version": "1.0",
        "httpMethod": "GET",
        "requestContext": {},
    },
    "HTTP API 2.0": {"type": "REQUEST", "routeArn": "arn", "version": "2.0", "requestContext": {"http": {}}},
    "WebSocket": {"type": "REQUEST", "methodArn": "arn", "requestContext": {"eventType": "CONNECT"}, "query": "q"},
}


@pytest.mark.parametrize("event", AUTHORIZERS.values(), ids=AUTHORIZERS)
def test_authorizers_event_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="authorizer"):
        detect(event)


@pytest.mark.parametrize(
    ("custom", "tool"),
    [
        ({"bedrockAgentCoreToolName": "docs___find"}, "find"),
        ({"bedrockAgentCoreToolName": "find"}, "find"),
        ({"bedrockAgentCoreToolName": 5}, None),
        ({}, None),
        (None, None),
    ],
)
def test_gateways_tool_is_in_the_client_context(custom: Any, tool: str | None) -> None:
    assert tool_name(SimpleNamespace(client_context=SimpleNamespace(custom=custom))) == tool
    assert tool_name(SimpleNamespace(client_context=None)) is None
    assert tool_name(None) is None
