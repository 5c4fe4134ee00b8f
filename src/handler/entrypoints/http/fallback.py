"""The responses where no route answers: 404 and 405, and 413 for an answer that is too large."""

from contextlib import suppress

from aws_lambda_powertools.event_handler import Response

from handler.bootstrap.container import Container
from handler.core.errors import AnswerTooLarge, NotFound, PassageError
from handler.entrypoints.http.routes import ROUTES, is_mcp, methods, profile_in
from handler.entrypoints.http.status import JSON, failure_response
from handler.service.failures import failure
from handler.service.services import Served

NO_STREAM = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "This path allows only POST."}}'
"""MCP's older clients try GET for a stream and DELETE for a session. It is no failure to log and count."""


def too_large(path: str, most: int, services: Container) -> Response[str]:
    """413 for an answer above the API's limit. Under a profile's path, the body has that profile's contract."""
    message = f"The answer is too large: a response carries up to {most:,} bytes here."
    return failure_response(failure(AnswerTooLarge(message), services.served, _find_served(path, services)))


def _find_served(path: str, services: Container) -> Served | None:
    """The profile that a path names, where there is one."""
    name = profile_in(path)
    if name is not None:
        with suppress(PassageError):
            return services.served(name)
    return None


def no_such_route(method: str, path: str, services: Container) -> Response[str]:
    """404, or 405 with Allow for a wrong method. Under a profile's path, the body has that profile's contract."""
    if method in ("GET", "DELETE") and is_mcp(path):
        return Response(405, JSON, NO_STREAM, headers={"Allow": "POST"})
    served = _find_served(path, services)
    allowed = methods(path)
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
