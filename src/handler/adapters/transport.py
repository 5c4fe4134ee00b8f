"""The HTTP beneath both SDKs: one connection pool, and the request's deadline on every call.

An SDK's own timeout is a constant chosen when the client is built; what a request has left is only known when it runs.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Thread

import httpx

from handler.core import deadline as deadlines
from handler.core.deadline import Deadline

CONNECT_SECONDS = 3.0
"""A host that does not accept a connection by then is down: better found out while a retry still fits."""

# Lambda freezes the container between requests; what the far side closed meanwhile shows as a dropped connection at the
# next request, which the one retry covers. Well-known idle limits are 60 s and more (load balancers), so stay below.
LIMITS = httpx.Limits(max_connections=20, max_keepalive_connections=10, keepalive_expiry=50)


class DeadlineTransport(httpx.BaseTransport):
    """Sends through `inner`, never longer than the running deadline allows."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        deadline = deadlines.current()
        if deadline is None:
            return self._inner.handle_request(request)
        left = deadline.remaining()
        if left <= 0:
            raise httpx.ReadTimeout("the request's deadline has passed", request=request)
        request.extensions = {
            **request.extensions,
            "timeout": {"connect": min(CONNECT_SECONDS, left), "read": left, "write": left, "pool": left},
        }
        response = self._inner.handle_request(request)
        assert isinstance(response.stream, httpx.SyncByteStream)  # noqa: S101 - what a sync transport returns
        response.stream = _DeadlineStream(response.stream, deadline, request)
        return response

    def close(self) -> None:
        self._inner.close()


class _DeadlineStream(httpx.SyncByteStream):
    """A body that trickles in would outlive a read timeout, which starts anew with every byte."""

    def __init__(self, inner: httpx.SyncByteStream, deadline: Deadline, request: httpx.Request) -> None:
        self._inner, self._deadline, self._request = inner, deadline, request

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            if self._deadline.remaining() <= 0:
                raise httpx.ReadTimeout("the request's deadline passed while the answer came in", request=self._request)
            yield chunk

    def close(self) -> None:
        self._inner.close()


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to trust: httpx's own choice (certifi, or SSL_CERT_FILE). Worth loading once, not once a client."""
    return httpx.create_ssl_context()


@cache
def shared() -> httpx.BaseTransport:
    """The container's one connection pool."""
    return DeadlineTransport(httpx.HTTPTransport(verify=_certificates(), limits=LIMITS, retries=0))


@contextmanager
def preparing() -> Iterator[None]:
    """Load the certificates beside what the block does: it is OpenSSL's work, outside Python's lock."""
    thread = Thread(target=_certificates)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        shared()
