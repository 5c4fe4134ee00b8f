"""MCP over stdin and stdout: each line becomes a POST to an MCP endpoint, and each answer a line."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from handler.entrypoints.http.mcp.protocol import (
    INTERNAL_ERROR,
    METHOD_HEADER,
    NAME_HEADER,
    NAMED,
    VERSION_HEADER,
    VERSION_KEY,
    encode_header,
    read_id,
    write_error,
)
from passage.api import Api, Request, Unreachable

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def serve(lines: Iterable[bytes], api: Api, path: str, write: Callable[[str], None]) -> None:
    """Answer each line of `lines` until they end. Nothing but messages is written.

    Args:
        path: of the MCP endpoint; see `path`.
    """
    for line in lines:
        if not line.strip():
            continue
        message = _parse(line)
        is_notification = isinstance(message.get("method"), str) and "id" not in message
        answer = _answer(api, Request("POST", path, headers={**HEADERS, **headers(message)}, body=line), message)
        if answer and not is_notification:  # over HTTP, a wrong notification gets a body
            write(f"{answer}\n")


def _answer(api: Api, request: Request, message: Mapping[str, Any]) -> str:
    """The endpoint's answer on one line, empty for a notification; an MCP error where it gives none."""
    try:
        reply = api.ask(request)
    except Unreachable as error:
        return json.dumps(write_error(read_id(message), INTERNAL_ERROR, f"{error}: check --url."))
    answer = reply.json()
    if isinstance(answer, dict) and "jsonrpc" in answer:
        return json.dumps(answer)
    if not reply.text:
        return ""
    why = f"The server answered {reply.status} and no message of MCP: check --url and the API's key."
    return json.dumps(write_error(read_id(message), INTERNAL_ERROR, why))


def headers(message: Mapping[str, Any]) -> dict[str, str]:
    """The headers of a message's POST: those that repeat parts of it, for a message that names its revision."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    if not isinstance(params, dict) or not isinstance(version, str):
        return {}
    repeated = {
        VERSION_HEADER: version,
        METHOD_HEADER: message.get("method"),
        NAME_HEADER: params.get(NAMED.get(str(message.get("method")), "")),
    }
    return {name: encode_header(value) for name, value in repeated.items() if isinstance(value, str)}


def _parse(line: bytes) -> dict[str, Any]:
    """The message, as far as it can be read. The endpoint says what is wrong with it."""
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
        return message if isinstance(message, dict) else {}
    return {}


def path(profile: str | None) -> str:
    """The path of the MCP endpoint: of one profile, or of the default one."""
    return "/mcp" if profile is None else f"/profiles/{profile}/mcp"
