"""Writes the index that `handler.adapters.qdrant.edge` reads: a folder a profile, replaced whole or left alone.

Beside a profile's folder lies a lock file. While an index is replaced, the new and the old one lie there too. Their
names begin with a dot.
"""

import json
import shutil
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import qdrant_edge

from handler.adapters.qdrant.manifest import FORMAT, MANIFEST, SHARD
from handler.config.profiles import Profile
from passage.indexing import room, stored
from passage.indexing.batching import batched
from passage.indexing.edge_engine import EngineError, engine_errors, scroll
from passage.indexing.file_lock import file_lock
from passage.indexing.stored import StoredPoint
from passage.indexing.target import Advance, Ids, NewPoint, StoreState, TargetError, WantedIndex, comparable

T = TypeVar("T")

BATCH = 500
DISTANCES = {"Cosine": qdrant_edge.Distance.Cosine, "Dot": qdrant_edge.Distance.Dot}

GRAPH: Mapping[str, int] = {"m": 32, "ef_construct": 200, "full_scan_threshold": 10_000}
"""The parameters of the search graph. Below `full_scan_threshold` kilobytes (some thousands of vectors), a search
compares every vector. Among 100,000 vectors, a search finds 99 of the 100 nearest with these values. With the engine's
defaults it finds 87. Building takes a little longer, once (docs/performance.md)."""

INDEXING_THRESHOLD = 1
"""Kilobytes of vectors from which `optimize` packs a segment for reading. Packed, an index of 1,800 chunks with its
text index opens in 8 ms instead of 50."""

PRECISIONS = {"Cosine": "Float16", "Dot": "Float32"}
"""The type of a stored vector's numbers. 16 bits halve the memory and the bytes that a cold start copies to /tmp.
Vectors compared by cosine have length 1, so a score differs by a ten-thousandth at most. Other vectors can have any
length and may not fit into 16 bits."""

NUMBER_BYTES = {"Cosine": 2, "Dot": 4}
TEXT_INDEX_PAGE = 2**25
"""Bytes that the engine fills for a text index, however small, when it first opens one."""


def manifest(wanted: WantedIndex) -> dict[str, Any]:
    """An index's description of itself. It holds no time, so the same content gives the same manifest."""
    profile = wanted.profile
    return {
        "format": FORMAT,
        "profile": profile.name,
        "collection": profile.collection.name,
        "vector": profile.collection.vector,
        "dimension": profile.collection.dimension if profile.search.has_vectors else 0,
        "distance": profile.collection.distance,
        "embedding_model": profile.embedding.for_texts if profile.search.has_vectors else "",
        "embedded_by": wanted.embedded_by,
        "points": wanted.points,
        "stored_as": {
            "numbers": PRECISIONS[profile.collection.distance],
            "graph": GRAPH,
            "text_index": {index.field: index.to_rest() for index in wanted.text_indexes},
        },
        "digest": wanted.digest,
    }


