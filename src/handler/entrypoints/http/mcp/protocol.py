"""MCP as messages: JSON-RPC requests, results and errors, and the rules of the protocol's revisions.

A legacy client opens with `initialize`. A modern one (revision 2026-07-28) names its revision in every request, in a
header and in `_meta`, and repeats the method and the tool in headers.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from handler.entrypoints.http.headers import MCP_HEADERS

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first. A request without a revision counts as 2025-03-26, which had no header for it."""

SUPPORTED = (MODERN, *LEGACY)

KEYS = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY, SERVER_KEY = (
    f"{KEYS}{name}" for name in ("protocolVersion", "clientCapabilities", "serverInfo")
)

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = MCP_HEADERS

NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Methods with the parameter that the header Mcp-Name repeats."""

ID_CHARACTERS = 256
"""The most characters of a request's id, which the answer repeats."""

_BEFORE, _AFTER = "=?base64?", "?="
"""Around a header's value in base64, which is for text other than plain ASCII."""

Id = str | int | float | None


class Refused(Exception):
    """A message that gets a JSON-RPC error.

    Args:
        status: the HTTP status where the protocol asks for one.
        data: facts for the client's program.
    """

    def __init__(self, code: int, message: str, status: int = 400, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.data = data


@dataclass(frozen=True)
class RpcMessage:
    """A request, or a notification, which has no id and gets no answer."""

    method: str
    params: Mapping[str, Any]
    notification: bool


def read_message(value: Any) -> RpcMessage:
    """One request or notification.

    Raises:
        Refused: the value is a batch, a response or no message at all.
    """
    if isinstance(value, list):
        raise Refused(INVALID_REQUEST, "The body is a batch: send one message in each request.")
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or not isinstance(value.get("method"), str):
        raise Refused(
            INVALID_REQUEST, "The body must be a JSON-RPC 2.0 request or notification: an object with a method."
        )
    if "id" in value and not _is_id(value["id"]):
        raise Refused(INVALID_REQUEST, f"'id' must be a number, or a string of at most {ID_CHARACTERS} characters.")
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "'params' must be an object.")
    return RpcMessage(value["method"], params, notification="id" not in value)


def read_id(value: Any) -> Id:
    """The id to answer under; None when the message has no valid one."""
    number = value.get("id") if isinstance(value, dict) else None
    return number if _is_id(number) else None


def _is_id(value: object) -> bool:
    """Whether a value is a text or a number that the answer can repeat: JSON has no infinite one."""
    if isinstance(value, str):
        return len(value) <= ID_CHARACTERS
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))


def write_result(number: Id, result: Mapping[str, Any]) -> dict[str, Any]:
    """The response with a result, to the request with the id `number`."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def write_error(number: Id, code: int, text: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The response with an error. See `Refused` for `data`."""
    error = {"code": code, "message": text, **({} if data is None else {"data": data})}
    return {"jsonrpc": "2.0", "id": number, "error": error}


def choose_revision(requested: object) -> str:
    """The revision that `initialize` answers: the requested one, or the newest legacy one."""
    return requested if isinstance(requested, str) and requested in LEGACY else LEGACY[0]


def is_modern(message: RpcMessage, headers: Mapping[str, str]) -> bool:
    """Whether a request belongs to the modern era.

    Args:
        headers: looked up without regard to case.

    Raises:
        Refused: the revision is unknown, a required header or key is missing, or headers and body differ.
    """
    meta = message.params.get("_meta")
    named = meta.get(VERSION_KEY) if isinstance(meta, Mapping) else None
    header = headers.get(VERSION_HEADER)
    if named is None:
        if header is None or header in LEGACY or message.method == "initialize":
            return False
        if header != MODERN:
            raise _unsupported_version(header)
    elif named == header and header in LEGACY:
        return False
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if not isinstance(meta, Mapping) or meta.get(key) is None]
    if missing:
        raise Refused(INVALID_PARAMS, f"'params._meta' lacks {' and '.join(missing)}.")
    _check_repeated(VERSION_HEADER, header, named, f"params._meta['{VERSION_KEY}']")
    _check_repeated(METHOD_HEADER, headers.get(METHOD_HEADER), message.method, "method")
    key = NAMED.get(message.method)
    if key is not None:
        _check_repeated(NAME_HEADER, decode_header(headers.get(NAME_HEADER)), message.params.get(key), f"params.{key}")
    if named != MODERN:
        raise _unsupported_version(header)
    return True


def check_notification(headers: Mapping[str, str]) -> None:
    """Refuse a notification of an unknown revision. Its other headers do not matter, as nothing is done with it."""
    version = headers.get(VERSION_HEADER)
    if version is not None and version not in SUPPORTED:
        raise _unsupported_version(version)


def _check_repeated(name: str, header: str | None, value: object, place: str) -> None:
    if header is None:
        raise Refused(HEADER_MISMATCH, f"The header {name} is missing: it must repeat {place}.")
    if header != value:
        raise Refused(HEADER_MISMATCH, f"The header {name} must repeat {place}, but the two differ.")


def _unsupported_version(version: str | None) -> Refused:
    data = {"supported": list(SUPPORTED), "requested": version}
    return Refused(
        UNSUPPORTED_VERSION, f"Unsupported protocol version. Supported are {', '.join(SUPPORTED)}.", data=data
    )


def decode_header(value: str | None) -> str | None:
    """A header's value as the client meant it. One in invalid base64 stays as it is, so it equals no tool's name."""
    if value is None or not (value.startswith(_BEFORE) and value.endswith(_AFTER)):
        return value
    try:
        return base64.b64decode(value[len(_BEFORE) : -len(_AFTER)], validate=True).decode()
    except (binascii.Error, ValueError):
        return value


def encode_header(value: str) -> str:
    """A header's value for any text: itself if it is plain ASCII, otherwise in base64."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith(_BEFORE):
        return value
    return f"{_BEFORE}{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}{_AFTER}"
