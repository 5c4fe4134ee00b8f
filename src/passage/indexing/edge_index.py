"""Writes the index that `handler.adapters.qdrant.edge` reads: a folder a profile, replaced whole or left alone.

Beside a profile's folder lie, with a dot before the name, the lock of whoever writes it and, for a moment, the index
that comes and the one that goes.
"""

import fcntl
import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge

from handler.adapters.qdrant.edge import FORMAT, MANIFEST, SHARD
from handler.config.profiles import Profile

T = TypeVar("T")

BATCH = 500
DISTANCES = {"Cosine": qdrant_edge.Distance.Cosine, "Dot": qdrant_edge.Distance.Dot}


GRAPH: Mapping[str, int] = {"m": 32, "ef_construct": 200, "full_scan_threshold": 10_000}
"""How the graph is built that a search follows. Less than `full_scan_threshold` kilobytes of vectors, some thousands of
them, have none and are all compared. With the engine's own values a search of 100,000 finds 87 of 100 nearest passages,
with these 98; building takes a little longer, once (docs/performance.md)."""

PRECISIONS = {"Cosine": "Float16", "Dot": "Float32"}
"""What a vector's numbers are stored as. 16 bits are half the memory, and half of what a cold start copies to /tmp.
Vectors compared by their cosine are of length 1, and a score differs by a ten-thousandth at most; others can be of any
length, and may not fit."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A point as it lies in an index: its vector, shape `(dimension,)`, and its payload."""

    vector: list[float]
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Point:
    id: int
    vector: Sequence[float]
    payload: Mapping[str, Any]


def manifest(profile: Profile, digest: str, points: int, embedded_by: str) -> dict[str, Any]:
    """What an index says of itself. It holds no time, so the same content gives the same manifest.

    Args:
        embedded_by: whose vectors these are: two services' vectors do not compare, whatever the model is called.
    """
    return {
        "format": FORMAT,
        "profile": profile.name,
        "collection": profile.collection.name,
        "vector": profile.collection.vector,
        "dimension": profile.collection.dimension,
        "distance": profile.collection.distance,
        "embedding_model": profile.embedding.for_texts,
        "embedded_by": embedded_by,
        "points": points,
        "stored_as": {"numbers": PRECISIONS[profile.collection.distance], "graph": GRAPH},
        "digest": digest,
    }


