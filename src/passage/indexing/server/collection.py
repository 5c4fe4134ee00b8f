"""Creates the collection of a profile: its vectors, quantization and payload indexes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qdrant_client import models

from handler.config import models as model_table
from handler.config.payload_keys import ChunkField
from passage.indexing import stored
from passage.indexing.server.connection import PREFIXES, SCORING
from passage.indexing.target import WantedIndex

FORMAT = 1
"""Of the collection metadata. An index of another format is written whole."""

FLOAT_BYTES = 4
LARGE_BYTES = 256 * 1024 * 1024
"""Vectors above this size lie on disk. A copy with 8 bits a number stays in memory for the search: a quarter of the
memory. The best results are scored again by the full vectors. Qdrant Cloud's free cluster has 1 GB of memory."""

INDEX_TYPES: Mapping[ChunkField, models.PayloadSchemaType] = {
    "position": models.PayloadSchemaType.INTEGER,
    "total": models.PayloadSchemaType.INTEGER,
    "number": models.PayloadSchemaType.INTEGER,
    "tokens": models.PayloadSchemaType.INTEGER,
    "words": models.PayloadSchemaType.INTEGER,
    "epoch": models.PayloadSchemaType.INTEGER,
    "iso": models.PayloadSchemaType.DATETIME,
}
"""Index types by chunk field; any other field is text that is compared whole."""


Index = models.PayloadSchemaType | models.KeywordIndexParams | models.TextIndexParams


@dataclass(frozen=True, slots=True)
class Shape:
    """The parameters of a new collection.

    Attributes:
        size: 0 for a collection without vectors.
        large: see `LARGE_BYTES`.
        indexes: payload indexes by key.
    """

    vector: str
    size: int
    distance: str
    large: bool
    indexes: Mapping[str, "Index"]

    def to_metadata(self) -> dict[str, Any]:
        """The shape as stored in the collection's metadata. A later run compares it with its own."""
        indexes = {
            key: index.value
            if isinstance(index, models.PayloadSchemaType)
            else index.model_dump(mode="json", exclude_none=True)
            for key, index in self.indexes.items()
        }
        return {"large": self.large, "indexes": indexes}


def shape(wanted: WantedIndex, version: tuple[int, int]) -> Shape:
    """The shape for an index on a server of that version."""
    profile = wanted.profile
    collection = profile.collection
    held = stored.keys(profile)
    # A search filters on all keys, and strict mode (as on Qdrant Cloud) refuses a filter on a key without an index.
    filtered = [key for alternatives in profile.filters.values() for key in alternatives]
    payload = profile.payload
    others = [key for key in (*payload.chunk_id, *payload.page, *payload.url, *payload.index) if key in held]
    text: Index = models.PayloadSchemaType.KEYWORD
    if version >= PREFIXES:
        text = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, prefix=True)
    indexes = {key: INDEX_TYPES.get(held.get(key, "text"), text) for key in dict.fromkeys((*filtered, *others))}
    if version >= SCORING:
        indexes |= {index.field: index.for_server() for index in wanted.text_indexes}
    return Shape(
        vector=collection.vector,
        size=collection.dimension if profile.search.has_vectors else 0,
        distance=collection.distance,
        large=profile.search.has_vectors and wanted.points * collection.dimension * FLOAT_BYTES > LARGE_BYTES,
        indexes=indexes,
    )


def metadata(wanted: WantedIndex, shape: Shape, state: str) -> dict[str, Any]:
    """The collection metadata. The function reads `embedding_model`; only `passage index` reads the rest.

    Args:
        state: "building" or "ready".
    """
    profile = wanted.profile
    name = profile.embedding.for_texts
    model = model_table.find(name)
    embedded = {
        "embedding_model": name,
        "vector_space": model.space if model else name,
        "embedded_by": wanted.embedded_by,
    }
    return {
        **(embedded if shape.size else dict.fromkeys(embedded)),
        "passage": {
            "format": FORMAT,
            "state": state,
            "profile": profile.name,
            "vector": profile.collection.vector,
            "dimension": shape.size,
            "distance": profile.collection.distance,
            "digest": wanted.digest,
            "points": wanted.points,
            "shape": shape.to_metadata(),
        },
    }


def same_points(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two collections' metadata differ at most in what indexes of keywords serve, which no point depends on."""
    return _plain(one) == _plain(other)


def _plain(said: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata as a server before 1.19 would have it."""
    shape = said.get("shape") or {}
    indexes = {
        key: "keyword" if isinstance(index, dict) and index.get("type") == "keyword" else index
        for key, index in (shape.get("indexes") or {}).items()
    }
    return {**said, "shape": {**shape, "indexes": indexes}}


def create_arguments(shape: Shape) -> dict[str, Any]:
    """The arguments of `QdrantClient.create_collection`."""
    if not shape.size:
        return {"vectors_config": {}}
    vector = models.VectorParams(
        size=shape.size, distance=models.Distance(shape.distance), on_disk=True if shape.large else None
    )
    arguments: dict[str, Any] = {"vectors_config": {shape.vector: vector} if shape.vector else vector}
    if shape.large:
        int8 = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        arguments["quantization_config"] = models.ScalarQuantization(scalar=int8)
    return arguments
