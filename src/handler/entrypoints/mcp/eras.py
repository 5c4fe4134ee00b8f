"""The protocol's two eras: finds the one that a request belongs to, and checks it by that era's rules.

A legacy client opens with `initialize`. A modern one (revision 2026-07-28) names its revision in every request, in a
header and in `_meta`, and repeats the method and the tool in headers.
"""

import base64
import binascii
from collections.abc import Mapping

from handler.entrypoints.http.headers import MCP_HEADERS
from handler.entrypoints.mcp.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    UNSUPPORTED_VERSION,
    Message,
    Refused,
)

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first. A request without a revision counts as 2025-03-26, which had no header for it."""

SUPPORTED = (MODERN, *LEGACY)

KEYS = "io.modelcontextprotocol/"
VERSION_KEY, CAPABILITIES_KEY, SERVER_KEY = (
    f"{KEYS}{name}" for name in ("protocolVersion", "clientCapabilities", "serverInfo")
)

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = MCP_HEADERS

_BEFORE, _AFTER = "=?base64?", "?="
"""Around a header's value in base64, which is for text other than plain ASCII."""


def negotiated(requested: object) -> str:
    """The revision that `initialize` answers: the requested one, or the newest legacy one."""
    return requested if isinstance(requested, str) and requested in LEGACY else LEGACY[0]


def is_modern(message: Message, headers: Mapping[str, str]) -> bool:
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
            raise _unsupported(header)
    elif named == header and header in LEGACY:
        return False
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if not isinstance(meta, Mapping) or meta.get(key) is None]
    if missing:
        raise Refused(INVALID_PARAMS, f"'params._meta' lacks {' and '.join(missing)}.")
    _same(VERSION_HEADER, header, named, f"params._meta['{VERSION_KEY}']")
    _same(METHOD_HEADER, headers.get(METHOD_HEADER), message.method, "method")
    if message.method == "tools/call":
        _same(NAME_HEADER, _decoded(headers.get(NAME_HEADER)), message.params.get("name"), "params.name")
    if named != MODERN:
        raise _unsupported(header)
    return True


def check_notification(headers: Mapping[str, str]) -> None:
    """Refuse a notification of an unknown revision. Its other headers do not matter, as nothing is done with it."""
    version = headers.get(VERSION_HEADER)
    if version is not None and version not in SUPPORTED:
        raise _unsupported(version)


def _same(name: str, header: str | None, value: object, place: str) -> None:
    if header is None:
        raise Refused(HEADER_MISMATCH, f"The header {name} is missing: it must repeat {place}.")
    if header != value:
        raise Refused(HEADER_MISMATCH, f"The header {name} must repeat {place}, but the two differ.")


def _unsupported(version: str | None) -> Refused:
    data = {"supported": list(SUPPORTED), "requested": version}
    return Refused(
        UNSUPPORTED_VERSION, f"Unsupported protocol version. Supported are {', '.join(SUPPORTED)}.", data=data
    )


def _decoded(value: str | None) -> str | None:
    """A header's value as the client meant it. One in invalid base64 stays as it is, so it equals no tool's name."""
    if value is None or not (value.startswith(_BEFORE) and value.endswith(_AFTER)):
        return value
    try:
        return base64.b64decode(value[len(_BEFORE) : -len(_AFTER)], validate=True).decode()
    except (binascii.Error, ValueError):
        return value


def encoded(value: str) -> str:
    """A header's value for any text: itself if it is plain ASCII, otherwise in base64."""
    if value.isascii() and value.isprintable() and value == value.strip() and not value.startswith(_BEFORE):
        return value
    return f"{_BEFORE}{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}{_AFTER}"
