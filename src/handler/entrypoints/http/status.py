"""Maps errors to HTTP responses, in one table of statuses."""

import math
from collections.abc import Mapping
from contextlib import suppress

from aws_lambda_powertools.event_handler import Response

from handler.core.errors import (
    AnswerTooLarge,
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
from handler.entrypoints.http.paths import MCP_PATHS, PATHS, is_mcp, methods, profile_in
from handler.service.failures import Failure, failure
from handler.service.services import Served, Services

JSON = "application/json"

STATUS: Mapping[type[PassageError], int] = {
    InvalidRequest: 400,
    NotFound: 404,
    AnswerTooLarge: 413,
    UpstreamThrottled: 429,
    ConfigurationError: 500,
    InternalError: 500,
    UpstreamUnavailable: 503,
    DeadlineExceeded: 504,
}

NO_STREAM = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "This path allows only POST."}}'
"""MCP's older clients try GET for a stream and DELETE for a session. It is no failure to log and count."""

RETRY_AFTER = 2
"""Seconds for Retry-After if the upstream gave no time."""


def status(error: PassageError) -> int:
    """The status of an error: that of its class, or of the nearest base class in the table."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def retry_after(error: PassageError) -> int | None:
    """Whole seconds a caller should wait; None if waiting does not help."""
    if not isinstance(error, UpstreamError):
        return None
    return max(1, math.ceil(error.retry_after or RETRY_AFTER))


def failure_response(failed: Failure) -> Response[str]:
    """A failure's status, its contract's body and, if waiting helps, Retry-After."""
    seconds = retry_after(failed.error)
    headers = {} if seconds is None else {"Retry-After": str(seconds)}
    return Response(status(failed.error), JSON, failed.text, headers=headers)


def too_large(path: str, most: int, services: Services) -> Response[str]:
    """413 for an answer above the API's limit. Under a profile's path, the body has that profile's contract."""
    message = f"The answer is too large: a response carries up to {most:,} bytes here."
    return failure_response(failure(AnswerTooLarge(message), services, _served_at(path, services)))


def _served_at(path: str, services: Services) -> Served | None:
    """The profile that a path names, where there is one."""
    name = profile_in(path)
    if name is not None:
        with suppress(PassageError):
            return services.served(name)
    return None


def no_such_route(method: str, path: str, services: Services) -> Response[str]:
    """404, or 405 with Allow for a wrong method. Under a profile's path, the body has that profile's contract."""
    if method in ("GET", "DELETE") and is_mcp(path):
        return Response(405, JSON, NO_STREAM, headers={"Allow": "POST"})
    served = _served_at(path, services)
    allowed = methods(path)
    if not allowed:
        message = f"There is no such path. The paths are {', '.join((*PATHS, *MCP_PATHS))}."
    elif method in allowed:  # the path has a character that no profile or chunk has
        message = "There is no such profile or chunk."
    else:
        message = f"This path allows only {', '.join(allowed)}."
    response = failure_response(failure(NotFound(message), services, served))
    if allowed and method not in allowed:
        response.status_code = 405
        response.headers["Allow"] = ", ".join(allowed)
    return response
