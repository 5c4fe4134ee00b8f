"""The events that bring messages: a queue's records, also through EventBridge Pipes, notifications and a bus's events.

SQS and a pipe take a partial batch response, which names the records that return to the queue, and delete the others.
So an SQS event source must report batch item failures (FunctionResponseTypes: ReportBatchItemFailures), and what cannot
be named in one is raised for a pipe (EventBridge Pipes, "Batching and concurrency").

SNS and EventBridge invoke the function asynchronously. The reply is the return value, for the function's OnSuccess
destination. A temporary failure is raised: Lambda tries again, and after the last try sends the event to OnFailure.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler import telemetry
from handler.bootstrap.container import Container
from handler.core.deadline import Deadline, within
from handler.core.errors import DeadlineExceeded, InvalidRequest
from handler.entrypoints.detect import Source
from handler.entrypoints.messaging.messages import Message, is_final, outcomes, read, refuse, reply, usable_id
from handler.service.answering import Outcome, deadline
from handler.service.failures import Failure, failure

LEAST_SECONDS = 1.0
"""The least seconds before the deadline to start a batch."""


@dataclass(frozen=True)
class QueueMessage:
    """One of the queue's messages. `group` is a FIFO queue's message group, None in a standard queue."""

    id: str
    group: str | None
    message: Message


def handle_sqs(event: Mapping[str, Any], context: Any, services: Container) -> dict[str, Any]:
    """Answer a batch. The response names the records that return to the queue."""
    try:
        records = list(map(_record, event["Records"]))
        returned = _answer(records, services, deadline(services.settings, context))
    except Exception as error:  # noqa: BLE001 - nothing was sent yet (see `_settle`), so all return
        failure(error, services.served)
        # An id that is not the queue's own makes Lambda return the whole batch (AWS, "Reporting batch item failures").
        returned = [usable_id(record.get("messageId")) or "unknown" for record in event["Records"]]
    if returned:
        # A direct invocation in a queue's shape can have any text there, the question included.
        ids = [identity for identity in returned if telemetry.REQUEST_ID.fullmatch(identity)]
        figures = {"returned": len(returned), "received": len(event["Records"]), "message_ids": ids}
        telemetry.log_notice("none", "messages returned to the queue", figures)
    return {"batchItemFailures": [{"itemIdentifier": identity} for identity in returned]}


def handle_pipe(records: Sequence[Any], context: Any, services: Container) -> dict[str, Any]:
    """Answer a pipe's batch: a queue's records, without an object around them.

    Raises:
        InvalidRequest: a record is not a whole SQS record. A pipe with an input transformer sends such ones.
    """
    if not all(map(_is_whole, records)):
        error = InvalidRequest(
            "A pipe must send SQS records with a 'messageId': use a queue as source, and no transformer."
        )
        raise failure(error, services.served).error
    return handle_sqs({"Records": records}, context, services)


def _is_whole(record: Any) -> bool:
    whole = isinstance(record, Mapping) and record.get("eventSource") == "aws:sqs"
    return whole and usable_id(record.get("messageId")) is not None


def _record(record: Mapping[str, Any]) -> QueueMessage:
    """One record. An unreadable body is refused later, in its message's reply.

    Raises:
        InvalidRequest: it has no id, so it could not be returned to the queue separately.
    """
    identity, attributes = usable_id(record.get("messageId")), record.get("attributes")
    if identity is None:
        raise InvalidRequest("The event is incomplete: a record's 'messageId' must be text.")
    # A standard queue's messages may have groups, too, for fairness. Those have no order.
    group = None
    if str(record.get("eventSourceARN")).endswith(".fifo"):
        group = str(attributes.get("MessageGroupId", "")) if isinstance(attributes, Mapping) else ""
    return QueueMessage(id=identity, group=group, message=read(record.get("body"), identity))


def _answer(records: Sequence[QueueMessage], services: Container, until: Deadline) -> list[str]:
    """The ids of the records that were not answered."""
    left = until.remaining()
    if left < LEAST_SECONDS:
        return [record.id for record in records]
    # If Lambda stopped the function while a reply is sent, the whole batch would return, including answered records.
    reserve = min(max(sink.seconds for sink in services.reply_sinks), left / 2)
    last = Deadline(until.at - reserve)
    answered_by = Deadline(last.at - reserve / 3)  # outcomes known by then can still be sent
    answers = outcomes([record.message for record in records], services, answered_by)
    returned: list[str] = []
    stopped: set[str] = set()
    sent: set[str] = set()
    for record, outcome in zip(records, answers, strict=True):
        if record.message.reply_id in sent:
            continue  # a topic may deliver one message twice
        if record.group not in stopped and _settle(record, outcome, services, last, until):
            sent.add(record.message.reply_id)
            continue
        returned.append(record.id)
        if record.group is not None:
            stopped.add(record.group)  # later records of a group must not be answered before a failed one
    return returned


def _settle(
    record: QueueMessage,
    outcome: Outcome,
    services: Container,
    last: Deadline,
    until: Deadline,
) -> bool:
    """Send the record's answer or refusal. Returns whether it was sent, so that the record need not return.

    Args:
        last: the latest time to start sending.
        until: the latest time to end.
    """
    if not is_final(outcome):
        return False
    try:
        made = reply(record.message, outcome)
        for sink in services.reply_sinks:
            if last.remaining() <= 0:
                raise DeadlineExceeded("Too little time was left to send a reply.", upstream="reply")
            with within(until):
                sink.send(made, group=record.group)
    except Exception as error:  # noqa: BLE001 - a failure must not affect other messages
        failure(error, services.served)
        return False
    return True


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
        message = refuse(InvalidRequest("The event is incomplete: an EventBridge event has an id."), _id_of(context))
    return _replies([message], context, services)[0]


def _notification(record: Mapping[str, Any], context: Any) -> Message:
    sns = record.get("Sns")
    identity = usable_id(sns.get("MessageId")) if isinstance(sns, Mapping) else None
    if not isinstance(sns, Mapping) or identity is None or "Message" not in sns:
        wrong = InvalidRequest("The event is incomplete: an SNS record has Sns with MessageId and Message.")
        return refuse(wrong, _id_of(context))
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
        made.append(json.loads(reply(message, outcome).text))
    return made


HANDLERS: Mapping[Source, Callable[[Any, Any, Container], Any]] = {
    Source.SQS: handle_sqs,
    Source.PIPES: handle_pipe,
    Source.SNS: handle_sns,
    Source.EVENT_BRIDGE: handle_event_bridge,
}
