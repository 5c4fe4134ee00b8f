"""Runs one emulated HTTP service in a thread, and reads and writes its JSON as strictly as the real service does."""

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from aiohttp import web
from aiohttp.typedefs import Handler
from pydantic_core import from_json

HOST = "127.0.0.1"
MAX_BODY_BYTES = 256 * 1024 * 1024
_LOG = logging.getLogger(__name__)

Answer = Callable[[], Awaitable[web.StreamResponse]]
Around = Callable[[web.Request, Answer], Awaitable[web.StreamResponse]]
ErrorBody = Callable[[int, str], object]


class ApiError(Exception):
    """An error response. The service's error body is built around the message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True)
class EmulatedService:
    """The parts of an emulated service.

    Attributes:
        error_body: gives the service's error body for a status and a message.
        authorize: returns an error for a request without the right key, None to accept it.
        open: called before the first request, in a worker thread.
        close: called after the last request, in a worker thread.
    """

    name: str
    routes: Sequence[web.RouteDef]
    error_body: ErrorBody
    authorize: Callable[[web.Request], web.Response | None]
    open: Callable[[], None] = lambda: None
    close: Callable[[], None] = lambda: None


async def _pass_on(_: web.Request, answer: Answer) -> web.StreamResponse:
    return await answer()


class ServiceThread:
    """One service on one port.

    Args:
        host: the address to listen on; another than loopback is for callers in containers.
        port: 0 picks a free one.
        around: called with each request and what answers it, in place of the answer itself.
    """

    def __init__(self, service: EmulatedService, *, host: str = HOST, port: int = 0, around: Around = _pass_on) -> None:
        self._service = service
        self._host = host
        self._port = port
        self._around = around
        self._url: str | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None

    @property
    def url(self) -> str:
        """The service's URL, without a trailing slash."""
        if self._url is None:
            raise RuntimeError(f"the {self._service.name} emulator is not running")
        return self._url

    def start(self) -> Self:
        """Start listening and return once requests are answered. Raises OSError when the port is taken."""
        if self._thread is not None:
            raise RuntimeError(f"the {self._service.name} emulator is already running")
        ready: Future[str] = Future()
        thread = threading.Thread(target=self._run, args=(ready,), name=f"{self._service.name}-emulator", daemon=True)
        thread.start()
        self._url = ready.result()
        self._thread = thread
        return self

    def stop(self) -> None:
        """Stop listening, drop open connections and release the service's resources. No effect when not running."""
        if self._thread is None or self._loop is None or self._stopping is None:
            return
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()
        self._thread = self._loop = self._stopping = self._url = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self, ready: Future[str]) -> None:
        try:
            asyncio.run(self._serve(ready))
        except BaseException as error:  # start() waits on `ready`, so every failure must be reported there
            if ready.done():
                raise
            ready.set_exception(error)

    async def _serve(self, ready: Future[str]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[self._middleware])
        app.add_routes(self._service.routes)
        # Idle keep-alive connections of SDK clients would otherwise hold up stop() for a minute.
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await asyncio.to_thread(self._service.open)
        try:
            await runner.setup()
            await web.TCPSite(runner, self._host, self._port).start()
            ready.set_result(f"http://{self._host}:{runner.addresses[0][1]}")
            await self._stopping.wait()
        finally:
            await runner.cleanup()
            await asyncio.to_thread(self._service.close)

    @web.middleware
    async def _middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        return await self._catch_errors(request, lambda: self._around(request, lambda: self._answer(request, handler)))

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        refused = self._service.authorize(request)
        return refused or await self._catch_errors(request, lambda: handler(request))

    async def _catch_errors(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        """The answer, or the service's error body in place of an exception."""
        try:
            return await answer()
        except ApiError as error:
            return self._error(error.status, error.message)
        except web.HTTPException as error:  # no such route, no such method, body too large
            return self._error(error.status, error.reason.lower())
        except Exception:  # noqa: BLE001 - a server always answers; the log has the traceback
            _LOG.exception("the %s emulator failed on %s %s", self._service.name, request.method, request.path)
            return self._error(500, "internal error in the emulator")

    def _error(self, status: int, message: str) -> web.Response:
        return json_response(self._service.error_body(status, message), status)


def json_response(data: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """A JSON response. NaN and infinities raise, because they are not JSON."""
    body = json.dumps(data, allow_nan=False, separators=(",", ":")).encode("ascii")
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def parse_json(body: bytes) -> Any:
    """The value in a request body. Raises ValueError for what a strict parser refuses (NaN, bad UTF-8, nothing)."""
    with suppress(ValueError):  # a third of the time; Python's parser then says what is wrong
        return from_json(body, allow_inf_nan=False)
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("recursion limit exceeded") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
