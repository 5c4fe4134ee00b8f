"""What a server says of a collection: its description, its payload indexes, and why it refused a search.

No question that succeeds needs this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from handler.adapters.qdrant import payload
from handler.adapters.qdrant.answers import Scrolled
from handler.adapters.qdrant.connection import Connection
from handler.adapters.qdrant.filters import filtered_keys, has_prefix
from handler.adapters.qdrant.text_search import Get, TextSupport, version_of
from handler.config.profiles import Collection, Profile
from handler.config.validation import check_indexes, check_vectors, distance_name
from handler.core.errors import PassageError, RequestRefused
from handler.core.model import CollectionInfo, Search

MATCHES_BY_PREFIX = (1, 19)
"""The first version with a match by prefix, which also finds the sections of a page (Qdrant, "Filtering")."""


class VectorParams(BaseModel):
    """What one vector of each point is."""

    size: int
    distance: str


class Params(BaseModel):
    """The shape of a collection. Its vectors go by name, or there is one without a name."""

    vectors: VectorParams | dict[str, VectorParams] | None = None
    shard_number: int | None = None


class StrictMode(BaseModel):
    """The limits of a collection's strict mode."""

    max_query_limit: int | None = None


class Config(BaseModel):
    """How a collection was created, and the metadata that its owner gave it."""

    params: Params
    metadata: dict[str, Any] | None = None
    strict_mode_config: StrictMode | None = None


class PayloadIndex(BaseModel):
    """An index of one payload key."""

    data_type: str
    params: dict[str, Any] | None = None


class Metadata(BaseModel):
    """What Passage reads of a collection's metadata (Qdrant, API reference, "Get collection details")."""

    status: str
    points_count: int | None = None
    indexed_vectors_count: int | None = None
    config: Config
    payload_schema: dict[str, PayloadIndex] = {}


STATUSES = {"green": "green", "yellow": "yellow", "grey": "yellow", "red": "red"}
"""Qdrant's statuses as those of seed 001. Grey is a collection that waits to be optimised, yellow one that is."""


def read(connection: Connection) -> Metadata:
    """The collection's metadata.

    Raises:
        PassageError: see `Connection.call`.
    """
    answer = connection.get("/collections/{collection_name}", collection_name=connection.collection)
    return connection.call(lambda: Metadata.model_validate(answer.get("result")))


def described(expected: Collection, info: Metadata, support: TextSupport, model: str | None) -> CollectionInfo:
    """The collection as /ready and /profiles/{profile}/collection show it.

    Args:
        model: the embedding model that the collection names.
    """
    vector = _vectors(info)[expected.vector]
    return CollectionInfo(
        name=expected.name,
        vector_size=vector.size,
        distance_metric=distance_name(vector.distance),
        points_count=info.points_count or 0,
        indexed_vectors_count=info.indexed_vectors_count or 0,
        status=STATUSES.get(info.status, "yellow"),
        embedding_model=model,
        search="hybrid" if support.search else "dense",
        notes=(support.note,) if support.note else (),
    )


def embedding_model(connection: Connection, profile: Profile, info: Metadata) -> str | None:
    """The model the collection says it was embedded with: in its metadata, or else in its first point.

    Raises:
        PassageError: see `Connection.call`.
    """
    stated = (info.config.metadata or {}).get("embedding_model")
    if isinstance(stated, str):
        return stated
    outer = list(dict.fromkeys(path.outer for path in profile.payload.paths["model"]))
    if not outer:
        return None
    points = connection.post("/scroll", {"limit": 1, "with_payload": outer}, Scrolled).result.points
    return payload.embedding_model(points[0].payload, profile.payload) if points else None


def matches_by_prefix(get: Get) -> bool:
    """Whether the server's version matches by prefix; true where the version is not known."""
    try:
        version = version_of(get("/"))
    except PassageError:
        return True
    return version is None or version >= MATCHES_BY_PREFIX


def explain(
    error: RequestRefused,
    search: Search,
    profile: Profile,
    info: Metadata,
    matches_by_prefix: Callable[[], bool],
) -> None:
    """Find the reason for a refused search in the collection's metadata, because Qdrant's message is prose.

    Args:
        matches_by_prefix: asks the server's version.

    Raises:
        ConfigurationError: the collection's shape, or its payload indexes, explain the refusal.
    """
    check_vectors(profile.collection, sizes(info))
    _check_limit(error, search, profile, info)
    if has_prefix(search.filters) and not matches_by_prefix():
        raise RequestRefused(
            "The vector store refused a filter by prefix, which needs Qdrant 1.19 or newer: update the server, or "
            "filter by whole values.",
            upstream="store",
            detail=error.detail,
        )
    check_indexes(profile.collection, filtered_keys(search.filters, profile), indexes(info), error.detail)


def _check_limit(error: RequestRefused, search: Search, profile: Profile, info: Metadata) -> None:
    """Raise RequestRefused if strict mode allows fewer points than the search needs."""
    most = _most_points(info)
    each, wanted, shards = search.top_k, search.top_k, 1
    if search.text:
        each, wanted = payload.candidates(search, profile.search.candidates)
        shards = info.config.params.shard_number or 1
    needed = max(each * shards, wanted)
    if most is None or needed <= most:
        return
    fewer = f"set the profile's search.candidates to {most * each // needed} or less, " if search.text else ""
    raise _over_limit(error, most, needed, f"{fewer}ask for fewer passages", profile.collection) from error


def check_neighbors(error: RequestRefused, needed: int, collection: Collection, info: Metadata) -> None:
    """Raise RequestRefused if strict mode allows fewer points than the neighbors need."""
    most = _most_points(info)
    if most is not None and needed > most:
        fewer = "ask for fewer passages or a smaller 'neighbors'"
        raise _over_limit(error, most, needed, fewer, collection) from error


def _most_points(info: Metadata) -> int | None:
    """How many points strict mode allows in a search; None without a limit."""
    strict = info.config.strict_mode_config
    return strict.max_query_limit if strict else None


def _over_limit(error: RequestRefused, most: int, needed: int, fewer: str, collection: Collection) -> RequestRefused:
    return RequestRefused(
        f"The collection '{collection.name}' allows searches for {most} points, and this one needs {needed}: {fewer}, "
        "or raise the collection's max_query_limit.",
        upstream="store",
        detail=error.detail,
    )


def indexes(info: Metadata) -> dict[str, str]:
    """The payload indexes' types, by payload key."""
    return {key: index.data_type for key, index in info.payload_schema.items()}


def index_kinds(value: str | int) -> tuple[str, ...]:
    """The payload indexes that serve an exact match (Qdrant, "Payload index")."""
    return ("integer",) if isinstance(value, int) else ("keyword", "uuid")


def sizes(info: Metadata) -> dict[str, int]:
    """The dimension of each vector, by name; the unnamed one under the empty name."""
    return {name: params.size for name, params in _vectors(info).items()}


def _vectors(info: Metadata) -> Mapping[str, VectorParams]:
    vectors = info.config.params.vectors
    if vectors is None:
        return {}
    return vectors if isinstance(vectors, dict) else {"": vectors}
