"""The kinds of HTTP API in front of the function: how each one's event is validated and read, and its limits.

Only the parts that Passage uses are read. Other parts of an event (an authorizer's claims, a source IP) may have any
shape.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_plus

from aws_lambda_powertools.event_handler import (
    ALBResolver,
    APIGatewayHttpResolver,
    APIGatewayRestResolver,
    LambdaFunctionUrlResolver,
)
from aws_lambda_powertools.event_handler.api_gateway import ApiGatewayResolver

from handler.contracts.faults import json_kind
from handler.core.errors import InvalidRequest
from handler.entrypoints.detect import Source
from handler.entrypoints.limits import ALB_RESPONSE_BYTES, LAMBDA_RESPONSE_BYTES

CHUNK_PATH = re.compile(r"(.*?/profiles/[^/]+/chunks/)(.+)", re.DOTALL)
"""A path whose end is a chunk's id, in which any character can be. HTTP APIs decode it, function URLs do not."""


class Gateway(NamedTuple):
    """One kind of API.

    Attributes:
        normalise: returns the parts of its event that Passage uses, validated. Raises InvalidRequest, which names the
            part that is wrong.
        limit: the API's timeout in seconds (its quotas), less a margin for sending the answer; None without one.
        response_bytes: the most bytes of a response.
    """

    resolver: type[ApiGatewayResolver]
    normalise: Callable[[Mapping[str, Any]], dict[str, Any]]
    limit: float | None
    response_bytes: int = LAMBDA_RESPONSE_BYTES


def payload_2_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event of an HTTP API or a Function URL (payload format 2.0), reduced to what Passage uses.

    An HTTP API puts its stage before the path, except on a custom domain.
    """
    context = _mapping(event, "requestContext")
    method = _text(_mapping(context, "http"), "method", "requestContext.http.method")
    path = _text(event, "rawPath")
    stage = context.get("stage")
    if isinstance(stage, str) and stage != "$default" and f"{path}/".startswith(f"/{stage}/"):
        path = path.removeprefix(f"/{stage}")
    path = _with_encoded_id(path.rstrip("/") or "/")
    return {
        **_common(event),
        "version": "2.0",
        "rawPath": path,
        "headers": _texts(event, "headers"),
        "queryStringParameters": _texts(event, "queryStringParameters"),
        "requestContext": {"requestId": _id(context), "stage": "$default", "http": {"method": method, "path": path}},
    }


def payload_1_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event of a REST API, or of an HTTP API with payload format 1.0, reduced to what Passage uses.

    Of the two, only the HTTP API has a version, and only it puts the stage into the path.
    """
    context = _mapping(event, "requestContext")
    path = _text(event, "path")
    stage = context.get("stage")
    if event.get("version") == "1.0" and isinstance(stage, str) and f"{path}/".startswith(f"/{stage}/"):
        path = path.removeprefix(f"/{stage}") or "/"
    return {
        **_common(event),
        "httpMethod": _text(event, "httpMethod"),
        "path": _with_encoded_id(path),
        "headers": {**_join_headers(event), **_texts(event, "headers")},
        "multiValueHeaders": {},
        "queryStringParameters": _texts(event, "queryStringParameters"),
        "requestContext": {"requestId": _id(context), "stage": "$default"},
    }


def load_balancer_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event of an Application Load Balancer, reduced to what Passage uses.

    Its target group decides whether headers and parameters have one value each or several. It decodes no parameter.
    """
    headers = _texts(event, "headers") or _join_headers(event)
    # With these, Powertools answers with multi-value headers, as the load balancer requires.
    several = {"multiValueHeaders": {name: [value] for name, value in headers.items()}}
    several_each = _lists(event, "multiValueQueryStringParameters")
    parameters = _texts(event, "queryStringParameters") or {name: each[-1] for name, each in several_each.items()}
    return {
        **_common(event),
        "httpMethod": _text(event, "httpMethod"),
        "path": _with_encoded_id(_text(event, "path").rstrip("/") or "/"),
        "headers": headers,
        **(several if "multiValueHeaders" in event else {}),
        "queryStringParameters": {unquote_plus(name): unquote_plus(value) for name, value in parameters.items()},
        "requestContext": {"requestId": None},
    }


def _with_encoded_id(path: str) -> str:
    """The path with a chunk's id as one part: Powertools' routes know no slash, `#` or emoji in a part."""
    chunk = CHUNK_PATH.fullmatch(path)
    return path if chunk is None else f"{chunk[1]}{quote(chunk[2], safe='%', errors='replace')}"


def _common(event: Mapping[str, Any]) -> dict[str, Any]:
    body = event.get("body")
    if body is not None and not isinstance(body, str):
        raise _wrong("body", body, "text")
    return {"body": body or "", "isBase64Encoded": event.get("isBase64Encoded") is True}


def _mapping(part: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = part.get(name)
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "an object")
    return value


def _text(part: Mapping[str, Any], name: str, path: str = "") -> str:
    value = part.get(name)
    if not isinstance(value, str):
        raise _wrong(path or name, value, "text")
    return value


def _texts(event: Mapping[str, Any], name: str) -> dict[str, str]:
    """A mapping of texts. A null, as the Lambda test console sends it, counts as absent."""
    return dict(_entries(event, name, str, "text"))


def _lists(event: Mapping[str, Any], name: str) -> dict[str, list[str]]:
    wanted = "a list of texts"
    several_each = {key: several for key, several in _entries(event, name, list, wanted) if several}
    for key, several in several_each.items():
        if not all(isinstance(one, str) for one in several):
            raise _wrong(f"{name}.{key}", several, wanted)
    return several_each


def _entries(event: Mapping[str, Any], name: str, kind: type, wanted: str) -> Iterator[tuple[str, Any]]:
    values = event.get(name)
    if values is not None and not isinstance(values, Mapping):
        raise _wrong(name, values, "an object")
    for key, value in (values or {}).items():
        if value is None:
            continue
        if not isinstance(value, kind):
            raise _wrong(f"{name}.{key}", value, wanted)
        yield str(key), value


def _join_headers(event: Mapping[str, Any]) -> dict[str, str]:
    return {key: ",".join(several) for key, several in _lists(event, "multiValueHeaders").items()}


def _id(context: Mapping[str, Any]) -> str | None:
    """The request id that the gateway returns to the caller, for the log."""
    value = context.get("requestId")
    return value if isinstance(value, str) and value.isprintable() else None


def _wrong(part: str, value: object, wanted: str) -> InvalidRequest:
    came = "missing" if value is None else json_kind(value)
    name = part if part.isprintable() and len(part) < 100 else part.split(".", maxsplit=1)[0]
    return InvalidRequest(f"The event's '{name}' is {came}: it must be {wanted}.")


GATEWAYS: Mapping[Source, Gateway] = {
    Source.REST_API: Gateway(APIGatewayRestResolver, payload_1_event, 28.5),
    Source.HTTP_API: Gateway(APIGatewayHttpResolver, payload_2_event, 29.5),
    Source.FUNCTION_URL: Gateway(LambdaFunctionUrlResolver, payload_2_event, None),
    Source.ALB: Gateway(ALBResolver, load_balancer_event, 59.5, ALB_RESPONSE_BYTES),
}
