"""HTTP, by API Gateway's REST API or HTTP API: Powertools routes, one status table, JSON and CORS on every answer."""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, APIGatewayRestResolver, CORSConfig, Response
from aws_lambda_powertools.event_handler.api_gateway import ApiGatewayResolver, Router
from pydantic import BaseModel

from handler.contracts.base import validated
from handler.core.errors import (
    ConfigurationError,
    DeadlineExceeded,
    InternalError,
    InvalidRequest,
    NotFound,
    PassageError,
    UpstreamError,
    UpstreamThrottled,
    UpstreamUnavailable,
)
from handler.profiles import Profile
from handler.settings import HttpSettings
from handler.sources.detect import Source
from handler.sources.question import Services, answer, failure

STATUS: dict[type[PassageError], int] = {
    InvalidRequest: 400,
    NotFound: 404,
    UpstreamThrottled: 429,
    ConfigurationError: 500,
    InternalError: 500,
    UpstreamUnavailable: 503,
    DeadlineExceeded: 504,
}
RETRY_AFTER = 2
"""Seconds a caller is asked to wait when the upstream did not say."""

JSON = "application/json"
PATHS = "/query, /profiles/{profile}/query, /health, /ready"


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
    try:
        validated(whole, GATEWAYS[source].event_model())
        response = _application(source, services).resolve(whole, context)
    except Exception as error:  # noqa: BLE001 - what no route caught must still reach the browser as JSON
        response = _bare(failure_response(error, services), whole, services)
    return _varying(response)


def _completed(event: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """The event with what the gateway leaves out in some set-ups.

    The REST API's test console sends null headers. An HTTP API puts its stage before the path, except on a custom
    domain, and Powertools takes the stage's length off either way.
    """
    headers = event.get("headers")
    headers = headers if isinstance(headers, Mapping) else {}
    if source is Source.REST_API:
        return {**event, "headers": headers, "multiValueHeaders": event.get("multiValueHeaders") or {}}
    stage, path = event["requestContext"].get("stage"), event.get("rawPath")
    if isinstance(path, str) and stage != "$default" and not f"{path}/".startswith(f"/{stage}/"):
        path = f"/{stage}{path}"
    return {**event, "headers": headers, "rawPath": path}


@cache
def _application(source: Source, services: Services) -> ApiGatewayResolver:
    gateway = GATEWAYS[source]
    settings = services.http()
    app = gateway.resolver(cors=_cors(settings), strip_prefixes=[settings.base_path] if settings.base_path else None)
    app.include_router(_routes(services, gateway.limit))

    @app.not_found
    def unknown_path(_: Exception) -> Response[str]:
        return failure_response(NotFound(f"There is no such path or method. Known paths are {PATHS}."), services)

    @app.exception_handler(Exception)  # type: ignore[untyped-decorator]  # Powertools publishes no type for it
    def failed(error: Exception) -> Response[str]:
        return failure_response(error, services)

    return app


def _routes(services: Services, limit: float) -> Router:
    router = Router()  # type: ignore[no-untyped-call]  # Powertools publishes no type for it

    def ask(name: str | None, *, in_url: bool) -> Response[str]:
        profile = services.profile(name)
        try:
            event = router.current_event.raw_event
            fields = query_string(event, profile) if in_url else body(event)
            answered = answer(fields, profile, services, services.deadline(router.lambda_context, limit))
        except Exception as error:  # noqa: BLE001 - so that the error has this profile's contract, not the default one's
            return failure_response(error, services, profile)
        return Response(200, JSON, answered.model_dump_json())

    @router.post("/query")
    def post_query() -> Response[str]:
        return ask(None, in_url=False)

    @router.get("/query")
    def get_query() -> Response[str]:
        return ask(None, in_url=True)

    @router.post("/profiles/<profile>/query")
    def post_profile_query(profile: str) -> Response[str]:
        return ask(profile, in_url=False)

    @router.get("/profiles/<profile>/query")
    def get_profile_query(profile: str) -> Response[str]:
        return ask(profile, in_url=True)

    @router.get("/health")
    def health() -> Response[str]:
        return Response(200, JSON, json.dumps({"status": "ok"}))

    @router.get("/ready")
    def ready() -> Response[str]:
        profile = services.profile(None)
        info = services.ready(profile, services.deadline(router.lambda_context, limit))
        return Response(200, JSON, json.dumps({"status": "ready", "profile": profile.name, "collection": asdict(info)}))

    return router


def body(event: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a JSON body.

    Raises:
        InvalidRequest: there is none, or it is not base64, UTF-8, JSON or an object.
    """
    raw = event.get("body") or ""
    if event.get("isBase64Encoded"):
        try:
            raw = base64.b64decode(raw, validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            raise InvalidRequest("The body is not text: it takes a JSON object encoded in UTF-8.") from None
    if not raw.strip():
        raise InvalidRequest('The body is empty: it takes a JSON object, as in {"text": "What is a digital twin?"}.')
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidRequest("The body is not valid JSON: it takes a JSON object.") from None
    if not isinstance(fields, dict):
        raise InvalidRequest("The body is JSON, but not an object: it takes one with the question in a field.")
    return fields


def query_string(event: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """The fields of a query string; all but the question are read as JSON would be, so that `k=5` is a number."""
    parameters: Mapping[str, str] = event.get("queryStringParameters") or {}
    text_names = profile.query.text.names
    return {name: value if name in text_names else _literal(value) for name, value in parameters.items()}


def _literal(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def failure_response(error: Exception, services: Services, profile: Profile | None = None) -> Response[str]:
    """An error as its status, the contract's body and, where waiting helps, Retry-After."""
    failed = failure(error, services, profile)
    known = failed.error
    headers = {}
    if isinstance(known, UpstreamError):
        headers["Retry-After"] = str(max(1, math.ceil(known.retry_after or RETRY_AFTER)))
    return Response(status(known), JSON, failed.body.model_dump_json(), headers=headers)


def status(error: PassageError) -> int:
    """The HTTP status of an error: its class's, or that of the nearest class above it."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def _cors(settings: HttpSettings) -> CORSConfig | None:
    if not settings.allowed_origins:
        return None
    first, *others = settings.allowed_origins
    return CORSConfig(allow_origin=first, extra_origins=others, max_age=600)


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
