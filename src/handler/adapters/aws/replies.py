"""Replies to a queue, a topic or a bus, through boto3. Only what the settings name is ever written to."""

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
"""A reply that cannot be sent goes back with its message: better soon than after boto3's own minutes."""

SEND_SECONDS = 6.0
"""The longest that a call with `CONFIG` takes: two attempts, and up to a second between them."""

TABLE_CONFIG = Config(connect_timeout=1, read_timeout=1, retries={"total_max_attempts": 1, "mode": "standard"})

TABLE_SECONDS = 4.0
"""The longest that a reply is noted in the table for: once before it is sent and once after, with `TABLE_CONFIG`."""

REMEMBERED_SECONDS = 14 * 24 * 3600
"""As long as SQS can keep a message."""

OURS_TO_MEND = frozenset(
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
"""Error codes that another try would not end otherwise: the destination is not there, or not ours to write to."""

Send = Callable[[Reply, str | None], None]


def sink(kind: str, target: str, idempotency_table: str | None) -> ReplySink:
    """What sends replies to `target`.

    Args:
        kind: "queue", "topic" or "bus".
        idempotency_table: a DynamoDB table that remembers which replies were sent, so that none is sent twice.
    """
    name, send = f"{kind} {target}", SENDERS[kind](target)
    if idempotency_table is None:
        return _Sink(name, send, SEND_SECONDS)
    return _Sink(name, _once(send, target, idempotency_table), SEND_SECONDS + TABLE_SECONDS)


class _Sink:
    """See `handler.core.ports.ReplySink`."""

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
        except (ClientError, BotoCoreError, _NotNoted) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> PassageError:
        refusal = next((each for each in _causes(error) if isinstance(each, ClientError)), None)
        code = aws.code(refusal) if refusal else ""
        detail = f"{self._name}: {error}"
        if code in OURS_TO_MEND:
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
    """What sends to a queue or a topic, which differ by the names of things.

    Args:
        operation, target, text: boto3's names for the call, and in it for the destination and the words.
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
    """What a receiver may filter by without reading the reply."""
    values = {
        "reply_id": reply.id,
        "correlation_id": reply.correlation_id,
        "profile": reply.profile,
        "status": reply.status,
    }
    return {name: {"DataType": "String", "StringValue": value} for name, value in values.items() if value}


def _fifo(reply: Reply, group: str | None) -> dict[str, str]:
    """A FIFO destination keeps the order of a group, and drops a reply it was sent within the last five minutes."""
    return {"MessageGroupId": group or reply.id, "MessageDeduplicationId": reply.id}


class _NotNoted(Exception):
    """The table did not say that the reply may be sent."""


@dataclass(frozen=True)
class _Allowance:
    """Stands in for Lambda's context: how long Powertools takes an attempt of which it hears no end to be running.

    Once that is over, the next delivery may send; without it, a reply of a container that died would never be sent.
    """

    seconds: float

    def get_remaining_time_in_millis(self) -> int:
        return round(self.seconds * 1000)


def _once(send: Send, target: str, table: str) -> Send:
    """`send`, but not for a reply that was sent before, with Powertools' record of it in DynamoDB."""
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
            if not done:  # a reply that was sent but not noted is sent all the same: its message need not come again
                raise _NotNoted(f"{type(error).__name__}: {error}") from error

    return send_once
