"""A route, the request that its handler gets, and the responses that handlers share."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.utilities.data_classes.common import BaseProxyEvent

from handler.bootstrap.container import Container
from handler.core.deadline import Deadline
from handler.core.errors import InvalidRequest
from handler.entrypoints.http.gateways import Gateway
from handler.entrypoints.http.request import parameters
from handler.entrypoints.http.status import JSON
from handler.entrypoints.limits import ENVELOPE_BYTES
from handler.service.answering import deadline

ANY_ERROR = (400, 404, 429, 500, 503, 504)
"""The error statuses of a route that asks the services behind the API."""


class Call(NamedTuple):
    """A request, and the container and the API that it came to.

    Attributes:
        proxy: Powertools' view of the normalised event.
        context: Lambda's; None when there is none.
    """

    proxy: BaseProxyEvent
    context: Any
    services: Container
    gateway: Gateway

    @property
    def event(self) -> dict[str, Any]:
        """The normalised event."""
        return self.proxy.raw_event

    @property
    def headers(self) -> Mapping[str, str]:
        """Looked up without regard to case."""
        return self.proxy.headers

    @property
    def room(self) -> int:
        """The most bytes of a response's body."""
        return self.gateway.response_bytes - ENVELOPE_BYTES

    def deadline(self) -> Deadline:
        """Raises ConfigurationError: the settings cannot be read."""
        return deadline(self.services.settings, self.context, self.gateway.limit)

    def flag(self, name: str) -> bool:
        """A parameter that is true or false; without it, false.

        Raises:
            InvalidRequest: it has another value.
        """
        value = parameters(self.event).get(name, "false")
        if value not in ("true", "false"):
            raise InvalidRequest(f"'{name}' must be true or false.")
        return value == "true"


class Route(NamedTuple):
    """One method of one path.

    Attributes:
        path: each `{name}` in it is an argument of the handler. Where GET is allowed, HEAD is, too.
        handler: its name is the operation's in the OpenAPI document.
        summary: what it does; `{profile}` stands for the profile's name. "" leaves the route out of the document.
        answer: the answer's schema: `Response` is that of the profile's contract, others are fixed.
        request: the body's schema: `Request` is that of the profile's contract, others are fixed.
        errors: the statuses of its errors.
    """

    method: str
    path: str
    handler: Callable[..., Response[str]]
    summary: str = ""
    answer: str = ""
    request: str = ""
    errors: tuple[int, ...] = ANY_ERROR


def json_response(value: Any) -> Response[str]:
    """A 200 with a value as JSON."""
    return Response(200, JSON, json.dumps(value, ensure_ascii=False, allow_nan=False))
