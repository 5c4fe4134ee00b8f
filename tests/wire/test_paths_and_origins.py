"""Paths as the gateways hand them over, and the CORS headers that let a page read the answer."""

from typing import Any

import pytest

from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from passage.local.http_event import http_api_event
from tools.doubles import EmulatorServer
from wire.function import ORIGIN, Answer, Start, assert_error, assert_for_browser, both_gateways, rest_api_event


def http_event(path: str, stage: str = "$default") -> dict[str, Any]:
    event = http_api_event("POST", path, headers={"origin": ORIGIN}, body=b'{"text": "What is a digital twin?"}')
    event["requestContext"]["stage"] = stage
    return event


@both_gateways
def test_event_of_the_other_api_kind_is_400(gateway: Source, start: Start) -> None:
    own = http_event("/query")
    other = own if gateway is Source.REST_API else rest_api_event(own)
    answer = Answer.of(http.handle(other, None, start().container, gateway))
    assert (answer.status, answer.json["code"]) == (400, "INVALID_INPUT")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["vary"] == "Origin"


def test_custom_domain_leaves_the_stage_out(start: Start) -> None:
    assert start().send(http_event("/query", "prod")).status == 200


@pytest.mark.parametrize("stage", ["que", "q", "v1", "health"])
def test_stage_that_resembles_a_path_is_not_confused_with_it(stage: str, start: Start) -> None:
    function = start()
    assert function.send(http_event("/query", stage)).status == 200
    assert function.send(http_event(f"/{stage}/query", stage)).status == 200


def test_base_path_and_stage_are_both_removed(start: Start) -> None:
    function = start(BASE_PATH="/docs-api")
    assert function.send(http_event("/docs-api/query", "prod")).status == 200
    assert function.send(http_event("/prod/docs-api/query", "prod")).status == 200


@both_gateways
@pytest.mark.parametrize(
    "path",
    [
        *("/", "/nowhere", "/query/more", "/queryx", "/Query", "/profile", "/profiles//query", "//query"),
        *("/profiles/nowhere/query", "/profiles/../query", "/profiles/query-response.toml/query"),
        *("/profiles/query-response", "/profiles/query response/query", "/profiles/\u00e9/query"),
    ],
)
def test_unknown_path_or_profile_is_404(
    path: str, cohere: EmulatorServer, qdrant: EmulatorServer, start: Start
) -> None:
    """A catch-all handler must not turn it into a 500."""
    assert_error(start().post({"text": "twin"}, path), 404, "INVALID_INPUT")
    assert cohere.requests == qdrant.requests == []


@both_gateways
@pytest.mark.parametrize("base", ["", "/docs-api"])
@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/query", "GET, POST, HEAD"),
        ("TRACE", "/query", "GET, POST, HEAD"),
        ("DELETE", "/profiles/query-response/query", "GET, POST, HEAD"),
        ("POST", "/health", "GET, HEAD"),
        ("PATCH", "/profiles/query-response/chunks/1", "GET, HEAD"),
    ],
)
def test_unknown_method_is_405_and_allow_names_the_known_ones(
    method: str, path: str, allowed: str, base: str, start: Start
) -> None:
    answer = start(BASE_PATH=base).request(method, f"{base}{path}", body="{}")
    assert_error(answer, 405, "INVALID_INPUT")
    assert answer.headers["allow"] == allowed


@both_gateways
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/profiles/context/nothing/\u00a7"),  # a character that Powertools' paths do not match
        ("GET", "/profiles/context/nothing"),
        ("DELETE", "/profiles/context/query"),
    ],
)
def test_error_below_a_profiles_path_has_its_contract(method: str, path: str, start: Start) -> None:
    answer = start().request(method, path)
    assert answer.status == (405 if method == "DELETE" else 404)
    assert answer.json.keys() == {"code", "message", "details"}
    assert_for_browser(answer)


def test_404_names_the_known_paths_and_profiles(start: Start) -> None:
    assert "/query" in start().get("/nowhere").json["error"]
    assert "query-response" in start().get("/profiles/nowhere/query", "text=a").json["error"]


@both_gateways
def test_every_allowed_origin_is_given_its_own_header(start: Start) -> None:
    """Each header is sent once (`Answer.of` checks that)."""
    function = start()
    for origin in (ORIGIN, "https://reader.github.io"):
        answer = function.request("POST", "/query", body='{"text": "twin"}', origin=origin)
        assert answer.headers["access-control-allow-origin"] == origin
        assert answer.headers["vary"] == "Origin"
        assert "access-control-allow-credentials" not in answer.headers


@both_gateways
def test_any_origin_may_be_allowed(start: Start) -> None:
    answer = start(ALLOWED_ORIGINS="*").request("POST", "/query", body='{"text": "twin"}', origin="https://any.example")
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] in ("*", "https://any.example")


@both_gateways
def test_health_is_ok_with_any_failure_and_asks_no_service(cohere: EmulatorServer, start: Start) -> None:
    assert start().get("/health").json == {"status": "ok"}
    assert start(QDRANT_URL=None, COHERE_API_KEY=None).get("/health").status == 200
    assert cohere.requests == []


def test_rest_test_console_sends_null_headers(start: Start) -> None:
    event = rest_api_event(http_event("/query")) | {"headers": None, "multiValueHeaders": None}
    answer = start().send(event)
    assert answer.status == 200
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize("name", ["origin", "Origin", "ORIGIN"])
def test_header_names_are_read_in_any_case(name: str, start: Start) -> None:
    event = rest_api_event(http_event("/query"))
    event |= {"headers": {name: ORIGIN}, "multiValueHeaders": {name: [ORIGIN]}}
    assert_for_browser(start().send(event))
    assert_for_browser(start().send(event | {"body": "{", "resource": None}))
