"""An HTTP server that gives prepared answers and records its requests."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from http_server import Received, Response, http_server


@dataclass(frozen=True)
class Reply:
    """One answer. `hold` keeps the connection open without one."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: bool = False

    @property
    def raw(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class Script:
    """The answers to come, of which the last one is repeated, and the requests that came."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [Reply()]
        self.requests: list[Request] = []
        self.url = ""
        self.released = threading.Event()

    def play(self, *replies: Reply) -> None:
        self.replies = list(replies)

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextmanager
def scripted() -> Iterator[Script]:
    script = Script()

    def answer(received: Received) -> Response | None:
        headers = {name.lower(): value for name, value in received.headers.items()}
        body = json.loads(received.body) if received.body else None
        script.requests.append(Request(received.method, received.target, headers, body))
        reply = script.next()
        if reply.hold:
            script.released.wait(10)
            return None
        return reply.status, reply.headers, reply.raw

    with http_server(answer, keep_alive=True) as url:
        script.url = f"{url}/live"
        try:
            yield script
        finally:
            script.released.set()
