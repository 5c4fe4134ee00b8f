"""The errors of a call, one class for each kind of failure."""

from collections.abc import Mapping
from typing import Any


class PassageError(Exception):
    """Any error of a call.

    Attributes:
        status: the HTTP status; None if no answer came.
        code: the contract's code, such as INVALID_INPUT; None if the error is not the API's own.
        retry_after: seconds to wait, as the API's Retry-After says; None without one.
        body: the error's JSON; None if it is not JSON.
        headers: of the response; empty if no answer came.
        request_id: the API gateway's; None without one.
    """

    def __init__(  # noqa: PLR0913 - the facts of a failure
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.headers = headers or {}
        self.request_id = request_id
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.body = body


class InvalidRequest(PassageError):
    """400, 405, 413: the request is wrong. The message says what is allowed."""


class Forbidden(PassageError):
    """401, 403: the key is missing or wrong, or the gateway blocks the caller."""


class NotFound(PassageError):
    """404: no such path, profile or chunk."""


class RateLimited(PassageError):
    """429: too many requests, also after the retries."""


class ServerError(PassageError):
    """500: the deployment is configured wrongly, or has a bug."""


class Unavailable(PassageError):
    """502, 503: a service behind the API is down, also after the retries."""


class TimedOut(PassageError):
    """408, 504, or the client's own timeout: no answer came in time."""


class NoAnswer(PassageError):
    """No answer came: the API cannot be reached, or the URL is not the API's."""


_KINDS: Mapping[int, type[PassageError]] = {
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    408: TimedOut,
    429: RateLimited,
    502: Unavailable,
    503: Unavailable,
    504: TimedOut,
}


def kind(status: int) -> type[PassageError]:
    """The class of an HTTP status of 300 or more."""
    return _KINDS.get(status, InvalidRequest if status < 500 else ServerError)
