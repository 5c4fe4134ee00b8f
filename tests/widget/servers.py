"""Two servers for the widget's tests: a site, and an API whose answers a test decides."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from conftest import ROOT
from http_server import Received, Response, http_server

WEB = ROOT / "web"


@dataclass(frozen=True)
class Reply:
    """A response: of the site to a browser, or of the API to the widget."""

    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    """Seconds before it is sent."""


@dataclass(frozen=True)
class Request:
    """What a server was sent."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: str


@dataclass
class Server:
    """A server on loopback. `answer` decides what it sends; None drops the connection."""

    url: str = ""
    answer: Callable[[Request], Reply | None] = lambda _: Reply(status=404)
    requests: list[Request] = field(default_factory=list)

    def asked(self) -> list[str]:
        """The questions sent so far."""
        return [request.query["question"] for request in self.requests if "question" in request.query]


@contextmanager
def running(server: Server) -> Iterator[Server]:
    """Runs a server until the block ends."""

    def serve(received: Received) -> Response | None:
        split = urlsplit(received.target)
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        request = Request(received.method, split.path, query, dict(received.headers), received.body.decode())
        server.requests.append(request)
        reply = server.answer(request)
        if reply is None:
            return None
        time.sleep(reply.delay)
        headers = {"Content-Type": f"{reply.content_type}; charset=utf-8", "Cache-Control": "no-store"}
        return reply.status, {**headers, **reply.headers}, reply.body.encode()

    with http_server(serve) as server.url:
        yield server


class Site(Server):
    """A site of the pages that a test gives it. It also serves the files of web/, from /web."""

    def __init__(self) -> None:
        self.pages: dict[str, Reply] = {}
        super().__init__(answer=self._page)

    def put(self, path: str, html: str, headers: Mapping[str, str] | None = None) -> None:
        self.pages[path] = Reply(html, headers=headers or {}, content_type="text/html")

    def _page(self, request: Request) -> Reply:
        if request.path in self.pages:
            return self.pages[request.path]
        file = WEB / request.path.removeprefix("/web/")
        if request.path.startswith("/web/") and file.is_file():
            return Reply(Path(file).read_text("utf-8"), content_type="text/javascript")
        return Reply("Not found", 404, content_type="text/plain")


def cors(reply: Reply) -> Reply:
    """The reply with the CORS headers of the API."""
    headers = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After"}
    return Reply(reply.body, reply.status, {**headers, **reply.headers}, reply.content_type, reply.delay)


def passage(text: str, url: str = "https://example.com/guide/page/#part", fit: str | None = "good") -> dict[str, Any]:
    """A passage of the contract `query_response`."""
    return {"chunk_text": text, "url": url, "chunk_id": "1_0", "relevance_score": 0.8, **({"fit": fit} if fit else {})}


def answer(*passages: dict[str, Any], **reply: Any) -> Reply:
    """An answer of the contract `query_response`."""
    return cors(Reply(json.dumps({"query": "", "results": passages}), **reply))


def failed(status: int, **reply: Any) -> Reply:
    """An error of the contract `query_response`."""
    body = {"error": "The service said no.", "code": "SERVICE_UNAVAILABLE", "timestamp": "2026-11-28T12:00:00Z"}
    return cors(Reply(json.dumps(body), status, **reply))
