"""`passage index` killed at random moments: the next run completes the index, and embeds only what is not in the cache.

KILLED_RUNS says how often each store's run is killed; CI sets 20.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import qdrant_edge
from qdrant_client import QdrantClient

from conftest import ROOT
from passage.indexing import noise
from tools.doubles import EmulatorServer, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator

KILLED_RUNS = int(os.environ.get("KILLED_RUNS", "3"))
PASSAGE = str(Path(sys.executable).parent / "passage")
PAGES, SECTIONS = 24, 10
LATENCY_MS = 60

Contents = dict[int, tuple[Any, list[float]]]
"""Payload without times, and vector, by the point's id."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of short sections: enough texts for several calls."""
    folder = tmp_path_factory.mktemp("site")
    for page in range(PAGES):
        sections = (f"## Part {part}\n\nJoint {part} of robot {page} turns.\n" for part in range(SECTIONS))
        (folder / f"robot{page}.md").write_text(f"# Robot {page}\n\n" + "\n".join(sections))
    return folder


@pytest.fixture
def cohere() -> Iterator[EmulatorServer]:
    with cohere_emulator(latency_ms=LATENCY_MS) as emulator:
        yield emulator


@pytest.fixture
def qdrant(tmp_path: Path) -> Iterator[EmulatorServer]:
    with qdrant_emulator(tmp_path / "storage", latency_ms=LATENCY_MS / 4) as emulator:
        yield emulator


def started(site: Path, folder: Path, environment: dict[str, str], *more: str) -> subprocess.Popen[str]:
    command = [PASSAGE, "index", str(site), "--site-url", "https://example.com", "--cache", str(folder / "cache")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COHERE", "QDRANT", "EMBEDDING"))}
    return subprocess.Popen(
        [*command, "--out", str(folder / "index"), *more],
        # A collection of its own, so that a run finds no vectors of the runs before.
        env=kept | environment | {"COLLECTION_NAME": folder.name},
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )


def completed(process: subprocess.Popen[str]) -> float:
    """Wait for a run that must succeed; gives the seconds it took from here."""
    begun = monotonic()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return monotonic() - begun


def texts_embedded(cohere: EmulatorServer) -> int:
    return sum(len(request.json()["texts"]) for request in cohere.requests if request.path == "/v2/embed")


def vectors_cached(folder: Path) -> int:
    path = folder / "cache" / "vectors.sqlite"
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as database:
        made = database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'vector'").fetchone()[0]
        return int(database.execute("SELECT count(*) FROM vector").fetchone()[0]) if made else 0


def timeless(payload: dict[str, Any]) -> Any:
    kept = {key: value for key, value in payload.items() if key not in ("created_at", "processed_at")}
    return json.dumps({key: timeless(value) if isinstance(value, dict) else value for key, value in kept.items()})


def on_edge(folder: Path) -> Contents:
    shard = qdrant_edge.EdgeShard.load(str(folder / "index/query-response/shard"))
    records, _ = shard.scroll(qdrant_edge.ScrollRequest(limit=10_000, with_payload=True, with_vector=True))
    shard.close()
    return {int(str(one.id)): (timeless(one.payload or {}), numbers(one.vector)) for one in records}


def on_server(server: EmulatorServer, collection: str) -> Contents:
    client = QdrantClient(url=server.url, check_compatibility=False)
    records, _ = client.scroll(collection, limit=10_000, with_vectors=True)
    client.close()
    return {int(one.id): (timeless(one.payload or {}), numbers(one.vector)) for one in records}


def numbers(vector: Any) -> list[float]:
    return list(next(iter(vector.values())) if isinstance(vector, dict) else vector)


def kill_and_compare(
    site: Path,
    tmp_path: Path,
    cohere: EmulatorServer,
    environment: dict[str, str],
    to: str,
    contents: Callable[[Path], Contents],
) -> None:
    """Kill runs at random moments of a whole run's time and complete each; each has a folder and a collection."""
    moments = random.Random(20261128)  # noqa: S311 - repeatable, not secret
    whole = tmp_path / "whole"
    seconds = completed(started(site, whole, environment, "--to", to))
    expected = contents(whole)
    assert len(expected) == PAGES * SECTIONS
    for number in range(KILLED_RUNS):
        folder = tmp_path / f"killed{number}"
        process = started(site, folder, environment, "--to", to)
        try:
            process.communicate(timeout=moments.uniform(0.1, seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        cohere.requests.clear()
        cached = vectors_cached(folder)
        completed(started(site, folder, environment, "--to", to))
        assert contents(folder) == expected, f"killed run {number}"
        assert texts_embedded(cohere) == len(expected) + len(noise.QUESTIONS) - cached, f"killed run {number}"


def test_killed_edge_runs_end_in_the_same_index(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    environment = {"COHERE_API_KEY": "key", "COHERE_BASE_URL": cohere.url}
    kill_and_compare(site, tmp_path, cohere, environment, "edge", on_edge)


def test_killed_server_runs_end_in_the_same_index(
    site: Path, tmp_path: Path, cohere: EmulatorServer, qdrant: EmulatorServer
) -> None:
    environment = {"COHERE_API_KEY": "key", "COHERE_BASE_URL": cohere.url, "QDRANT_URL": qdrant.url}
    kill_and_compare(site, tmp_path, cohere, environment, "qdrant", lambda folder: on_server(qdrant, folder.name))


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_ends_with_one_sentence(
    site: Path, tmp_path: Path, cohere: EmulatorServer, stop: signal.Signals
) -> None:
    inherited = signal.signal(stop, signal.SIG_DFL)  # a shell's background job ignores SIGINT, and so would the run
    try:
        process = started(site, tmp_path, {"COHERE_API_KEY": "key", "COHERE_BASE_URL": cohere.url})
    finally:
        signal.signal(stop, inherited)
    assert process.stderr is not None
    next(line for line in process.stderr if line.startswith("Embedding"))
    process.send_signal(stop)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "Stopped. Run it again: it completes the index, and pays for no text twice.\n"
