"""Copies points, with their vectors and payloads, from one kind of index to the other: nothing is embedded."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.adapters.qdrant.manifest import MANIFEST, SHARD, Manifest
from handler.adapters.qdrant.payload import Hit, embedding_model, read
from handler.config import models
from handler.config.payload_keys import RANKED_KEY
from handler.config.profiles import Profile
from handler.config.validation import check_distance, check_vectors
from passage.indexing import stored
from passage.indexing.run import Watch
from passage.indexing.server.connection import ServerConnection
from passage.indexing.target import NewPoint, Target, TargetError, WantedIndex
from passage.indexing.text_index import copy_indexes

Scroll = Callable[[bool], Iterator[list[NewPoint]]]
"""Every point in batches. The argument says whether to read vectors; otherwise they are empty."""


@dataclass(frozen=True, slots=True)
class CopySource:
    """An index to copy.

    Attributes:
        where: its name for people.
        model: the embedding model of its texts; empty where unknown.
        embedded_by: the provider of its vectors; empty where unknown.
        sizes: the dimension of each of its vectors by name (empty: unnamed).
        text_indexes: in Qdrant's REST form, by payload key.
        noise: as it is stored; empty where nobody measured it.
    """

    where: str
    points: int
    model: str
    embedded_by: str
    sizes: Mapping[str, int]
    distance: str
    text_indexes: Mapping[str, Mapping[str, Any]]
    noise: Mapping[str, Any]
    scroll: Scroll


def copy(source: CopySource, profile: Profile, target: Target, watch: Watch) -> bool:
    """Write the source's points to the target; False when the target has them already.

    Raises:
        ConfigurationError: the source's vectors do not fit the profile.
        TargetError: a store could not be read or written, or the profile finds no passages in the points.
    """
    check_vectors(profile.collection, source.sizes)
    check_distance(profile.collection, source.distance)
    wanted = _wanted_index(source, profile)
    with target.lock(watch.waiting):
        if target.compare(wanted, iter(())).complete:
            target.refresh(wanted)
            return False
        points = (_with_vector(point, source, profile) for batch in source.scroll(True) for point in batch)
        target.replace(wanted, points, watch.writing(source.points))
        if source.noise:
            target.keep_noise(source.noise)
    return True


def _with_vector(point: NewPoint, source: CopySource, profile: Profile) -> NewPoint:
    """The point, which may lack the profile's vector where a collection has several, or have a matrix.

    Raises:
        TargetError: it does.
    """
    if len(point.vector) and not isinstance(point.vector[0], Sequence):
        return point
    raise TargetError(
        f"The point {point.id} of {source.where} has no vector '{profile.collection.vector}': a search by it never "
        "finds that point. Delete the point, or give it a vector."
    )


def _wanted_index(source: CopySource, profile: Profile) -> WantedIndex:
    embedding = profile.embedding
    if source.model and not models.are_comparable(source.model, embedding.model):
        raise TargetError(
            f"{source.where} was embedded with '{source.model}', whose vectors are not comparable with those of the "
            f"profile's '{embedding.model}': set EMBEDDING_MODEL to the model it was embedded with."
        )
    model = source.model or embedding.for_texts
    digest, with_titles = _read(source, profile)
    return WantedIndex(
        profile=profile.model_copy(update={"embedding": embedding.model_copy(update={"document_model": model})}),
        digest=digest,
        points=source.points,
        embedded_by=source.embedded_by or embedding.provider,
        text_indexes=copy_indexes(profile, source.text_indexes, with_titles=with_titles),
    )


def _read(source: CopySource, profile: Profile) -> tuple[str, bool]:
    """A hash of every point's id and payload, and whether all points hold their text with its titles.

    A changed source has another hash, and makes another index.
    """
    digest = hashlib.sha256()
    usable, with_titles = False, True
    for batch in source.scroll(False):
        for point in batch:
            digest.update(json.dumps([str(point.id), point.payload], sort_keys=True).encode())
        with_titles = with_titles and all(RANKED_KEY in (point.payload or {}) for point in batch)
        usable = usable or bool(read((Hit(str(p.id), 0.0, p.payload) for p in batch), profile.payload).passages)
    if not usable:
        raise TargetError(
            f"The profile '{profile.name}' finds no text and URL in {source.where}. `passage profile --from-qdrant` "
            "drafts a profile with the keys of a collection."
        )
    return digest.hexdigest(), with_titles


def server_source(connection: ServerConnection, collection: str, profile: Profile) -> CopySource:
    """A collection of a server, by its name or alias.

    Raises:
        TargetError: there is none, or the server cannot be read.
    """
    info = connection.collection(collection)
    if info is None:
        raise TargetError(f"{connection.url} has no collection '{collection}'.")
    named: Any = info.config.params.vectors
    vectors = named if isinstance(named, dict) else {"": named}
    said = info.config.metadata or {}
    vector = profile.collection.vector

    def scroll(with_vectors: bool) -> Iterator[list[NewPoint]]:
        for records in connection.scroll(collection, payload=True, vectors=with_vectors and (not vector or [vector])):
            yield [_point(record, vector) for record in records]

    first = next((point for batch in scroll(False) for point in batch), None)
    return CopySource(
        where=f"the collection '{collection}' at {connection.url}",
        points=connection.count(collection),
        model=str(
            said.get("embedding_model") or embedding_model(first.payload if first else {}, profile.payload) or ""
        ),
        embedded_by=str(said.get("embedded_by") or ""),
        sizes={name: params.size for name, params in vectors.items() if params is not None},
        distance=vectors[vector].distance.value if vectors.get(vector) else "",
        text_indexes={
            key: index.params.model_dump(mode="json")
            for key, index in (info.payload_schema or {}).items()
            if index.data_type == "text" and index.params is not None
        },
        noise=said.get("noise") or {},
        scroll=scroll,
    )


@contextmanager
def edge_source(root: Path, profile: Profile) -> Iterator[CopySource]:
    """The index of a profile under `root`.

    Raises:
        TargetError: there is none, or it cannot be read.
    """
    import qdrant_edge  # noqa: PLC0415 - loads the engine

    from passage.indexing import edge_engine  # noqa: PLC0415 - as above

    folder = root / profile.name
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        with edge_engine.engine_errors():
            shard = qdrant_edge.EdgeShard.load(str(folder / SHARD))
    except (OSError, ValueError, edge_engine.EngineError) as error:
        raise TargetError(f"{folder} holds no index that can be read: run `passage index` again.") from error

    def scroll(with_vectors: bool) -> Iterator[list[NewPoint]]:
        for records in edge_engine.scroll(shard, payload=True, vectors=with_vectors):
            yield [_point(record, manifest.vector) for record in records]

    try:
        yield CopySource(
            where=str(folder),
            points=shard.info().points_count,
            model=manifest.embedding_model,
            embedded_by=manifest.embedded_by,
            sizes=manifest.sizes(),
            distance=manifest.distance,
            text_indexes=manifest.text_index,
            noise=manifest.noise or {},
            scroll=scroll,
        )
    finally:
        shard.close()


def _point(record: Any, vector: str) -> NewPoint:
    """A record of either store."""
    identity = record.id if isinstance(record.id, int) else str(record.id)
    return NewPoint(identity, stored.numbers(record.vector, vector), record.payload or {})
