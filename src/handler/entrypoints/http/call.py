"""A route, the request that its handler gets, and a response as JSON."""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent

from handler.bootstrap.container import Container
from handler.config.profiles import Profile
from handler.contracts.faults import NotJson
from handler.contracts.fields import read_json, read_object
from handler.core.deadline import Deadline
from handler.core.errors import InvalidRequest
from handler.entrypoints.http.gateways import Gateway
from handler.entrypoints.http.status import JSON
from handler.entrypoints.limits import ENVELOPE_BYTES
from handler.service.answering import deadline

ANY_ERROR = (400, 404, 429, 500, 503, 504)
"""The error statuses of a route that asks the services behind the API."""

EXAMPLE = '{"text": "What is a digital twin?"}'

AS_TEXT = frozenset({"query_id", "collection_name", "language", "version"})
"""Parameters that stay text in a query string, like the question."""


@dataclass(frozen=True)
class Call:
    """A request, and the container and the API that it came to.

    Attributes:
        proxy: Powertools' view of the normalised event.
        context: Lambda's; None when there is none.
        parts: the path's, by their names in the route.
    """

    proxy: BaseProxyEvent
    context: Any
    services: Container
    gateway: Gateway
    parts: Mapping[str, str]

    @property
    def profile(self) -> str | None:
        """The profile that the path names, if it names one."""
        return self.parts.get("profile")

    @property
    def headers(self) -> Mapping[str, str]:
        """Looked up without regard to case."""
        return self.proxy.headers

    @property
    def room(self) -> int:
        """The most bytes of a response's body."""
        return self.gateway.response_bytes - ENVELOPE_BYTES

    @cached_property
    def deadline(self) -> Deadline:
        """The same for every step of the request. Raises ConfigurationError: the settings cannot be read."""
        return deadline(self.services.settings, self.context, self.gateway.limit)

    @property
    def parameters(self) -> Mapping[str, str]:
        """The query string's, decoded."""
        named: Mapping[str, str] = self.proxy.raw_event["queryStringParameters"]
        return named

    def flag(self, name: str) -> bool:
        """A parameter that is true or false; without it, false.

        Raises:
            InvalidRequest: it has another value.
        """
        value = self.parameters.get(name, "false")
        if value not in ("true", "false"):
            raise InvalidRequest(f"'{name}' must be true or false.")
        return value == "true"

    def url_fields(self, profile: Profile) -> dict[str, Any]:
        """The fields of the query string. Text fields stay text; others are read as JSON, so that `k=5` is a number.

        Raises:
            InvalidRequest: a value is JSON nested too deep, or a number that is too long.
        """
        as_text = {*profile.query.text.names, *AS_TEXT}
        return {name: value if name in as_text else _literal(value) for name, value in self.parameters.items()}

    def body(self) -> str:
        """The body; without a byte order mark, if the gateway sent it in base64.

        Raises:
            InvalidRequest: it is not base64 or not UTF-8.
        """
        event = self.proxy.raw_event
        text: str = event["body"]
        if not event["isBase64Encoded"]:
            return text
        try:
            return base64.b64decode(text, validate=True).decode("utf-8-sig")
        except (binascii.Error, ValueError):
            raise InvalidRequest("The body is not text: it must be a JSON object encoded in UTF-8.") from None

    def body_fields(self, example: str = EXAMPLE) -> dict[str, Any]:
        """The fields of a JSON body.

        Args:
            example: a right body, for the error about an empty one.

        Raises:
            InvalidRequest: there is none, or it is not base64, UTF-8, JSON or an object; see `read_object`.
        """
        text = self.body()
        if not text.strip():
            raise InvalidRequest(f"The body is empty: it must be a JSON object, as in {example}.")
        return read_object(text, "The body")


def _literal(value: str) -> Any:
    try:
        read = read_json(value, "A parameter")
    except NotJson:
        return value
    return value if read is None else read  # `k=null` is a mistake: a URL omits an absent parameter


class Route(NamedTuple):
    """One method of one path.

    Attributes:
        path: each `{name}` in it is one of the call's parts. Where GET is allowed, HEAD is, too.
        handler: its name is the operation's in the OpenAPI document.
        summary: what it does; `{profile}` stands for the profile's name. "" leaves the route out of the document.
        answer: the answer's schema: `Response` is that of the profile's contract, others are fixed.
        request: the body's schema: `Request` is that of the profile's contract, others are fixed.
        errors: the statuses of its errors.
    """

    method: str
    path: str
    handler: Callable[[Call], Response[str]]
    summary: str = ""
    answer: str = ""
    request: str = ""
    errors: tuple[int, ...] = ANY_ERROR


def json_response(value: Any) -> Response[str]:
    """A 200 with a value as JSON."""
    return Response(200, JSON, json.dumps(value, ensure_ascii=False, allow_nan=False))
