"""Detects a URL that does not lead to its service: another protocol, a redirect, a proxy's page."""

import json
import re
import ssl
from collections.abc import Iterator

import httpx

NOT_TLS = frozenset({"HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE", "WRONG_VERSION_NUMBER"})
"""OpenSSL's reasons when the other side does not speak TLS."""

OUT_OF_DATE = frozenset({9, 10})
"""OpenSSL's codes for a certificate that is not yet valid, or has expired."""

TEMPORARY = frozenset({408, 425, 429, 499})
"""Statuses below 500 that are temporary. A proxy may send them as a page, too."""


def by_error(error: Exception, variable: str) -> str | None:
    """The fault of the URL in `variable`, found from a transport's error; None if the error does not show one."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _certificate(cause, variable)
        if isinstance(cause, ssl.SSLError) and cause.reason in NOT_TLS:
            return f"does not speak TLS at the address in {variable}: write http:// there, or the port of https"
    if isinstance(error, httpx.TooManyRedirects):  # `aws.client` raises it at the first one
        return f"redirects requests: set {variable} to the address it redirects to, which the log names"
    if isinstance(error, httpx.UnsupportedProtocol):
        return f"cannot be reached at the address in {variable}: it must start with http:// or https://"
    if isinstance(error, httpx.RemoteProtocolError) and str(error).startswith("illegal "):  # h11: no HTTP/1.1 at all
        return f"does not speak HTTP/1.1 at the address in {variable}: check its scheme and port"
    return None


def _certificate(error: ssl.SSLCertVerificationError, variable: str) -> str:
    if error.verify_code in OUT_OF_DATE:
        return (
            "has a certificate that is expired or not yet valid: renew it, or check the clock here and the host in "
            f"{variable}"
        )
    return (
        f"has a certificate that is not trusted: check the host in {variable}, or name your authority's file in "
        "SSL_CERT_FILE"
    )


def by_answer(status: int, body: object, variable: str) -> str | None:
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
