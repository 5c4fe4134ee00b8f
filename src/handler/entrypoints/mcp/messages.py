"""JSON-RPC messages: reads one request or notification, and writes results and errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handler.contracts.fields import read_json
from handler.core.errors import InvalidRequest

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

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
class Message:
    """A request, or a notification, which has no id and gets no answer."""

    method: str
    id: Id = None
    params: Mapping[str, Any] = field(default_factory=dict)
    notification: bool = False


def parsed(text: str) -> Any:
    """A body's JSON value.

    Raises:
        Refused: it is not JSON, or is nested too deep.
    """
    try:
        return read_json(text, "The body")
    except InvalidRequest as error:
        raise Refused(PARSE_ERROR, str(error)) from None


def message(value: Any) -> Message:
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
        raise Refused(INVALID_REQUEST, "'id' must be a string or a number.")
    params = value.get("params", {})
    if not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "'params' must be an object.")
    return Message(value["method"], value.get("id"), params, notification="id" not in value)


def identity(value: Any) -> Id:
    """The id to answer under; None when the message has no valid one."""
    found = value.get("id") if isinstance(value, dict) else None
    return found if _is_id(found) else None


def _is_id(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def answered(number: Id, result: Mapping[str, Any]) -> dict[str, Any]:
    """The response with a result, to the request with the id `number`."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def failed(number: Id, code: int, text: str, data: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The response with an error. See `Refused` for `data`."""
    error = {"code": code, "message": text, **({} if data is None else {"data": data})}
    return {"jsonrpc": "2.0", "id": number, "error": error}
