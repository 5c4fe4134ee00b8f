"""Records an emulated service's requests, for tests and for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from passage.emulators.server import parse_json

# A server may run for days, so it must not record every index batch for ever.
KEPT_REQUESTS = 10_000
KEPT_BYTES = 64 * 1024 * 1024

SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "proxy-authorization", "cookie"})
WITHHELD = "(withheld)"


@dataclass(frozen=True)
class RecordedRequest:
    """One request to an API route, as it arrived. Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON; raises ValueError when it is not."""
        return parse_json(self.body)

    def shown(self) -> dict[str, object]:
        """The request for display: without credentials, and with the body as JSON if it is JSON."""
        try:
            body = self.json() if self.body else None
        except ValueError:
            body = self.body.decode("utf-8", "replace")
        headers = {name: WITHHELD if name in SECRET_HEADERS else value for name, value in self.headers.items()}
        return {"method": self.method, "path": self.path, "headers": headers, "body": body}


class Recorder:
    """Appends requests to a list and drops the oldest ones when it exceeds its limits."""

    def __init__(self) -> None:
        self.requests: list[RecordedRequest] = []
        self._bytes = 0

    async def record(self, request: web.Request) -> None:
        """Read the whole body and record the request."""
        body = await request.read()
        if not self.requests:  # a test may have cleared the list
            self._bytes = 0
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(RecordedRequest(request.method, request.path, headers, body))
        self._bytes += len(body)
        while len(self.requests) > KEPT_REQUESTS or (self._bytes > KEPT_BYTES and len(self.requests) > 1):
            self._bytes -= len(self.requests.pop(0).body)
