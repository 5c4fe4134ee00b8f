"""The function's surroundings: the services, AWS by moto, a small index in each store, and a door to each of them."""

import contextlib
import io
import json
import logging
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.loaders import JSONFileLoader
from moto.server import ThreadedMotoServer

from passage.cli import main as passage
from tools.bedrock.emulator import bedrock_emulator
from tools.doubles import cohere_emulator
from tools.faults.door import Door
from tools.qdrant.emulator import qdrant_emulator

REGION = "eu-central-1"
BUCKET = "passage-faults"
PAGES = {
    "twins": "# Digital twins\n\nA digital twin follows a machine and is updated from its sensors.",
    "grippers": "# Grippers\n\nA gripper holds what it picked up until it is told to let go.",
    "stops": "# Stops\n\nAn emergency stop cuts the power at once.",
}
AWS = ("s3", "secretsmanager", "sqs", "sns", "events")
CODES = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDenied",
    404: "ResourceNotFoundException",
    413: "RequestEntityTooLarge",
    429: "ThrottlingException",
    500: "InternalFailure",
    503: "ServiceUnavailable",
}
"""AWS's error code for each status."""

ENDPOINTS = {"secretsmanager": "SECRETS_MANAGER", "events": "EVENTBRIDGE"}
"""boto3's names in AWS_ENDPOINT_URL_<name>, where they differ from the service's."""


# botocore parses its data again for each session. Here containers share it, so that deadlines measure the function.
_botocore_data = cache(JSONFileLoader().load_file)
JSONFileLoader.load_file = lambda _, path: _botocore_data(path)


@dataclass(frozen=True)
class Stage:
    """What a run needs.

    Attributes:
        doors: by service; the function reaches each service through its door only.
        variables: the function's, with the Edge store and a queue for replies.
        bedrock: variables for vectors of Bedrock.
        topic, bus: other destinations for replies. All replies arrive in a queue.
    """

    doors: Mapping[str, Door]
    variables: Mapping[str, str]
    bedrock: Mapping[str, str]
    topic: str
    bus: str
    queues: tuple[str, ...]
    sqs: Any

    def replies(self) -> int:
        """Take all replies that arrived, and count them."""
        count = 0
        for url in self.queues:
            while messages := self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
                count += len(messages)
                for message in messages:
                    self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return count


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables of this process for as long as the block runs."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def stage(folder: Path) -> Iterator[Stage]:
    """Start everything, with an index of three pages.

    Args:
        folder: for the indexes.
    """
    site = folder / "site"
    site.mkdir()
    for name, text in PAGES.items():
        (site / f"{name}.md").write_text(text, encoding="utf-8")
    with ExitStack() as running:
        moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # its server prints every request
        moto.start()
        running.callback(moto.stop)
        behind = {service: f"http://127.0.0.1:{moto.get_host_and_port()[1]}" for service in AWS}
        behind["cohere"] = running.enter_context(cohere_emulator()).url
        behind["bedrock"] = running.enter_context(bedrock_emulator()).url
        behind["qdrant"] = running.enter_context(qdrant_emulator(folder / "qdrant")).url
        doors = {name: running.enter_context(Door(url, _REFUSALS.get(name, _aws))) for name, url in behind.items()}
        aws = {
            "AWS_ACCESS_KEY_ID": "made-up",
            "AWS_SECRET_ACCESS_KEY": "made-up",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": doors["bedrock"].url,
            **{f"AWS_ENDPOINT_URL_{ENDPOINTS.get(name, name.upper())}": doors[name].url for name in AWS},
        }
        running.enter_context(environment(aws))
        clients = {name: boto3.client(name, endpoint_url=behind[name]) for name in AWS}
        clients["s3"].create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        clients["secretsmanager"].create_secret(Name="passage/faults", SecretString='{"cohere": "made-up"}')
        queues, topic, bus = _destinations(clients)
        cohere = {"COHERE_API_KEY": "made-up", "COHERE_BASE_URL": doors["cohere"].url}
        bedrock = {
            "EMBEDDING_PROVIDER": "bedrock",
            "EMBEDDING_MODEL": "cohere.embed-english-v3",
            "EMBEDDING_DIMENSION": "1024",
        }
        _index(site, folder / "index", cohere, "--publish", f"s3://{BUCKET}/indexes")
        _index(site, folder / "index", {**cohere, "QDRANT_URL": behind["qdrant"]}, "--to", "qdrant")
        _index(site, folder / "bedrock", bedrock)
        variables = {
            **cohere,
            "STORE": "qdrant_edge",
            "EDGE_INDEX_PATH": str(folder / "index"),
            "EMBEDDING_CACHE_SIZE": "0",
            "REPLY_QUEUE_URL": queues[0],
        }
        bedrock["EDGE_INDEX_PATH"] = str(folder / "bedrock")
        made = Stage(doors, variables, bedrock, topic, bus, queues, clients["sqs"])
        _warm(made, clients)
        yield made


