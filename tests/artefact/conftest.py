"""The deployed and the developed function, with the same services."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal, get_args

import boto3
import pytest
from moto.server import ThreadedMotoServer

from artefact.containers import Containers, Side, Store, storage
from conftest import EVERY_PROFILE, ROOT
from locking import one_at_a_time
from tools.artefact import LAMBDA_PYTHON, Artefact, build, find_python
from tools.doubles import EmulatorServer, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator

KEY = "test-key-5e17"
REGION = "eu-central-1"


@pytest.fixture(scope="session")
def interpreter() -> Path:
    """Lambda's Python if installed, else the one that runs the tests. The layer is built for it.

    CI sets ARTEFACT_PYTHON to the version that must be there.
    """
    found = find_python(os.environ.get("ARTEFACT_PYTHON", LAMBDA_PYTHON))
    if found is None and "ARTEFACT_PYTHON" in os.environ:
        pytest.fail(
            f"No Python {os.environ['ARTEFACT_PYTHON']} was found, the version that Lambda runs. Install it where CI "
            "runs (`uv python install`, pyenv or the system's packages), on PATH or under ~/.pyenv/versions."
        )
    return found or Path(sys.executable).resolve()


@pytest.fixture(scope="session")
def artefact(interpreter: Path) -> Artefact:
    with one_at_a_time("artefact"):
        return build(ROOT, ROOT / ".passage" / "artefact", interpreter)


@pytest.fixture(scope="session")
def embedding() -> Iterator[EmulatorServer]:
    with cohere_emulator(api_key=KEY) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def server(several_indexes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorServer]:
    with qdrant_emulator(storage(several_indexes, tmp_path_factory.mktemp("storage"), "ranked")) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def server_of_ranked(several_indexes: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorServer]:
    """Two profiles name one collection with different models, so the second one has a separate server."""
    with qdrant_emulator(storage(several_indexes, tmp_path_factory.mktemp("storage"), "vector-search")) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def queue() -> Iterator["Queue"]:
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    try:
        yield Queue(f"http://{host}:{port}")
    finally:
        moto.stop()


class Queue:
    """The queue for replies."""

    def __init__(self, endpoint: str) -> None:
        self.environment = {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": REGION,
        }
        self._sqs = self._client(endpoint, "sqs")
        self._url = self._sqs.create_queue(QueueName="replies")["QueueUrl"]
        self.environment["REPLY_QUEUE_URL"] = self._url
        for side in get_args(Side):
            self._client(endpoint, "dynamodb").create_table(
                TableName=side,
                KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )

    @staticmethod
    def _client(endpoint: str, service: Literal["sqs", "dynamodb"]) -> Any:
        return boto3.client(
            service,
            endpoint_url=endpoint,
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )

    def taken(self) -> list[str]:
        """Take all messages from the queue."""
        bodies: list[str] = []
        while messages := self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                bodies.append(message["Body"])
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return sorted(bodies)


@pytest.fixture(scope="session")
def stores(
    server: EmulatorServer, server_of_ranked: EmulatorServer, several_indexes: Path
) -> Mapping[Store, Mapping[str, str]]:
    """The environment of a container, by store."""
    return {
        "server": {"QDRANT_URL": server.url, "PROFILES": EVERY_PROFILE},
        "server of ranked": {"QDRANT_URL": server_of_ranked.url, "PROFILES": EVERY_PROFILE},
        "index": {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(several_indexes), "PROFILES": EVERY_PROFILE},
    }


@pytest.fixture(scope="session")
def containers(
    artefact: Artefact,
    interpreter: Path,
    embedding: EmulatorServer,
    queue: Queue,
    stores: Mapping[Store, Mapping[str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Containers]:
    shared = {
        "COHERE_API_KEY": KEY,
        "EMBEDDING_CACHE_SIZE": "0",  # the two sides are asked the same, and whatever is asked has to be embedded
        "COHERE_BASE_URL": embedding.url,
        "ALLOWED_COLLECTIONS": "textbook_chunks,absent",
        **queue.environment,
    }

    def unpruned() -> Artefact:
        with one_at_a_time("artefact"):
            return build(ROOT, ROOT / ".passage" / "artefact", interpreter, pruned=False)

    with ExitStack() as running:
        yield Containers(artefact, unpruned, shared, stores, running, tmp_path_factory)
