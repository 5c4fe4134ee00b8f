"""AWS for tests: moto behind a proxy with faults on request, and Lambda's handling of a queue."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import aiohttp
import boto3
from aiohttp import web
from moto.server import ThreadedMotoServer

from passage.emulators.server import EmulatedService
from tools.doubles.server import EmulatorServer

REGION = "eu-central-1"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": REGION}
ACCOUNT = "123456789012"


@contextmanager
def cloud() -> Iterator["Aws"]:
    """Start moto and the proxy in front of it."""
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    behind = f"http://{host}:{port}"
    try:
        with EmulatorServer(_door(behind)) as door:
            yield Aws(door, behind)
    finally:
        moto.stop()


def _door(behind: str) -> EmulatedService:
    """Passes every request on; the emulator's faults come before that."""

    async def forward(request: web.Request) -> web.Response:
        headers = {name: value for name, value in request.headers.items() if name.lower() != "transfer-encoding"}
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                request.method, behind + request.path_qs, headers=headers, data=await request.read()
            ) as got,
        ):
            kept = {
                name: value for name, value in got.headers.items() if name.lower().startswith(("x-amz", "content-t"))
            }
            return web.Response(status=got.status, body=await got.read(), headers=kept)

    return EmulatedService("aws", [web.route("*", "/{path:.*}", forward)], _error, lambda _: None)


def _error(status: int, message: str) -> object:
    return {"__type": "InternalFailure", "message": message}


class Aws:
    """The cloud of one test session."""

    def __init__(self, door: EmulatorServer, behind: str) -> None:
        self.door = door
        self.environ = {**CREDENTIALS, "AWS_ENDPOINT_URL": door.url}
        self._behind = behind
        # moto keeps one state a process, so a name must be no other file's.
        self._number = NUMBERS

    def client(self, service: str) -> Any:
        """A client that bypasses the proxy, so that a test's own calls meet no faults and are not recorded."""
        return boto3.client(
            service,
            endpoint_url=self._behind,
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )

    def asked(self, action: str) -> int:
        """How many calls of an action the proxy got."""
        return sum(
            action in request.headers.get("x-amz-target", "") or f"Action={action}".encode() in request.body
            for request in self.door.requests
        )

    def queue(self, *, fifo: bool = False, **attributes: str) -> "Queue":
        """A new queue."""
        name = f"queue-{next(self._number)}" + (".fifo" if fifo else "")
        made = {**({"FifoQueue": "true"} if fifo else {}), **attributes}
        return Queue(self.client("sqs"), self.client("sqs").create_queue(QueueName=name, Attributes=made)["QueueUrl"])

    def topic(self, *, fifo: bool = False) -> tuple[str, "Queue"]:
        """A new topic's ARN, and a queue that gets its messages in raw form."""
        name = f"topic-{next(self._number)}" + (".fifo" if fifo else "")
        sns, queue = self.client("sns"), self.queue(fifo=fifo)
        arn: str = sns.create_topic(Name=name, Attributes={"FifoTopic": "true"} if fifo else {})["TopicArn"]
        sns.subscribe(TopicArn=arn, Protocol="sqs", Endpoint=queue.arn, Attributes={"RawMessageDelivery": "true"})
        return arn, queue

    def bus(self) -> tuple[str, "Queue"]:
        """A new bus's name, and a queue that gets the replies on it."""
        name, events, queue = f"bus-{next(self._number)}", self.client("events"), self.queue()
        events.create_event_bus(Name=name)
        events.put_rule(Name=name, EventBusName=name, EventPattern=json.dumps({"source": ["passage"]}))
        events.put_targets(Rule=name, EventBusName=name, Targets=[{"Id": "queue", "Arn": queue.arn}])
        return name, queue

    def destination(self, kind: str) -> tuple[dict[str, str], "Queue"]:
        """Variables that name a destination of that kind, and a queue in which what was sent there ends up."""
        if kind.endswith("queue"):
            queue = self.queue(fifo=kind == "fifo queue")
            return {"REPLY_QUEUE_URL": queue.url}, queue
        if kind.endswith("topic"):
            arn, queue = self.topic(fifo=kind == "fifo topic")
            return {"REPLY_TOPIC_ARN": arn}, queue
        name, queue = self.bus()
        return {"REPLY_BUS_NAME": name}, queue

    def table(self) -> str:
        """A new table in the form that Powertools' idempotency requires."""
        name = f"table-{next(self._number)}"
        self.client("dynamodb").create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        return name


