"""A POST to an MCP endpoint, of either era: checks the origin, reads one message and answers it."""

import json
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler import Response

from handler.contracts.fields import json_safe
from handler.core.errors import InvalidRequest, NotFound
from handler.entrypoints.http.request import decoded_body
from handler.entrypoints.http.status import JSON, status
from handler.entrypoints.mcp import messages
from handler.entrypoints.mcp.endpoint import Endpoint
from handler.entrypoints.mcp.eras import check_notification, is_modern
from handler.entrypoints.mcp.messages import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR, Refused
from handler.entrypoints.mcp.methods import result
from handler.service.failures import failure


def respond(event: Mapping[str, Any], headers: Mapping[str, str], endpoint: Endpoint) -> Response[str]:
    """The response to one request. A notification gets 202 and no body.

    Content-Type and Accept are not read: clients in use send odd ones, and the answer is JSON in any case.

    Args:
        event: the normalised event.
        headers: looked up without regard to case.
    """
    number: messages.Id = None
    try:
        _check_origin(headers.get("Origin"), endpoint)
        value = messages.parsed(_text(event))
        number = messages.identity(value)
        message = messages.message(value)
        if message.notification:
            check_notification(headers)
            return Response(202, None, "")
        return _answered(message, endpoint, modern=is_modern(message, headers))
    except Refused as error:
        return _json(error.status, messages.failed(number, error.code, str(error), error.data))
    except Exception as error:  # noqa: BLE001 - a setting is wrong, or the path's profile does not exist
        known = failure(error, endpoint.services.served).error
        code = INVALID_REQUEST if isinstance(known, NotFound) else INTERNAL_ERROR
        return _json(status(known), messages.failed(number, code, str(known)))


def _answered(message: messages.Message, endpoint: Endpoint, *, modern: bool) -> Response[str]:
    """The result, or an error of the protocol: a legacy client takes any status but 200 for a broken connection."""
    try:
        return _json(200, messages.answered(message.id, result(message, endpoint, modern=modern)))
    except Refused as error:
        body = messages.failed(message.id, error.code, str(error), error.data)
        return _json(error.status if modern else 200, body)


def _check_origin(origin: str | None, endpoint: Endpoint) -> None:
    """Refuse a page of another origin, as MCP requires against DNS rebinding.

    A request without Origin comes from no page.
    """
    allowed = endpoint.services.http_settings.allowed_origins
    if origin is not None and "*" not in allowed and origin not in allowed:
        raise Refused(INVALID_REQUEST, "This origin is not allowed here (ALLOWED_ORIGINS).", 403)


def _text(event: Mapping[str, Any]) -> str:
    try:
        return decoded_body(event) if event["isBase64Encoded"] else str(event["body"])
    except InvalidRequest as error:
        raise Refused(PARSE_ERROR, str(error)) from None


def _json(code: int, body: Mapping[str, Any]) -> Response[str]:
    return Response(code, JSON, json.dumps(json_safe(body), ensure_ascii=False))
