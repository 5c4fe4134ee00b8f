"""The HTTP status of every error: one table, the only place where an error meets HTTP."""

import math

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


def status(error: PassageError) -> int:
    """The status of an error: its class's, or that of the nearest class above it."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def retry_after(error: PassageError) -> int | None:
    """Whole seconds a caller should wait; None where waiting would not help."""
    if not isinstance(error, UpstreamError):
        return None
    return max(1, math.ceil(error.retry_after or RETRY_AFTER))
