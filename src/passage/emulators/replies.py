"""Reads and writes JSON as strictly as the emulated services do."""

import json
from contextlib import suppress
from typing import Any, NoReturn

from aiohttp import web
from pydantic_core import from_json


class ApiError(Exception):
    """An error response. The service's error body is built around the message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def json_response(data: object, status: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    """A JSON response. NaN and infinities raise, because they are not JSON."""
    body = json.dumps(data, allow_nan=False, separators=(",", ":")).encode("ascii")
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def parse_json(body: bytes) -> Any:
    """The value in a request body. Raises ValueError for what a strict parser refuses (NaN, bad UTF-8, nothing)."""
    with suppress(ValueError):  # a third of the time; Python's parser then says what is wrong
        return from_json(body, allow_inf_nan=False)
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("recursion limit exceeded") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
