"""One cell: a new container asks while a service fails, and again when it works."""

import io
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any

from handler import app, telemetry
from handler.bootstrap.container import Container
from handler.core.errors import PassageError
from passage.local.http_event import http_api_event
from tools.faults.kinds import Fault
from tools.faults.stage import BUCKET, Stage, fresh_disk

SECONDS = 5.0
"""The deadline of a question over HTTP in the run that the page shows."""

MESSAGE = 3
"""How many times longer a message has, of which sending its reply takes half."""

LAMBDA_SECONDS = 30.0
"""The function's timeout: what takes longer, Lambda stops, and a message returns to its queue."""

QUESTION = {"text": "What is a digital twin?", "k": 2}
ACTS = {"ours": "operator", "upstream": "nobody", "caller": "caller"}
"""Who has to act. A service recovers by itself."""


@dataclass(frozen=True)
class Service:
    """A service and how the function is set to use it.

    Attributes:
        path: part of the path of the requests that fail; empty for all.
        variables: of the function, besides those of the stage; an empty one is left out.
        replies: it takes replies to messages. A question over HTTP does not use it.
    """

    name: str
    door: str
    path: str = ""
    variables: Mapping[str, str] | None = None
    replies: bool = False


@dataclass(frozen=True)
class Cell:
    """What came of one fault. `queued` says whether a message from a queue was lost."""

    fault: str
    status: str
    code: str
    acts: str
    calls: int
    seconds: float
    next: str
    queued: str


@dataclass(frozen=True)
class Asked:
    """The outcome of one invocation."""

    response: Any
    code: str
    seconds: float


class Context:
    """Lambda's, at the start of an invocation."""

    aws_request_id = "c0ffee00-0000-4000-8000-000000000001"

    def get_remaining_time_in_millis(self) -> int:
        return int(LAMBDA_SECONDS * 1000)


def services(stage: Stage) -> list[Service]:
    """All services, in the order of the page."""
    return [
        Service("Cohere embed", "cohere", "/embed"),
        Service("Cohere rerank", "cohere", "/rerank", {**stage.bedrock, "RERANK_PROVIDER": "cohere"}),
        Service("Bedrock", "bedrock", "", {**stage.bedrock, "COHERE_API_KEY": "", "COHERE_BASE_URL": ""}),
        Service("Qdrant", "qdrant", "", {"STORE": "", "EDGE_INDEX_PATH": "", "QDRANT_URL": stage.doors["qdrant"].url}),
        Service("S3", "s3", "", {"EDGE_INDEX_PATH": "", "EDGE_INDEX_URI": f"s3://{BUCKET}/indexes"}),
        Service(
            "Secrets Manager",
            "secretsmanager",
            "",
            {"COHERE_API_KEY": "", "COHERE_API_KEY_SECRET": "passage/faults#cohere"},
        ),
        Service("Reply queue", "sqs", replies=True),
        Service("Reply topic", "sns", "", {"REPLY_QUEUE_URL": "", "REPLY_TOPIC_ARN": stage.topic}, replies=True),
        Service("Reply bus", "events", "", {"REPLY_QUEUE_URL": "", "REPLY_BUS_NAME": stage.bus}, replies=True),
    ]


def run(stage: Stage, service: Service, fault: Fault, seconds: float = SECONDS) -> Cell:
    """Let `service` fail, ask, let it work, and ask again.

    Args:
        seconds: the deadline of a question over HTTP.
    """
    door = stage.doors[service.door]
    stage.replies()
    with _container(stage, service, seconds * MESSAGE if service.replies else seconds):
        if service.replies:
            asked, queued = _deliver(stage, service, fault)
            status = "returned" if asked.response["batchItemFailures"] else "deleted"
            calls = door.calls
            again = _invoke(_message("2"))
            following = "answered" if not again.response["batchItemFailures"] and stage.replies() else again.code
        else:
            door.play(fault, service.path)
            asked = _invoke(_question())
            calls = door.calls
            door.lift()
            status, following = _status(asked), _following(_invoke(_question()))
    if not service.replies:
        with _container(stage, service, seconds * MESSAGE):
            _, queued = _deliver(stage, service, fault)
    code = "" if status in ("200", "deleted") else asked.code  # of an attempt that was repeated with success
    blame = {kind.code: kind.blame for kind in _kinds(PassageError)}
    acts = ACTS[blame[code]] if code else ""
    return Cell(fault.name, status, code, acts, calls, asked.seconds, following, queued)


def _kinds(kind: type[PassageError]) -> Iterator[type[PassageError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)


@contextmanager
def _container(stage: Stage, service: Service, seconds: float) -> Iterator[None]:
    """A new container of the function."""
    variables = {**stage.variables, **(service.variables or {}), "REQUEST_TIMEOUT_MS": str(int(seconds * 1000))}
    before = app.services
    with fresh_disk():
        app.services = Container({name: value for name, value in variables.items() if value})
        try:
            yield
        finally:
            app.services = before


def _question() -> dict[str, Any]:
    return http_api_event("POST", "/query", body=json.dumps(QUESTION).encode())


def _message(identity: str) -> dict[str, Any]:
    record = {
        "messageId": identity,
        "body": json.dumps(QUESTION | {"correlation_id": identity}),
        "attributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:questions",
    }
    return {"Records": [record]}


def _invoke(event: Mapping[str, Any]) -> Asked:
    log = io.StringIO()
    handler: Any = telemetry.logger.registered_handler
    before, handler.stream = handler.stream, log
    try:
        with redirect_stdout(io.StringIO()):  # the metrics
            started = time.perf_counter()
            response = app.lambda_handler(event, Context())
            seconds = time.perf_counter() - started
    finally:
        handler.stream = before
    codes = [code for line in log.getvalue().splitlines() if (code := json.loads(line).get("code"))]
    return Asked(response, codes[-1] if codes else "", seconds)


def _status(asked: Asked) -> str:
    warned = asked.response["statusCode"] == 200 and json.loads(asked.response["body"]).get("warnings")
    return f"{asked.response['statusCode']}{', with a warning' if warned else ''}"


def _following(asked: Asked) -> str:
    status = _status(asked)
    if status.startswith("200"):
        found = json.loads(asked.response["body"])["results"]
        return "answered" + status[3:] if found else "**no results**"
    return f"{status} {asked.code}"


def _deliver(stage: Stage, service: Service, fault: Fault) -> tuple[Asked, str]:
    """Deliver a message while the service fails, and again if it returned to the queue; and say what became of it."""
    door, event = stage.doors[service.door], _message("1")
    door.play(fault, service.path)
    asked = _invoke(event)
    calls = door.calls
    door.lift()
    returned = bool(asked.response["batchItemFailures"])
    if returned and _invoke(event).response["batchItemFailures"]:
        return asked, "no, returned again"
    door.calls = calls
    match stage.replies():
        case 0:
            return asked, "**lost**"
        case 1:
            return asked, "no, answered at the next delivery" if returned else "no, answered"
        case _:
            return asked, "no, answered twice"
