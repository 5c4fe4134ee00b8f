"""A small site on a real HTTP server of its own thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class WebServer:
    """Attributes: `answers`: what each path answers; `asked`: the requests so far, as path and headers."""

    answers: dict[str, "str | bytes | web.Response | Handler"] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def page(self, path: str, text: str, links: str = "") -> None:
        """A page with a heading and a text, and links perhaps."""
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links.split())
        self.answers[path] = (
            f"<!doctype html><html><head><title>{text}</title></head><body><main><h1>{text}</h1>"
            f"<p>This page tells of {text}.</p></main><nav>{anchors}</nav></body></html>"
        )

    def sitemap(self, *paths: str, at: str = "/sitemap.xml") -> None:
        listed = "".join(f"<url><loc>{path if '://' in path else self.url + path}</loc></url>" for path in paths)
        self.answers[at] = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path, {name.lower(): value for name, value in request.headers.items()}))
        answer = self.answers.get(request.path)
        if answer is None:
            return web.Response(status=404, text="Not here.")
        if callable(answer):
            return await answer(request)
        if isinstance(answer, web.Response):
            return web.Response(status=answer.status, body=answer.body, headers=answer.headers)
        kind = "application/xml" if request.path.endswith(".xml") else "text/html"
        body = answer.encode() if isinstance(answer, str) else answer
        return web.Response(body=body, content_type="text/plain" if request.path == "/robots.txt" else kind)


@contextmanager
def running() -> Iterator[WebServer]:
    """A server on a free port of 127.0.0.1."""
    server = WebServer()
    loop = asyncio.new_event_loop()
    runner: web.AppRunner

    async def start() -> None:
        nonlocal runner
        application = web.Application()
        application.router.add_route("*", "/{tail:.*}", server.handle)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(runner.cleanup())
        loop.close()
