"""Which event source an event comes from, by its shape alone. A direct question is a positive match, never the rest."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from handler.core.errors import InvalidRequest

QUESTION_KEYS = frozenset({"text", "query", "question", "query_text", "query_vector"})
"""The names under which the shipped contracts take a question."""

PROFILE_KEY = "profile"
"""A profile of one's own may take the question under another name; such an event names its profile."""


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


def detect(event: object) -> Source:
    """The source of `event`.

    Raises:
        InvalidRequest: it has no known shape; names the shapes there are.
    """
    source = None
    if isinstance(event, list):
        source = Source.DIRECT_BATCH if any(map(_is_question, event)) else None
    elif isinstance(event, Mapping):
        source = _message(event) or _http(event) or (Source.DIRECT if _is_question(event) else None)
    if source is None:
        raise InvalidRequest(f"The event has no known shape. Known are: {SHAPES}.")
    return source


def _message(event: Mapping[str, Any]) -> Source | None:
    """Records of a queue or a topic, or an event of a bus. What a sender puts beside them does not count."""
    if "Records" in event:
        if _records_of(event, "eventSource", "aws:sqs"):
            return Source.SQS
        if _records_of(event, "EventSource", "aws:sns"):
            return Source.SNS
    return Source.EVENT_BRIDGE if event.keys() >= {"detail-type", "detail", "source"} else None


def _http(event: Mapping[str, Any]) -> Source | None:
    """An HTTP request, by what its API puts into `requestContext`."""
    context = event.get("requestContext")
    if not isinstance(context, Mapping):
        return None
    if "elb" in context:
        return Source.ALB
    if isinstance(context.get("http"), Mapping):
        return Source.FUNCTION_URL if ".lambda-url." in str(context.get("domainName")) else Source.HTTP_API
    return Source.REST_API if context and "httpMethod" in event else None


def _records_of(event: Mapping[str, Any], key: str, service: str) -> bool:
    """Whether the event holds records, all of one service: SQS spells its key `eventSource`, SNS `EventSource`."""
    records = event.get("Records")
    return (
        isinstance(records, list)
        and bool(records)
        and all(isinstance(record, Mapping) and record.get(key) == service for record in records)
    )


def _is_question(event: object) -> bool:
    """Whether it is a bare question: one of the known keys, and nothing of an event source."""
    if not isinstance(event, Mapping) or event.keys() & {"Records", "detail-type"}:
        return False
    context = event.get("requestContext")
    return not (isinstance(context, Mapping) and context) and bool({PROFILE_KEY, *QUESTION_KEYS} & event.keys())
