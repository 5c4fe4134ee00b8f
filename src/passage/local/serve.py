"""Serves the function over HTTP on loopback. Each request becomes an API Gateway event."""

import asyncio
import base64
import logging
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aiohttp import web

from passage.local.environment import LocalContext
from passage.local.http_event import http_api_event

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

# Lambda's own limit for a synchronous request is 6 MB (AWS Lambda quotas).
MAX_BODY_BYTES = 6 * 1024 * 1024

SHUTDOWN_SECONDS = 3.0


def application(handler: Handler) -> web.Application:
    """The web application around `handler`."""
    # A container answers one request at a time; so does this, which also keeps the handler in one thread.
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="function")

    async def answer(request: web.Request) -> web.Response:
        event = http_api_event(
            request.method,
            request.path,
            query=request.query_string,
            headers=request.headers,
            body=await request.read(),
        )
        result = await asyncio.get_running_loop().run_in_executor(thread, handler, event, LocalContext())
        return _response(result)

    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.router.add_route("*", r"/{path:[\s\S]*}", answer)  # a decoded path may hold a line break
    return app


def _response(result: dict[str, Any]) -> web.Response:
    body = result.get("body") or ""
    raw = base64.b64decode(body) if result.get("isBase64Encoded") else body.encode()
    return web.Response(status=result["statusCode"], headers=result.get("headers") or {}, body=raw)


def serve(handler: Handler, port: int, ready: Callable[[], None]) -> None:
    """Serve on 127.0.0.1 until SIGINT or SIGTERM. `ready` is called once requests are answered.

    Raises:
        OSError: the port is taken.
    """
    logging.getLogger("aiohttp.access").setLevel(logging.ERROR)

    async def run() -> None:
        stopping = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        # Running requests may finish within this time.
        runner = web.AppRunner(application(handler), access_log=None, shutdown_timeout=SHUTDOWN_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", port).start()
            ready()
            await stopping.wait()
        finally:
            await runner.cleanup()

    asyncio.run(run())
