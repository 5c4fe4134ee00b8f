"""Answers HTTP events from any kind of API. Every answer is JSON with CORS headers."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import CORSConfig, Response
from aws_lambda_powertools.event_handler.api_gateway import ApiGatewayResolver

from handler import telemetry
from handler.bootstrap.container import Container
from handler.config.settings import HttpSettings
from handler.core.errors import ConfigurationError
from handler.entrypoints.detect import Source
from handler.entrypoints.http.call import Call, Route
from handler.entrypoints.http.gateways import GATEWAYS, Gateway
from handler.entrypoints.http.headers import ERROR_CODE, LEFT_OUT, MCP_HEADERS
from handler.entrypoints.http.routes import ROUTES, no_such_route, too_large
from handler.entrypoints.http.status import JSON, failure_response
from handler.entrypoints.limits import ENVELOPE_BYTES, text_fits
from handler.service.failures import failure


def handle(event: Mapping[str, Any], context: Any, services: Container, source: Source) -> dict[str, Any]:
    """Answer one HTTP event in its API's response format. Errors, too, are JSON with the CORS headers."""
    head = False
    try:
        request = GATEWAYS[source].normalise(event)
        telemetry.correlate(request["requestContext"]["requestId"])
        head = _head_as_get(request)
        response = _application(source, services).resolve(request, context)
        most = GATEWAYS[source].response_bytes
        if not text_fits(response["body"], most - ENVELOPE_BYTES, utf8=services.runtime.writes_utf8):
            response = _build_response(
                too_large(_path(request, services.http_settings), most, services), event, services
            )
    except Exception as error:  # noqa: BLE001 - an error that no route caught must still reach the browser as JSON
        response = _build_response(failure_response(failure(error, services.served)), event, services)
    if head:
        response["body"] = ""
    # Also on an answer without CORS headers, so that a cache does not serve it to another origin.
    vary = "Origin, Accept-Encoding" if response["isBase64Encoded"] else "Origin"
    if "multiValueHeaders" in response:
        response["multiValueHeaders"]["Vary"] = [vary]
    else:
        response["headers"]["Vary"] = vary
    return response


def warm_up(services: Container) -> None:
    """Answer a made-up request, so that Powertools and the routes are imported and built.

    Raises:
        RuntimeError: the answer is not 200.
        ConfigurationError: the settings for HTTP cannot be read.
    """
    event = {"rawPath": f"{services.http_settings.base_path}/health", "requestContext": {"http": {"method": "GET"}}}
    status = handle(event, None, services, Source.HTTP_API)["statusCode"]
    if status != 200:
        raise RuntimeError(f"the warm-up request was answered {status}")


def _path(request: Mapping[str, Any], settings: HttpSettings) -> str:
    """A request's path without the base path."""
    path: str = request["path"] if "path" in request else request["rawPath"]
    return path.removeprefix(settings.base_path) if path.startswith(f"{settings.base_path}/") else path


def _head_as_get(request: dict[str, Any]) -> bool:
    """Turn a HEAD request into its GET: Powertools has no HEAD routes. Returns whether it was one."""
    part = request if "httpMethod" in request else request["requestContext"]["http"]
    name = "httpMethod" if "httpMethod" in request else "method"
    if part[name] != "HEAD":
        return False
    part[name] = "GET"
    return True


@cache
def _application(source: Source, services: Container) -> ApiGatewayResolver:
    gateway = GATEWAYS[source]
    settings = services.http_settings
    app = gateway.resolver(cors=_cors(settings), strip_prefixes=[settings.base_path] if settings.base_path else None)
    for route in ROUTES:
        rule = route.path.replace("{", "<").replace("}", ">")
        app.route(rule, method=route.method)(_bind(route, app, services, gateway))

    @app.not_found
    def not_found(_: Exception) -> Response[str]:
        path = _path(app.current_event.raw_event, settings)
        return no_such_route(app.current_event.http_method.upper(), path, services)

    @app.exception_handler(Exception)  # type: ignore[untyped-decorator]  # Powertools publishes no type for it
    def failed(error: Exception) -> Response[str]:
        return failure_response(failure(error, services.served))

    return app


def _bind(route: Route, app: ApiGatewayResolver, services: Container, gateway: Gateway) -> Callable[..., Response[str]]:
    """The route's handler as Powertools calls it: with the path's parts by name."""

    def answering(**parts: str) -> Response[str]:
        return route.handler(Call(app.current_event, app.lambda_context, services, gateway, parts))

    return answering


def _cors(settings: HttpSettings) -> CORSConfig | None:
    if not settings.allowed_origins:
        return None
    first, *others = settings.allowed_origins
    return CORSConfig(
        allow_origin=first,
        extra_origins=others,
        allow_headers=[*settings.allowed_headers, *MCP_HEADERS],
        max_age=600,
        expose_headers=["Retry-After", LEFT_OUT, ERROR_CODE],
    )


def _build_response(response: Response[str], event: Mapping[str, Any], services: Container) -> dict[str, Any]:
    """A response in the API's format, built without Powertools' resolver."""
    headers: dict[str, Any] = {"Content-Type": JSON, **response.headers, **_cors_headers(event, services)}
    # As Powertools does: multi-value headers if the event has them.
    several = "multiValueHeaders" in event or ("httpMethod" in event and "elb" not in event["requestContext"])
    named = (
        {"multiValueHeaders": {name: [value] for name, value in headers.items()}} if several else {"headers": headers}
    )
    return {"statusCode": response.status_code, "body": response.body, "isBase64Encoded": False, **named}


def _cors_headers(event: Mapping[str, Any], services: Container) -> Mapping[str, str]:
    try:
        cors = _cors(services.http_settings)
    except ConfigurationError:
        return {}  # ALLOWED_ORIGINS itself may be the wrong setting
    headers = event.get("headers") or event.get("multiValueHeaders")
    named = headers.items() if isinstance(headers, Mapping) else ()
    origin = next((value for name, value in named if str(name).lower() == "origin"), None)
    if isinstance(origin, list):  # a load balancer's, which can send several values for a header
        origin = next(iter(origin), None)
    allowed = cors.allowed_origin(origin) if cors and isinstance(origin, str) else None
    return cors.to_dict(allowed) if cors and allowed else {}
