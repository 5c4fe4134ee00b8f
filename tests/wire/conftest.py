"""The function's surroundings: both services emulated over real HTTP, with a real index, for the whole session."""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from conftest import EVERY_PROFILE
from entrypoints.aws import CREDENTIALS, Aws, cloud
from handler import telemetry
from handler.adapters import transport
from handler.adapters.qdrant import sparse_files
from handler.config import profiles, providers
from handler.entrypoints.detect import Source
from passage.indexing.server.connection import ServerConnection
from tools.bedrock.emulator import bedrock_emulator
from tools.doubles import EmulatorServer, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator
from wire.function import COHERE_KEY, Function, MakeCollection, Output, Start


@pytest.fixture(scope="session")
def cohere() -> Iterator[EmulatorServer]:
    with cohere_emulator(api_key=COHERE_KEY) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def qdrant(textbook_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorServer]:
    """A server that holds the same points as `textbook_index`."""
    storage = tmp_path_factory.mktemp("qdrant")
    profile = profiles.load("query-response")
    sparse_files.copy_folder(textbook_index / profile.name / "shard", storage / profile.collection.name)
    manifest = json.loads((textbook_index / profile.name / "manifest.json").read_bytes())
    said = {"metadata": {"embedded_by": providers.EMULATOR, "noise": manifest["noise"]}}
    (storage / f"{profile.collection.name}.collection.json").write_text(json.dumps(said), encoding="utf-8")
    with qdrant_emulator(storage) as emulator:
        yield emulator
    transport.shared().close()  # one pool a process: its connections would outlive the servers


@pytest.fixture(scope="session")
def _cloud() -> Iterator[Aws]:
    with cloud() as running:
        yield running


@pytest.fixture
def aws(_cloud: Aws, monkeypatch: pytest.MonkeyPatch) -> Aws:
    """AWS without faults and recorded requests; boto3 in this process finds it."""
    for name, value in _cloud.environ.items():
        monkeypatch.setenv(name, value)
    _cloud.door.faults.clear()
    _cloud.door.requests.clear()
    return _cloud


@pytest.fixture(scope="session")
def _bedrock() -> Iterator[EmulatorServer]:
    with bedrock_emulator() as emulator:
        yield emulator


@pytest.fixture
def bedrock(_bedrock: EmulatorServer, monkeypatch: pytest.MonkeyPatch) -> EmulatorServer:
    """Bedrock without faults and recorded requests; boto3 in this process finds it."""
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": _bedrock.url}.items():
        monkeypatch.setenv(name, value)
    _bedrock.faults.clear()
    _bedrock.requests.clear()
    return _bedrock


@pytest.fixture(autouse=True)
def _fair_weather(request: pytest.FixtureRequest) -> None:
    """Clear faults and recorded requests before every test."""
    for name in ("cohere", "qdrant"):
        if name in request.fixturenames or "start" in request.fixturenames:
            emulator = request.getfixturevalue(name)
            if isinstance(emulator, EmulatorServer):
                emulator.faults.clear()
                emulator.requests.clear()


@pytest.fixture
def gateway() -> Source:
    """One kind of API, for tests that do not depend on it."""
    return Source.HTTP_API


@pytest.fixture
def environ(cohere: EmulatorServer, qdrant: EmulatorServer) -> dict[str, str]:
    """The function's whole environment, with the Qdrant server as its store."""
    return {
        "ALLOWED_ORIGINS": "http://localhost:3000,https://reader.github.io",
        "COHERE_API_KEY": COHERE_KEY,
        "COHERE_BASE_URL": cohere.url,
        "STORE": "qdrant_server",
        "QDRANT_URL": qdrant.url,
        "PROFILES": EVERY_PROFILE,
    }


@pytest.fixture
def dense(environ: dict[str, str]) -> None:
    """Searches by vectors alone: one request to the store a question, and none before it. `test_hybrid.py` has the
    same cases for a hybrid search where they differ."""
    environ["SEARCH_MODE"] = "dense"


@pytest.fixture
def start(environ: dict[str, str], gateway: Source) -> Start:
    """Starts a container. Arguments are additional variables; None removes one."""

    def make(**changes: str | None) -> Function:
        merged = environ | changes
        return Function({name: value for name, value in merged.items() if value is not None}, gateway)

    return make


@pytest.fixture
def on_edge(textbook_index: Path) -> dict[str, str | None]:
    """The arguments of `start` for the other store."""
    return {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(textbook_index), "QDRANT_URL": None}


@pytest.fixture(scope="session")
def _admin(qdrant: EmulatorServer) -> Iterator[QdrantClient]:
    """One client for all: a new one reads every certificate that the machine trusts."""
    client = QdrantClient(url=qdrant.url, check_compatibility=False)
    yield client
    client.close()


@pytest.fixture
def make_collection(qdrant: EmulatorServer, _admin: QdrantClient) -> Iterator[MakeCollection]:
    """Makes a collection of `size` dimensions and `points` on the server; gone after the test."""
    made: list[str] = []

    def make(
        name: str,
        size: int = 768,
        *,
        points: Sequence[models.PointStruct] = (),
        vector: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        params = models.VectorParams(size=size, distance=models.Distance.COSINE)
        _admin.create_collection(
            name, vectors_config={vector: params} if vector else params, metadata=dict(metadata) if metadata else None
        )
        made.append(name)
        for first in range(0, len(points), 10):  # a server refuses a request of more than 32 MB
            _admin.upsert(name, list(points[first : first + 10]))
        qdrant.requests.clear()
        return name

    yield make
    for name in made:
        _admin.delete_collection(name)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmulatorServer]:
    """A server that refuses a filter without a payload index, as Qdrant Cloud does."""
    with qdrant_emulator(tmp_path / "storage", strict=True) as running:
        yield running


@pytest.fixture
def client(server: EmulatorServer) -> Iterator[QdrantClient]:
    client = QdrantClient(url=server.url, check_compatibility=False, timeout=10)
    yield client
    client.close()


@pytest.fixture
def connection(server: EmulatorServer) -> Iterator[ServerConnection]:
    """The connection of `passage index` to `server`."""
    connection = ServerConnection(server.url, None)
    yield connection
    connection.close()


@pytest.fixture
def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process counts as warm, unless a test resets it."""
    monkeypatch.setattr(telemetry._State, "cold", False)


@pytest.fixture
def sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Records all sleeps in the process, including the SDKs', and does not wait."""
    taken: list[float] = []
    monkeypatch.setattr(time, "sleep", taken.append)
    return taken


class _CurrentStdout:
    """The current standard output. The logger keeps its first one, but pytest changes it."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)

    def flush(self) -> None:
        sys.stdout.flush()


@pytest.fixture
def output(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Output:
    monkeypatch.setattr(telemetry.logger.registered_handler, "stream", _CurrentStdout())
    return Output(capsys)