def _plain(status: int) -> bytes:
    """A refusal of Cohere or Qdrant."""
    return json.dumps({"message": f"made up: {status}", "status": {"error": f"made up: {status}"}}).encode()


def _aws(status: int) -> bytes:
    """A refusal of a service whose API is JSON."""
    return json.dumps({"__type": CODES.get(status, "InternalFailure"), "message": "made up"}).encode()


def _xml(status: int) -> bytes:
    """A refusal of a service with AWS's query API."""
    error = f"<Code>{CODES.get(status, 'InternalError')}</Code><Message>made up</Message>"
    return f"<ErrorResponse><Error>{error}</Error></ErrorResponse>".encode()


def _s3(status: int) -> bytes:
    code = "NoSuchKey" if status == 404 else CODES.get(status, "InternalError")
    return f"<Error><Code>{code}</Code><Message>made up</Message></Error>".encode()


_REFUSALS = {"cohere": _plain, "qdrant": _plain, "s3": _s3, "sns": _xml}


def _index(site: Path, out: Path, variables: Mapping[str, str], *options: str) -> None:
    arguments = ["index", str(site), "--site-url", "https://docs.example", "--out", str(out), "--cache", f"{out}-cache"]
    with environment(variables), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        passage([*arguments, *options], standalone_mode=False)


def _destinations(clients: Mapping[str, Any]) -> tuple[tuple[str, ...], str, str]:
    """A queue, a topic and a bus for replies, and the queues in which those of each arrive."""
    sqs, sns, events = clients["sqs"], clients["sns"], clients["events"]
    queues = tuple(str(sqs.create_queue(QueueName=f"faults-{name}")["QueueUrl"]) for name in ("queue", "topic", "bus"))
    arns = [
        sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"] for url in queues
    ]
    topic: str = sns.create_topic(Name="faults")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arns[1], Attributes={"RawMessageDelivery": "true"})
    events.create_event_bus(Name="faults")
    events.put_rule(Name="faults", EventBusName="faults", EventPattern=json.dumps({"source": ["passage"]}))
    events.put_targets(Rule="faults", EventBusName="faults", Targets=[{"Id": "queue", "Arn": arns[2]}])
    return queues, topic, "faults"


def _warm(made: Stage, clients: Mapping[str, Any]) -> None:
    """Send one message each way: moto's first takes longer than the function waits for a destination."""
    clients["sqs"].send_message(QueueUrl=made.queues[0], MessageBody="-")
    clients["sns"].publish(TopicArn=made.topic, Message="-")
    entry = {"Source": "passage", "DetailType": "-", "Detail": "{}", "EventBusName": made.bus}
    clients["events"].put_events(Entries=[entry])
    assert made.replies() == len(made.queues)  # noqa: S101 - a double that does not deliver would show losses


@contextmanager
def fresh_disk() -> Iterator[None]:
    """An empty /tmp, as a new container has it."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            yield
        finally:
            tempfile.tempdir = before
