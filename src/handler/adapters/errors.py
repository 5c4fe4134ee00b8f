"""The one map from an upstream's failure to the core's errors: by status, or by the transport's error."""

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from handler.adapters import misaddressed
from handler.core.errors import (
    ConfigurationError,
    CredentialsRefused,
    DeadlineExceeded,
    PassageError,
    RequestRefused,
    Upstream,
    UpstreamThrottled,
    UpstreamUnavailable,
)

DETAIL_CHARACTERS = 300


@dataclass(frozen=True)
class Service:
    """How messages name an upstream, and the variables that lead to it.

    Attributes:
        key_variable: the variable that holds its key, or says where the key is stored.
        url_variable: the variable that holds its address.
        has_key: False where the service is asked without a key.
    """

    upstream: Upstream
    name: str
    key_variable: str
    url_variable: str
    has_key: bool = True

    def from_status(self, status: int, headers: Mapping[str, str], body: object) -> PassageError:
        """The error for an answer whose status is no success, or whose body is unusable."""
        # An error's body says what was wrong. A success's body repeats the question, which no log may hold.
        detail = f"HTTP {status}: {_clip(body)}" if status >= 400 else f"HTTP {status}, with a body that is no answer"
        wrong = misaddressed.by_answer(status, body, self.url_variable)
        if wrong is not None:
            return self.misconfigured(wrong, f"{detail} {_header(headers, 'location') or ''}".strip())
        if misaddressed.is_page(status, body):
            return self.answered_by_another(status, detail)
        if status in (401, 403, 498):  # 498: Cohere's "invalid token"
            return self._credentials_refused(detail)
        if status == 429:
            return UpstreamThrottled(
                f"The {self.name} is limiting requests.",
                upstream=self.upstream,
                retry_after=retry_after(headers),
                detail=detail,
            )
        if status in (408, 425, 499) or status >= 500 or status < 400:
            return self.unavailable("failed to answer", detail, retry_after(headers))
        return RequestRefused(
            f"The {self.name} refused the request (HTTP {status}).", upstream=self.upstream, detail=detail
        )

    def from_transport(self, error: Exception) -> PassageError:
        """The error for a call that brought no usable answer at all."""
        if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
            return DeadlineExceeded(
                f"The {self.name} did not answer within the request's time.", upstream=self.upstream, detail=repr(error)
            )
        wrong = misaddressed.by_error(error, self.url_variable)
        if wrong is not None:
            return self.misconfigured(wrong, _clip(repr(error)))
        if misaddressed.is_unreadable_page(error):
            return self.answered_by_another(200, "a page instead of JSON")
        if isinstance(error, httpx.TransportError):
            return self.unavailable("could not be reached", repr(error))
        return self.unavailable("gave an answer that could not be read", _clip(repr(error)))

    def unavailable(self, what: str, detail: str, wait: float | None = None) -> UpstreamUnavailable:
        """The service failed for a passing reason."""
        return UpstreamUnavailable(f"The {self.name} {what}.", upstream=self.upstream, retry_after=wait, detail=detail)

    def misconfigured(self, what: str, detail: str) -> ConfigurationError:
        """A setting leads to the wrong place; `what` names it."""
        return ConfigurationError(f"The {self.name} {what}.", upstream=self.upstream, detail=detail)

    def answered_by_another(self, status: int, detail: str) -> ConfigurationError:
        """A proxy, a firewall or another website answered in the service's place."""
        return ConfigurationError(
            f"Something between the function and the {self.name} answered (HTTP {status}), not the service itself: "
            f"check {self.url_variable}, and any proxy or firewall on the way.",
            upstream=self.upstream,
            detail=detail,
        )

    def _credentials_refused(self, detail: str) -> CredentialsRefused:
        message = (
            f"The {self.name} refused the key in {self.key_variable}: set a valid one."
            if self.has_key
            else f"The {self.name} takes a key, and none is set: set {self.key_variable}."
        )
        return CredentialsRefused(message, upstream=self.upstream, detail=detail)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds asked for by a Retry-After header, given as seconds or as a date (RFC 9110, 10.2.3); None without one."""
    value = _header(headers, "retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def _header(headers: Mapping[str, str], wanted: str) -> str | None:
    return next((value for name, value in headers.items() if name.lower() == wanted), None)


def _clip(body: object) -> str:
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
    return text if len(text) <= DETAIL_CHARACTERS else f"{text[:DETAIL_CHARACTERS]}…"
