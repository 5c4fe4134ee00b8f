"""Serves the function over HTTP on loopback. Each request becomes an API Gateway event."""

import asyncio
import base64
import json
import logging
import os
import signal
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

from handler.bootstrap.container import Container
from passage.local.environment import LocalContext
from passage.local.http_event import http_api_event
from passage.service_url import is_loopback

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
Extend = Callable[[web.Application], None]

MAX_EVENT_BYTES = 6 * 1024 * 1024
"""The most that an event may have, its body included (AWS Lambda quotas, synchronous invocation)."""

MAX_HEAD_BYTES = 10_240
"""The most that a request's line and headers may have (API Gateway quotas, HTTP API)."""

SHUTDOWN_SECONDS = 3.0

ALLOWED = "Access-Control-Allow-Origin"
QUESTION = ("text", "query", "question", "query_text")


def application(handler: Handler, extend: Extend = lambda _: None) -> web.Application:
    """The web application around `handler`.

    Args:
        extend: adds further routes, which take precedence over the function's.
    """
    # A container answers one request at a time; so does this, which also keeps the handler in one thread.
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="function")

    async def answer(request: web.Request) -> web.Response:
        loop = asyncio.get_running_loop()
        try:
            event = await _event(request)
        except (web.HTTPRequestEntityTooLarge, web.HTTPRequestURITooLong) as error:
            health = http_api_event("GET", "/health", headers={"origin": request.headers.get("origin", "")})
            cors = await loop.run_in_executor(thread, handler, health, LocalContext())
            return _refusal(error.status, "Request Too Long", cors)
        try:
            return _response(await loop.run_in_executor(thread, handler, event, LocalContext()))
        except Exception:
            logging.getLogger(__name__).exception("the function raised, or its answer is no response")
            return _refusal(502, "Internal Server Error", {})

    app = web.Application(client_max_size=2 * MAX_EVENT_BYTES)
    extend(app)
    app.router.add_route("*", r"/{path:[\s\S]*}", answer)  # a decoded path may hold a line break
    return app


async def _event(request: web.Request) -> dict[str, Any]:
    """The event for a request.

    Raises:
        web.HTTPRequestEntityTooLarge: Lambda would not take it.
        web.HTTPRequestURITooLong: API Gateway would not.
    """
    head = len(request.raw_path) + sum(len(name) + len(value) for name, value in request.raw_headers)
    if head > MAX_HEAD_BYTES:
        raise web.HTTPRequestURITooLong
    event = http_api_event(
        request.method,
        request.path,
        query=request.rel_url.raw_query_string,  # `query_string` is decoded, and would be decoded again
        headers=request.headers,
        body=await request.read(),
    )
    size = len(json.dumps(event))
    if size > MAX_EVENT_BYTES:
        raise web.HTTPRequestEntityTooLarge(MAX_EVENT_BYTES, size)
    return event


def runner(handler: Handler, extend: Extend = lambda _: None, **options: Any) -> web.AppRunner:
    """An aiohttp server of `application`. A body is passed on as it was sent, compressed or not, as a gateway does."""
    # By default, aiohttp refuses a line or a header of 8 KB, as text.
    chosen: dict[str, Any] = {"max_line_size": MAX_EVENT_BYTES, "max_field_size": MAX_EVENT_BYTES, **options}
    # A client that goes away takes its waiting request along: a page that is closed, or a question typed on.
    return web.AppRunner(
        application(handler, extend), access_log=None, auto_decompress=False, handler_cancellation=True, **chosen
    )


def _response(result: dict[str, Any]) -> web.Response:
    body = result.get("body") or ""
    raw = base64.b64decode(body) if result.get("isBase64Encoded") else body.encode()
    return web.Response(status=result["statusCode"], headers=result.get("headers") or {}, body=raw)


def _refusal(status: int, message: str, cors: Mapping[str, Any]) -> web.Response:
    """An answer in a gateway's own form, which has the API's CORS headers.

    Args:
        cors: a response of the function to the same origin.
    """
    headers = {
        name: value
        for name, value in (cors.get("headers") or {}).items()
        if name.startswith("Access-Control-") or name == "Vary"
    }
    return web.json_response({"message": message}, status=status, headers=headers)


def serve(handler: Handler, port: int, ready: Callable[[], None], extend: Extend = lambda _: None) -> None:
    """Serve on 127.0.0.1 until SIGINT or SIGTERM. `ready` is called once requests are answered.

    Args:
        extend: adds further routes.

    Raises:
        OSError: the port is taken.
    """
    logging.getLogger("aiohttp.access").setLevel(logging.ERROR)

    async def run() -> None:
        stopping = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        # Running requests may finish within this time.
        running = runner(handler, extend, shutdown_timeout=SHUTDOWN_SECONDS)
        await running.setup()
        try:
            await web.TCPSite(running, "127.0.0.1", port).start()
            ready()
            await stopping.wait()
        finally:
            await running.cleanup()

    asyncio.run(run())


def with_loopback_origins(handler: Handler, services: Container) -> Handler:
    """The handler; it answers an origin of this machine as the first of ALLOWED_ORIGINS, unless there is none.

    So pages of this machine read the answers whatever their port: a developer's site has any.

    Args:
        services: the handler's.
    """

    def answer(event: dict[str, Any], context: Any) -> dict[str, Any]:
        origin = event["headers"].get("origin")
        if origin is None or not is_loopback(origin):
            return handler(event, context)
        allowed = next(iter(services.http_settings.allowed_origins), origin)
        sent = {**event["headers"], "origin": origin if allowed == "*" else allowed}
        result = handler({**event, "headers": sent}, context)
        if ALLOWED in (result.get("headers") or {}):
            result["headers"][ALLOWED] = origin
        return result

    return answer


def log_questions(handler: Handler, say: Callable[[str], object]) -> Handler:
    """The handler; `say` gets a line for a person after each question or error, as in `200  66 ms  3 passages`.

    The line has the question only with LOG_QUERY_TEXT, as the function's log.
    """
    shows_text = os.environ.get("LOG_QUERY_TEXT", "").lower() in ("1", "true", "yes", "on")

    def tell(event: dict[str, Any], context: Any) -> dict[str, Any]:
        started = time.perf_counter()
        answer = handler(event, context)
        line = _line(event, answer, shows_text=shows_text)
        if line:
            say(f"{answer['statusCode']}  {(time.perf_counter() - started) * 1000:.0f} ms  {line}")
        return answer

    return tell


def _line(event: Mapping[str, Any], answer: Mapping[str, Any], *, shows_text: bool) -> str:
    """What the line says; empty for a request that is no question and did not fail."""
    body = _object(answer.get("body"))
    if answer["statusCode"] >= 400:
        said = body.get("error") or body.get("message") or ""
        return str(said.get("message", "") if isinstance(said, dict) else said)
    passages = body.get("results", body.get("chunks"))
    if not event["rawPath"].endswith("/query") or not isinstance(passages, list):
        return ""
    count = "1 passage" if len(passages) == 1 else f"{len(passages)} passages"
    given = _object(event.get("body")) or {
        name: values[0] for name, values in parse_qs(event["rawQueryString"]).items()
    }
    question = next((given[name] for name in QUESTION if isinstance(given.get(name), str)), "")
    return f"{count}  {json.dumps(question, ensure_ascii=False)}" if shows_text else count


def _object(text: Any) -> dict[str, Any]:
    with suppress(TypeError, ValueError, RecursionError):
        read = json.loads(text)
        return read if isinstance(read, dict) else {}
    return {}