NUMBERS = count(1)


@dataclass(frozen=True)
class Queue:
    """A queue, as a sender, a receiver and Lambda's event source see it."""

    client: Any
    url: str

    @property
    def arn(self) -> str:
        arn: str = self.client.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        return arn

    def put(self, body: str, group: str | None = None) -> None:
        fifo = {} if group is None else {"MessageGroupId": group, "MessageDeduplicationId": digest(body)}
        self.client.send_message(QueueUrl=self.url, MessageBody=body, **fifo)

    def taken(self) -> list[dict[str, Any]]:
        """Take all messages from the queue."""
        found: list[dict[str, Any]] = []
        while more := self._receive():
            found += more
            for message in more:
                self._delete(message)
        return found

    def replies(self) -> list[dict[str, Any]]:
        """Take the bodies of all messages from the queue."""
        return [json.loads(message["Body"]) for message in self.taken()]

    def deliver(self, invoke: Callable[[Any], Any]) -> tuple[int, int]:
        """Deliver one batch as Lambda does: the named records return to the queue, the others are deleted.

        Returns:
            How many messages were handed over, and how many of them are back in the queue.
        """
        messages = self._receive()
        if not messages:
            return 0, 0
        event = {"Records": [_record(message, self.arn) for message in messages]}
        failed = {failure["itemIdentifier"] for failure in invoke(event)["batchItemFailures"]}
        assert failed <= {message["MessageId"] for message in messages}
        for message in messages:
            if message["MessageId"] in failed:
                self.client.change_message_visibility(
                    QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
                )
            else:
                self._delete(message)
        return len(messages), len(failed)

    def _receive(self) -> list[dict[str, Any]]:
        got = self.client.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=10,
            MessageAttributeNames=["All"],
            MessageSystemAttributeNames=["All"],
            VisibilityTimeout=600,
        )
        messages: list[dict[str, Any]] = got.get("Messages", [])
        return messages

    def _delete(self, message: Mapping[str, Any]) -> None:
        self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])


def _record(message: Mapping[str, Any], arn: str) -> dict[str, Any]:
    """A received message as a record of Lambda's event."""
    attributes = {"SenderId": "testing", **message["Attributes"]}
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": attributes,
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "awsRegion": REGION,
    }


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def batch(bodies: Sequence[object], groups: Sequence[str] | None = None, first: int = 1) -> dict[str, Any]:
    """An SQS event with one record a body: text as it is, anything else as JSON. `groups` makes it a FIFO queue's.

    Message ids are the records' numbers from `first`.
    """
    texts = [body if isinstance(body, str) else json.dumps(body) for body in bodies]
    queue = "questions" if groups is None else "questions.fifo"
    records = []
    for number, text in enumerate(texts, start=first):
        attributes = {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1795861800000",
            "SenderId": "AROAEXAMPLE",
            "ApproximateFirstReceiveTimestamp": "1795861800900",
        }
        if groups is not None:
            attributes |= {"MessageGroupId": groups[number - first], "SequenceNumber": str(number)}
        message = {
            "MessageId": str(number),
            "ReceiptHandle": f"handle-{number}",
            "Body": text,
            "Attributes": attributes,
            "MD5OfBody": digest(text)[:32],
        }
        records.append(_record(message, f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}"))
    return {"Records": records}


def returned(response: Mapping[str, Any]) -> list[str]:
    """The ids of the records that return to the queue."""
    assert response.keys() == {"batchItemFailures"}
    return [failure["itemIdentifier"] for failure in response["batchItemFailures"]]


@dataclass(frozen=True)
class Context:
    """Lambda's context, with the given remaining time."""

    milliseconds: int
    aws_request_id: str = "c0ffee00-0000-4000-8000-000000000001"

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds
