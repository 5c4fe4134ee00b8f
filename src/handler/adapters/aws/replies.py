"""Sends replies to a queue, a topic or a bus through boto3. Only the settings choose the destination."""

import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

from handler.adapters.aws import client as aws
from handler.core.deadline import at_most, with_one_retry
from handler.core.errors import ConfigurationError, PassageError, UpstreamThrottled, UpstreamUnavailable
from handler.service.replies import Reply

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

CONFIGURATION_CODE = re.compile(
    r"(KMS)?(AccessDenied|Disabled|NotFound)|(AccessDenied|ResourceNotFound|Validation)Exception|AuthorizationError|"
    r"Invalid(Address|Parameter|ParameterValue)|QueueDoesNotExist|AWS\.SimpleQueueService\.NonExistentQueue",
    re.IGNORECASE,
)
"""Error codes of a wrong setting: the destination is missing, or the function may not write to it."""

Send = Callable[[Reply, str | None], None]
Call = Callable[[Reply, str | None], object]
"""Makes one attempt to send. Gives the id that the destination confirms it with."""


class Sink:
    """Sends replies to one destination.

    A reply counts as sent only when the destination confirms it with an id. A proxy or a wrong address may answer
    anything with status 200.

    Args:
        kind: "queue", "topic" or "bus".
        target: its URL, ARN or name.
        idempotency_table: a DynamoDB table that records sent replies, so that none is sent twice.

    Attributes:
        seconds: the most that `send` takes before it gives up.
    """

    def __init__(self, kind: str, target: str, idempotency_table: str | None) -> None:
        self._name = f"{kind} {target}"
        self._call = CALLS[kind](target)
        self._send: Send = self._send_or_retry
        self.seconds = SEND_SECONDS
        if idempotency_table is not None:
            self._send = _once(self._send, target, idempotency_table)
            self.seconds += TABLE_SECONDS

    def send(self, reply: Reply, *, group: str | None) -> None:
        """Send one reply, to a FIFO destination in the FIFO group of the answered message; None for a standard queue.

        Raises:
            UpstreamError: it could not be sent, temporarily.
            ConfigurationError: the destination does not exist, or may not be written to.
        """
        with at_most(self.seconds):
            self._send(reply, group)

    def _send_or_retry(self, reply: Reply, group: str | None) -> None:
        with at_most(SEND_SECONDS) as deadline:
            with_one_retry(lambda: self._attempt(reply, group), deadline, "reply")

    def _attempt(self, reply: Reply, group: str | None) -> None:
        try:
            with at_most(ATTEMPT_SECONDS):
                confirmed = self._call(reply, group)
        except aws.FAILURES as error:
            raise _error_of(self._name, error) from error
        if not confirmed or not isinstance(confirmed, str):
            raise _error_of(self._name, ValueError("the answer does not confirm the reply"))


def _error_of(name: str, error: BaseException) -> PassageError:
    """The core's error for a failed attempt to send to `name`."""
    detail = f"{name}: {error!r}"
    if isinstance(error, ClientError) and CONFIGURATION_CODE.fullmatch(aws.code(error)):
        return ConfigurationError(
            "A reply could not be sent: check that its destination exists and that the function may write to it.",
            upstream="reply",
            detail=detail,
        )
    kind = UpstreamThrottled if isinstance(error, ClientError) and aws.is_throttling(error) else UpstreamUnavailable
    return kind("A reply could not be sent.", upstream="reply", detail=detail)


def _publisher(publish: Callable[..., Any], text: str, **target: str) -> Call:
    """Sends to a queue or a topic, which differ only in boto3's names: of the call, of its text and of its target."""
    is_fifo = all(address.endswith(".fifo") for address in target.values())

    def call(reply: Reply, group: str | None) -> object:
        # A FIFO destination keeps the order within the group, and drops duplicates by the id.
        fifo = {"MessageGroupId": group or reply.id, "MessageDeduplicationId": reply.id} if is_fifo else {}
        answer = publish(**target, **{text: reply.text}, MessageAttributes=_attributes(reply), **fifo)
        return answer.get("MessageId")

    return call


def _bus(name: str) -> Call:
    client = aws.client("events")

    def call(reply: Reply, _: str | None) -> object:
        entry = {"Source": SOURCE, "DetailType": DETAIL_TYPE, "Detail": reply.text, "EventBusName": name}
        (result,) = client.put_events(Entries=[entry])["Entries"]
        if result.get("ErrorCode"):
            refusal = {"Code": str(result["ErrorCode"]), "Message": str(result.get("ErrorMessage"))}
            raise ClientError({"Error": refusal}, "PutEvents")
        return result.get("EventId")

    return call


CALLS: dict[str, Callable[[str], Call]] = {
    "queue": lambda url: _publisher(aws.client("sqs").send_message, "MessageBody", QueueUrl=url),
    "topic": lambda arn: _publisher(aws.client("sns").publish, "Message", TopicArn=arn),
    "bus": _bus,
}


def _attributes(reply: Reply) -> dict[str, Any]:
    """The message attributes, by which a receiver can filter without reading the reply."""
    values = {
        "reply_id": reply.id,
        "correlation_id": reply.correlation_id,
        "profile": reply.profile,
        "status": reply.status,
    }
    return {name: {"DataType": "String", "StringValue": value} for name, value in values.items() if value}


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
                # The table's own error, if there is one; none while another delivery is sending the reply.
                cause = error.__cause__ if isinstance(error.__cause__, ClientError) else error
                raise _error_of(f"table {table}", cause) from error

    return send_once
