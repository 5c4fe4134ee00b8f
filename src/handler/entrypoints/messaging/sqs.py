"""SQS, standard and FIFO: records of a batch share calls. Each is answered once or returns to the queue.

The partial batch response names the records that return. So the event source must report batch item failures
(FunctionResponseTypes: ReportBatchItemFailures); otherwise Lambda deletes every batch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler import telemetry
from handler.bootstrap.container import Container
from handler.core.deadline import Deadline, running
from handler.core.errors import DeadlineExceeded, InvalidRequest
from handler.entrypoints.messaging.messages import Message, is_final, outcomes, read, reply, usable_id
from handler.service.answering import Outcome, deadline
from handler.service.failures import failure
from handler.service.replies import ReplySink

LEAST_SECONDS = 1.0
"""The least seconds before the deadline to start a batch."""


@dataclass(frozen=True)
class QueueMessage:
    """One of the queue's messages. `group` is a FIFO queue's message group, None in a standard queue."""

    id: str
    group: str | None
    message: Message


def handle(event: Mapping[str, Any], context: Any, services: Container) -> dict[str, Any]:
    """Answer a batch. The response names the records that return to the queue."""
    try:
        records = list(map(_record, event["Records"]))
        returned = _answer(records, services, deadline(services.settings, context), services.reply_sinks)
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


def _answer(
    records: Sequence[QueueMessage], services: Container, until: Deadline, sinks: Sequence[ReplySink]
) -> list[str]:
    """The ids of the records that were not answered."""
    left = until.remaining()
    if left < LEAST_SECONDS:
        return [record.id for record in records]
    # If Lambda stopped the function while a reply is sent, the whole batch would return, including answered records.
    reserve = min(max(sink.seconds for sink in sinks), left / 2)
    last = Deadline(until.at - reserve)
    answered_by = Deadline(last.at - reserve / 3)  # outcomes known by then can still be sent
    answers = outcomes([record.message for record in records], services, answered_by)
    returned: list[str] = []
    stopped: set[str] = set()
    sent: set[str] = set()
    for record, outcome in zip(records, answers, strict=True):
        if record.message.reply_id in sent:
            continue  # a topic may deliver one message twice
        if record.group not in stopped and _settle(record, outcome, services, last, until, sinks):
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
    sinks: Sequence[ReplySink],
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
        for sink in sinks:
            if last.remaining() <= 0:
                raise DeadlineExceeded("Too little time was left to send a reply.", upstream="reply")
            with running(until):
                sink.send(made, group=record.group)
    except Exception as error:  # noqa: BLE001 - a failure must not affect other messages
        failure(error, services.served)
        return False
    return True
