"""Detects an event's source by its shape; AgentCore Gateway's only by Lambda's context.

A direct question is a positive match, not the default.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from handler.core.errors import InvalidRequest

QUESTION_KEYS = frozenset({"text", "query", "question", "query_text", "query_vector"})
"""The field names of a question in the shipped contracts."""

PROFILE_KEY = "profile"
"""A custom profile may use another name for the question. Such an event must name its profile."""

HEARTBEAT_KEY = "heartbeat"
"""The only key of a heartbeat. Its value is the question."""


class Source(StrEnum):
    """Each value is the source's name in messages."""

    AGENT_CORE = "AgentCore Gateway"
    BEDROCK_AGENT = "Bedrock agent"
    PIPES = "EventBridge Pipes"
    SQS = "SQS"
    SNS = "SNS"
    EVENT_BRIDGE = "EventBridge"
    ALB = "Application Load Balancer"
    FUNCTION_URL = "Lambda Function URL"
    HTTP_API = "HTTP API"
    REST_API = "REST API"
    HEARTBEAT = "heartbeat"
    DIRECT = "direct invocation"
    DIRECT_BATCH = "direct invocation with a list"


SHAPES = (
    "SQS and SNS records, a list of SQS records (EventBridge Pipes), a Bedrock agent's call (messageVersion, agent and "
    "actionGroup), an EventBridge event (detail-type, detail), an Application Load Balancer request "
    "(requestContext.elb), an API Gateway HTTP API or Lambda Function URL request (requestContext.http), an API "
    "Gateway REST API request (httpMethod and requestContext), a bare question "
    f"({', '.join(sorted(QUESTION_KEYS))}, or any with {PROFILE_KEY}), a list of bare questions, and the deployment's "
    f"own question ({HEARTBEAT_KEY} alone)"
)

TOOL_NAME = "bedrockAgentCoreToolName"
"""The key of the client context under which AgentCore Gateway names the tool (AgentCore, "Lambda function targets")."""


def tool_name(context: object) -> str | None:
    """The tool that AgentCore Gateway calls, without its target's name; None for any other caller.

    Args:
        context: Lambda's. The gateway's event is the tool's arguments alone, so only the context tells.
    """
    custom = getattr(getattr(context, "client_context", None), "custom", None)
    name = custom.get(TOOL_NAME) if isinstance(custom, Mapping) else None
    return name.rpartition("___")[2] if isinstance(name, str) else None


def detect(event: object, context: object = None) -> Source:
    """The source of `event`.

    Args:
        context: Lambda's, which alone tells AgentCore Gateway's calls; None when there is none.

    Raises:
        InvalidRequest: it has no known shape; lists the known ones.
    """
    source = None
    if tool_name(context) is not None:
        source = Source.AGENT_CORE
    elif isinstance(event, list):
        source = _list(event)
    elif isinstance(event, Mapping):
        if _is_authorizer(event):
            raise InvalidRequest("The event is for an API Gateway authorizer, and Passage is not one.")
        source = _agent(event) or _message(event) or _http(event) or _question_or_heartbeat(event)
    if source is None:
        raise InvalidRequest(f"The event has no known shape. The known shapes are: {SHAPES}.")
    return source


def reads_no_answer(event: object) -> bool:
    """Whether a service of AWS sent the event and takes any answer for success: a stream, S3, Kafka and the like.

    Such a service names itself in the event or in each record. It tries again, or reports, only what is raised.
    """
    if not isinstance(event, Mapping):
        return False
    records = event.get("Records")
    named = [event, *(records if isinstance(records, list) else ())]
    keys = ("eventSource", "EventSource")
    return any(isinstance(each, Mapping) and str(each.get(key)).startswith("aws:") for each in named for key in keys)


def _list(event: list[Any]) -> Source | None:
    """Records, which a pipe sends without an object around them, or direct questions.

    Records of another service than SQS count as a pipe's too: it takes any returned value for success and deletes them.
    """
    if any(isinstance(item, Mapping) and "eventSource" in item for item in event):
        return Source.PIPES
    return Source.DIRECT_BATCH if any(map(_is_question, event)) else None


def _is_authorizer(event: Mapping[str, Any]) -> bool:
    """An API Gateway authorizer's event: it holds the whole request to decide on, and looks like one otherwise."""
    return event.get("type") in ("TOKEN", "REQUEST") and bool({"methodArn", "routeArn"} & event.keys())


def _agent(event: Mapping[str, Any]) -> Source | None:
    """An action group's call (Bedrock, "Lambda input event"): by API path or by function."""
    named = isinstance(event.get("actionGroup"), str) and isinstance(event.get("agent"), Mapping)
    called = isinstance(event.get("apiPath"), str) or isinstance(event.get("function"), str)
    return Source.BEDROCK_AGENT if named and called and "messageVersion" in event else None


def _message(event: Mapping[str, Any]) -> Source | None:
    """The source of a queue's or topic's records, or a bus's event. Other fields are ignored."""
    records = event.get("Records")
    if isinstance(records, list) and records:
        for key, service, source in (("eventSource", "aws:sqs", Source.SQS), ("EventSource", "aws:sns", Source.SNS)):
            if all(isinstance(record, Mapping) and record.get(key) == service for record in records):
                return source
    return Source.EVENT_BRIDGE if event.keys() >= {"detail-type", "detail", "source"} else None


def _http(event: Mapping[str, Any]) -> Source | None:
    """The kind of API of an HTTP request, recognised by its `requestContext`."""
    context = event.get("requestContext")
    if not isinstance(context, Mapping):
        return None
    if "elb" in context:
        return Source.ALB
    if isinstance(context.get("http"), Mapping):
        return Source.FUNCTION_URL if ".lambda-url." in str(context.get("domainName")) else Source.HTTP_API
    return Source.REST_API if context and "httpMethod" in event else None


def _question_or_heartbeat(event: Mapping[str, Any]) -> Source | None:
    """An event without an envelope: a question, or the heartbeat."""
    if event.keys() == {HEARTBEAT_KEY} and isinstance(event[HEARTBEAT_KEY], str):
        return Source.HEARTBEAT
    return Source.DIRECT if _is_question(event) else None


def _is_question(event: object) -> bool:
    """Whether it is a bare question: it has one of the known keys, and no key of an event source."""
    if not isinstance(event, Mapping) or event.keys() & {"Records", "detail-type"}:
        return False
    context = event.get("requestContext")
    return not (isinstance(context, Mapping) and context) and bool({PROFILE_KEY, *QUESTION_KEYS} & event.keys())
