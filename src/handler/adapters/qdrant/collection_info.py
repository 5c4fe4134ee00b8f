"""What a server says of a collection: its description, its payload indexes, and why it refused a search.

No question that succeeds needs this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from handler.adapters.qdrant import payload
from handler.adapters.qdrant.answers import Scrolled
from handler.adapters.qdrant.connection import Connection
from handler.adapters.qdrant.limits import Limits
from handler.adapters.qdrant.text_search import TextSupport, noise_of
from handler.config.profiles import Collection, Profile
from handler.config.validation import WITH_PREFIX, check_indexes, distance_name
from handler.core.errors import RequestRefused
from handler.core.model import CollectionInfo


class VectorParams(BaseModel):
    """What one vector of each point is."""

    size: int
    distance: str


class Params(BaseModel):
    """The shape of a collection. Its vectors go by name, or there is one without a name."""

    vectors: VectorParams | dict[str, VectorParams] | None = None
    shard_number: int | None = None


class Config(BaseModel):
    """How a collection was created, and the metadata that its owner gave it."""

    params: Params
    metadata: dict[str, Any] | None = None
    strict_mode_config: dict[str, Any] | None = None


class PayloadIndex(BaseModel):
    """An index of one payload key."""

    data_type: str
    params: dict[str, Any] | None = None


class CollectionMetadata(BaseModel):
    """What Passage reads of a collection's metadata (Qdrant, API reference, "Get collection details")."""

    status: str
    points_count: int | None = None
    indexed_vectors_count: int | None = None
    config: Config
    payload_schema: dict[str, PayloadIndex] = {}


STATUSES = {"green": "green", "yellow": "yellow", "grey": "yellow", "red": "red"}
"""Qdrant's statuses as those of seed 001. Grey is a collection that waits to be optimised, yellow one that is."""


def read(connection: Connection) -> CollectionMetadata:
    """The collection's metadata.

    Raises:
        PassageError: see `Connection.call`.
    """
    answer = connection.get("/collections/{collection_name}", collection_name=connection.collection)
    return connection.call(lambda: CollectionMetadata.model_validate(answer.get("result")))


def described(profile: Profile, info: CollectionMetadata, support: TextSupport, model: str | None) -> CollectionInfo:
    """The collection as /ready and /profiles/{profile}/collection show it.

    Args:
        model: the embedding model that the collection names.
    """
    expected, mode = profile.collection, profile.search.mode
    vector = _vectors(info).get(expected.vector)  # one searched by words alone may have none
    return CollectionInfo(
        name=expected.name,
        vector_size=vector.size if vector else 0,
        distance_metric=distance_name(vector.distance) if vector else "",
        points_count=info.points_count or 0,
        indexed_vectors_count=info.indexed_vectors_count or 0,
        status=STATUSES.get(info.status, "yellow"),
        embedding_model=model,
        search=mode if support.search else "dense",
        notes=(support.note,) if support.note else (),
        noise=noise_of(profile, (info.config.metadata or {}).get("noise")),
    )


def embedding_model(connection: Connection, profile: Profile, info: CollectionMetadata) -> str | None:
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
    points = connection.post("/points/scroll", {"limit": 1, "with_payload": outer}, Scrolled).result.points
    return payload.embedding_model(points[0].payload, profile.payload) if points else None


def explain(
    error: RequestRefused,
    requests: Sequence[Mapping[str, Any]],
    kinds: Mapping[str, str],
    collection: Collection,
    info: CollectionMetadata,
) -> None:
    """Find the reason for a refusal in the collection's metadata, because Qdrant's message is prose.

    Args:
        requests: the refused request, or those of its batch.
        kinds: the payload keys that their filters use, each with the type of payload index that serves it.

    Raises:
        RequestRefused: names the limit that is too low, or the payload index that is missing.
    """
    limits = limits_of(info)
    filters = [request["filter"] for request in requests if "filter" in request]
    counts = [count for each in filters for count in _value_counts(each)]
    _check(limits.points, max(map(_points, requests)), "max_query_limit", error, collection)
    _check(
        limits.conditions,
        max(len([*_value_counts(each)]) for each in filters or [{}]),
        "filter_max_conditions",
        error,
        collection,
    )
    _check(limits.values, max(counts, default=0), "condition_max_size", error, collection)
    check_indexes(collection, kinds, indexes(info), error.detail)


LIMITS = {
    "max_query_limit": ("searches for {} points", "ask for fewer passages or a smaller 'neighbors'"),
    "filter_max_conditions": ("filters with {} conditions", "filter by fewer fields, or ask for fewer passages"),
    "condition_max_size": ("filters with {} values in a list", "send fewer values"),
}
"""What each limit of strict mode allows, and how a caller stays below it."""


def _check(most: int | None, needed: int, limit: str, error: RequestRefused, collection: Collection) -> None:
    """Raise RequestRefused if a limit of strict mode is lower than the number that is needed."""
    if most is None or needed <= most:
        return
    allows, fewer = LIMITS[limit]
    raise RequestRefused(
        f"The collection '{collection.name}' allows {allows.format(most)}, and this one needs {needed}: {fewer}, or "
        f"raise the collection's {limit}.",
        upstream="store",
        detail=error.detail,
    ) from error


def _points(request: Mapping[str, Any]) -> int:
    """The most points that a request or one of its prefetches asks for."""
    return max([int(request.get("limit", 0)), *map(_points, request.get("prefetch", ()))])


def _value_counts(given: Mapping[str, Any]) -> Iterator[int]:
    """For each condition of a filter, how many values it lists."""
    for conditions in (given.get("must", ()), given.get("should", ())):
        for one in conditions:
            if "key" in one:
                yield len(one.get("match", {}).get("any", ("one",)))
            else:
                yield from _value_counts(one)


def limits_of(info: CollectionMetadata) -> Limits:
    """The limits of the collection's strict mode."""
    return Limits.of(info.model_dump(mode="json", include={"config"}))


def indexes(info: CollectionMetadata) -> dict[str, str]:
    """The payload indexes' types, by payload key; an index that serves a match by prefix says so."""
    return {
        key: f"{index.data_type}{WITH_PREFIX if (index.params or {}).get('prefix') else ''}"
        for key, index in info.payload_schema.items()
    }


def index_kinds(value: str | int) -> tuple[str, ...]:
    """The payload indexes that serve an exact match (Qdrant, "Payload index")."""
    return ("integer",) if isinstance(value, int) else ("keyword", "uuid")


def sizes(info: CollectionMetadata) -> dict[str, int]:
    """The dimension of each vector, by name; the unnamed one under the empty name."""
    return {name: params.size for name, params in _vectors(info).items()}


def _vectors(info: CollectionMetadata) -> Mapping[str, VectorParams]:
    vectors = info.config.params.vectors
    if vectors is None:
        return {}
    return vectors if isinstance(vectors, dict) else {"": vectors}
