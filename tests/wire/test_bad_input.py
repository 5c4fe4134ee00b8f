"""Bad input of every kind is 400, in both payload formats and by direct invocation, and costs no upstream request."""

import json
from typing import Any

import pytest

from handler.core.errors import InvalidRequest
from handler.entrypoints.detect import Source
from passage.local.http_event import http_api_event
from tools.doubles import EmulatorServer
from wire.function import ORIGIN, QUESTION, Function, Start, assert_error, both_gateways, rest_api_event

BODIES: dict[str, str] = {
    "empty string": "",
    "null": "null",
    "quoted list": '"[]"',
    "brace": "{",
    "number": "7",
    "deep nesting": "[" * 100_000,
    "no question": "{}",
    "question null": '{"text": null}',
    "question a number": '{"text": 7}',
    "blank question": '{"text": " \\n\\t "}',
    "no-break spaces": '{"text": "\\u00a0\\u3000"}',
    "lone surrogate among words": '{"text": "What is \\udfff a twin?"}',
    "10,001 characters": json.dumps({"text": "a" * 10_001}),
    "k zero": '{"text": "a", "k": 0}',
    "k beyond": '{"text": "a", "k": 101}',
    "k huge": '{"text": "a", "k": 1' + "0" * 400 + "}",
    "k a string": '{"text": "a", "k": "5"}',
    "k true": '{"text": "a", "k": true}',
    "k infinite": '{"text": "a", "k": Infinity}',
    "question twice": '{"text": "a", "query": "a"}',
    "count twice": '{"text": "a", "k": 5, "top_k": 5}',
}
"""Any other body is `tests/unit/test_any_input.py`'s."""


@pytest.fixture(autouse=True)
def _no_upstream_request(cohere: EmulatorServer, qdrant: EmulatorServer) -> Any:
    yield
    assert cohere.requests == []
    assert qdrant.requests == []


def with_body(gateway: Source, body: object, *, base64: bool = False) -> dict[str, Any]:
    event = http_api_event("POST", "/query", headers={"origin": ORIGIN}, body=b"{}")
    shaped = rest_api_event(event) if gateway is Source.REST_API else event
    return {**shaped, "body": body, "isBase64Encoded": base64}


@both_gateways
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_bad_body_is_400(body: str, gateway: Source, start: Start) -> None:
    assert_error(start().send(with_body(gateway, body)), 400, "INVALID_INPUT")


@both_gateways
def test_absent_body_is_400(gateway: Source, start: Start) -> None:
    assert_error(start().send(with_body(gateway, None)), 400, "INVALID_INPUT")
    event = with_body(gateway, None)
    if gateway is Source.HTTP_API:  # leaves the key out; the REST API sends null
        del event["body"]
    assert_error(start().send(event), 400, "INVALID_INPUT")


@both_gateways
@pytest.mark.parametrize(
    "body",
    ["!!!", "//79/A==", "e30", "eyJ0ZXh0Ijoi", "", "bnVsbA==", "ÿ"],
    ids=["no base64", "no UTF-8", "no padding", "cut off", "empty", "null", "beyond ASCII"],
)
def test_bad_base64_body_is_400(body: str, gateway: Source, start: Start) -> None:
    assert_error(start().send(with_body(gateway, body, base64=True)), 400, "INVALID_INPUT")


@both_gateways
@pytest.mark.parametrize("body", [{"text": "a"}, ["a"], 7, True], ids=["object", "list", "number", "true"])
def test_body_that_no_gateway_sends_is_400(body: object, gateway: Source, start: Start) -> None:
    assert_error(start().send(with_body(gateway, body)), 400, "INVALID_INPUT")


@both_gateways
@pytest.mark.parametrize(
    "query",
    [
        *("", "k=5", "text=", "text=%20", "text=a&query=a", "text=a&k=5&top_k=5"),
        *(f"text=a&k={k}" for k in ("0", "101", "five", "", "2.5", "true", "[5]", '"5"')),
    ],
)
def test_bad_query_string_is_400(query: str, start: Start) -> None:
    assert_error(start().get("/query", query), 400, "INVALID_INPUT")


