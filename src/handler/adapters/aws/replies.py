"""Sends replies to a queue, a topic or a bus through boto3. Only the settings choose the destination."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

from handler.adapters.aws import client as aws
from handler.core.deadline import at_most, with_one_retry
from handler.core.errors import ConfigurationError, PassageError, UpstreamThrottled, UpstreamUnavailable
from handler.service.replies import Reply, ReplySink

SOURCE = "passage"
DETAIL_TYPE = "Passage Reply"

SEND_SECONDS = 6.0
"""The most seconds to send a reply: two attempts, and up to a second between them. If it cannot be sent, its message
returns to the queue."""

ATTEMPT_SECONDS = 2.5
"""The most seconds for one attempt, however slowly the answer arrives."""

TABLE_SECONDS = 4.0
"""The most seconds for two writes to the table: one before a reply is sent, one after."""

TABLE_WAIT = 1.0
"""The most seconds for one wait for the table."""

REMEMBERED_SECONDS = 14 * 24 * 3600
"""SQS' longest message retention."""

CONFIGURATION_CODES = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "AWS.SimpleQueueService.NonExistentQueue",
        "InvalidAddress",
        "InvalidParameter",
        "InvalidParameterValue",
        "KMSAccessDenied",
        "KMSDisabled",
        "KMSNotFound",
        "KmsAccessDenied",
        "KmsDisabled",
        "KmsNotFound",
        "NotFound",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
        "ValidationException",
    }
)
"""Error codes of a wrong setting: the destination is missing, or the function may not write to it."""

Send = Callable[[Reply, str | None], None]
Call = Callable[[Reply, str | None], str | None]
"""Makes one attempt to send. Gives the id that the destination confirms it with."""


def sink(kind: str, target: str, idempotency_table: str | None) -> ReplySink:
    """The sink that sends replies to `target`.

    Args:
        kind: "queue", "topic" or "bus".
        idempotency_table: a DynamoDB table that records sent replies, so that none is sent twice.
    """
    send = _sender(f"{kind} {target}", CALLS[kind](target))
    if idempotency_table is None:
        return _Sink(send, SEND_SECONDS)
    return _Sink(_once(send, target, idempotency_table), SEND_SECONDS + TABLE_SECONDS)


@dataclass(frozen=True)
class _Sink:
    """See `handler.service.replies.ReplySink`."""

    _send: Send
    seconds: float

    def send(self, reply: Reply, *, group: str | None) -> None:
        with at_most(self.seconds):
            self._send(reply, group)


def _sender(name: str, call: Call) -> Send:
    """Sends by `call`, and once more after a temporary failure.

    A reply counts as sent only when the destination confirms it with an id. A proxy or a wrong address may answer
    anything with status 200.

    Args:
        name: the destination's, for the log.
    """

    def attempt(reply: Reply, group: str | None) -> None:
        try:
            with at_most(ATTEMPT_SECONDS):
                confirmed = call(reply, group)
        except aws.FAILURES as error:
            raise _error_of(name, error) from error
        if not confirmed:
            raise _error_of(name, ValueError("the answer does not confirm the reply"))

    def send(reply: Reply, group: str | None) -> None:
        with at_most(SEND_SECONDS) as deadline:
            with_one_retry(lambda: attempt(reply, group), deadline, "reply")

    return send


def _error_of(name: str, error: Exception) -> PassageError:
    code = aws.code(error) if isinstance(error, ClientError) else ""
    detail = f"{name}: {error!r}"
    if code in CONFIGURATION_CODES:
        return ConfigurationError(
            "A reply could not be sent: check that its destination exists and that the function may write to it.",
            upstream="reply",
            detail=detail,
        )
    kind = UpstreamThrottled if code in aws.BUSY else UpstreamUnavailable
    return kind("A reply could not be sent.", upstream="reply", detail=detail)


