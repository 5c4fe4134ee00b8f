"""A server in front of one service: it passes requests on, counts them, and plays a fault when it is told to."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urlsplit

from tools.faults.kinds import Exchange, Fault, Request

HOST = "127.0.0.1"


Choose = Callable[[Request], Fault | None]
"""Which fault a request meets; None for none."""


class Door:
    """One port in front of the service at the URL `behind`.

    Args:
        refusal: see `Exchange`.
    """

    def __init__(self, behind: str, refusal: Callable[[int], bytes]) -> None:
        self._refusal = refusal
        parts = urlsplit(behind)
        self._behind = (parts.hostname or "", parts.port or 80)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="door", daemon=True)
        self._open: dict[asyncio.StreamWriter, object] = {}
        self._choose: Choose = lambda _: None
        self._server: asyncio.Server | None = None
        self._port = 0
        self.calls = 0
        """Requests to the path that fails, since it began to."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._close())
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def play(self, fault: Fault, path: str = "") -> None:
        """From now on, requests whose path contains `path` meet the fault. Open connections are closed."""
        self._run(self._close())
        self.calls = 0
        left = fault.times

        def choose(request: Request) -> Fault | None:
            nonlocal left
            if path not in request.path:
                return None
            self.calls += 1
            if left == 0:
                return None
            left -= 1  # of all requests, a negative number: it never becomes 0
            return fault

        self._choose = choose
        if not fault.refuses:
            self._run(self._listen())

    def choose(self, choose: Choose) -> None:
        """From now on, ask `choose` about each request."""
        self._choose = choose

    def lift(self) -> None:
        """Pass every request on again."""
        self._choose = lambda _: None
        if self._server is None:
            self._run(self._listen())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        done: Future[None] = asyncio.run_coroutine_threadsafe(work, self._loop)
        done.result()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, HOST, self._port, limit=2**20)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            for writer in list(self._open):
                writer.transport.abort()
            self._server = None

    async def _end(self) -> None:
        """Let the connections' tasks and sockets close."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open[writer] = asyncio.current_task()  # the loop itself would not keep it
        try:
            while (request := await _read(reader)) is not None:
                fault = self._choose(request)
                if fault is not None:
                    await fault.play(Exchange(request, reader, writer, self._fetch, self._refusal))
                    break
                await self._pass_on(request, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.pop(writer, None)
            with suppress(ConnectionError):
                writer.close()

    async def _pass_on(self, request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(await self._fetch(request))
        await writer.drain()

    async def _fetch(self, request: Request) -> bytes:
        """The service's own answer, as bytes."""
        reader, writer = await asyncio.open_connection(*self._behind)
        writer.write(request.closing())
        await writer.drain()
        answer = await reader.read(-1)
        writer.close()
        await writer.wait_closed()
        return answer.replace(b"\r\nConnection: close\r\n", b"\r\n", 1)


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None when there is none."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    fields = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    length = next((int(value) for name, _, value in fields if name.lower() == b"content-length"), 0)
    return Request(head, await reader.readexactly(length))