DIRECT: dict[str, dict[str, Any]] = {
    "blank": {"text": ""},
    "null": {"text": None},
    "number": {"query": 5},
    "two names": {"text": "a", "question": "a"},
    "k beyond": {"text": "a", "k": 101},
    "k a string": {"text": "a", "k": "5"},
    "lone surrogate": {"text": "\ud800"},
    "unknown profile": {"text": "a", "profile": "nowhere"},
    "profile a list": {"text": "a", "profile": ["query-response"]},
    "profile a path": {"text": "a", "profile": "../profiles/query-response"},
    "profile a surrogate": {"text": "a", "profile": "\ud800"},
}


@pytest.mark.parametrize("event", DIRECT.values(), ids=DIRECT.keys())
def test_bad_direct_invocation_gets_the_contracts_error(event: dict[str, Any], start: Start) -> None:
    answer = start().invoke(event)
    assert answer.keys() == {"error", "code", "timestamp"}
    assert answer["code"] == "INVALID_INPUT"
    assert json.dumps(answer)


OTHER_SOURCES: dict[str, dict[str, Any]] = {
    "S3": {"Records": [{"eventSource": "aws:s3", "s3": {"bucket": {"name": "b"}, "object": {"key": "k"}}}]},
    "Kinesis": {"Records": [{"eventSource": "aws:kinesis", "kinesis": {"data": "eyJ0ZXh0IjoiYSJ9"}}]},
    "DynamoDB": {"Records": [{"eventSource": "aws:dynamodb", "dynamodb": {"NewImage": {"text": {"S": "twin"}}}}]},
    "Kafka": {"eventSource": "aws:kafka", "records": {"questions-0": [{"value": "eyJ0ZXh0IjoiYSJ9"}]}},
}


@pytest.mark.parametrize("event", OTHER_SOURCES.values(), ids=OTHER_SOURCES.keys())
def test_event_of_a_source_that_reads_no_answer_is_raised(event: Any, start: Start) -> None:
    """A stream or S3 takes any answer for success: the records would be lost without a trace."""
    with pytest.raises(InvalidRequest, match="no known shape"):
        start().invoke(event)


PARTIAL: dict[str, dict[str, Any]] = {
    "HTTP API without the rest": {"requestContext": {"http": {}}, "headers": {"origin": ORIGIN}},
    "HTTP API without headers": {"requestContext": {"http": {"method": "POST", "path": "/query"}}},
    "REST API without the rest": {"httpMethod": "POST", "requestContext": {"stage": "prod"}},
    "REST API with null path": {"httpMethod": "POST", "requestContext": {"stage": "prod"}, "path": None},
    "HTTP API with odd headers": {"requestContext": {"http": {}}, "headers": {"origin": ["x"]}},
    "HTTP API with a list of headers": {"requestContext": {"http": {}}, "headers": [["origin", "x"]]},
}


@pytest.mark.parametrize("event", PARTIAL.values(), ids=PARTIAL.keys())
def test_incomplete_gateway_event_is_400_json(event: dict[str, Any], start: Start) -> None:
    answer = start().send(event)
    assert (answer.status, answer.json["code"]) == (400, "INVALID_INPUT")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["vary"] == "Origin"


def test_error_names_the_fault_without_repeating_the_input(start: Start) -> None:
    function: Function = start()
    assert "'k'" in function.post({"text": QUESTION, "k": "private"}).json["error"]
    assert "private" not in function.post({"text": QUESTION, "k": "private"}).text
    assert "1 to 100" in function.post({"text": QUESTION, "k": 1000}).json["error"]
    assert "10,000" in function.post({"text": "a" * 10_001}).json["error"]
    assert "'text' is required" in function.post({"k": 3}).json["error"]
    both = function.post({"text": "private", "query": "private"})
    assert "'text' and 'query'" in both.json["error"]
    assert "private" not in both.text
