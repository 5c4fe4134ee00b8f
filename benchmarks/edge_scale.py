"""Measures how the Edge store's search time grows with the index."""

import json
import os
import statistics
import subprocess
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.edge_build import PROFILE, Built, built
from benchmarks.functions import build
from benchmarks.results import EdgeScale, Spread

CHUNKS = (1_000, 10_000, 100_000)
PROCESSES = 3
"""Processes that load and search each index."""


def measure(chunks: int) -> EdgeScale:
    """Figures of an index of that many chunks."""
    index = built(chunks)
    runs = [_probe(index) for _ in range(PROCESSES)]
    files = [file.stat() for file in (index.root / PROFILE).rglob("*") if file.is_file()]
    return EdgeScale(
        chunks=chunks,
        indexed=runs[0]["indexed"],
        disk=round(sum(file.st_blocks * 512 for file in files) / 1e6, 1),
        unzipped=round(sum(file.st_size for file in files) / 1e6, 1),
        build_seconds=index.seconds,
        search=Spread.of(list(chain.from_iterable(run["search"] for run in runs))),
        exact=Spread.of(list(chain.from_iterable(run["exact"] for run in runs))),
        recall_5=_recall(runs[0]["found_5"], index.nearest, 5),
        recall_10=_recall(runs[0]["found_10"], index.nearest, 10),
        **{
            name: round(statistics.median(run[name] for run in runs), 1)
            for name in ("load", "before", "loaded", "searched", "mapped")
        },
    )


def _probe(index: Built) -> dict[str, Any]:
    deployed = build()
    done = subprocess.run(
        [str(deployed.python), str(Path(__file__).with_name("edge_probe.py")), index.root, PROFILE, index.questions],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, deployed.code))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"The Edge index under {index.root} could not be searched:\n{done.stderr}")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def _recall(found: Sequence[Sequence[int]], nearest: Sequence[Sequence[int]], depth: int) -> float:
    hits = sum(len(set(some[:depth]) & set(best[:depth])) for some, best in zip(found, nearest, strict=True))
    return round(hits / (depth * len(nearest)), 4)
