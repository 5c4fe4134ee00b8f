"""The faults: each answers a request in a way that a service, a proxy or a network can."""

import asyncio
import gzip
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Request:
    """An HTTP request as it came: its head with the empty line, and its body."""

    head: bytes
    body: bytes

    @property
    def path(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    def closing(self) -> bytes:
        """The request, with which the service closes the connection after its answer."""
        lines = self.head.split(b"\r\n")
        kept = [line for line in lines if not line.lower().startswith((b"connection:", b"accept-encoding:"))]
        return b"\r\n".join([kept[0], b"Connection: close", *kept[1:]]) + self.body


@dataclass(frozen=True)
class Exchange:
    """One request that meets a fault.

    Attributes:
        fetch: gets the service's own answer to the request.
        refusal: the body with which the service refuses, by status.
    """

    request: Request
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    fetch: Callable[[Request], Awaitable[bytes]]
    refusal: Callable[[int], bytes]

    async def send(self, answer: bytes) -> None:
        self.writer.write(answer)
        await self.writer.drain()

    async def answer(self, status: str, body: bytes, *headers: str) -> None:
        """Send a whole response that closes the connection."""
        lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close", "", ""]
        await self.send("\r\n".join(lines).encode() + body)


Play = Callable[[Exchange], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """One way to fail.

    Attributes:
        times: how many requests meet it; -1 for all.
        refuses: nothing listens on the port.
        slow: its cells wait for a deadline.
    """

    name: str
    play: Play
    times: int = -1
    refuses: bool = False
    slow: bool = False


JSON = "Content-Type: application/json"
HTML = "Content-Type: text/html"
PAGE = b"<!DOCTYPE html>\n<html><body><h1>Sign in</h1></body></html>"
PAUSE_SECONDS = 0.2
BOMB_BYTES = 64 * 1024 * 1024
ENDLESS_BYTES = 256 * 1024 * 1024
"""More than any answer may have. A function that reads on would fill the memory of the machine."""
LONGEST_SECONDS = 40.0
"""Longer than Lambda lets the function run in these runs."""


def _answer(status: str, body: bytes = b"", *headers: str) -> Play:
    return lambda exchange: exchange.answer(status, body, *(headers or (JSON,)))


def _refuse(status: str, *headers: str) -> Play:
    """Answers as the service itself refuses."""
    return lambda exchange: exchange.answer(status, exchange.refusal(int(status[:3])), JSON, *headers)


async def _reset(exchange: Exchange) -> None:
    connection = exchange.writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    exchange.writer.transport.abort()


async def _hang_up(_: Exchange) -> None:
    """Closes the connection without an answer."""


async def _cut_off(exchange: Exchange) -> None:
    answer = await exchange.fetch(exchange.request)
    await exchange.send(answer[: -max(1, len(answer.partition(b"\r\n\r\n")[2]) // 2)])


async def _not_http(exchange: Exchange) -> None:
    await exchange.send(b"SSH-2.0-OpenSSH_9.2\r\n")


async def _silent(exchange: Exchange) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(exchange.reader.read(), LONGEST_SECONDS)  # until the function hangs up


async def _drip(exchange: Exchange) -> None:
    answer = await exchange.fetch(exchange.request)
    for byte in answer[: int(LONGEST_SECONDS / PAUSE_SECONDS)]:
        await exchange.send(bytes([byte]))
        await asyncio.sleep(PAUSE_SECONDS)


async def _endless(exchange: Exchange) -> None:
    await exchange.send(f"HTTP/1.1 200 OK\r\n{JSON}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    for _ in range(ENDLESS_BYTES // 0x10000):
        await exchange.send(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
    await _silent(exchange)


async def _bomb(exchange: Exchange) -> None:
    await exchange.answer("200 OK", _zipped(), JSON, "Content-Encoding: gzip")


@cache
def _zipped() -> bytes:
    return gzip.compress(b" " * BOMB_BYTES)


async def _to_itself(exchange: Exchange) -> None:
    await exchange.answer("307 Temporary Redirect", b"", f"Location: {exchange.request.path}")


FAULTS = (
    Fault("400", _refuse("400 Bad Request")),
    Fault("401", _refuse("401 Unauthorized")),
    Fault("403", _refuse("403 Forbidden")),
    Fault("404", _refuse("404 Not Found")),
    Fault("413", _refuse("413 Content Too Large")),
    Fault("429", _refuse("429 Too Many Requests")),
    Fault("429, Retry-After: 1", _refuse("429 Too Many Requests", "Retry-After: 1")),
    Fault("429, Retry-After: 3600", _refuse("429 Too Many Requests", "Retry-After: 3600")),
    Fault("500", _refuse("500 Internal Server Error")),
    Fault("500, once", _refuse("500 Internal Server Error"), times=1),
    Fault("502, a page", _answer("502 Bad Gateway", PAGE, HTML)),
    Fault("503", _refuse("503 Service Unavailable")),
    Fault("504", _refuse("504 Gateway Timeout")),
    Fault("connection refused", _hang_up, refuses=True),
    Fault("connection reset", _reset),
    Fault("connection reset, once", _reset, times=1),
    Fault("connection closed, no answer", _hang_up),
    Fault("not HTTP", _not_http),
    Fault("silence", _silent, slow=True),
    Fault("byte by byte", _drip, slow=True),
    Fault("answer cut off", _cut_off),
    Fault("endless answer", _endless),
    Fault("gzip bomb", _bomb),
    Fault("redirect to itself", _to_itself),
    Fault("redirect to another server", _answer("302 Found", b"", "Location: http://127.0.0.1:9/sign-in")),
    Fault("200, a page", _answer("200 OK", PAGE, HTML)),
    Fault("200, nothing", _answer("200 OK")),
    Fault("200, {}", _answer("200 OK", b"{}")),
    Fault("200, null", _answer("200 OK", b"null")),
    Fault("200, []", _answer("200 OK", b"[]")),
    Fault("200, half a JSON", _answer("200 OK", b'{"id": "1", "result": {')),
    Fault("204", _answer("204 No Content")),
)
"""All faults, in the order of the page."""
