"""Writes the index that `handler.adapters.qdrant_edge` reads: a folder a profile, replaced whole or left alone."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import qdrant_edge

from handler.adapters.qdrant_edge import FORMAT, MANIFEST, SHARD
from handler.profiles import Profile

BATCH = 500
DISTANCES = {"Cosine": qdrant_edge.Distance.Cosine, "Dot": qdrant_edge.Distance.Dot}


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


def manifest(profile: Profile, digest: str, points: int) -> dict[str, Any]:
    """What an index says of itself. It holds no time, so the same content gives the same manifest."""
    return {
        "format": FORMAT,
        "profile": profile.name,
        "collection": profile.collection.name,
        "vector": profile.collection.vector,
        "dimension": profile.collection.dimension,
        "distance": profile.collection.distance,
        "embedding_model": profile.embedding.model,
        "points": points,
        "digest": digest,
    }


class EdgeIndex:
    """One profile's index under `root`."""

    def __init__(self, root: Path, profile: Profile) -> None:
        self._folder = root / profile.name
        self._profile = profile

    def manifest(self) -> dict[str, Any] | None:
        """What lies there; None when nothing does, or nothing that can be read."""
        try:
            found = json.loads((self._folder / MANIFEST).read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def points(self, ids: Iterable[int]) -> dict[int, Stored]:
        """Those of `ids` that are there, if what is there was made with the same model and shape."""
        found = self.manifest()
        wanted = manifest(self._profile, "", 0)
        same = ("format", "vector", "dimension", "distance", "embedding_model")
        if found is None or any(found.get(key) != wanted[key] for key in same):
            return {}
        shard = qdrant_edge.EdgeShard.load(str(self._folder / SHARD))
        try:
            records = shard.retrieve(list(ids), with_payload=True, with_vector=True)
            return {int(str(record.id)): Stored(_vector(record.vector), record.payload or {}) for record in records}
        finally:
            shard.close()

    def replace(self, points: Sequence[Point], description: Mapping[str, Any]) -> None:
        """Write a new index beside the old one and put it in its place: a reader sees the old one or the new one."""
        new = self._folder.with_name(f".{self._folder.name}.new")
        old = self._folder.with_name(f".{self._folder.name}.old")
        for leftover in (new, old):
            shutil.rmtree(leftover, ignore_errors=True)
        new.mkdir(parents=True)
        self._write_shard(new / SHARD, points)
        (new / MANIFEST).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
        if self._folder.exists():
            self._folder.rename(old)
        new.rename(self._folder)
        shutil.rmtree(old, ignore_errors=True)

    def _write_shard(self, folder: Path, points: Sequence[Point]) -> None:
        folder.mkdir()
        collection = self._profile.collection
        params = qdrant_edge.EdgeVectorParams(size=collection.dimension, distance=DISTANCES[collection.distance])
        shard = qdrant_edge.EdgeShard.create(
            str(folder),
            qdrant_edge.EdgeConfig(
                vectors={collection.vector: params} if collection.vector else params,
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


def _vector(value: Any) -> list[float]:
    return list(next(iter(value.values())) if isinstance(value, dict) else value)
