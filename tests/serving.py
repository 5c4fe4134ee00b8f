"""The function behind an HTTP server on loopback, as `passage serve` runs it."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import web

from handler import app
from handler.bootstrap.container import Container
from passage.local.environment import function_environment
from passage.local.serve import Extend, runner

LINE_BYTES = 128 * 1024
"""Room for the longest question in a URL: what a gateway would refuse before us is not what these tests are about."""


@contextmanager
def served(environ: Mapping[str, str], extend: Extend = lambda _: None) -> Iterator[str]:
    """The URL of the function, run with the environment `environ`; `extend` adds further routes."""
    started: Future[tuple[str, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        running = runner(app.lambda_handler, extend, shutdown_timeout=0.1, max_line_size=LINE_BYTES)
        await running.setup()
        try:
            await web.TCPSite(running, "127.0.0.1", 0).start()
            stopping = asyncio.Event()
            started.set_result((f"http://127.0.0.1:{running.addresses[0][1]}", asyncio.get_running_loop(), stopping))
            await stopping.wait()
        finally:
            await running.cleanup()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "services", Container(environ))
        thread = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
        thread.start()
        url, loop, stopping = started.result(timeout=30)
        try:
            yield url
        finally:
            loop.call_soon_threadsafe(stopping.set)
            thread.join()


@contextmanager
def served_index(index: Path, extend: Extend = lambda _: None, **variables: str) -> Iterator[str]:
    """The URL of the function over an index on this machine, with emulated vectors and more `variables`."""
    with function_environment(variables, index) as environ, served(environ, extend) as url:
        yield url
