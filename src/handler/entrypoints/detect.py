"""Which source an event comes from, by its shape alone. Ordered, pure, and nothing is a source by being no other."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from handler.core.errors import InvalidRequest

QUESTION_KEYS = frozenset({"text", "query", "question", "query_text", "query_vector"})
"""The names under which the shipped contracts take a question."""

PROFILE_KEY = "profile"
"""A profile of one's own may take it under another name: such a question says which profile it asks."""


class Source(StrEnum):
    """The value names the source in messages."""

    SQS = "SQS"
    SNS = "SNS"
    EVENT_BRIDGE = "EventBridge"
    ALB = "Application Load Balancer"
    FUNCTION_URL = "Lambda Function URL"
    HTTP_API = "HTTP API"
    REST_API = "REST API"
    DIRECT = "direct invocation"
    DIRECT_BATCH = "direct invocation with a list"


SHAPES = (
    "SQS and SNS records, an EventBridge event (detail-type, detail), an Application Load Balancer request "
    "(requestContext.elb), an API Gateway HTTP API or Lambda Function URL request (requestContext.http), an API "
    "Gateway REST API request (httpMethod and requestContext), a bare question "
    f"({', '.join(sorted(QUESTION_KEYS))}, or any with {PROFILE_KEY}), and a list of bare questions"
)


def _context(event: Any) -> Mapping[str, Any]:
    context = event.get("requestContext") if isinstance(event, Mapping) else None
    return context if isinstance(context, Mapping) else {}


def _records_of(event: Any, key: str, service: str) -> bool:
    """Whether it holds records, all of them of one service: `eventSource` is SQS's spelling, `EventSource` is SNS's."""
    records = event.get("Records") if isinstance(event, Mapping) else None
    return (
        isinstance(records, list)
        and bool(records)
        and all(isinstance(record, Mapping) and record.get(key) == service for record in records)
    )


def _is_event_bridge(event: Any) -> bool:
    return isinstance(event, Mapping) and "detail-type" in event and "detail" in event and "source" in event


def _is_payload_2(event: Any) -> bool:
    return isinstance(_context(event).get("http"), Mapping)


def _is_function_url(event: Any) -> bool:
    return _is_payload_2(event) and ".lambda-url." in str(_context(event).get("domainName"))


def _is_rest_api(event: Any) -> bool:
    return bool(_context(event)) and "httpMethod" in event


def _is_direct(event: Any) -> bool:
    return (
        isinstance(event, Mapping)
        and not _context(event)
        and not {"Records", "detail-type"} & event.keys()
        and bool({PROFILE_KEY, *QUESTION_KEYS} & event.keys())
    )


PREDICATES: tuple[tuple[Source, Callable[[Any], bool]], ...] = (
    (Source.SQS, lambda event: _records_of(event, "eventSource", "aws:sqs")),
    (Source.SNS, lambda event: _records_of(event, "EventSource", "aws:sns")),
    (Source.EVENT_BRIDGE, _is_event_bridge),
    (Source.ALB, lambda event: "elb" in _context(event)),
    (Source.FUNCTION_URL, _is_function_url),
    (Source.HTTP_API, _is_payload_2),
    (Source.REST_API, _is_rest_api),
    (Source.DIRECT, _is_direct),
    (Source.DIRECT_BATCH, lambda event: isinstance(event, list) and any(map(_is_direct, event))),
)


def detect(event: object) -> Source:
    """The source of `event`.

    Raises:
        InvalidRequest: it has no known shape; names the shapes there are.
    """
    for source, matches in PREDICATES:
        if matches(event):
            return source
    raise InvalidRequest(f"The event has no known shape. Known are: {SHAPES}.")
