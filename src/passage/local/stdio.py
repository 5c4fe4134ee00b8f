"""MCP over stdin and stdout: each line becomes a POST to an MCP endpoint, and each answer a line."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import httpx

from handler.entrypoints.mcp.eras import METHOD_HEADER, NAME_HEADER, VERSION_HEADER, VERSION_KEY, encoded
from handler.entrypoints.mcp.messages import INTERNAL_ERROR, failed, identity
from passage.local.environment import LocalContext
from passage.local.http_event import http_api_event
from passage.local.provider import is_loopback

Post = Callable[[Mapping[str, str], bytes], str]
"""Sends a message with its headers and returns the answer's body, empty for a notification. Raises Unanswered."""

SECONDS = 60.0


class Unanswered(Exception):
    """The endpoint did not answer with an MCP message. The exception's message says why."""


def serve(lines: Iterable[bytes], post: Post, write: Callable[[str], None]) -> None:
    """Answer each line of `lines` until they end. Nothing but messages is written."""
    for line in lines:
        if not line.strip():
            continue
        message = _parsed(line)
        try:
            answer = post(headers(message), line)
        except Unanswered as error:
            answer = json.dumps(failed(identity(message), INTERNAL_ERROR, str(error)))
        is_notification = isinstance(message.get("method"), str) and "id" not in message
        if answer and not is_notification:  # over HTTP, a wrong notification gets a body
            write(f"{answer}\n")


def headers(message: Mapping[str, Any]) -> dict[str, str]:
    """The headers of a message's POST: those that repeat parts of it, for a message that names its revision."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(params, dict) or not isinstance(version, str):
        return {}
    repeated = {VERSION_HEADER: version, METHOD_HEADER: message.get("method"), NAME_HEADER: params.get("name")}
    return {name: encoded(value) for name, value in repeated.items() if isinstance(value, str)}


def _parsed(line: bytes) -> dict[str, Any]:
    """The message, as far as it can be read. The endpoint says what is wrong with it."""
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        return message if isinstance(message, dict) else {}
    return {}


def path(profile: str | None) -> str:
    return "/mcp" if profile is None else f"/profiles/{profile}/mcp"


def in_process(handler: Callable[[Any, Any], Any], path: str) -> Post:
    """Posts to the function in this process."""

    def post(sent: Mapping[str, str], body: bytes) -> str:
        event = http_api_event("POST", path, headers=sent, body=body)
        answer: str = handler(event, LocalContext())["body"]
        return answer

    return post


def client(url: str, named: Mapping[str, str]) -> httpx.Client:
    """A client that sends the headers `named` with each message. A proxy is not asked for a URL on this machine."""
    fixed = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    return httpx.Client(headers={**fixed, **named}, timeout=SECONDS, trust_env=not is_loopback(url))


def over_http(client: httpx.Client, url: str) -> Post:
    """Posts to a deployment."""

    def post(sent: Mapping[str, str], body: bytes) -> str:
        try:
            response = client.post(url, content=body, headers=sent)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unanswered(f"The MCP server cannot be reached ({type(error).__name__}): check --url.") from error
        if not response.content:
            return ""
        with suppress(ValueError):
            answer = response.json()
            if isinstance(answer, dict) and "jsonrpc" in answer:
                return json.dumps(answer)
        raise Unanswered(
            f"The server answered {response.status_code} and no message of MCP: check --url and the API's key."
        )

    return post
