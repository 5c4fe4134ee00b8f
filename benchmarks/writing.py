"""Measures the speed and memory of `passage index` as a site grows, without embedding."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

from benchmarks.asking import ROOT
from benchmarks.results import Writing

Store = Literal["edge", "qdrant"]
STORES: tuple[Store, ...] = get_args(Store)
CHUNKS = (1_000, 10_000)

_SERVE = """
import sys, time
from pathlib import Path
from tools.qdrant.emulator import qdrant_emulator
with qdrant_emulator(Path(sys.argv[1])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def measure(store: Store, chunks: int) -> Writing:
    """Figures of one run in a separate process. The server runs in another, so its memory is not counted."""
    with TemporaryDirectory() as folder, _place(store, folder) as place:
        command = [sys.executable, "-m", "benchmarks.writing_probe", store, str(chunks), place]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{chunks:,} chunks could not be written to {store}:\n{done.stderr}")
        figures = json.loads(done.stdout)
    return Writing(store=store, chunks=chunks, **figures)


@contextmanager
def _place(store: Store, folder: str) -> Iterator[str]:
    """The folder of an index, or the URL of an emulator that runs Qdrant's own engine."""
    if store == "edge":
        yield str(Path(folder) / "index")
        return
    command = [sys.executable, "-c", _SERVE, folder]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()
            server.wait()
