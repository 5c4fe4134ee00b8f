"""The HTTP layer below both SDKs: one connection pool, and the request's deadline on every wait.

An SDK's timeout is a constant that restarts with every byte that arrives. A request's remaining time is known only
while it runs, so each connect, read and write looks it up.
"""

import json
import ssl
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from threading import Lock, Thread
from typing import Any

import httpcore
import httpx

from handler.core import deadline as deadlines
from handler.core.errors import ConfigurationError

CONNECT_SECONDS = 3.0
"""A host that accepts no connection within this time is down. A short limit leaves time for a retry."""

LEAST_SECONDS = 0.001
"""The shortest timeout of a wait. Zero would mean "do not block"."""

MAX_CONNECTIONS = 20
MAX_KEEPALIVE_CONNECTIONS = 10

KEEPALIVE_SECONDS = 50.0
"""Below the common idle limits of load balancers, which are 60 s and more. Lambda freezes the container between
requests: a connection that the server closed meanwhile fails at the next one, and the one retry covers that."""

LONGEST_RUN_SECONDS = 900
"""Lambda's longest run time. Clients get it as their timeout, so that only the deadline ends a call. Without it, httpx
would use five seconds."""

MOST_UNSENT_BYTES = 65_536
"""The most bytes of a request that are held back. A longer one is sent in parts."""

ANSWER_BYTES = 16 * 1024 * 1024
"""The most bytes of an answer. An endless one would fill the function's memory. The largest that a service has to give
repeats 96 texts of 10,000 characters, up to 12 bytes each."""

AS_IT_IS = {"Accept-Encoding": "identity"}
"""httpx would ask for gzip. Qdrant then sends an answer in chunks, and the last one often waits 40 ms for a delayed
acknowledgement: a search takes 47 ms instead of 5."""

GZIP = zlib.MAX_WBITS | 16
"""zlib's name for gzip."""


def _left(timeout: float | None, most: float | None = None) -> float | None:
    """The most seconds for one wait: the least of the given limits and the time until the deadline."""
    deadline = deadlines.current()
    limits = [limit for limit in (timeout, most) if limit is not None]
    if deadline is not None:
        limits.append(max(deadline.remaining(), LEAST_SECONDS))
    return min(limits, default=None)


class _DeadlineStream(httpcore.NetworkStream):
    """A connection that keeps to the deadline, and sends a request's head and body in one packet.

    httpcore writes them one after the other, which wakes the server twice. Here, writes are buffered and sent before
    the next read.
    """

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self._unsent = bytearray()
        self.get_extra_info = inner.get_extra_info  # type: ignore[method-assign]  # asked eight times a request
        self.close = inner.close  # type: ignore[method-assign]  # as above

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        seconds = _left(timeout)
        if self._unsent:
            with suppress(httpcore.WriteError):  # as httpcore does: the server may have sent an answer with the reason
                self._send(seconds)
        if seconds is not None and seconds <= LEAST_SECONDS:  # without this, buffered bytes would still be returned
            raise httpcore.ReadTimeout("the request's deadline has passed")
        return self._inner.read(max_bytes, seconds)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent += buffer
        if len(self._unsent) >= MOST_UNSENT_BYTES:
            self._send(_left(timeout))

    def _send(self, seconds: float | None) -> None:
        unsent, self._unsent = bytes(self._unsent), bytearray()
        self._inner.write(unsent, seconds)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, _left(timeout, CONNECT_SECONDS)))