def comparable(found: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Whether the vectors of an index with one manifest are of use in one with the other."""
    same = ("format", "vector", "dimension", "distance", "embedding_model", "embedded_by")
    return found is not None and all(found.get(key) == wanted[key] for key in same)


class EdgeIndex:
    """One profile's index under `root`."""

    def __init__(self, root: Path, profile: Profile) -> None:
        self._folder = root / profile.name
        self._profile = profile

    def manifest(self) -> dict[str, Any] | None:
        """What lies there; None when nothing does, or nothing that can be read."""
        return _manifest(self._folder)

    def holds(self, ids: Sequence[int]) -> bool:
        """Whether exactly these points are there, and the engine can read them."""

        def check(shard: qdrant_edge.EdgeShard) -> bool:
            return shard.info().points_count == len(ids) == sum(1 for _ in _retrieved(shard, ids))

        return self._asked(check, otherwise=False)

    def points(self, ids: Sequence[int]) -> dict[int, Stored]:
        """Those of `ids` that are there."""

        def read(shard: qdrant_edge.EdgeShard) -> dict[int, Stored]:
            records = ((int(str(record.id)), record) for record in _retrieved(shard, ids))
            return {point: Stored(_vector(record.vector), record.payload or {}) for point, record in records}

        return self._asked(read, otherwise={})

    @contextmanager
    def locked(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Only one run at a time works on this index; `waiting` is told when another one has to end first."""
        with _lock(self._folder, waiting):
            _restore(self._folder)
            for leftover in self._folder.parent.glob(f".{self._folder.name}.new-*"):
                _remove(leftover)
            yield

    def replace(self, points: Sequence[Point], description: Mapping[str, Any]) -> None:
        """Write a new index beside the old one and put it in its place: a reader sees the old one or the new one."""
        new, old = _beside(self._folder, f"new-{uuid.uuid4().hex}"), _beside(self._folder, "old")
        new.mkdir(parents=True)
        try:
            self._write_shard(new / SHARD, points)
            (new / MANIFEST).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
            _remove(old)
            if self._folder.exists():
                self._folder.rename(old)
            new.rename(self._folder)
        finally:
            _restore(self._folder)
            _remove(new)
        _remove(old)

    def _asked(self, question: Callable[[qdrant_edge.EdgeShard], T], otherwise: T) -> T:
        """The engine's answer about what lies there; `otherwise` when that is missing or damaged."""
        folder = self._folder / SHARD
        if not folder.is_dir():
            return otherwise
        try:
            shard = qdrant_edge.EdgeShard.load(str(folder))
            try:
                return question(shard)
            finally:
                shard.close()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # noqa: BLE001 - on damaged files the engine may panic, which is no Exception
            return otherwise

    def _write_shard(self, folder: Path, points: Sequence[Point]) -> None:
        folder.mkdir()
        collection = self._profile.collection
        params = qdrant_edge.EdgeVectorParams(
            size=collection.dimension,
            distance=DISTANCES[collection.distance],
            datatype=getattr(qdrant_edge.VectorStorageDatatype, PRECISIONS[collection.distance]),
        )
        shard = qdrant_edge.EdgeShard.create(
            str(folder),
            qdrant_edge.EdgeConfig(
                vectors={collection.vector: params} if collection.vector else params,
                hnsw_config=qdrant_edge.HnswIndexConfig(
                    m=GRAPH["m"],
                    ef_construct=GRAPH["ef_construct"],
                    full_scan_threshold=GRAPH["full_scan_threshold"],
                ),
                # A log of changes is for an index that changes; this one is written once. Without it the files are
                # half the size, and several readers can have them open.
                wal_enabled=False,
            ),
        )
        for start in range(0, len(points), BATCH):
            shard.update(
                qdrant_edge.UpdateOperation.upsert_points(
                    [
                        qdrant_edge.Point(
                            point.id,
                            {collection.vector: list(point.vector)} if collection.vector else list(point.vector),
                            dict(point.payload),
                        )
                        for point in points[start : start + BATCH]
                    ]
                )
            )
        shard.optimize()
        shard.flush()
        shard.close()
        # The engine completes its files when it first opens them: done here, a reader finds nothing left to change.
        qdrant_edge.EdgeShard.load(str(folder)).close()


def restore(root: Path) -> None:
    """Put back what a run that was killed in the middle of its last step left: the index that was going."""
    for old in root.glob(".*.old"):
        folder = root / old.name[1:].removesuffix(".old")
        if not folder.exists():
            with _lock(folder, lambda: None):
                _restore(folder)


def embedders(root: Path) -> dict[str, str]:
    """Who embedded each of the indexes under `root`, by profile; empty for one that does not say."""
    manifests = {folder.parent.name: _manifest(folder.parent) for folder in sorted(root.glob(f"*/{MANIFEST}"))}
    return {name: str(found.get("embedded_by", "")) for name, found in manifests.items() if found is not None}


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _beside(folder: Path, what: str) -> Path:
    return folder.with_name(f".{folder.name}.{what}")


@contextmanager
def _lock(folder: Path, waiting: Callable[[], None]) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _beside(folder, "lock").open("w") as file:  # closing it gives the lock back, as the end of a process does
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _restore(folder: Path) -> None:
    old = _beside(folder, "old")
    if old.exists() and not folder.exists():
        old.rename(folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _retrieved(shard: qdrant_edge.EdgeShard, ids: Sequence[int]) -> Iterator[qdrant_edge.Record]:
    for start in range(0, len(ids), BATCH):
        yield from shard.retrieve(list(ids[start : start + BATCH]), with_payload=True, with_vector=True)


def _vector(value: Any) -> list[float]:
    return list(next(iter(value.values())) if isinstance(value, dict) else value)
