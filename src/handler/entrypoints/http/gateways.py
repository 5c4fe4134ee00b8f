"""The kinds of HTTP API in front of the function: what differs between them, and their events made whole."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from aws_lambda_powertools.event_handler import (
    ALBResolver,
    APIGatewayHttpResolver,
    APIGatewayRestResolver,
    LambdaFunctionUrlResolver,
)
from aws_lambda_powertools.event_handler.api_gateway import ApiGatewayResolver
from pydantic import BaseModel

from handler.entrypoints.detect import Source

LAMBDA_RESPONSE_BYTES = 6_291_556
"""The most a function's synchronous response may have; Lambda drops a larger one after the function's success."""

ALB_RESPONSE_BYTES = 1_048_576
"""The most a load balancer takes from a function (Elastic Load Balancing, Lambda functions as targets)."""


@dataclass(frozen=True)
class Gateway:
    """One kind of API.

    Attributes:
        event_model: Powertools' model of the event; building one takes milliseconds, so only that of the API in use is.
        complete: the event with what the API leaves out in some set-ups.
        limit: seconds after which the API itself gives up (its quotas), less what the answer's way takes; None for no
            limit but the function's own.
        response_bytes: the most a response may have.
    """

    resolver: type[ApiGatewayResolver]
    event_model: Callable[[], type[BaseModel]]
    complete: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
    limit: float | None
    response_bytes: int = LAMBDA_RESPONSE_BYTES


def _rest_api_event() -> type[BaseModel]:
    from aws_lambda_powertools.utilities.parser.models import APIGatewayProxyEventModel  # noqa: PLC0415 - see Gateway

    return APIGatewayProxyEventModel


def _http_api_event() -> type[BaseModel]:
    from aws_lambda_powertools.utilities.parser.models import APIGatewayProxyEventV2Model  # noqa: PLC0415 - see Gateway

    return APIGatewayProxyEventV2Model


def _function_url_event() -> type[BaseModel]:
    from aws_lambda_powertools.utilities.parser.models import LambdaFunctionUrlModel  # noqa: PLC0415 - see Gateway

    return LambdaFunctionUrlModel


def _alb_event() -> type[BaseModel]:
    from aws_lambda_powertools.utilities.parser.models import AlbModel  # noqa: PLC0415 - see Gateway

    return AlbModel


def method(event: Mapping[str, Any]) -> Any:
    """The request's method, wherever its API puts it."""
    context = event.get("requestContext")
    http = context.get("http") if isinstance(context, Mapping) else None
    return http.get("method") if isinstance(http, Mapping) else event.get("httpMethod")


def as_get(event: Mapping[str, Any]) -> dict[str, Any]:
    """The same event as that of a GET."""
    context = event["requestContext"]
    if isinstance(context.get("http"), Mapping):
        return {**event, "requestContext": {**context, "http": {**context["http"], "method": "GET"}}}
    named = {"httpMethod": "GET"} if "httpMethod" in context else {}
    return {**event, "httpMethod": "GET", "requestContext": {**context, **named}}


def completed(event: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """The event with what its API leaves out in some set-ups, so that one reading serves all."""
    context = event.get("requestContext")
    context = dict(context) if isinstance(context, Mapping) else {}
    headers = event.get("headers")
    whole = {**event, "headers": headers if isinstance(headers, Mapping) else {}, "requestContext": context}
    return GATEWAYS[source].complete(whole, context)


def _complete_rest(whole: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """The test console sends null headers, AWS SAM's local API no stage."""
    context["stage"] = context.get("stage") or "local"
    context["identity"] = _caller(context.get("identity"))
    return {**whole, "multiValueHeaders": _several(whole, "multiValueHeaders")}


def _complete_payload_2(whole: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    """Some clients send no user agent. A trailing slash makes no other path.

    An HTTP API puts its stage before the path, except on a custom domain, and Powertools takes the stage's length off
    either way.
    """
    if isinstance(context.get("http"), Mapping):
        context["http"] = {"userAgent": "", **_caller(context["http"])}
    stage, path = context.get("stage"), whole.get("rawPath")
    if not isinstance(path, str):
        return whole
    path = path.rstrip("/") or "/"
    inside = stage == "$default" or f"{path}/".startswith(f"/{stage}/")
    return {**whole, "rawPath": path if inside else f"/{stage}{path}"}


def _complete_alb(whole: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    """Sends headers and parameters in one of two forms, as its target group is set; parameters undecoded."""
    headers, parameters = _several(whole, "multiValueHeaders"), _several(whole, "multiValueQueryStringParameters")
    single = whole.get("queryStringParameters")
    given = single if isinstance(single, Mapping) else {name: values[-1] for name, values in parameters.items()}
    path = whole.get("path")
    return {
        "isBase64Encoded": False,
        **whole,
        "path": (path.rstrip("/") or "/") if isinstance(path, str) else path,
        "body": whole.get("body") or "",
        "headers": whole["headers"] or {name: ",".join(values) for name, values in headers.items()},
        "queryStringParameters": {unquote_plus(str(name)): unquote_plus(str(value)) for name, value in given.items()},
    }


def _several(whole: Mapping[str, Any], name: str) -> dict[str, Any]:
    values = whole.get(name)
    return {key: each for key, each in values.items() if each} if isinstance(values, Mapping) else {}


def _caller(identity: Any) -> Any:
    """Who calls is nothing an answer depends on: an address that is none must not refuse the question."""
    if not isinstance(identity, Mapping):
        return identity
    address = identity.get("sourceIp")
    return {**identity, "sourceIp": address if isinstance(address, str) and address else "test-invoke-source-ip"}


GATEWAYS = {
    Source.REST_API: Gateway(APIGatewayRestResolver, _rest_api_event, _complete_rest, 28.5),
    Source.HTTP_API: Gateway(APIGatewayHttpResolver, _http_api_event, _complete_payload_2, 29.5),
    Source.FUNCTION_URL: Gateway(LambdaFunctionUrlResolver, _function_url_event, _complete_payload_2, None),
    Source.ALB: Gateway(ALBResolver, _alb_event, _complete_alb, 59.5, ALB_RESPONSE_BYTES),
}
