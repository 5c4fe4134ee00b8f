"""Maps errors to HTTP responses, in one table of statuses."""

import math
from collections.abc import Mapping

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
from handler.entrypoints.http.headers import ERROR_CODE
from handler.service.failures import Failure

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
    """A failure's status, its contract's body, its code as a header and, if waiting helps, Retry-After."""
    seconds = retry_after(failed.error)
    headers = {ERROR_CODE: failed.error.code, **({} if seconds is None else {"Retry-After": str(seconds)})}
    return Response(status(failed.error), JSON, failed.text, headers=headers)
