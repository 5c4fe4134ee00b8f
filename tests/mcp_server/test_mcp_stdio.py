"""MCP over stdin and stdout: lines in, lines out, and nothing else on stdout."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from command.passage_command import PASSAGE, clean_environment
from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from handler.entrypoints.http.mcp.protocol import VERSION_KEY
from http_server import Received, Response, http_server
from mcp_server.mcp_calls import META, MODERN, QUESTION, Endpoint, message
from passage import mcp_stdio
from passage.api import HttpApi, in_process
from programs import run


def answers(endpoint: Endpoint, *lines: bytes | Mapping[str, Any]) -> list[Any]:
    """What is written for each line, read as JSON."""
    written: list[str] = []

    def handle(event: Any, context: Any) -> Any:
        return http.handle(event, context, endpoint.container, Source.HTTP_API)

    raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    mcp_stdio.serve([line + b"\n" for line in raw], in_process(handle), "/mcp", written.append)
    assert all(text.endswith("\n") and text.count("\n") == 1 for text in written)
    return [json.loads(text) for text in written]


def test_legacy_client_is_answered_line_by_line(endpoint: Endpoint) -> None:
    opened, listed = answers(
        endpoint,
        message("initialize", {"protocolVersion": "2025-11-25"}, id=1),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        b"",
        message("tools/list", id="two"),
    )
    assert (opened["id"], opened["result"]["protocolVersion"]) == (1, "2025-11-25")
    assert (listed["id"], len(listed["result"]["tools"])) == ("two", 5)


def test_modern_client_needs_no_headers(endpoint: Endpoint) -> None:
    call = {"name": "search", "arguments": {"query": QUESTION}, "_meta": META}
    found, called = answers(endpoint, message("server/discover", {"_meta": META}), message("tools/call", call))
    assert MODERN in found["result"]["supportedVersions"]
    assert called["result"]["resultType"] == "complete"


def test_unknown_tool_with_an_odd_name_is_told_so(endpoint: Endpoint) -> None:
    (answer,) = answers(endpoint, message("tools/call", {"name": " süch\n", "_meta": META}))
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize(
    "change",
    [{}, {"params": []}, {"params": {"_meta": {**META, VERSION_KEY: "2099-01-01"}}}],
)
def test_notification_is_never_answered(change: dict[str, Any], endpoint: Endpoint) -> None:
    (answer,) = answers(endpoint, {"jsonrpc": "2.0", "method": "notifications/x", **change}, message("ping"))
    assert answer["result"] == {}


@pytest.mark.parametrize("line", [b"{", b"\xff\xfe", b"[" * 100_000, b"[1]", b'{"jsonrpc": "2.0", "method": 5}'])
def test_line_that_is_no_message_is_told_so(line: bytes, endpoint: Endpoint) -> None:
    first, second = answers(endpoint, line, message("ping"))
    assert first["error"]["code"] in (-32700, -32600)
    assert second["result"] == {}


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(403, json={"message": "Forbidden"}),
        httpx.Response(502, text="<html>"),
        httpx.ConnectError("x"),
        httpx.InvalidURL("x"),
    ],
    ids=["no key", "a page", "no server", "no URL"],
)
def test_deployment_that_does_not_answer_is_an_error(response: httpx.Response | Exception) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if isinstance(response, Exception):
            raise response
        return response

    written: list[str] = []
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        lines = [json.dumps(message("ping")).encode(), b'{"jsonrpc": "2.0", "method": "notifications/initialized"}']
        mcp_stdio.serve(lines, HttpApi("https://api.example", request=client.request), "/mcp", written.append)
    (only,) = map(json.loads, written)
    assert (only["id"], only["error"]["code"]) == (7, -32603)
    assert "--url" in only["error"]["message"]


def test_deployment_gets_the_headers_of_each_message(endpoint: Endpoint) -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        reply = endpoint.post(request.content, dict(request.headers))
        return httpx.Response(reply.status, text=reply.text)

    written: list[str] = []
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        lines = [json.dumps(message("tools/list", {"_meta": META})).encode()]
        mcp_stdio.serve(lines, HttpApi("https://api.example", request=client.request), "/mcp", written.append)
    assert seen[0].headers["mcp-method"] == "tools/list"
    assert len(json.loads(written[0])["result"]["tools"]) == 5


def test_command_writes_only_messages_on_stdout(textbook_index: Path) -> None:
    lines = [
        message("initialize", {"protocolVersion": "2025-06-18"}),
        message("tools/call", {"name": "search", "arguments": {"query": QUESTION}}),
    ]
    sent = "".join(f"{json.dumps(line)}\n" for line in lines)
    done = run(PASSAGE, "mcp", "--index", textbook_index, input=sent, env=clean_environment())
    opened, called = map(json.loads, done.stdout.splitlines())
    assert opened["result"]["protocolVersion"] == "2025-06-18"
    assert len(called["result"]["structuredContent"]["results"]) == 5
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "ending", "path"),
    [((), "", "/mcp"), ((), "/mcp", "/mcp"), (("--profile", "chunks"), "/", "/profiles/chunks/mcp")],
)
def test_command_asks_a_deployment_with_its_key(arguments: tuple[str, ...], ending: str, path: str) -> None:
    """The deployment is on this machine, so the proxy of the environment is not asked."""

    def answer(received: Received) -> Response:
        result = {"path": received.target, "key": received.headers["x-api-key"]}
        reply = {"jsonrpc": "2.0", "id": json.loads(received.body)["id"], "result": result}
        return 200, {}, json.dumps(reply).encode()

    with http_server(answer) as url:
        env = {**clean_environment(), "HTTP_PROXY": "http://127.0.0.1:9", "PASSAGE_API_KEY": "secret"}
        sent = f"{json.dumps(message('ping'))}\n"
        done = run(PASSAGE, "mcp", "--url", f"{url}{ending}", *arguments, input=sent, env=env)
    assert json.loads(done.stdout)["result"] == {"path": path, "key": "secret"}
