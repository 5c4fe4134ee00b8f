"""Searches an Edge index with the function's adapter, as a separate process, and prints time and memory.

    python edge_probe.py <folder of the index> <profile> <questions: float32, one after another>

Runs on the deployed function's packages, so nothing else can be imported here.
"""

import json
import sys
import time
from array import array
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from qdrant_edge import EdgeShard, Query, QueryRequest, SearchParams

from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.adapters.qdrant.manifest import SHARD
from handler.config import profiles
from handler.core.model import Search, SearchResult

EXACT = 30
"""The number of questions for an exact search, which compares every vector."""


def resident(kind: str = "VmRSS") -> float:
    """Megabytes of this process in memory; RssFile is the part of it that are pages of mapped files."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith(f"{kind}:")).split()[1]) * 1024 / 1e6


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = call()
    return (time.perf_counter() - started) * 1000, result


def main() -> None:
    root, profile = Path(sys.argv[1]), profiles.load(sys.argv[2])
    numbers = array("f", Path(sys.argv[3]).read_bytes())
    size = profile.collection.dimension
    questions = [numbers[start : start + size].tolist() for start in range(0, len(numbers), size)]
    before = resident()
    store = QdrantEdgeStore(root=root, profile=profile)
    load, _ = timed(store.warm)
    loaded = resident()

    def nearest(vector: list[float], count: int) -> SearchResult:
        return store.search([(vector, Search(top_k=count))])[0]

    for question in questions[:10]:
        nearest(question, 5)
    five = [timed(partial(nearest, question, 5)) for question in questions]
    ten = [nearest(question, 10) for question in questions]
    searched, mapped, info = resident(), resident("RssFile"), store.describe()
    store.close()
    shard = EdgeShard.load(str(root / profile.name / SHARD))

    def exact(vector: list[float]) -> Any:
        return shard.query(
            QueryRequest(limit=5, query=Query.Nearest(vector), params=SearchParams(exact=True), with_payload=True)
        )

    figures = {
        "indexed": info.indexed_vectors_count,
        "load": load,
        "before": before,
        "loaded": loaded,
        "searched": searched,
        "mapped": mapped,
        "search": [milliseconds for milliseconds, _ in five],
        "exact": [timed(partial(exact, question))[0] for question in questions[:EXACT]],
        "found_5": [[passage.id for passage in found.passages] for _, found in five],
        "found_10": [[passage.id for passage in found.passages] for found in ten],
    }
    shard.close()
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main()
