"""An index that ships with the function: Qdrant's own engine in-process, no server and no network.

`passage index` writes one folder a profile: `manifest.json`, which says what the index is, and `shard/`, the engine's
own files.
"""

import json
import os
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import qdrant_edge

from handler.adapters import payload
from handler.adapters.collection import check_model, check_vectors
from handler.core import deadline as deadlines
from handler.core.errors import CollectionNotFound, ConfigurationError, UpstreamUnavailable
from handler.core.model import CollectionInfo, Found, Vector
from handler.profiles import Profile

MANIFEST = "manifest.json"
SHARD = "shard"
FORMAT = 1


class QdrantEdgeStore:
    """One profile's index.

    Args:
        root: the folder `passage index` wrote to, with a folder a profile in it. May be read-only, as a layer is.
    """

    def __init__(self, *, root: Path, profile: Profile) -> None:
        self._folder = root / profile.name
        self._profile = profile

    @property
    def collection(self) -> str:
        return self._profile.collection.name

    def search(self, vector: Vector, top_k: int) -> Found:
        """See `handler.core.ports.PassageStore`."""
        shard = self._shard
        deadline = deadlines.current()
        if deadline is not None:
            deadline.require("store")
        request = qdrant_edge.QueryRequest(
            limit=top_k,
            query=qdrant_edge.Query.Nearest(list(vector), using=self._profile.collection.vector or None),
            with_payload=self._profile.payload.keys(),
            with_vector=False,
        )
        try:
            points = shard.query(request)
        except Exception as error:  # the engine's own class for every failure
            raise UpstreamUnavailable(
                "The vector store failed to answer.", upstream="store", detail=str(error)
            ) from error
        return payload.read(((_id(point.id), point.score, point.payload) for point in points), self._profile.payload)

    def warm(self) -> None:
        """See `handler.core.ports.PassageStore`. Opens the index and searches it once, which maps it."""
        self.search([1.0] * self._profile.collection.dimension, 1)

    def describe(self) -> CollectionInfo:
        """See `handler.core.ports.PassageStore`."""
        info = self._shard.info()
        described = CollectionInfo(
            name=self.collection,
            vector_size=self._profile.collection.dimension,
            distance_metric=str(self._manifest["distance"]),
            points_count=info.points_count,
            indexed_vectors_count=info.indexed_vectors_count,
            status="green",
            embedding_model=str(self._manifest["embedding_model"]),
        )
        check_model(self._profile.embedding, described)
        return described

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        """What the index says it is, checked against the profile."""
        path = self._folder / MANIFEST
        try:
            manifest = json.loads(path.read_bytes())
            found = (manifest["format"], manifest["collection"], manifest["vector"], manifest["dimension"])
        except FileNotFoundError:
            raise CollectionNotFound(
                f"There is no index for the profile '{self._profile.name}' under EDGE_INDEX_PATH: run `passage index`.",
                detail=f"no {path}",
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"The index for the profile '{self._profile.name}' cannot be read: run `passage index` again.",
                detail=f"{path}: {error!r}",
            ) from error
        if found[0] != FORMAT:
            raise ConfigurationError(
                f"The index has format {found[0]}, this version reads {FORMAT}: run `passage index` again."
            )
        if found[1] != self.collection:
            raise CollectionNotFound(
                f"The index holds the collection '{found[1]}', the profile asks for '{self.collection}': "
                "set COLLECTION_NAME, or index the site again."
            )
        check_vectors(self._profile.collection, {found[2]: found[3]})
        return dict(manifest)

    @cached_property
    def _shard(self) -> qdrant_edge.EdgeShard:
        _ = self._manifest  # refuse an index of another shape before opening it
        try:
            return qdrant_edge.EdgeShard.load(str(_writable(self._folder / SHARD)))
        except Exception as error:  # the engine's own class for every failure
            raise ConfigurationError(
                f"The index for the profile '{self._profile.name}' cannot be opened: run `passage index` again.",
                detail=str(error),
            ) from error


def _writable(shard: Path) -> Path:
    """The shard itself, or a copy where it lies read-only: the engine opens its files for writing even to read them."""
    if os.access(shard, os.W_OK):
        return shard
    copy = Path(tempfile.mkdtemp(prefix="passage-index-")) / SHARD
    shutil.copytree(shard, copy, copy_function=shutil.copyfile)  # not the modes: they are what is read-only
    return copy


def _id(value: Any) -> int | str:
    return value if isinstance(value, int) else str(value)
