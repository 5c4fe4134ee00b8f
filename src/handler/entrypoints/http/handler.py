"""HTTP, whatever kind of API is in front: Powertools routes, and JSON and CORS on every answer."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import CORSConfig, Response
from aws_lambda_powertools.event_handler.api_gateway import ApiGatewayResolver

from handler import telemetry
from handler.config.settings import HttpSettings
from handler.contracts.base import event_checked
from handler.core.errors import ConfigurationError
from handler.entrypoints.detect import Source
from handler.entrypoints.http.gateways import GATEWAYS, as_get, completed, method
from handler.entrypoints.http.routes import JSON, LEFT_OUT, failure_response, no_such_route, routes
from handler.service.answering import Services


def handle(event: Mapping[str, Any], context: Any, services: Services, source: Source) -> dict[str, Any]:
    """Answer one HTTP event in its API's response format; whatever happens, JSON with the CORS headers."""
    without_body = method(event) == "HEAD"
    whole = completed(as_get(event) if without_body else event, source)
    telemetry.correlate(whole["requestContext"].get("requestId"))
    try:
        # Which methods there are is the routes' to say, with 405 and Allow; the model knows some only.
        event_checked(
            as_get(whole) if isinstance(method(whole), str) else whole, GATEWAYS[source].event_model(), source.value
        )
        response = _application(source, services).resolve(whole, context)
    except Exception as error:  # noqa: BLE001 - what no route caught must still reach the browser as JSON
        response = _bare(failure_response(error, services), whole, services)
    return _varying({**response, "body": ""} if without_body else response)


def warm_up(services: Services) -> None:
    """Answer a made-up request, so that what Powertools and the routes need is imported and built.

    Raises:
        RuntimeError: it is not.
        ConfigurationError: the settings for HTTP cannot be read.
    """
    event = {
        "version": "2.0",
        "rawPath": f"{services.http().base_path}/health",
        "headers": {},
        "requestContext": {"stage": "$default", "http": {"method": "GET"}},
    }
    context: Any = None
    response = _application(Source.HTTP_API, services).resolve(event, context)
    if response["statusCode"] != 200:
        raise RuntimeError(f"a made-up request was answered {response['statusCode']}")


@cache
def _application(source: Source, services: Services) -> ApiGatewayResolver:
    gateway = GATEWAYS[source]
    settings = services.http()
    app = gateway.resolver(cors=_cors(settings), strip_prefixes=[settings.base_path] if settings.base_path else None)
    app.include_router(routes(services, gateway.limit, gateway.response_bytes))

    @app.not_found
    def not_found(_: Exception) -> Response[str]:
        path = app.current_event.path
        if path.startswith(f"{settings.base_path}/"):
            path = path.removeprefix(settings.base_path)
        return no_such_route(app.current_event.http_method.upper(), path, services)

    @app.exception_handler(Exception)  # type: ignore[untyped-decorator]  # Powertools publishes no type for it
    def failed(error: Exception) -> Response[str]:
        return failure_response(error, services)

    return app


def _cors(settings: HttpSettings) -> CORSConfig | None:
    if not settings.allowed_origins:
        return None
    first, *others = settings.allowed_origins
    return CORSConfig(allow_origin=first, extra_origins=others, max_age=600, expose_headers=["Retry-After", LEFT_OUT])


def _bare(response: Response[str], event: Mapping[str, Any], services: Services) -> dict[str, Any]:
    """A response that no resolver could build, in the form that every kind of API takes."""
    headers = {str(name): value for name, value in response.headers.items()}
    try:
        cors = _cors(services.http())
    except ConfigurationError:
        cors = None  # which origins are allowed is what could not be read
    origin = next((value for name, value in event["headers"].items() if name.lower() == "origin"), None)
    allowed = cors.allowed_origin(origin) if cors and isinstance(origin, str) else None
    if cors and allowed:
        headers.update(cors.to_dict(allowed))
    sent: dict[str, Any] = {"Content-Type": JSON, **headers}
    # An event with several values a header is answered so, as Powertools does for its API.
    several = "multiValueHeaders" in event
    return {
        "statusCode": response.status_code,
        "body": response.body,
        "isBase64Encoded": False,
        **({"multiValueHeaders": {name: [value] for name, value in sent.items()}} if several else {"headers": sent}),
    }


def _varying(response: dict[str, Any]) -> dict[str, Any]:
    """Say that the answer depends on the origin, also to one that got no CORS headers: a cache must not mix them up."""
    if "multiValueHeaders" in response:
        response["multiValueHeaders"]["Vary"] = ["Origin"]
    else:
        response["headers"]["Vary"] = "Origin"
    return response