class EdgeIndex:
    """One profile's index under `root`; a `passage.indexing.target.Target`."""

    def __init__(self, root: Path, profile: Profile) -> None:
        self._folder = root / profile.name
        self._profile = profile

    @property
    def where(self) -> str:
        return str(self._folder)

    @contextmanager
    def lock(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Only one run at a time works on this index."""
        with _lock(self._folder, waiting):
            _restore(self._folder)
            for leftover in self._folder.parent.glob(f".{self._folder.name}.new-*"):
                _remove(leftover)
            yield

    def compare(self, wanted: WantedIndex, ids: Ids) -> StoreState:
        """An index with the right manifest is read completely, because its files may be damaged."""
        before, after = _manifest(self._folder), manifest(wanted)
        if before is not None:
            before = {key: value for key, value in before.items() if key not in ("files", "noise")}
        if before == after and self._ask(lambda shard: _holds(shard, ids, wanted), otherwise=False):
            return StoreState(complete=True)
        same = comparable(before, after) and self._ask(self._has_vectors, otherwise=False)
        return StoreState(comparable=same, note="an Edge index is replaced whole" if before else "")

    def stored_points(self) -> Iterator[list[StoredPoint]]:
        """A damaged index holds nothing."""
        selector = qdrant_edge.PayloadSelector.Exclude(stored.unread_keys(self._profile))
        with self._open() as shard, suppress(EngineError):
            for records in scroll(shard, payload=selector, vectors=False) if shard is not None else ():
                yield [StoredPoint(int(str(record.id)), record.payload or {}) for record in records]

    def vectors(self, ids: Sequence[int]) -> dict[int, list[float]]:
        """See `Target`."""

        def read(shard: qdrant_edge.EdgeShard) -> dict[int, list[float]]:
            records = shard.retrieve(list(ids), with_payload=False, with_vector=True)
            return {int(str(record.id)): _vector(record.vector) for record in records}

        return self._ask(read, otherwise={})

    def written_points(self, wanted: WantedIndex) -> Ids:  # noqa: ARG002 - a folder is not completed
        """See `Target`: a half-written index is never completed, only written again."""
        return iter(())

    def replace(self, wanted: WantedIndex, points: Iterable[NewPoint], progress: Advance = lambda _: None) -> None:
        """Write a new index beside the old one and put it in its place: a reader sees the old one or the new one."""
        new, old = _beside(self._folder, f"new-{uuid.uuid4().hex}"), _beside(self._folder, "old")
        new.mkdir(parents=True)
        try:
            self._write_shard(new / SHARD, wanted, points, progress)
            said = {**manifest(wanted), "files": _files(new)}
            (new / MANIFEST).write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
            _remove(old)
            if self._folder.exists():
                self._folder.rename(old)
            new.rename(self._folder)
        finally:
            _restore(self._folder)
            _remove(new)
        _remove(old)
        self.__dict__.pop("_whole", None)

    def refresh(self, wanted: WantedIndex) -> None:
        """An index on disk has no server."""

    def edit(self, wanted: WantedIndex, points: Iterable[NewPoint], gone: Ids, progress: Advance) -> None:
        raise NotImplementedError("an Edge index is replaced whole: see `compare`")

    def noise(self) -> Mapping[str, Any]:
        stored = (_manifest(self._folder) or {}).get("noise")
        return stored if isinstance(stored, dict) else {}

    def best_cosines(self, vectors: Sequence[Sequence[float]]) -> list[float]:
        using = self._profile.collection.vector or None
        requests = [
            qdrant_edge.QueryRequest(limit=1, query=qdrant_edge.Query.Nearest(list(vector), using=using))
            for vector in vectors
        ]
        batch = qdrant_edge.QueryBatchRequest(requests)
        return self._ask(lambda shard: [points[0].score for points in shard.query_batch(batch)], otherwise=[])

    def keep_noise(self, noise: Mapping[str, Any]) -> None:
        """The manifest is replaced in one step, because a function may be reading it."""
        new = self._folder / f".{MANIFEST}.new"
        new.write_text(
            json.dumps({**(_manifest(self._folder) or {}), "noise": noise}, indent=2) + "\n", encoding="utf-8"
        )
        new.replace(self._folder / MANIFEST)

    def _has_vectors(self, shard: qdrant_edge.EdgeShard) -> bool:
        """Whether the vectors have the profile's dimension, whatever the manifest says."""
        records, _ = shard.scroll(qdrant_edge.ScrollRequest(limit=1, with_vector=True))
        return all(len(_vector(record.vector)) == _dimension(self._profile) for record in records)

    def _ask(self, question: Callable[[qdrant_edge.EdgeShard], T], otherwise: T) -> T:
        """The engine's answer; `otherwise` where the index is missing or damaged."""
        with self._open() as shard:
            if shard is not None:
                with suppress(EngineError), engine_errors():
                    return question(shard)
        return otherwise

    @cached_property
    def _whole(self) -> bool:
        """Whether every file is as it was written. The engine can end the process on a damaged one."""
        said: Any = (_manifest(self._folder) or {}).get("files")
        there = _files(self._folder) if isinstance(said, dict) else {}
        return bool(there) and all(there.get(name) == file for name, file in said.items())

    @contextmanager
    def _open(self) -> Iterator[qdrant_edge.EdgeShard | None]:
        """The shard that lies there; None when it is missing or cannot be opened."""
        folder = self._folder / SHARD
        shard = None
        with suppress(EngineError), engine_errors():
            shard = qdrant_edge.EdgeShard.load(str(folder)) if self._whole else None
        try:
            yield shard
        finally:
            if shard is not None:
                shard.close()

    def _write_shard(self, folder: Path, wanted: WantedIndex, points: Iterable[NewPoint], progress: Advance) -> None:
        folder.mkdir()
        vector = self._profile.collection.vector
        with self._report_failures():
            shard = qdrant_edge.EdgeShard.create(str(folder), self._config())
            for index in wanted.text_indexes:
                shard.update(qdrant_edge.UpdateOperation.create_field_index(index.field, index.for_edge()))
        size = len(wanted.text_indexes) * TEXT_INDEX_PAGE
        self._require_room(folder, size)
        for batch in batched(points, BATCH):
            added = sum(map(self._size, batch))
            size += added
            self._require_room(folder, size + added)
            with self._report_failures():
                shard.update(
                    qdrant_edge.UpdateOperation.upsert_points(
                        [qdrant_edge.Point(point.id, point.vectors(vector), dict(point.payload)) for point in batch]
                    )
                )
            progress(len(batch))
        self._require_room(folder, size)
        with self._report_failures():
            shard.optimize()  # writes a copy of everything
            shard.flush()
            shard.close()
            # The engine completes its files when it first opens them. This is done here, so readers change no file.
            qdrant_edge.EdgeShard.load(str(folder)).close()

    def _size(self, point: NewPoint) -> int:
        """About how many bytes a point takes: its vector, its payload, and the text indexes over it."""
        return len(point.vector) * NUMBER_BYTES[self._profile.collection.distance] + 3 * len(str(point.payload))

    def _require_room(self, folder: Path, needed: int) -> None:
        if fault := room.lacking(folder, needed):
            raise TargetError(f"The index cannot be written to {self.where}: {fault}.")

    @contextmanager
    def _report_failures(self) -> Iterator[None]:
        """Report the engine's failures, such as a full disk."""
        try:
            with engine_errors():
                yield
        except EngineError as error:
            raise TargetError(f"The index cannot be written to {self.where}: {error}") from error

    def _config(self) -> qdrant_edge.EdgeConfig:
        collection = self._profile.collection
        params = qdrant_edge.EdgeVectorParams(
            size=collection.dimension,
            distance=DISTANCES[collection.distance],
            datatype=getattr(qdrant_edge.VectorStorageDatatype, PRECISIONS[collection.distance]),
        )
        vectors: dict[str, Any] = {"vectors": {collection.vector: params} if collection.vector else params}
        if not self._profile.search.has_vectors:  # the engine wants one; no point has it
            vectors = {"sparse_vectors": {"none": qdrant_edge.EdgeSparseVectorParams()}}
        return qdrant_edge.EdgeConfig(
            **vectors,
            hnsw_config=qdrant_edge.HnswIndexConfig(
                m=GRAPH["m"],
                ef_construct=GRAPH["ef_construct"],
                full_scan_threshold=GRAPH["full_scan_threshold"],
            ),
            optimizers=qdrant_edge.EdgeOptimizersConfig(indexing_threshold=INDEXING_THRESHOLD),
            # This index is written once and needs no log of changes. Without the log the files are half
            # the size, and several readers can have them open.
            wal_enabled=False,
        )


def restore(root: Path) -> None:
    """Put the old index back where a run was killed between its last two steps."""
    for old in root.glob(".*.old"):
        folder = root / old.name[1:].removesuffix(".old")
        if not folder.exists():
            with _lock(folder, lambda: None):
                _restore(folder)


def embedders(root: Path) -> dict[str, str]:
    """The provider of each index with vectors under `root`, by profile; empty where the index does not name it."""
    manifests = {folder.parent.name: _manifest(folder.parent) for folder in sorted(root.glob(f"*/{MANIFEST}"))}
    return {
        name: str(said.get("embedded_by", ""))
        for name, said in manifests.items()
        if said and said.get("dimension") != 0
    }


def _files(folder: Path) -> dict[str, dict[str, int]]:
    """The size and the CRC-32 of each file of an index, by path, without those that the engine writes anew."""
    anew = empty_segments(folder)
    files = {}
    for path in sorted((folder / SHARD).rglob("*")):
        if path.is_file() and not anew.intersection(path.parents):
            files[path.relative_to(folder).as_posix()] = {"bytes": path.stat().st_size, "crc32": _checksum(path)}
    return files


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1024 * 1024):
            checksum = zlib.crc32(block, checksum)
    return checksum


