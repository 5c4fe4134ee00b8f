"""Every kind of HTTP API gets the same answers, in its format of event and response."""

import base64
import copy
import json
from collections.abc import Mapping
from itertools import product
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from entrypoints.conftest import Large
from tools.doubles import EmulatorServer
from wire.function import ORIGIN, QUESTION, Answer, Start

KINDS = {
    "REST API": "rest-api-query",
    "HTTP API": "http-api-query",
    "Function URL": "function-url-query",
    "load balancer": "alb-query",
    "load balancer, several values": "alb-multi-value-query",
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def request(
    load_event: Any,
    kind: str,
    method: str = "POST",
    path: str = "/query",
    *,
    body: str | None = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The sample event of that kind of API, changed to another request."""
    event: dict[str, Any] = copy.deepcopy(load_event(KINDS[kind]))
    sent = {"host": "docs.example", "origin": ORIGIN} if headers is None else dict(headers)
    parameters = dict(query or {})
    event["body"] = body
    if "multiValueHeaders" in event:
        event["multiValueHeaders"] = {name: [value] for name, value in sent.items()}
    if "headers" in event:
        event["headers"] = sent
    if "rawPath" in event:
        event["rawPath"] = path
        event["requestContext"]["http"] |= {"method": method, "path": path}
        if parameters:
            event["queryStringParameters"] = parameters
    else:
        event |= {"httpMethod": method, "path": path}
        if kind == "REST API":
            event["queryStringParameters"] = parameters or None
            event["multiValueQueryStringParameters"] = {name: [v] for name, v in parameters.items()} or None
        else:  # a load balancer decodes nothing
            event["body"] = body or ""
            encoded = {quote(name): quote_plus(value) for name, value in parameters.items()}
            if "headers" in event:
                event["queryStringParameters"] = encoded
            else:
                event["multiValueQueryStringParameters"] = {name: [value] for name, value in encoded.items()}
    return event


def checked(kind: str, response: Mapping[str, Any]) -> Answer:
    """The answer, in the response format of that kind of API."""
    several = kind in ("REST API", "load balancer, several values")
    assert ("multiValueHeaders" in response) == several
    assert not (several and response.get("headers"))
    assert isinstance(response["body"], str)
    json.dumps(response, allow_nan=False)
    return Answer.of(response)


@every_kind
def test_a_question_is_answered_alike(kind: str, start: Start, load_event: Any) -> None:
    function = start()
    answer = checked(kind, function.invoke(load_event(KINDS[kind])))
    assert answer.results == function.ask(QUESTION, 3).results
    assert answer.headers["content-type"] == "application/json"


@every_kind
def test_question_in_the_url_keeps_every_character(
    kind: str, start: Start, load_event: Any, cohere: EmulatorServer
) -> None:
    """A load balancer does not decode parameters."""
    text = "what's 100% of a+b & c=d? ü 机器人 %41"
    event = request(load_event, kind, "GET", query={"text": text, "k": "2"})
    answer = checked(kind, start().invoke(event))
    assert answer.json["query"] == text
    assert len(answer.results) == 2
    assert cohere.requests[-1].json()["texts"] == [text]


@every_kind
@pytest.mark.parametrize(
    ("asked", "body", "status"),
    [
        ("POST /query", '{"text": "twin"}', 200),
        ("POST /query", "{", 400),
        ("POST /query", None, 400),
        ("GET /health", None, 200),
        ("GET /nowhere", None, 404),
        ("PUT /query", "{}", 405),
        ("POST /profiles/nowhere/query", '{"text": "twin"}', 404),
        ("POST /profiles/context/query", '{"text": "twin", "k": 3}', 200),
        ("POST /query/", '{"text": "twin"}', 200),
        ("GET /profiles", None, 200),
    ],
)
def test_every_answer_has_cors_headers_once_and_varies_by_origin(
    asked: str, body: str | None, status: int, kind: str, start: Start, load_event: Any
) -> None:
    method, path = asked.split()
    answer = checked(kind, start().invoke(request(load_event, kind, method, path, body=body)))
    assert answer.status == status, answer.text
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["vary"] == "Origin"
    assert answer.headers["content-type"] == "application/json"
    assert answer.json


@every_kind
@pytest.mark.parametrize("origin", [None, "https://evil.example", "http://localhost:3001", "null", ORIGIN + "/"])
def test_another_origin_gets_no_cors_headers(origin: str | None, kind: str, start: Start, load_event: Any) -> None:
    headers = {"host": "docs.example", **({"origin": origin} if origin else {})}
    for body in ('{"text": "twin"}', "{"):
        answer = checked(kind, start().invoke(request(load_event, kind, body=body, headers=headers)))
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.headers["vary"] == "Origin"


@every_kind
def test_a_preflight_is_answered(kind: str, start: Start, load_event: Any, cohere: EmulatorServer) -> None:
    headers = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    for path in ("/query", "/profiles/query-response/query"):
        answer = checked(kind, start().invoke(request(load_event, kind, "OPTIONS", path, headers=headers)))
        assert answer.status == 204
        assert answer.headers["access-control-allow-origin"] == ORIGIN
        assert "POST" in answer.headers["access-control-allow-methods"]
        assert "content-type" in answer.headers["access-control-allow-headers"].lower()
        assert answer.headers["vary"] == "Origin"
    assert cohere.requests == []


@every_kind
def test_wrong_setting_is_500_in_the_event_format(kind: str, start: Start, load_event: Any) -> None:
    answer = start(ALLOWED_ORIGINS="https://site.example/").invoke(load_event(KINDS[kind]))
    assert answer["statusCode"] == 500
    assert "ALLOWED_ORIGINS" in json.loads(answer["body"])["error"]
    form = "multiValueHeaders" if kind in ("REST API", "load balancer, several values") else "headers"
    assert answer[form]["Vary"] in ("Origin", ["Origin"])
    assert answer[form]["Content-Type"] in ("application/json", ["application/json"])


@every_kind
def test_base_path_is_removed(kind: str, start: Start, load_event: Any) -> None:
    function = start(BASE_PATH="/docs-api")
    for path, status in (("/docs-api/health", 200), ("/docs-api/query", 405), ("/docs-apiary/health", 404)):
        method = "DELETE" if status == 405 else "GET"
        answer = checked(kind, function.invoke(request(load_event, kind, method, path)))
        assert answer.status == status, path


def test_stage_is_removed_from_the_path(start: Start, load_event: Any) -> None:
    """An HTTP API puts its stage before the path, except on a custom domain; a REST API never does."""
    function = start(BASE_PATH="/docs-api")
    event = request(load_event, "HTTP API", "GET", "/prod/docs-api/health")
    event["requestContext"]["stage"] = "prod"
    assert Answer.of(function.invoke(event)).status == 200
    event = request(load_event, "REST API", "GET", "/docs-api/health")
    event["requestContext"] |= {"stage": "prod", "path": "/prod/docs-api/health"}
    assert Answer.of(function.invoke(event)).status == 200


@every_kind
def test_a_body_in_base64_is_read(kind: str, start: Start, load_event: Any) -> None:
    event = request(load_event, kind, body=base64.b64encode('{"text": "zwölf Roboter"}'.encode()).decode())
    event["isBase64Encoded"] = True
    assert checked(kind, start().invoke(event)).json["query"] == "zwölf Roboter"
    event["body"] = "!!!"
    assert checked(kind, start().invoke(event)).status == 400


@every_kind
def test_plain_text_is_given_to_who_prefers_it(kind: str, start: Start, load_event: Any) -> None:
    headers = {"Accept": "text/plain", "origin": ORIGIN}
    event = request(load_event, kind, "POST", "/profiles/context/query", body='{"text": "twin"}', headers=headers)
    answer = checked(kind, start().invoke(event))
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.startswith("[Result 1]")


@every_kind
def test_head_is_get_without_the_body(kind: str, start: Start, load_event: Any) -> None:
    answer = checked(kind, start().invoke(request(load_event, kind, "HEAD", "/health")))
    assert (answer.status, answer.text) == (200, "")


@pytest.mark.parametrize("kind", ["load balancer", "load balancer, several values"])
def test_a_load_balancers_own_health_check_is_answered(kind: str, start: Start, load_event: Any) -> None:
    headers = {"user-agent": "ELB-HealthChecker/2.0"}
    answer = checked(kind, start().invoke(request(load_event, kind, "GET", "/health", headers=headers)))
    assert (answer.status, answer.json) == (200, {"status": "ok"})


@pytest.mark.parametrize("name", ["origin", "Origin", "ORIGIN"])
def test_a_load_balancers_headers_are_read_in_any_case_and_form(name: str, start: Start, load_event: Any) -> None:
    """`headers` may be absent where `multiValueHeaders` is there, also in an event that no route sees."""
    for kind, wrong in product(("load balancer", "load balancer, several values"), ({}, {"path": None})):
        event = request(load_event, kind, body='{"text": "twin"}', headers={name: ORIGIN}) | wrong
        assert checked(kind, start().invoke(event)).headers["access-control-allow-origin"] == ORIGIN


def test_load_balancer_takes_the_last_of_repeated_parameters(start: Start, load_event: Any) -> None:
    event = request(load_event, "load balancer, several values", "GET")
    event["multiValueQueryStringParameters"] = {"text": ["first", "second"], "k": ["1"]}
    assert Answer.of(start().invoke(event)).json["query"] == "second"


@pytest.mark.parametrize("without", ["body", "isBase64Encoded", "queryStringParameters"])
def test_a_load_balancers_event_may_leave_things_out(without: str, start: Start, load_event: Any) -> None:
    event = request(load_event, "load balancer", "GET", "/health")
    event.pop(without)
    assert Answer.of(start().invoke(event)).status == 200


@pytest.mark.parametrize("broken", [{"path": None}, {"httpMethod": 5}, {"headers": {"origin": 5}}])
def test_incomplete_load_balancer_event_is_400(broken: Any, start: Start, load_event: Any) -> None:
    event = request(load_event, "load balancer", body='{"text": "twin"}') | broken
    response = start().invoke(event)
    assert (response["statusCode"], json.loads(response["body"])["code"]) == (400, "INVALID_INPUT")


def sizes(kind: str) -> int:
    return 1_048_576 if kind.startswith("load") else 6_291_556


@every_kind
@pytest.mark.parametrize("letter", ["a", "机", '"', "\u0001"], ids=["ascii", "wide", "quote", "control"])
def test_answer_over_the_gateways_limit_is_shortened_and_says_so(
    letter: str, kind: str, start: Start, load_event: Any, large: Large
) -> None:
    """The limit is 6,291,556 bytes for Lambda, 1 MB for a load balancer. A larger answer is lost."""
    text = letter * 25_000
    function = start(COLLECTION_NAME=large([text] * 100))
    count = 100 if letter != "a" else 60  # a case in which nothing needs to be left out
    event = request(load_event, kind, body=json.dumps({"text": "twin", "k": count}))
    response = function.invoke(event)
    assert len(json.dumps(response).encode()) <= sizes(kind)
    answer = checked(kind, response)
    left_out = int(answer.headers.get("x-passage-results-left-out", 0))
    assert len(answer.results) == answer.json["total_results"] == count - left_out
    assert all(result["chunk_text"] == text for result in answer.results)
    assert (left_out > 0) == (count * len(json.dumps(json.dumps(text, ensure_ascii=False))) > sizes(kind) - 10_000)
    one_more = len(json.dumps(response)) * (len(answer.results) + 1) / len(answer.results)
    assert not left_out or one_more > sizes(kind) - 5_000, "as many as there is room for"
    assert "X-Passage-Results-Left-Out" in answer.headers["access-control-expose-headers"]


def test_plain_text_says_what_was_left_out_too(start: Start, load_event: Any, large: Large) -> None:
    """The default profile with the contract `context`."""
    function = start(
        COLLECTION_NAME=large(["机" * 60_000] * 8),
        DEFAULT_PROFILE="context",
        EMBEDDING_DIMENSION="768",
        EMBEDDING_MODEL="embed-v5.0-fast",
    )
    headers = {"Accept": "text/plain", "origin": ORIGIN}
    event = request(load_event, "load balancer", body='{"text": "twin", "k": 8}', headers=headers)
    answer = Answer.of(function.invoke(event))
    shown = answer.text.count("[Result ")
    assert 0 < shown < 8
    assert int(answer.headers["x-passage-results-left-out"]) == 8 - shown
