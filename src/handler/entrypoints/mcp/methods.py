"""The protocol's methods: `initialize` and `ping` of the legacy era, `server/discover` of the modern one, and tools."""

from collections.abc import Mapping
from typing import Any

from handler.entrypoints.http.headers import API_VERSION
from handler.entrypoints.mcp.calls import calls
from handler.entrypoints.mcp.endpoint import Endpoint
from handler.entrypoints.mcp.eras import SERVER_KEY, SUPPORTED, negotiated
from handler.entrypoints.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, Message, Refused
from handler.entrypoints.mcp.tools import subject, tools

CACHED_MS = 300_000
"""Milliseconds for which a client may keep the list of tools: a deployment may change it."""

CACHED = {"ttlMs": CACHED_MS, "cacheScope": "public"}
CAPABILITIES: dict[str, Any] = {"tools": {}}


def result(message: Message, endpoint: Endpoint, *, modern: bool) -> dict[str, Any]:
    """The result of a request.

    Raises:
        Refused: the method or the tool is unknown.
        PassageError: the endpoint's profile does not exist, or a setting is wrong.
    """
    if not modern:
        return _result(message, endpoint, modern=False)
    found = _result(message, endpoint, modern=True)
    return {"resultType": "complete", **found, "_meta": {SERVER_KEY: _server(endpoint)}}


def _result(message: Message, endpoint: Endpoint, *, modern: bool) -> dict[str, Any]:
    match message.method:
        case "initialize" if not modern:
            version = negotiated(message.params.get("protocolVersion"))
            return {"protocolVersion": version, "serverInfo": _server(endpoint), **_about(endpoint)}
        case "ping" if not modern:
            return {}
        case "server/discover" if modern:
            return {"supportedVersions": list(SUPPORTED), **_about(endpoint), **CACHED}
        case "tools/list":
            return {"tools": tools(endpoint), **(CACHED if modern else {})}
        case "tools/call":
            return _called(message.params, endpoint)
    raise Refused(METHOD_NOT_FOUND, "There is no such method here.", 404)


def _called(params: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    name, arguments = params.get("name"), params.get("arguments")
    known = calls(endpoint)
    if not isinstance(name, str) or name not in known:
        raise Refused(INVALID_PARAMS, f"There is no such tool. The tools are {', '.join(known)}.")
    if not isinstance(arguments, Mapping | None):
        raise Refused(INVALID_PARAMS, "'arguments' must be an object.")
    return known[name](arguments or {}, endpoint)


def _server(endpoint: Endpoint) -> dict[str, str]:
    return {"name": endpoint.services.settings.mcp_name, "version": API_VERSION}


def _about(endpoint: Endpoint) -> dict[str, Any]:
    endpoint.services.served(endpoint.profile)  # an unknown profile is told at once, not at the first call
    return {
        "capabilities": CAPABILITIES,
        "instructions": f"Finds passages of {subject(endpoint)}. Use search_docs with a full question, and cite the "
        "URL of each passage that you use. No results means that the site has no such passage. An error means that the "
        "search failed, not that there is nothing.",
    }
