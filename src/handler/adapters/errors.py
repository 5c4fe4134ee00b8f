"""From what an upstream did to the core's errors: by its status, or by the class of the transport's error."""

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from handler.core.errors import (
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
    """How messages name an upstream, and which variable holds its key."""

    upstream: Upstream
    name: str
    key_variable: str

    def from_status(self, status: int, headers: Mapping[str, str], body: object) -> PassageError:
        """The error for an answer whose status is not a success (or that is one, but no use)."""
        # An error's body says what was wrong. A success's repeats the question (Cohere's does), which no log may hold.
        detail = f"HTTP {status}: {_clip(body)}" if status >= 400 else f"HTTP {status}, with a body that is no answer"
        if status in (401, 403, 498):  # 498: Cohere's "invalid token"
            return CredentialsRefused(
                f"The {self.name} refused the key in {self.key_variable}: set a valid one.",
                upstream=self.upstream,
                detail=detail,
            )
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
        if isinstance(error, httpx.TransportError):
            return self.unavailable("could not be reached", repr(error))
        return self.unavailable("gave an answer that could not be read", _clip(repr(error)))

    def unavailable(self, what: str, detail: str, wait: float | None = None) -> UpstreamUnavailable:
        return UpstreamUnavailable(f"The {self.name} {what}.", upstream=self.upstream, retry_after=wait, detail=detail)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds asked for by a Retry-After header, given as seconds or as a date (RFC 9110, 10.2.3); None without one."""
    value = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
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


def _clip(body: object) -> str:
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
    return text if len(text) <= DETAIL_CHARACTERS else f"{text[:DETAIL_CHARACTERS]}…"
