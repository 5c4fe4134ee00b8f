"""Indexes a made-up site as a separate process and prints time and memory. Vectors are random.

python -m benchmarks.writing_probe <edge|qdrant> <chunks> <folder, or the server's URL>
"""

import hashlib
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.edge_probe import resident
from handler.config import profiles
from handler.core.ports import TextsAre
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.plan import Plan
from passage.indexing.run import CachedEmbedder, IndexOptions, index_site
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.index import ServerIndex
from passage.indexing.target import Advance, Target
from passage.indexing.vector_cache import VectorCache
from passage.sites.model import Page, Section, Skip

PROFILE = "context"
SECTIONS = 10
SENTENCE = "The arm of robot {} lifts part {} onto the belt, and the gripper waits until the camera has seen it. "
SENTENCES = 2


class MadeUpSite:
    """Pages of ten sections, each of them a chunk of about 200 characters. A page is made when it is read."""

    nothing_found = "the number of chunks must be above 0"

    def __init__(self, chunks: int) -> None:
        self._pages = -(-chunks // SECTIONS)

    def read(self) -> Iterator[Page | Skip]:
        for page in range(self._pages):
            sections = tuple(
                Section((f"Robot {page}", f"Part {part}"), SENTENCE.format(page, part) * SENTENCES)
                for part in range(SECTIONS)
            )
            yield Page(f"robots/robot{page}", f"https://example.com/robots/robot{page}/", f"Robot {page}", sections)


class Stopwatch:
    """A watch that records when each step of a run began, in seconds."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}
        self.began = time.perf_counter()

    def show_plan(self, plan: Plan) -> None:
        self._step("read")

    def embedding(self, texts: int) -> Advance:
        return lambda _: None

    def writing(self, points: int) -> Advance:
        self._step("embedded")
        return lambda _: None

    def waiting(self, place: str = "") -> None: ...

    def retrying(self, why: str, seconds: float) -> None: ...

    def _step(self, name: str) -> None:
        self.steps[name] = time.perf_counter() - self.began


class Peak(threading.Thread):
    """Samples this process' memory, with and without the pages of mapped files, which the system may reclaim."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = self.whole = 0.0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.1):
            self.own = max(self.own, resident("RssAnon"))
            self.whole = max(self.whole, resident())


class RandomEmbedder:
    """Vectors of random directions, made from the texts."""

    made_by = "emulator"
    texts_are: TextsAre = "document"

    def __init__(self, model: str, dimension: int) -> None:
        self.model = model
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        seed = int.from_bytes(hashlib.sha256("".join(texts).encode()).digest()[:8], "big")
        numbers = np.random.default_rng(seed).standard_normal((len(texts), self.dimension), dtype=np.float32)
        vectors: list[list[float]] = numbers.tolist()
        return vectors


def main() -> None:
    store, chunks, place = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    profile = profiles.load(PROFILE)
    connection = ServerConnection(place, None) if store == "qdrant" else None
    target: Target = ServerIndex(connection, profile) if connection else EdgeIndex(Path(place), profile)
    peak, watch = Peak(), Stopwatch()
    peak.start()
    before = resident("RssAnon")
    with TemporaryDirectory() as folder, VectorCache(Path(folder)) as cache:
        embedder = RandomEmbedder(profile.embedding.for_texts, profile.collection.dimension)
        embedding = CachedEmbedder(embedder, cache)
        index_site(MadeUpSite(chunks), profile, target, embedding, watch, IndexOptions())
    ended = time.perf_counter() - watch.began
    peak.over.set()
    peak.join()
    figures = {
        "read": round(watch.steps["read"], 2),
        "write": round(ended - watch.steps["embedded"], 2),
        "before": round(before, 1),
        "own": round(peak.own, 1),
        "whole": round(peak.whole, 1),
    }
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main()
