"""Emulators of Cohere and Qdrant in a separate process, because they would disturb the measuring process' clock.

A function that answers one question after another never calls both at the same time, so they share a process.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient, models

from benchmarks.asked_directly import Direct, median_of
from benchmarks.asking import COLLECTION, ROOT
from tools.doubles import EmulatorServer, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator

LANGCHAIN = "langchain"
MOST_LATE = 4.0
"""Milliseconds: the work and the loop's lateness together are less. More than that is a machine that is busy."""


@contextmanager
def upstreams(shard: Path, latency_ms: int) -> Iterator[dict[str, str]]:
    """The variables of both services. Each answers `latency_ms` after the request, or as soon as it can.

    Args:
        shard: the points of the one collection there is; a copy is served.
    """
    command = [sys.executable, "-m", "benchmarks.upstreams", str(shard), str(latency_ms)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise SystemExit("The emulators did not start; their output is above.")
            yield json.loads(line)
        finally:
            process.stdin.close()  # which is what ends it


def serve(shard: Path, latency_ms: int) -> None:
    """Print both services' URLs, and serve until the standard input ends."""
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "qdrant"
        shutil.copytree(shard, storage / COLLECTION)
        with cohere_emulator() as cohere, qdrant_emulator(storage) as qdrant:
            _in_langchains_layout(qdrant.url)
            variables = {"COHERE_API_KEY": "local", "COHERE_BASE_URL": cohere.url, "QDRANT_URL": qdrant.url}
            if latency_ms:
                _hold_back(cohere, qdrant, variables, latency_ms)
            sys.stdout.write(json.dumps(variables) + "\n")
            sys.stdout.flush()
            sys.stdin.read()


def _hold_back(cohere: EmulatorServer, qdrant: EmulatorServer, variables: Mapping[str, str], latency_ms: int) -> None:
    """Make each service answer that long after a request, including its own work and the event loop's delay."""
    with Direct(variables) as direct:
        asking = median_of(direct.nothing)
        for service, call in ((cohere, lambda: direct.embed("base64")), (qdrant, direct.search)):
            service.latency_ms = latency_ms
            late = median_of(call) - asking - latency_ms
            service.latency_ms -= min(max(late, 0), MOST_LATE)


def _in_langchains_layout(url: str) -> None:
    """The same points as LangChain would have stored them: it finds a passage's URL in `metadata` only."""
    client = QdrantClient(url=url, check_compatibility=False)
    vectors = client.get_collection(COLLECTION).config.params.vectors
    assert isinstance(vectors, models.VectorParams)
    client.create_collection(LANGCHAIN, vectors_config=vectors)
    records, _ = client.scroll(COLLECTION, limit=100_000, with_vectors=True)
    for start in range(0, len(records), 100):
        client.upsert(LANGCHAIN, _langchain_points(records[start : start + 100]), wait=True)
    client.close()


def _langchain_points(records: Sequence[Any]) -> list[models.PointStruct]:
    return [
        models.PointStruct(
            id=record.id,
            vector=record.vector,
            payload={
                "page_content": record.payload["text_content"],
                "metadata": {key: value for key, value in record.payload.items() if key != "text_content"},
            },
        )
        for record in records
    ]


if __name__ == "__main__":
    serve(Path(sys.argv[1]), int(sys.argv[2]))
