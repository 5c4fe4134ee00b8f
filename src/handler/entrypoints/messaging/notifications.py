"""SNS and EventBridge: Lambda invokes the function asynchronously and forwards its result or error.

The reply is the return value, for the function's OnSuccess destination. A temporary failure is raised: Lambda tries
again, and after the last try sends the event to the OnFailure destination.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from handler.bootstrap.container import Container
from handler.core.errors import InvalidRequest
from handler.entrypoints.messaging.messages import Message, is_final, outcomes, read, reply, unreadable, usable_id
from handler.service.answering import deadline
from handler.service.failures import Failure


def handle_sns(event: Mapping[str, Any], context: Any, services: Container) -> list[Any]:
    """The replies to a topic's notifications. Lambda sends one at a time, but the event's format allows more.

    Raises:
        PassageError: a notification failed temporarily.
    """
    return _replies([_notification(record, context) for record in event["Records"]], context, services)


def handle_event_bridge(event: Mapping[str, Any], context: Any, services: Container) -> Any:
    """The reply to one event, whose detail is the question.

    Raises:
        PassageError: it failed temporarily.
    """
    identity = usable_id(event.get("id"))
    if identity is not None:
        message = read(event["detail"], identity)
    else:
        message = unreadable(
            InvalidRequest("The event is incomplete: an EventBridge event has an id."), _id_of(context)
        )
    return _replies([message], context, services)[0]


def _notification(record: Mapping[str, Any], context: Any) -> Message:
    sns = record.get("Sns")
    identity = usable_id(sns.get("MessageId")) if isinstance(sns, Mapping) else None
    if not isinstance(sns, Mapping) or identity is None or "Message" not in sns:
        wrong = InvalidRequest("The event is incomplete: an SNS record has Sns with MessageId and Message.")
        return unreadable(wrong, _id_of(context))
    return read(sns["Message"], identity)


def _id_of(context: Any) -> str:
    """Lambda's request id, for an event without an id. It stays the same when Lambda tries again."""
    return str(getattr(context, "aws_request_id", "unknown"))


def _replies(messages: Sequence[Message], context: Any, services: Container) -> list[Any]:
    made = []
    for message, outcome in zip(
        messages, outcomes(messages, services, deadline(services.settings, context)), strict=True
    ):
        if isinstance(outcome, Failure) and not is_final(outcome):
            raise outcome.error
        made.append(reply(message, outcome).body())
    return made
