"""Sends replies to a queue, a topic or a bus through boto3. Only the settings choose the destination."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from handler.adapters.aws import client as aws
from handler.core.errors import ConfigurationError, PassageError, UpstreamThrottled, UpstreamUnavailable
from handler.service.replies import Reply, ReplySink

SOURCE = "passage"
DETAIL_TYPE = "Passage Reply"

CONFIG = Config(connect_timeout=1, read_timeout=1.5, retries={"total_max_attempts": 2, "mode": "standard"})
"""Short timeouts: if a reply cannot be sent, its message returns to the queue. boto3's defaults take minutes."""

SEND_SECONDS = 6.0
"""The most seconds for a call with `CONFIG`: two attempts, and up to a second between them."""

TABLE_CONFIG = Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 1, "mode": "standard"})

TABLE_SECONDS = 4.0
"""The most seconds for two writes to the table with `TABLE_CONFIG`: one before a reply is sent, one after."""

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


def sink(kind: str, target: str, idempotency_table: str | None) -> ReplySink:
    """The sink that sends replies to `target`.

    Args:
        kind: "queue", "topic" or "bus".
        idempotency_table: a DynamoDB table that records sent replies, so that none is sent twice.
    """
    name, send = f"{kind} {target}", SENDERS[kind](target)
    if idempotency_table is None:
        return _Sink(name, send, SEND_SECONDS)
    return _Sink(name, _once(send, target, idempotency_table), SEND_SECONDS + TABLE_SECONDS)


class _Sink:
    """See `handler.service.replies.ReplySink`."""

    def __init__(self, name: str, send: Send, seconds: float) -> None:
        self._name = name
        self._send = send
        self._seconds = seconds

    @property
    def seconds(self) -> float:
        return self._seconds

    def send(self, reply: Reply, *, group: str | None) -> None:
        try:
            self._send(reply, group)
        except (ClientError, BotoCoreError, _NotRecorded) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> PassageError:
        refusal = next((each for each in _causes(error) if isinstance(each, ClientError)), None)
        code = aws.code(refusal) if refusal else ""
        detail = f"{self._name}: {error}"
        if code in CONFIGURATION_CODES:
            return ConfigurationError(
                "A reply could not be sent: check that its destination exists and that the function may write to it.",
                upstream="reply",
                detail=detail,
            )
        kind = UpstreamThrottled if code in aws.BUSY else UpstreamUnavailable
        return kind("A reply could not be sent.", upstream="reply", detail=detail)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _published(service: str, operation: str, target: str, text: str) -> Callable[[str], Send]:
    """A function that sends to a queue or a topic. The two differ only in boto3's names.

    Args:
        operation, target, text: boto3's names of the call, its destination and its text.
    """

    def make(address: str) -> Send:
        call = getattr(boto3.client(service, config=CONFIG), operation)

        def send(reply: Reply, group: str | None) -> None:
            fifo = _fifo(reply, group) if address.endswith(".fifo") else {}
            call(**{target: address, text: reply.text}, MessageAttributes=_attributes(reply), **fifo)

        return send

    return make


def _bus(name: str) -> Send:
    client = boto3.client("events", config=CONFIG)

    def send(reply: Reply, _: str | None) -> None:
        entry = {"Source": SOURCE, "DetailType": DETAIL_TYPE, "Detail": reply.text, "EventBusName": name}
        answer = client.put_events(Entries=[entry])
        if answer.get("FailedEntryCount"):
            refused = answer["Entries"][0]
            raise ClientError(
                {"Error": {"Code": str(refused.get("ErrorCode")), "Message": str(refused.get("ErrorMessage"))}},
                "PutEvents",
            )

    return send


SENDERS: dict[str, Callable[[str], Send]] = {
    "queue": _published("sqs", "send_message", "QueueUrl", "MessageBody"),
    "topic": _published("sns", "publish", "TopicArn", "Message"),
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


def _fifo(reply: Reply, group: str | None) -> dict[str, str]:
    """For a FIFO destination: the group, whose order it keeps, and the id by which it drops duplicates."""
    return {"MessageGroupId": group or reply.id, "MessageDeduplicationId": reply.id}


class _NotRecorded(Exception):
    """The table could not be read or written, or another delivery is sending this reply."""


@dataclass(frozen=True)
class _Allowance:
    """A stub of Lambda's context. It tells Powertools how long an unfinished attempt counts as running.

    After that time, the next delivery may send the reply. Without it, a container that dies would block it for ever.
    """

    seconds: float

    def get_remaining_time_in_millis(self) -> int:
        return round(self.seconds * 1000)


def _once(send: Send, target: str, table: str) -> Send:
    """Wrap `send` so that it skips a reply that Powertools' idempotency table records as sent."""
    from aws_lambda_powertools.utilities.idempotency import (  # noqa: PLC0415 - an option, and loads much
        DynamoDBPersistenceLayer,
        IdempotencyConfig,
        idempotent_function,
    )
    from aws_lambda_powertools.utilities.idempotency.exceptions import BaseError  # noqa: PLC0415 - see above

    config = IdempotencyConfig(
        expires_after_seconds=REMEMBERED_SECONDS,
        lambda_context=_Allowance(SEND_SECONDS + TABLE_SECONDS),  # type: ignore[arg-type]
    )

    @idempotent_function(  # type: ignore[untyped-decorator]  # Powertools publishes no type for it
        data_keyword_argument="key",
        persistence_store=DynamoDBPersistenceLayer(table_name=table, boto_config=TABLE_CONFIG),
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
                raise _NotRecorded(f"{type(error).__name__}: {error}") from error

    return send_once
