"""Replies to a queue, a topic or a bus, through boto3. Only what the settings name is ever written to."""

import json
from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from handler.core.errors import ConfigurationError, PassageError, UpstreamUnavailable
from handler.core.model import Reply
from handler.core.ports import ReplySink

SOURCE = "passage"
DETAIL_TYPE = "Passage Reply"

CONFIG = Config(connect_timeout=3, read_timeout=5, retries={"total_max_attempts": 2, "mode": "standard"})
"""A reply that cannot be sent goes back with its message: better soon than after boto3's own minutes."""

OURS_TO_MEND = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "AWS.SimpleQueueService.NonExistentQueue",
        "InvalidParameter",
        "InvalidParameterValue",
        "NotFound",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    }
)
"""Error codes that another try would not end otherwise: the destination is not there, or not ours to write to."""


def sink(kind: str, target: str, idempotency_table: str | None) -> ReplySink:
    """What sends replies to `target`.

    Args:
        kind: "queue", "topic" or "bus".
        idempotency_table: a DynamoDB table that remembers which replies were sent, so that none is sent twice.
    """
    send = SENDERS[kind](target)
    return _Sink(f"{kind} {target}", _once(send, target, idempotency_table) if idempotency_table else send)


Send = Callable[[Reply, str | None], None]


class _Sink:
    def __init__(self, name: str, send: Send) -> None:
        self._name = name
        self._send = send

    def send(self, reply: Reply, *, group: str | None) -> None:
        """See `handler.core.ports.ReplySink`."""
        try:
            self._send(reply, group)
        except ClientError as error:
            raise self._failed(error, str(error.response.get("Error", {}).get("Code"))) from error
        except BotoCoreError as error:
            raise self._failed(error, "") from error

    def _failed(self, error: Exception, code: str) -> PassageError:
        if code in OURS_TO_MEND:
            return ConfigurationError(
                "A reply could not be sent: check that its destination exists and that the function may write to it.",
                upstream="reply",
                detail=f"{self._name}: {error}",
            )
        return UpstreamUnavailable("A reply could not be sent.", upstream="reply", detail=f"{self._name}: {error}")


def _queue(url: str) -> Send:
    client = boto3.client("sqs", config=CONFIG)

    def send(reply: Reply, group: str | None) -> None:
        client.send_message(
            QueueUrl=url,
            MessageBody=reply.text,
            MessageAttributes=_attributes(reply),
            **_fifo(reply, group, fifo=url.endswith(".fifo")),
        )

    return send


def _topic(arn: str) -> Send:
    client = boto3.client("sns", config=CONFIG)

    def send(reply: Reply, group: str | None) -> None:
        client.publish(
            TopicArn=arn,
            Message=reply.text,
            MessageAttributes=_attributes(reply),
            **_fifo(reply, group, fifo=arn.endswith(".fifo")),
        )

    return send


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


SENDERS: dict[str, Callable[[str], Send]] = {"queue": _queue, "topic": _topic, "bus": _bus}


def _attributes(reply: Reply) -> dict[str, Any]:
    """What a receiver may filter by without reading the reply."""
    values = {
        "reply_id": reply.id,
        "correlation_id": reply.correlation_id,
        "profile": reply.profile,
        "status": reply.status,
    }
    return {name: {"DataType": "String", "StringValue": value} for name, value in values.items() if value}


def _fifo(reply: Reply, group: str | None, *, fifo: bool) -> dict[str, str]:
    """A FIFO destination keeps the order of a group, and drops a reply it was sent within the last five minutes."""
    if not fifo:
        return {}
    return {"MessageGroupId": group or reply.correlation_id[:128], "MessageDeduplicationId": reply.id}


def _once(send: Send, target: str, table: str) -> Send:
    """`send`, but not for a reply that was sent before, with Powertools' record of it in DynamoDB."""
    from aws_lambda_powertools.utilities.idempotency import (  # noqa: PLC0415 - an option, and loads much
        DynamoDBPersistenceLayer,
        IdempotencyConfig,
        idempotent_function,
    )

    @idempotent_function(  # type: ignore[untyped-decorator]  # Powertools publishes no type for it
        data_keyword_argument="key",
        persistence_store=DynamoDBPersistenceLayer(table_name=table),
        config=IdempotencyConfig(expires_after_seconds=14 * 24 * 3600),  # as long as SQS can keep a message
        key_prefix="passage-reply",
    )
    def sent(*, key: str, reply: Reply, group: str | None) -> None:
        del key  # what Powertools remembers
        send(reply, group)

    def send_once(reply: Reply, group: str | None) -> None:
        sent(key=json.dumps([target, reply.id]), reply=reply, group=group)

    return send_once
