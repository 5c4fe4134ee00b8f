"""Messages of both eras to an MCP endpoint, and the answers, with fakes at the core's ports or with real services."""

import json
from collections.abc import Mapping
from typing import Any

from handler.adapters.qdrant.payload import Hit
from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from passage.local.http_event import http_api_event
from unit.asking import FakedContainer
from wire.function import Answer

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
QUESTION = "What is a digital twin?"
TEXT = "A digital twin is a copy of a machine that follows it through its life."
HITS = [
    Hit(
        number,
        0.9 - number / 10,
        {"text_content": f"{TEXT} {number}", "source_url": f"https://docs.example/{number}", "page_title": "Twins"},
    )
    for number in (1, 2)
]


class Reply(Answer):
    """An HTTP answer of the endpoint."""

    @property
    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json["result"]
        return found

    @property
    def code(self) -> int:
        found: int = self.json["error"]["code"]
        return found


def message(method: str, params: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": dict(params or {}), **more}


def modern_headers(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    name = {"mcp-name": params["name"]} if method == "tools/call" else {}
    return {"mcp-protocol-version": MODERN, "mcp-method": method, **name}


class Endpoint:
    """The endpoint of one container. Its fakes can be changed between calls."""

    def __init__(self, container: FakedContainer | None = None) -> None:
        self.container = container or FakedContainer()
        self.container.hits = HITS

    def post(self, body: Any, headers: Mapping[str, str] | None = None, path: str = "/mcp") -> Reply:
        """A POST of a body: text or bytes as they are, anything else as JSON."""
        raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        return self.send(http_api_event("POST", path, headers=headers, body=raw))

    def send(self, event: Mapping[str, Any], source: Source = Source.HTTP_API) -> Reply:
        return Reply.of(http.handle(event, None, self.container, source))

    def legacy(self, method: str, params: Mapping[str, Any] | None = None, path: str = "/mcp", **headers: str) -> Reply:
        """A request of a legacy client; arguments name headers, with underscores for hyphens."""
        return self.post(message(method, params), _headers(headers), path)

    def modern(self, method: str, params: Mapping[str, Any] | None = None, path: str = "/mcp", **headers: str) -> Reply:
        """A request of a modern client. A header of the value "" is left out."""
        sent = dict(params or {})
        merged = modern_headers(method, sent) | _headers(headers)
        given = {name: value for name, value in merged.items() if value}
        return self.post(message(method, {"_meta": META, **sent}), given, path)

    def call(self, tool: str, arguments: Any, path: str = "/mcp") -> dict[str, Any]:
        """The result of a legacy call of a tool."""
        return self.legacy("tools/call", {"name": tool, "arguments": arguments}, path).result


def _headers(named: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in named.items()}


def said(result: Mapping[str, Any]) -> str:
    """The text of a failed call."""
    assert result["isError"] is True, result
    (item,) = result["content"]
    text: str = item["text"]
    return text


def structured(result: Mapping[str, Any]) -> Any:
    """The data of a call that succeeded. Its one text item is the same as JSON, or Markdown with every passage."""
    assert result["isError"] is False, result
    (item,) = result["content"]
    found = result["structuredContent"]
    if item["text"].startswith("{"):
        assert json.loads(item["text"]) == found
    else:
        assert all(part in item["text"] for each in found["results"] for part in (each["text"].strip(), each["url"]))
    return found
