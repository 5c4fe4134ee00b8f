"""Which source an event comes from, by its shape alone. Ordered, pure, and nothing is a source by being no other."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from handler.core.errors import InvalidRequest

QUESTION_KEYS = frozenset({"text", "query", "question", "query_text"})
"""The names under which the shipped contracts take a question."""


class Source(StrEnum):
    HTTP_API = "HTTP API (payload 2.0)"
    REST_API = "REST API (payload 1.0)"
    DIRECT = "direct invocation"


def _context(event: Mapping[str, Any]) -> Mapping[str, Any]:
    context = event.get("requestContext")
    return context if isinstance(context, Mapping) else {}


def _is_http_api(event: Mapping[str, Any]) -> bool:
    return isinstance(_context(event).get("http"), Mapping)


def _is_rest_api(event: Mapping[str, Any]) -> bool:
    return "httpMethod" in event and bool(_context(event)) and "elb" not in _context(event)


def _is_direct(event: Mapping[str, Any]) -> bool:
    return not _context(event) and "Records" not in event and bool(QUESTION_KEYS & event.keys())


PREDICATES: tuple[tuple[Source, Callable[[Mapping[str, Any]], bool]], ...] = (
    (Source.HTTP_API, _is_http_api),
    (Source.REST_API, _is_rest_api),
    (Source.DIRECT, _is_direct),
)


def detect(event: object) -> Source:
    """The source of `event`.

    Raises:
        InvalidRequest: it has no known shape; names the shapes there are.
    """
    if isinstance(event, Mapping):
        for source, matches in PREDICATES:
            if matches(event):
                return source
    raise InvalidRequest(
        "The event has no known shape. Known are: an API Gateway HTTP API event (requestContext.http), an API "
        "Gateway REST API event (httpMethod and requestContext), and a bare question "
        f"({', '.join(sorted(QUESTION_KEYS))})."
    )
