"""SQS, standard and FIFO: records of a batch share calls; each is answered once, or is back in the queue.

What is back in the queue is named in the partial batch response, so the event source must report batch item failures
(FunctionResponseTypes: ReportBatchItemFailures); without that, Lambda takes every batch for done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler import telemetry
from handler.contracts.base import event_checked
from handler.core.deadline import Deadline
from handler.core.errors import PassageError
from handler.core.ports import ReplySink
from handler.sources.batch import Outcome, answer_all
from handler.sources.messages import Message, is_final, read, reply
from handler.sources.question import Services, failure

LEAST_SECONDS = 1.0
"""What must be left of the deadline to begin with a message: less, and Lambda would cut it off half way."""


@dataclass(frozen=True, slots=True)
class Record:
    """One of the queue's messages. `group` is a FIFO queue's message group, None in a standard queue."""

    id: str
    group: str | None
    message: Message


def handle(event: Mapping[str, Any], context: Any, services: Services) -> dict[str, Any]:
    """Answer a batch; the response names the records that must come again."""
    records = [_record(record) for record in event["Records"]]
    try:
        event_checked(event, _event_model(), "SQS")
        deadline = services.deadline(context, None)
        sinks = services.reply_sinks()
    except Exception as error:  # noqa: BLE001 - nothing was answered, so all of them come again
        failure(error, services)
        return _response([record.id for record in records])
    return _response(_answer(records, services, deadline, sinks))


def _event_model() -> Any:
    from aws_lambda_powertools.utilities.parser.models import SqsModel  # noqa: PLC0415 - only where queues are used

    return SqsModel


def _record(record: Mapping[str, Any]) -> Record:
    attributes = record.get("attributes") or {}
    identity = str(record.get("messageId"))
    fifo = str(record.get("eventSourceARN", "")).endswith(".fifo")
    group = str(attributes.get("MessageGroupId", "")) if fifo else None
    return Record(id=identity, group=group, message=read(record.get("body"), identity))


def _answer(records: Sequence[Record], services: Services, deadline: Deadline, sinks: Sequence[ReplySink]) -> list[str]:
    """The ids of the records that were not answered."""
    if deadline.remaining() < LEAST_SECONDS:
        telemetry.notice("none", "too little time left for the batch", {"returned": len(records)})
        return [record.id for record in records]
    outcomes = _outcomes(records, services, deadline)
    returned: list[str] = []
    stopped: set[str] = set()
    for record in records:
        if record.group in stopped or not _settled(record, outcomes[record.id], services, deadline, sinks):
            returned.append(record.id)
            if record.group is not None:
                stopped.add(record.group)  # what follows in a group must not be answered before what failed in it
    if returned:
        telemetry.notice("none", "messages returned to the queue", {"returned": len(returned), "of": len(records)})
    return returned


def _outcomes(records: Sequence[Record], services: Services, deadline: Deadline) -> dict[str, Outcome]:
    """Each record's outcome by its id; those that hold a question share their calls."""
    readable = [(record.id, record.message.question) for record in records if record.message.question is not None]
    answered = answer_all([question for _, question in readable], services, deadline)
    outcomes: dict[str, Outcome] = dict(zip((identity for identity, _ in readable), answered, strict=True))
    for record in records:
        if record.message.error is not None:
            outcomes[record.id] = failure(record.message.error, services)
    return outcomes


def _settled(
    record: Record, outcome: Outcome, services: Services, deadline: Deadline, sinks: Sequence[ReplySink]
) -> bool:
    """Whether the record's last word was sent: its answer, or that it cannot have one."""
    if not is_final(outcome) or deadline.remaining() <= 0:
        return False
    made = reply(record.message, outcome)
    try:
        for sink in sinks:
            sink.send(made, group=record.group)
    except PassageError as error:
        failure(error, services)
        return False
    return True


def _response(returned: Sequence[str]) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": identity} for identity in returned]}
