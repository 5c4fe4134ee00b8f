"""The figures of one run, as results.json has them. Times are milliseconds, sizes and memory megabytes (10⁶)."""

import hashlib
import statistics
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel

from benchmarks.asking import ROOT

FILE = ROOT / "benchmarks" / "results.json"


class Spread(BaseModel):
    """A summary of many figures."""

    p50: float
    p95: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        hundredths = statistics.quantiles(values, n=100, method="inclusive")
        return cls(p50=round(hundredths[49], 3), p95=round(hundredths[94], 3), count=len(values))


class Cell(BaseModel):
    """One function at one upstream latency, over all its containers; lists have a figure for each of them.

    Attributes:
        init: INIT, as the emulator reports it.
        first: the first caller's waiting time: INIT and the first invocation.
        first_cpu: processor time of the function's process up to the first answer.
        memory: most memory the process had by the end (resident, with the pages of files it has mapped).
        second: the second invocation, another question.
        different: the ones after it, another question each time.
        repeated: the same question again and again; its first time, which may fill a cache, is not among them.
    """

    init: list[float]
    first: list[float]
    first_cpu: list[float]
    memory: list[float]
    second: list[float]
    different: Spread
    repeated: Spread


class Upstream(BaseModel):
    """The emulators' own time: an embedding as numbers, as base64, and a search."""

    embed_float: Spread
    embed_base64: Spread
    search: Spread


class Batch(BaseModel):
    """Questions by one invocation, beside as many invocations one after another; a figure for each container."""

    questions: int
    together: list[float]
    one_by_one: list[float]


class Size(BaseModel):
    """Function and layer, unzipped, and the parts that only one store needs."""

    both: float
    qdrant_client: float
    qdrant_edge: float


class EdgeScale(BaseModel):
    """An Edge index of `chunks` passages of 1,024 dimensions.

    Attributes:
        indexed: vectors that are in the engine's graph; the others are compared one by one.
        disk: what the index's files occupy. unzipped: their length, which Lambda counts of a
            layer.
        load: opening it and the first search, which is what INIT pays.
        before, loaded, searched: resident memory before loading, after it and after the searches.
        mapped: how much of the last is pages of the index's files, which the system may take back.
        search: by the store's own adapter. exact: the engine comparing with every vector.
        recall_5, recall_10: the share of the exact answer's first 5, 10 that is found.
    """

    chunks: int
    indexed: int
    disk: float
    unzipped: float
    build_seconds: float
    load: float
    before: float
    loaded: float
    searched: float
    mapped: float
    search: Spread
    exact: Spread
    recall_5: float
    recall_10: float


class Writing(BaseModel):
    """A whole run of `passage index` for a made-up site, without embedding.

    Attributes:
        read: seconds to read and cut the site and compare it with the store.
        write: seconds to write the index, an Edge index's search graph included.
        before, own: the process' own memory at the start and at most. whole: with the pages of mapped files.
    """

    store: str
    chunks: int
    read: float
    write: float
    before: float
    own: float
    whole: float


class Machine(BaseModel):
    cores: int
    architecture: str
    python: str
    load_before: float
    load_after: float


class Results(BaseModel):
    """functions: by name, then latency in milliseconds; upstreams by latency; batch by function, then latency."""

    date: str
    machine: Machine
    rounds: int
    functions: dict[str, dict[int, Cell]]
    upstreams: dict[int, Upstream] = {}
    batch: dict[str, dict[int, Batch]] = {}
    size: Size | None = None
    edge: list[EdgeScale] = []
    writing: list[Writing] = []

    def text(self) -> str:
        return self.model_dump_json(indent=1) + "\n"

    def digest(self) -> str:
        """Names these figures, in the picture that is drawn from them."""
        return hashlib.sha256(self.text().encode()).hexdigest()[:16]


def load(path: Path = FILE) -> Results:
    return Results.model_validate_json(path.read_text(encoding="utf-8"))
