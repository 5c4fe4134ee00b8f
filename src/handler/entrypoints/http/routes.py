"""The table of routes, from which the router and the OpenAPI document are made, and the answers where no route fits."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import Response

from handler.bootstrap.container import Container
from handler.config import profiles
from handler.config.profiles import Profile
from handler.core.errors import AnswerTooLarge, NotFound, PassageError
from handler.entrypoints.http import operations
from handler.entrypoints.http.call import ANY_ERROR, Call, Route, json_response
from handler.entrypoints.http.status import JSON, failure_response
from handler.service.failures import failure
from handler.service.services import Served

PAGE_BYTES = 2_500_000
"""About what the page at `/docs` takes in a response: most of it is Swagger UI."""

SETTINGS = (500,)

NO_STREAM = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "This path allows only POST."}}'
"""MCP's older clients try GET for a stream and DELETE for a session. It is no failure to log and count."""


def document(
    default: str, find: Callable[[str], Profile] = profiles.load, *, raw_chunks: bool = False, access: str = "open"
) -> dict[str, Any]:
    """The API's OpenAPI document.

    Args:
        default: the profile that /query uses.
        find: returns a profile by name, with the deployment's settings applied.
        raw_chunks: whether the deployment shows chunks as they are stored under any contract.
        access: who may ask, as ACCESS has it.
    """
    from handler.entrypoints.http.openapi.document import describe_api  # noqa: PLC0415 - no question needs it

    return describe_api(ROUTES, default, find, raw_chunks=raw_chunks, access=access)


def feedback(call: Call) -> Response[str]:
    """Count a reader's thumbs up or down."""
    from handler.entrypoints.http.feedback import take  # noqa: PLC0415 - no question needs it

    return take(call)


def openapi(call: Call) -> Response[str]:
    """The OpenAPI document, with the deployment's settings."""
    return json_response(_document(call.services))


def openapi_3_0(call: Call) -> Response[str]:
    """The same as OpenAPI 3.0, for generators and agents that do not read 3.1."""
    from handler.entrypoints.http.openapi.version_3_0 import as_3_0  # noqa: PLC0415 - no question needs it

    return json_response(as_3_0(_document(call.services)))


def docs(call: Call) -> Response[str]:
    """The OpenAPI document as an HTML page."""
    from handler.entrypoints.http.openapi.page import page  # noqa: PLC0415 - no question needs it

    # The page is too large for a load balancer as it is. A REST API would hand out the compressed body as base64.
    compress = call.gateway.response_bytes < PAGE_BYTES
    kept = {"Cache-Control": "private, max-age=300"}
    return Response(200, "text/html; charset=utf-8", page(_document(call.services)), kept, compress=compress)


@cache
def _document(services: Container) -> dict[str, Any]:
    """The deployment's description, made once."""

    def profile(name: str | None) -> Profile:
        return services.served(name).profile

    settings = services.settings
    return document(profile(None).name, profile, raw_chunks=settings.chunks == "raw", access=settings.access)


def mcp(call: Call) -> Response[str]:
    """Answer a message of MCP, the Model Context Protocol."""
    from handler.entrypoints.http.mcp.post import respond  # noqa: PLC0415 - only agents need it

    return respond(call)


_POST = (operations.post_query, "Ask the profile {profile}.", "Response", "Request")
_GET = (operations.get_query, "Ask the profile {profile} by URL.", "Response")
_COLLECTION = (operations.collection, "The collection and its state.", "CollectionInfo")
_CHUNK = (operations.chunk, "One chunk, by its point id or chunk id.", "Chunk", "", (*ANY_ERROR, 413))
_FEEDBACK = (feedback, "Say whether a passage answered its question.", "", "Feedback", (400, 404, 500))
_HEALTH = (operations.health, "Whether the function runs. Calls no service.", "Health", "", ())

ROUTES = (
    Route("POST", "/query", *_POST),
    Route("GET", "/query", *_GET),
    Route("GET", "/profiles", operations.profiles, "All profiles.", "ProfileList", errors=SETTINGS),
    Route("POST", "/profiles/{profile}/query", *_POST),
    Route("GET", "/profiles/{profile}/query", *_GET),
    Route("GET", "/profiles/{profile}/collection", *_COLLECTION),
    Route("GET", "/profiles/{profile}/chunks/{id}", *_CHUNK),
    Route("POST", "/feedback", *_FEEDBACK),
    Route("GET", "/health", *_HEALTH),
    Route("GET", "/ready", operations.ready, "Whether the collection can be searched.", "Ready"),
    Route("GET", "/openapi.json", openapi, "This description.", "Description", errors=SETTINGS),
    Route("GET", "/openapi-3.0.json", openapi_3_0, "This description as OpenAPI 3.0.", "Description", errors=SETTINGS),
    Route("GET", "/docs", docs, "This description as an HTML page.", "Page", errors=SETTINGS),
    Route("POST", "/mcp", mcp),
    Route("POST", "/profiles/{profile}/mcp", mcp),
)
"""Schemas are names, so that a question does not import them. MCP describes itself to its clients."""


def methods(path: str) -> tuple[str, ...]:
    """The methods of a path, HEAD included; none when the path is unknown."""
    parts = _parts(path)
    allowed = sorted(route.method for route in ROUTES if _matches(route.path.split("/"), parts))
    return (*allowed, "HEAD") if "GET" in allowed else tuple(allowed)


def _parts(path: str) -> list[str]:
    return (path.rstrip("/") or "/").split("/")


def _matches(names: list[str], parts: list[str]) -> bool:
    return len(names) == len(parts) and all(
        (part and name.startswith("{")) or part == name for name, part in zip(names, parts, strict=True)
    )


def too_large(path: str, most: int, services: Container) -> Response[str]:
    """413 for an answer above the API's limit. Under a profile's path, the body has that profile's contract."""
    message = f"The answer is too large: a response carries up to {most:,} bytes here."
    return failure_response(failure(AnswerTooLarge(message), services.served, _find_served(path, services)))


def no_such_route(method: str, path: str, services: Container) -> Response[str]:
    """404, or 405 with Allow for a wrong method. Under a profile's path, the body has that profile's contract."""
    allowed = methods(path)
    if allowed and method in ("GET", "DELETE") and _parts(path)[-1] == "mcp":
        return Response(405, JSON, NO_STREAM, headers={"Allow": "POST"})
    served = _find_served(path, services)
    if not allowed:
        message = f"There is no such path. The paths are {', '.join(dict.fromkeys(route.path for route in ROUTES))}."
    elif method in allowed:  # the path has a character that no profile or chunk has
        message = "There is no such profile or chunk."
    else:
        message = f"This path allows only {', '.join(allowed)}."
    response = failure_response(failure(NotFound(message), services.served, served))
    if allowed and method not in allowed:
        response.status_code = 405
        response.headers["Allow"] = ", ".join(allowed)
    return response


def _find_served(path: str, services: Container) -> Served | None:
    """The profile that a path names, where there is one."""
    parts = _parts(path)
    if parts[1:2] == ["profiles"] and len(parts) > 2:
        with suppress(PassageError):
            return services.served(parts[2])
    return None
