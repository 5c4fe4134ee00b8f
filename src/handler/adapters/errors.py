"""Maps an upstream's failures to the core's errors, by HTTP status or by the transport's error.

A URL that does not lead to its service is a wrong setting: another protocol, a redirect, a proxy's page.
"""

import email.utils
import json
import re
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx

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

NOT_TLS = frozenset({"HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE", "WRONG_VERSION_NUMBER"})
"""OpenSSL's reasons when the other side does not speak TLS."""

OUT_OF_DATE = frozenset({9, 10})
"""OpenSSL's codes for a certificate that is not yet valid, or has expired."""

TEMPORARY = frozenset({408, 425, 429, 499})
"""Statuses below 500 that are temporary. A proxy may send them as a page, too."""


@dataclass(frozen=True)
class Service:
    """An upstream's name in messages, and its variables.

    Attributes:
        key_variable: the variable that holds its key or names the key's secret.
        url_variable: the variable that holds its URL.
        has_key: False if the service is called without a key.
    """

    upstream: Upstream
    name: str
    key_variable: str
    url_variable: str
    has_key: bool = True

    def from_status(self, status: int, headers: Mapping[str, str], body: object) -> PassageError:
        """The error for an answer with an error status, or with an invalid body."""
        # An error's body gives the reason. A success's body may repeat the question, which must stay out of the log.
        detail = f"HTTP {status}: {_clip(body)}" if status >= 400 else f"HTTP {status}, with an invalid body"
        wrong = fault_by_answer(status, body, self.url_variable)
        if wrong is not None:
            return self.misconfigured(wrong, f"{detail} {_header(headers, 'location') or ''}".strip())
        if is_page(status, body):
            return self.answered_by_another(status, detail)
        if status in (401, 403):
            return self._credentials_refused(detail)
        if status == 429:
            return self.throttled(detail, headers)
        if status in TEMPORARY or status >= 500 or status < 400:
            return self.unavailable("failed to answer", detail, retry_after(headers))
        what = f"refused the request (HTTP {status})"
        if status == 402:
            what = f"wants a payment first: check the billing of the account whose key is in {self.key_variable}"
        return RequestRefused(f"The {self.name} {what}.", upstream=self.upstream, detail=detail)

    def from_transport(self, error: Exception) -> PassageError:
        """The error for a call without a valid answer."""
        if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
            return DeadlineExceeded(
                f"The {self.name} did not answer within the request's time.", upstream=self.upstream, detail=repr(error)
            )
        wrong = fault_by_error(error, self.url_variable)
        if wrong is not None:
            return self.misconfigured(wrong, _clip(repr(error)))
        if is_unreadable_page(error):
            return self.answered_by_another(200, "a page instead of JSON")
        if isinstance(error, httpx.TransportError):
            return self.unavailable("could not be reached", repr(error))
        return self.unavailable("returned an unreadable answer", _clip(repr(error)))

    def unavailable(self, what: str, detail: str, wait: float | None = None) -> UpstreamUnavailable:
        """The error for a temporary failure; `what` completes the sentence "The <service> …"."""
        return UpstreamUnavailable(f"The {self.name} {what}.", upstream=self.upstream, retry_after=wait, detail=detail)

    def throttled(self, detail: str, headers: Mapping[str, str]) -> UpstreamThrottled:
        """The error for too many requests."""
        message, wait = f"The {self.name} is limiting requests.", retry_after(headers)
        return UpstreamThrottled(message, upstream=self.upstream, retry_after=wait, detail=detail)

    def misconfigured(self, what: str, detail: str) -> ConfigurationError:
        """The error for a wrong setting; `what` names it."""
        return ConfigurationError(f"The {self.name} {what}.", upstream=self.upstream, detail=detail)

    def answered_by_another(self, status: int, detail: str) -> ConfigurationError:
        """The error for an answer from a proxy, a firewall or another website."""
        return ConfigurationError(
            f"The answer (HTTP {status}) did not come from the {self.name}, but from a proxy or another server: "
            f"check {self.url_variable}, and any proxy or firewall in between.",
            upstream=self.upstream,
            detail=detail,
        )

    def _credentials_refused(self, detail: str) -> CredentialsRefused:
        expired = " It has expired." if "ExpiredSignature" in detail else ""
        message = (
            f"The {self.name} refused the key in {self.key_variable}: set a valid one.{expired}"
            if self.has_key
            else f"The {self.name} requires a key, and none is set: set {self.key_variable}."
        )
        return CredentialsRefused(message, upstream=self.upstream, detail=detail)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds in a Retry-After header, which has seconds or a date (RFC 9110, 10.2.3); None without the header."""
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
    # Not by `httpx.Headers`, which takes ASCII alone: a proxy writes anything into a header that nobody asks for.
    return next((value for name, value in headers.items() if name.lower() == wanted), None)


def _clip(body: object) -> str:
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
    return text if len(text) <= DETAIL_CHARACTERS else f"{text[:DETAIL_CHARACTERS]}…"


def fault_by_error(error: Exception, variable: str) -> str | None:
    """The fault of the URL in `variable`, found from a transport's error; None if the error does not show one."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            wrong = (
                f"is expired or not yet valid: renew it, or check the clock here and the host in {variable}"
                if cause.verify_code in OUT_OF_DATE
                else f"is not trusted: check the host in {variable}, or name your authority's file in SSL_CERT_FILE"
            )
            return f"has a certificate that {wrong}"
        if isinstance(cause, ssl.SSLError) and cause.reason in NOT_TLS:
            return f"does not speak TLS at the address in {variable}: write http:// there, or the port of https"
    if isinstance(error, httpx.TooManyRedirects):  # `aws.client` raises it at the first one
        return f"redirects requests: set {variable} to the address it redirects to, which the log names"
    if isinstance(error, httpx.UnsupportedProtocol):
        return f"cannot be reached at the address in {variable}: it must start with http:// or https://"
    if isinstance(error, httpx.RemoteProtocolError) and str(error).startswith("illegal "):  # h11: no HTTP/1.1 at all
        return f"does not speak HTTP/1.1 at the address in {variable}: check its scheme and port"
    return None


def fault_by_answer(status: int, body: object, variable: str) -> str | None:
    """The fault of the URL in `variable`, found from an error response; None if the response is the service's."""
    if 300 <= status < 400:
        return f"redirects requests (HTTP {status}): set {variable} to the address it redirects to, which the log names"
    if status == 400 and re.search(r"\bHTTPS (port|server)\b", _text(body)):  # nginx's and Go's words
        return f"speaks TLS at the address in {variable}: write https:// there"
    return None


def is_page(status: int, body: object) -> bool:
    """Whether a proxy or another website answered with an HTML page. The services send JSON or plain text."""
    return 200 <= status < 500 and status not in TEMPORARY and _text(body).lstrip()[:1] == "<"


def is_unreadable_page(error: Exception) -> bool:
    """Whether an answer that should be JSON is a page."""
    return isinstance(error, json.JSONDecodeError) and is_page(200, error.doc)


def _text(body: object) -> str:
    if isinstance(body, bytes):
        return body.decode(errors="replace")
    return body if isinstance(body, str) else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
