"""A POST to an MCP endpoint: checks the origin, reads one message and answers its method.

The methods are `initialize` and `ping` of the legacy era, `server/discover` of the modern one, and those of tools,
prompts and resources.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.event_handler import Response

from handler.contracts.fields import json_safe, read_json
from handler.core.errors import InvalidRequest, NotFound
from handler.entrypoints.http.call import Call
from handler.entrypoints.http.headers import API_VERSION, ERROR_CODE
from handler.entrypoints.http.mcp import features, protocol
from handler.entrypoints.http.mcp.calls import available_calls
from handler.entrypoints.http.mcp.protocol import Refused, RpcMessage
from handler.entrypoints.http.status import JSON, status
from handler.service.failures import failure

LOOPBACK = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?")

CACHED_MS = 300_000
"""Milliseconds for which a client may keep the list of tools: a deployment may change it."""

CACHED = {"ttlMs": CACHED_MS, "cacheScope": "public"}
CAPABILITIES: dict[str, Any] = {"tools": {}, "prompts": {}, "resources": {}}

LISTS: Mapping[str, tuple[str, Callable[[Call], list[dict[str, Any]]]]] = {
    "tools/list": ("tools", features.list_tools),
    "prompts/list": ("prompts", features.list_prompts),
    "resources/list": ("resources", features.list_resources),
    "resources/templates/list": ("resourceTemplates", lambda _: []),
}
"""Methods that list something: its name in the result, and what lists it."""


def respond(call: Call) -> Response[str]:
    """The response to one request. A notification gets 202 and no body.

    Content-Type and Accept are not read: clients in use send odd ones, and the answer is JSON in any case.
    """
    number: protocol.Id = None
    legacy = False
    try:
        _check_origin(call)
        value = _read_body(call)
        number = protocol.read_id(value)
        message = protocol.read_message(value)
        if message.notification:
            protocol.check_notification(call.headers)
            return Response(202, None, "")
        legacy = not protocol.is_modern(message, call.headers)
        result = _answer_request(message, call, modern=not legacy)
        failed = result.get("_meta", {}).get(ERROR_CODE)  # of a tool
        return _json_response(200, protocol.write_result(number, result), failed)
    except Refused as error:
        kind = NotFound if error.status == 404 else InvalidRequest
        body = protocol.write_error(number, error.code, str(error), error.data)
        # A legacy client takes any other status for a broken connection.
        return _json_response(200 if legacy else error.status, body, kind.code)
    except Exception as error:  # noqa: BLE001 - a setting is wrong, or the path's profile does not exist
        known = failure(error, call.services.served).error
        code = protocol.INVALID_REQUEST if isinstance(known, NotFound) else protocol.INTERNAL_ERROR
        return _json_response(status(known), protocol.write_error(number, code, str(known)), known.code)


def _check_origin(call: Call) -> None:
    """Refuse a page of another origin, as MCP requires against DNS rebinding.

    A request without Origin comes from no page. A page of this machine itself, as MCP Inspector's, rebinds no name.
    """
    origin, allowed = call.headers.get("Origin"), call.services.http_settings.allowed_origins
    if origin is not None and "*" not in allowed and origin not in allowed and not LOOPBACK.fullmatch(origin):
        raise Refused(protocol.INVALID_REQUEST, "This origin is not allowed here (ALLOWED_ORIGINS).", 403)


def _read_body(call: Call) -> Any:
    try:
        return read_json(call.body(), "The body")
    except InvalidRequest as error:
        raise Refused(protocol.PARSE_ERROR, str(error)) from None


def _json_response(code: int, body: Mapping[str, Any], error_code: str | None) -> Response[str]:
    headers = {} if error_code is None else {ERROR_CODE: error_code}
    return Response(code, JSON, json.dumps(json_safe(body), ensure_ascii=False), headers=headers)


def _answer_request(message: RpcMessage, call: Call, *, modern: bool) -> dict[str, Any]:
    """The result of a request.

    Raises:
        Refused: the method or the tool is unknown.
        PassageError: the endpoint's profile does not exist, or a setting is wrong.
    """
    result = _answer_method(message, call, modern=modern)
    if not modern:
        return result
    meta = {**result.get("_meta", {}), protocol.SERVER_KEY: _server(call)}
    return {"resultType": "complete", **result, "_meta": meta}


def _answer_method(message: RpcMessage, call: Call, *, modern: bool) -> dict[str, Any]:
    match message.method:
        case "initialize" if not modern:
            version = protocol.choose_revision(message.params.get("protocolVersion"))
            return {"protocolVersion": version, "serverInfo": _server(call), **_describe(call)}
        case "ping" if not modern:
            return {}
        case "server/discover" if modern:
            return {"supportedVersions": list(protocol.SUPPORTED), **_describe(call), **CACHED}
        case method if method in LISTS:
            name, listed = LISTS[method]
            return {name: listed(call), **(CACHED if modern else {})}
        case method if method in READS:
            read = READS[method](message.params, call)
            return {**read, **(CACHED if modern and method == "resources/read" else {})}
    raise Refused(protocol.METHOD_NOT_FOUND, "There is no such method here.", 404)


def _call_tool(params: Mapping[str, Any], call: Call) -> dict[str, Any]:
    name, arguments = params.get("name"), params.get("arguments")
    known = available_calls(call)
    if not isinstance(name, str) or name not in known:
        raise Refused(protocol.INVALID_PARAMS, f"There is no such tool. The tools are {', '.join(known)}.")
    if not isinstance(arguments, Mapping | None):
        raise Refused(protocol.INVALID_PARAMS, "'arguments' must be an object.")
    return known[name](arguments or {}, call)


READS: Mapping[str, Callable[[Mapping[str, Any], Call], dict[str, Any]]] = {
    "tools/call": _call_tool,
    "prompts/get": features.get_prompt,
    "resources/read": features.read_resource,
}


def _server(call: Call) -> dict[str, str]:
    return {"name": call.services.settings.mcp_name, "version": API_VERSION}


def _describe(call: Call) -> dict[str, Any]:
    call.services.served(call.profile)  # an unknown profile is told at once, not at the first call
    return {
        "capabilities": CAPABILITIES,
        "instructions": f"Finds passages of {features.subject(call)}. Use search_docs with a full question, and cite "
        "the URL of each passage that you use. No results means that the site has no such passage. An error means that "
        "the search failed, not that there is nothing.",
    }
