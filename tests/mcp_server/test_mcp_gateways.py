"""Every kind of HTTP API carries MCP: events as the gateways make them, and as clients in use send them."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from handler.entrypoints.detect import Source, detect
from mcp_server.mcp_calls import META, QUESTION, Endpoint, message, modern_headers, structured

SAMPLES = ("rest-api-query", "http-api-query", "function-url-query", "alb-query", "alb-multi-value-query")
every_kind = pytest.mark.parametrize("sample", SAMPLES)
CALL = {"name": "search", "arguments": {"query": QUESTION}}
Load = Callable[[str], Any]


def event(load_event: Load, sample: str, body: Any, headers: dict[str, str] | None) -> dict[str, Any]:
    """The sample event of a kind of API, as a POST to the endpoint."""
    changed: dict[str, Any] = json.loads(json.dumps(load_event(sample)).replace('"/query"', '"/mcp"'))
    changed["body"] = body if isinstance(body, str) else json.dumps(body)
    if "headers" in changed:
        changed["headers"] = headers
    if "multiValueHeaders" in changed:
        changed["multiValueHeaders"] = headers and {name: [value] for name, value in headers.items()}
    return changed


@every_kind
def test_legacy_call_is_answered(sample: str, endpoint: Endpoint, load_event: Load) -> None:
    asked = event(load_event, sample, message("tools/call", CALL), {"content-type": "application/json"})
    reply = endpoint.send(asked, detect(asked))
    assert len(structured(reply.result)["results"]) == 2
    assert reply.headers["content-type"] == "application/json"


@every_kind
def test_modern_call_is_answered_whatever_the_case(sample: str, endpoint: Endpoint, load_event: Load) -> None:
    headers = {name.upper(): value for name, value in modern_headers("tools/call", CALL).items()}
    asked = event(load_event, sample, message("tools/call", {**CALL, "_meta": META}), headers)
    assert endpoint.send(asked, detect(asked)).result["resultType"] == "complete"


@every_kind
def test_null_headers_are_a_legacy_request(sample: str, endpoint: Endpoint, load_event: Load) -> None:
    asked = event(load_event, sample, message("tools/call", CALL), None)
    assert structured(endpoint.send(asked, detect(asked)).result)["results"]


@every_kind
def test_body_in_base64_is_read(sample: str, endpoint: Endpoint, load_event: Load) -> None:
    raw = base64.b64encode(json.dumps(message("tools/call", CALL)).encode()).decode()
    asked = event(load_event, sample, raw, {}) | {"isBase64Encoded": True}
    assert structured(endpoint.send(asked, detect(asked)).result)["results"]


@every_kind
def test_foreign_origin_is_403(sample: str, endpoint: Endpoint, load_event: Load) -> None:
    asked = event(load_event, sample, message("ping"), {"Origin": "https://evil.example"})
    assert endpoint.send(asked, detect(asked)).status == 403


@every_kind
def test_notification_is_202(sample: str, endpoint: Endpoint, load_event: Load) -> None:
    asked = event(load_event, sample, {"jsonrpc": "2.0", "method": "notifications/initialized"}, {})
    reply = endpoint.send(asked, detect(asked))
    assert (reply.status, reply.text) == (202, "")


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "application/json; charset=utf-8"},
        {"content-type": "text/plain"},
        {"accept": "application/json"},
        {"accept": "text/event-stream"},
        {"accept": "*/*", "content-type": ""},
        {},
    ],
    ids=str,
)
def test_accept_and_content_type_do_not_matter(headers: dict[str, str], endpoint: Endpoint) -> None:
    reply = endpoint.post(message("ping"), headers)
    assert (reply.status, reply.headers["content-type"], reply.result) == (200, "application/json", {})


def test_body_in_broken_base64_is_400(endpoint: Endpoint, load_event: Load) -> None:
    asked = event(load_event, "http-api-query", "%%%", {}) | {"isBase64Encoded": True}
    reply = endpoint.send(asked, Source.HTTP_API)
    assert (reply.status, reply.code) == (400, -32700)


@pytest.mark.parametrize("sample", ["http-api-mcp-call", "rest-api-mcp-initialize"])
def test_sample_event_of_mcp_is_answered(sample: str, endpoint: Endpoint, load_event: Load) -> None:
    asked = load_event(sample)
    reply = endpoint.send(asked, detect(asked))
    assert reply.status == 200
    assert "result" in reply.json