class _DeadlineBackend(httpcore.NetworkBackend):
    def __init__(self, inner: httpcore.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, *args: Any, **options: Any
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(self._inner.connect_tcp(host, port, _left(timeout, CONNECT_SECONDS), *args, **options))


@cache
def _certificates() -> ssl.SSLContext:
    """The trusted certificates, as httpx chooses them (certifi, or SSL_CERT_FILE). Loading is slow, so it is done once.

    Raises:
        ConfigurationError: SSL_CERT_FILE or SSL_CERT_DIR leads nowhere.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        raise ConfigurationError(
            "The certificates to trust cannot be loaded: check SSL_CERT_FILE and SSL_CERT_DIR.", detail=repr(error)
        ) from error


_ONE_POOL = Lock()


def shared() -> httpx.BaseTransport:
    """The container's one connection pool, whose every wait ends with the running deadline."""
    with _ONE_POOL:  # threads that ask first at the same time would each make one
        return _shared()


@cache
def _shared() -> httpx.BaseTransport:
    return _make_pool(httpcore.SyncBackend())


def made_up_transport(answer: object) -> httpx.BaseTransport:
    """A pool like the container's, without a network: every request gets `answer` as JSON. The warm-up uses it.

    A request runs the same code as a real one up to the socket, so the warm-up imports and builds all of it.
    """
    body = json.dumps(answer).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    return _make_pool(httpcore.MockBackend([head, body]))


def _make_pool(backend: httpcore.NetworkBackend) -> httpx.BaseTransport:
    certificates = _certificates()
    transport = httpx.HTTPTransport(verify=certificates)
    # httpx has no public option for a network backend; httpcore's pool has one.
    transport._pool = httpcore.ConnectionPool(
        ssl_context=certificates,
        max_connections=MAX_CONNECTIONS,
        max_keepalive_connections=MAX_KEEPALIVE_CONNECTIONS,
        keepalive_expiry=KEEPALIVE_SECONDS,
        retries=0,
        network_backend=_DeadlineBackend(backend),
    )
    return transport


class _BoundedStream(httpx.SyncByteStream):
    """An answer's body of at most `most` bytes, before and after decompression. httpx would decompress any amount."""

    def __init__(self, stream: httpx.SyncByteStream, most: int, encoding: str) -> None:
        self._stream = stream
        self._most = most
        self._encoding = encoding.lower()
        self.close = stream.close  # type: ignore[method-assign]  # the connection's

    def __iter__(self) -> Iterator[bytes]:
        parts = self._count_bytes(self._stream)
        return parts if self._encoding == "identity" else self._count_bytes(self._decompress(parts))

    def _count_bytes(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        left = self._most
        for part in parts:
            left -= len(part)
            if left < 0:
                self.close()
                raise httpx.DecodingError(f"the answer has more than {self._most:,} bytes")
            yield part

    def _decompress(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        if self._encoding != "gzip":
            raise httpx.DecodingError(f"the answer has the encoding '{self._encoding}', which was not asked for")
        gzip = zlib.decompressobj(GZIP)
        try:
            for part in parts:
                yield gzip.decompress(part, self._most + 1)
        except zlib.error as error:
            raise httpx.DecodingError(f"the answer is not gzip: {error}") from error


def limit_body(response: httpx.Response, most: int, *, decompress: bool = False) -> httpx.Response:
    """`response`, whose body raises httpx.DecodingError after `most` bytes.

    Args:
        decompress: whether to decompress the body. `most` then bounds both sizes.
    """
    assert isinstance(response.stream, httpx.SyncByteStream)  # noqa: S101 - the pool's
    encoding = response.headers.pop("content-encoding", "identity") if decompress else "identity"
    response.stream = _BoundedStream(response.stream, most, encoding)
    return response


class _SharedTransport(httpx.BaseTransport):
    """The shared pool, as passed to one client.

    qdrant-client closes its transport in `__del__`. Closing the pool itself would cut the other clients' connections,
    or deadlock on the pool's lock in the middle of a request.
    """

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.headers.update(AS_IT_IS)
        return limit_body(shared().handle_request(request), ANSWER_BYTES, decompress=True)

    def close(self) -> None:
        """Do nothing: the pool outlives its clients."""


def for_client() -> httpx.BaseTransport:
    """The container's pool for one client, which cannot close it.

    An answer of more than `ANSWER_BYTES` is an httpx.DecodingError.
    """
    shared()  # bad certificates are reported when the client is built
    return _SharedTransport()


@contextmanager
def load_certificates_meanwhile() -> Iterator[None]:
    """Load the certificates in a thread while the block runs: OpenSSL releases Python's lock for it."""

    def load() -> None:
        with suppress(ConfigurationError):  # raised at first use
            _certificates()

    thread = Thread(target=load)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    shared()