def _publisher(service: str, operation: str, target: str, text: str) -> Callable[[str], Call]:
    """A function that sends to a queue or a topic. The two differ only in boto3's names.

    Args:
        operation, target, text: boto3's names of the call, its destination and its text.
    """

    def make(address: str) -> Call:
        publish = getattr(aws.client(service), operation)

        def call(reply: Reply, group: str | None) -> str | None:
            fifo = _fifo(reply, group) if address.endswith(".fifo") else {}
            answer = publish(**{target: address, text: reply.text}, MessageAttributes=_attributes(reply), **fifo)
            return _text(answer.get("MessageId"))

        return call

    return make


def _bus(name: str) -> Call:
    client = aws.client("events")

    def call(reply: Reply, _: str | None) -> str | None:
        entry = {"Source": SOURCE, "DetailType": DETAIL_TYPE, "Detail": reply.text, "EventBusName": name}
        (result,) = client.put_events(Entries=[entry])["Entries"]
        if result.get("ErrorCode"):
            raise ClientError(
                {"Error": {"Code": str(result["ErrorCode"]), "Message": str(result.get("ErrorMessage"))}}, "PutEvents"
            )
        return _text(result.get("EventId"))

    return call


CALLS: dict[str, Callable[[str], Call]] = {
    "queue": _publisher("sqs", "send_message", "QueueUrl", "MessageBody"),
    "topic": _publisher("sns", "publish", "TopicArn", "Message"),
    "bus": _bus,
}


def _text(identity: object) -> str | None:
    return identity if isinstance(identity, str) else None


def _attributes(reply: Reply) -> dict[str, Any]:
    """The message attributes, by which a receiver can filter without reading the reply."""
    values = {
        "reply_id": reply.id,
        "correlation_id": reply.correlation_id,
        "profile": reply.profile,
        "status": reply.status,
    }
    return {name: {"DataType": "String", "StringValue": value} for name, value in values.items() if value}


def _fifo(reply: Reply, group: str | None) -> dict[str, str]:
    """For a FIFO destination: the group, whose order it keeps, and the id by which it drops duplicates."""
    return {"MessageGroupId": group or reply.id, "MessageDeduplicationId": reply.id}


def _once(send: Send, target: str, table: str) -> Send:
    """Wrap `send` so that it skips a reply that Powertools' idempotency table records as sent."""
    from aws_lambda_powertools.utilities.idempotency import (  # noqa: PLC0415 - an option, and loads much
        DynamoDBPersistenceLayer,
        IdempotencyConfig,
        idempotent_function,
    )
    from aws_lambda_powertools.utilities.idempotency.exceptions import BaseError  # noqa: PLC0415 - see above

    # A stub of Lambda's context: after that time, an unfinished attempt no longer counts as running, and the next
    # delivery may send the reply. Without it, a container that dies would block the reply for ever.
    allowed_ms = round((SEND_SECONDS + TABLE_SECONDS) * 1000)
    context: Any = SimpleNamespace(get_remaining_time_in_millis=lambda: allowed_ms)
    config = IdempotencyConfig(expires_after_seconds=REMEMBERED_SECONDS, lambda_context=context)

    @idempotent_function(  # type: ignore[untyped-decorator]  # Powertools publishes no type for it
        data_keyword_argument="key",
        persistence_store=DynamoDBPersistenceLayer(
            table_name=table, boto3_client=aws.client("dynamodb", longest_wait=TABLE_WAIT)
        ),
        config=config,
        key_prefix="passage-reply",
    )
    def sent(*, key: str, reply: Reply, group: str | None, done: list[str]) -> None:
        send(reply, group)
        done.append(key)

    def send_once(reply: Reply, group: str | None) -> None:
        done: list[str] = []
        try:
            sent(key=json.dumps([target, reply.id]), reply=reply, group=group, done=done)
        except BaseError as error:
            if not done:  # the reply was sent though it is not recorded: its message need not come again
                raise _not_recorded(table, error) from error

    return send_once


def _not_recorded(table: str, error: Exception) -> PassageError:
    """The error for a table that could not be read or written, or for a reply that another delivery is sending."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ClientError):
        cause = cause.__cause__
    return _error_of(f"table {table}", cause or error)