def empty_segments(folder: Path) -> set[Path]:
    """The folders of segments that nothing was ever written to. The engine makes one whenever it opens an index."""
    states = set()
    for state in folder.glob(f"{SHARD}/segments/*/segment.json"):
        try:
            values: Any = json.loads(state.read_bytes())
        except ValueError:  # damaged; the engine says so when it opens the index
            continue
        if isinstance(values, dict) and values.get("initial_version", 0) is None:
            states.add(state.parent)
    return states


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return manifest if isinstance(manifest, dict) else None


def _beside(folder: Path, what: str) -> Path:
    return folder.with_name(f".{folder.name}.{what}")


def _lock(folder: Path, waiting: Callable[[], None]) -> AbstractContextManager[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    return file_lock(_beside(folder, "lock"), waiting)


def _restore(folder: Path) -> None:
    old = _beside(folder, "old")
    if old.exists() and not folder.exists():
        old.rename(folder)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _holds(shard: qdrant_edge.EdgeShard, ids: Ids, wanted: WantedIndex) -> bool:
    """Whether exactly the wanted points are there, and the engine can read them."""
    if shard.info().points_count != wanted.points:
        return False
    dimension = _dimension(wanted.profile)
    for batch in ids:
        records = shard.retrieve([*batch], with_payload=True, with_vector=True)
        # The engine gives empty vectors for a damaged vector file.
        if len(records) != len(batch) or any(len(_vector(record.vector)) != dimension for record in records):
            return False
    return True


def _dimension(profile: Profile) -> int:
    return profile.collection.dimension if profile.search.has_vectors else 0


def _vector(value: Any) -> list[float]:
    return list(next(iter(value.values()), ()) if isinstance(value, dict) else value)
