"""HTTP, by API Gateway's REST API or HTTP API: what differs between them, and JSON and CORS on every answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, APIGatewayRestResolver, CORSConfig, Response
from aws_lambda_powertools.event_handler.api_gateway import ApiGatewayResolver
from pydantic import BaseModel

from handler import telemetry
from handler.contracts.base import event_checked
from handler.core.errors import ConfigurationError
from handler.settings import HttpSettings
from handler.sources.detect import Source
from handler.sources.question import Services
from handler.sources.routes import JSON, LEFT_OUT, failure_response, routes, unknown_path


@dataclass(frozen=True, slots=True)
class Gateway:
    """What differs between the kinds of API.

    Attributes:
        event_model: Powertools' model of the event; building one takes milliseconds, so only that of the API in use is.
        limit: seconds after which the gateway itself gives up (API Gateway quotas), less what the answer's way takes.
    """

    resolver: type[ApiGatewayResolver]
    event_model: Callable[[], type[BaseModel]]
    limit: float


def _rest_api_event() -> type[BaseModel]:
    from aws_lambda_powertools.utilities.parser.models import APIGatewayProxyEventModel  # noqa: PLC0415 - see Gateway

    return APIGatewayProxyEventModel


def _http_api_event() -> type[BaseModel]:
    from aws_lambda_powertools.utilities.parser.models import APIGatewayProxyEventV2Model  # noqa: PLC0415 - see Gateway

    return APIGatewayProxyEventV2Model


GATEWAYS = {
    Source.REST_API: Gateway(APIGatewayRestResolver, _rest_api_event, 28.5),
    Source.HTTP_API: Gateway(APIGatewayHttpResolver, _http_api_event, 29.5),
}


def handle(event: Mapping[str, Any], context: Any, services: Services, source: Source) -> dict[str, Any]:
    """Answer one HTTP event in its API's response format; whatever happens, JSON with the CORS headers."""
    whole = _completed(event, source)
    telemetry.correlate(whole["requestContext"].get("requestId"))
    try:
        event_checked(whole, GATEWAYS[source].event_model(), source.value)
        response = _application(source, services).resolve(whole, context)
    except Exception as error:  # noqa: BLE001 - what no route caught must still reach the browser as JSON
        response = _bare(failure_response(error, services), whole, services)
    return _varying(response)


def _completed(event: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """The event with what the gateway leaves out in some set-ups.

    The REST API's test console sends null headers; some clients send no user agent. An HTTP API puts its stage before
    the path, except on a custom domain, and Powertools takes the stage's length off either way. A trailing slash makes
    no other path.
    """
    context = dict(event.get("requestContext") or {})
    headers = event.get("headers")
    completed = {**event, "headers": headers if isinstance(headers, Mapping) else {}, "requestContext": context}
    if source is Source.REST_API:
        several = event.get("multiValueHeaders")
        several = several if isinstance(several, Mapping) else {}
        completed["multiValueHeaders"] = {name: values for name, values in several.items() if values}
        context["identity"] = _caller(context.get("identity"))
        return completed
    if isinstance(context.get("http"), Mapping):
        context["http"] = {"userAgent": "", **_caller(context["http"])}
    stage, path = context.get("stage"), event.get("rawPath")
    if isinstance(path, str):
        path = path.rstrip("/") or "/"
        inside = stage == "$default" or f"{path}/".startswith(f"/{stage}/")
        completed["rawPath"] = path if inside else f"/{stage}{path}"
    return completed


def _caller(identity: Any) -> Any:
    """Who calls is nothing an answer depends on: an address that is none must not refuse the question."""
    if not isinstance(identity, Mapping):
        return identity
    address = identity.get("sourceIp")
    return {**identity, "sourceIp": address if isinstance(address, str) and address else "test-invoke-source-ip"}


@cache
def _application(source: Source, services: Services) -> ApiGatewayResolver:
    gateway = GATEWAYS[source]
    settings = services.http()
    app = gateway.resolver(cors=_cors(settings), strip_prefixes=[settings.base_path] if settings.base_path else None)
    app.include_router(routes(services, gateway.limit))

    @app.not_found
    def not_found(_: Exception) -> Response[str]:
        return failure_response(unknown_path(), services)

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
    """A response that no resolver could build: both APIs take this form."""
    headers = {str(name): value for name, value in response.headers.items()}
    try:
        cors = _cors(services.http())
    except ConfigurationError:
        cors = None  # which origins are allowed is what could not be read
    origin = next((value for name, value in event["headers"].items() if name.lower() == "origin"), None)
    allowed = cors.allowed_origin(origin) if cors and isinstance(origin, str) else None
    if cors and allowed:
        headers.update(cors.to_dict(allowed))
    return {
        "statusCode": response.status_code,
        "headers": {"Content-Type": JSON, **headers},
        "body": response.body,
        "isBase64Encoded": False,
    }


def _varying(response: dict[str, Any]) -> dict[str, Any]:
    """Say that the answer depends on the origin, also to one that got no CORS headers: a cache must not mix them up."""
    if "multiValueHeaders" in response:
        response["multiValueHeaders"]["Vary"] = ["Origin"]
    else:
        response["headers"]["Vary"] = "Origin"
    return response
