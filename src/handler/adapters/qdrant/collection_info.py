"""What a server says of a collection: its description, its payload indexes, and why it refused a search.

No question that succeeds needs this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from handler.adapters.qdrant import payload
from handler.adapters.qdrant.connection import Connection
from handler.adapters.qdrant.filters import filtered_keys, has_prefix
from handler.adapters.qdrant.text_search import Get, TextSupport, version_of
from handler.config.profiles import Collection, Profile
from handler.config.validation import check_indexes, check_vectors, distance_name
from handler.core.errors import PassageError, RequestRefused
from handler.core.model import CollectionInfo, Search

if TYPE_CHECKING:
    from qdrant_client.http import models

MATCHES_BY_PREFIX = (1, 19)
"""The first version with a match by prefix, which also finds the sections of a page (Qdrant, "Filtering")."""

STATUSES = {"green": "green", "yellow": "yellow", "grey": "yellow", "red": "red"}
"""Qdrant's statuses as those of seed 001. Grey is a collection that waits to be optimised, yellow one that is."""


def described(
    expected: Collection, info: models.CollectionInfo, support: TextSupport, model: str | None
) -> CollectionInfo:
    """The collection as /ready and /profiles/{profile}/collection show it.

    Args:
        model: the embedding model that the collection names.
    """
    vector = _vectors(info)[expected.vector]
    return CollectionInfo(
        name=expected.name,
        vector_size=vector.size,
        distance_metric=distance_name(str(vector.distance.value)),
        points_count=info.points_count or 0,
        indexed_vectors_count=info.indexed_vectors_count or 0,
        status=STATUSES.get(str(info.status.value), "yellow"),
        embedding_model=model,
        search="hybrid" if support.search else "dense",
        notes=(support.note,) if support.note else (),
    )


def embedding_model(connection: Connection, profile: Profile, info: models.CollectionInfo) -> str | None:
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
    records, _ = connection.call(lambda: connection.client.scroll(connection.collection, limit=1, with_payload=outer))
    return payload.embedding_model(records[0].payload, profile.payload) if records else None


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
    info: models.CollectionInfo,
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


def _check_limit(error: RequestRefused, search: Search, profile: Profile, info: models.CollectionInfo) -> None:
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


def check_neighbors(error: RequestRefused, needed: int, collection: Collection, info: models.CollectionInfo) -> None:
    """Raise RequestRefused if strict mode allows fewer points than the neighbors need."""
    most = _most_points(info)
    if most is not None and needed > most:
        fewer = "ask for fewer passages or a smaller 'neighbors'"
        raise _over_limit(error, most, needed, fewer, collection) from error


def _most_points(info: models.CollectionInfo) -> int | None:
    """How many points strict mode allows in a search; None without a limit."""
    most: int | None = getattr(info.config.strict_mode_config, "max_query_limit", None)
    return most


def _over_limit(error: RequestRefused, most: int, needed: int, fewer: str, collection: Collection) -> RequestRefused:
    return RequestRefused(
        f"The collection '{collection.name}' allows searches for {most} points, and this one needs {needed}: {fewer}, "
        "or raise the collection's max_query_limit.",
        upstream="store",
        detail=error.detail,
    )


def indexes(info: models.CollectionInfo) -> dict[str, str]:
    """The payload indexes' types, by payload key."""
    return {key: str(index.data_type.value) for key, index in (info.payload_schema or {}).items()}


def index_kinds(value: str | int) -> tuple[str, ...]:
    """The payload indexes that serve an exact match (Qdrant, "Payload index")."""
    return ("integer",) if isinstance(value, int) else ("keyword", "uuid")


def sizes(info: models.CollectionInfo) -> dict[str, int]:
    """The dimension of each vector, by name; the unnamed one under the empty name."""
    return {name: params.size for name, params in _vectors(info).items()}


def _vectors(info: models.CollectionInfo) -> Mapping[str, Any]:
    vectors: Any = info.config.params.vectors
    if vectors is None:
        return {}
    return vectors if isinstance(vectors, dict) else {"": vectors}
