"""What no search that succeeds needs of a server. What asks the server raises the same errors as a search.

The collection's description, why a search was refused, chunks around a passage or by an id, and a payload key's values.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pydantic import BaseModel

from handler.adapters.qdrant import metadata, payload
from handler.adapters.qdrant.connection import Answer, Connection, ScoredPoint, StoredPoint
from handler.adapters.qdrant.filters import any_value, conditions, has_prefix, index_type
from handler.adapters.qdrant.metadata import CollectionMetadata, TextSupport
from handler.adapters.qdrant.neighborhoods import around, most_neighbors
from handler.adapters.qdrant.text_search import noise_of
from handler.config.profiles import Collection, Profile
from handler.config.validation import WITH_PREFIX, check_indexes, distance_name
from handler.core.errors import RequestRefused
from handler.core.model import CollectionInfo, Passage

STATUSES = {"green": "green", "yellow": "yellow", "grey": "yellow", "red": "red"}
"""Qdrant's statuses as those of seed 001. Grey is a collection that waits to be optimised, yellow one that is."""

LIMITS = {
    "max_query_limit": ("searches for {} points", "ask for fewer passages or a smaller 'neighbors'"),
    "filter_max_conditions": ("filters with {} conditions", "filter by fewer fields, or ask for fewer passages"),
    "condition_max_size": ("filters with {} values in a list", "send fewer values"),
}
"""What each limit of strict mode allows, and how a caller stays below it."""

ONLY_ITS_SECTION = (
    "Neighbors in other sections of a page are missing: the collection stores no address of the page alone, and its "
    "server is older than Qdrant 1.19, which finds them by the beginning of their URL."
)


class Page(BaseModel):
    """A page of points."""

    points: list[StoredPoint]


class Facet(BaseModel):
    """The values of a payload key, each with its count."""

    hits: list[dict[str, Any]]


def describe(
    connection: Connection, profile: Profile, info: CollectionMetadata, support: TextSupport
) -> CollectionInfo:
    """The collection as /ready and /profiles/{profile}/collection show it."""
    expected, mode = profile.collection, profile.search.mode
    vector = info.vectors_by_name.get(expected.vector)  # one searched by words alone may have none
    return CollectionInfo(
        name=expected.name,
        vector_size=vector.size if vector else 0,
        distance_metric=distance_name(vector.distance) if vector else "",
        points_count=info.points_count or 0,
        indexed_vectors_count=info.indexed_vectors_count or 0,
        status=STATUSES.get(info.status, "yellow"),
        embedding_model=info.text("embedding_model") or _first_model(connection, profile),
        search=mode if support.search else "dense",
        notes=(support.note,) if support.note else (),
        noise=noise_of(profile, (info.metadata or {}).get("noise")),
    )


def _first_model(connection: Connection, profile: Profile) -> str | None:
    """The model that the collection's first point says it was embedded with."""
    outer = list(dict.fromkeys(path.outer for path in profile.payload.paths["model"]))
    if not outer:
        return None
    points = connection.post("/points/scroll", {"limit": 1, "with_payload": outer}, Answer[Page]).points
    return payload.embedding_model(points[0].payload, profile.payload) if points else None


def explain(
    error: RequestRefused, requests: Sequence[Mapping[str, Any]], collection: Collection, info: CollectionMetadata
) -> None:
    """Find the reason for a refusal in the collection's metadata, because Qdrant's message is prose.

    Args:
        requests: the refused request, or those of its batch.

    Raises:
        RequestRefused: names the limit that is too low, or the payload index that is missing.
    """
    filters = [[*conditions(request["filter"])] for request in requests if "filter" in request]
    used = [condition for each in filters for condition in each]
    needed = {
        "max_query_limit": max(map(_most_points, requests)),
        "filter_max_conditions": max(map(len, filters), default=0),
        "condition_max_size": max((len(one.get("match", {}).get("any", ("one",))) for one in used), default=0),
    }
    for limit, number in needed.items():
        most: int | None = getattr(info.limits, limit)
        if most is not None and number > most:
            allows, fewer = LIMITS[limit]
            raise RequestRefused(
                f"The collection '{collection.name}' allows {allows.format(most)}, and this one needs {number}: "
                f"{fewer}, or raise the collection's {limit}.",
                upstream="store",
                detail=error.detail,
            ) from error
    check_indexes(collection, {one["key"]: index_type(one) for one in used}, _index_types(info), error.detail)


def _most_points(request: Mapping[str, Any]) -> int:
    """The most points that a request or one of its prefetches asks for."""
    return max([int(request.get("limit", 0)), *map(_most_points, request.get("prefetch", ()))])


def _index_types(info: CollectionMetadata) -> dict[str, str]:
    """The payload indexes' types, by payload key; an index that serves a match by prefix says so."""
    return {
        key: f"{index.data_type}{WITH_PREFIX if (index.params or {}).get('prefix') else ''}"
        for key, index in info.payload_schema.items()
    }


def neighbors(
    connection: Connection,
    profile: Profile,
    wanted: Sequence[tuple[Passage, int]],
    matches_by_prefix: Callable[[], bool],
) -> tuple[Sequence[ScoredPoint], tuple[str, ...]]:
    """The chunks around passages, found in one request; and a warning if some cannot be found.

    Args:
        wanted: passages, each with how many chunks before and after it to find.
        matches_by_prefix: whether the server can match by prefix; asked only where pages have no address of their own.

    Raises:
        RequestRefused: names the limit that is too small, or the payload index that is missing, if one is.
    """
    near = around(wanted, profile)
    if not near["should"]:
        return (), ()
    warnings: tuple[str, ...] = ()
    if has_prefix(near) and not matches_by_prefix():
        near, warnings = around(wanted, profile, sections=False), (ONLY_ITS_SECTION,)
    limit = most_neighbors(wanted)
    request = {"filter": near, "with_payload": profile.payload.read}
    try:
        return connection.query({**request, "limit": limit}), warnings
    except RequestRefused as error:
        info = metadata.read(connection)
        most, least = info.limits.max_query_limit, sum(2 * reach + 1 for _, reach in wanted)
        if most is not None and least <= most < limit:  # without room for copies
            return connection.query({**request, "limit": most}), warnings
        explain(error, [{**request, "limit": least}], profile.collection, info)
        raise


def find(connection: Connection, profile: Profile, chunk: str, *, with_vectors: bool) -> StoredPoint | None:
    """The point with the id `chunk`, or else one whose payload has it as its chunk id, text or integer.

    Qdrant's strict mode refuses a filter with one condition that no payload index serves, so the conditions that an
    index serves are asked again without the others.

    Raises:
        RequestRefused: names the payload index that is missing, if one is.
    """
    identity, wanted = payload.point_id(chunk), {"with_payload": True, "with_vector": with_vectors}
    if identity is not None:
        for record in connection.post("/points", {"ids": [identity], **wanted}, Answer[list[StoredPoint]]):
            return record
    pairs = payload.chunk_id_pairs(chunk, profile.payload)
    try:
        return _first_with(connection, pairs, wanted)
    except RequestRefused as error:
        kinds = _index_types(metadata.read(connection))
        own = profile.payload.chunk_id[:1]
        if own and own[0] not in kinds:
            check_indexes(profile.collection, {own[0]: "keyword"}, kinds, error.detail)
        served = [(key, value) for key, value in pairs if _serves(kinds.get(key, ""), value)]
        if served == pairs:
            raise
        return _first_with(connection, served, wanted)


def _serves(index: str, value: str | int) -> bool:
    """Whether a payload index serves an exact match (Qdrant, "Payload index")."""
    return index.removesuffix(WITH_PREFIX) in (("integer",) if isinstance(value, int) else ("keyword", "uuid"))


def _first_with(
    connection: Connection, pairs: Sequence[tuple[str, str | int]], wanted: Mapping[str, Any]
) -> StoredPoint | None:
    """The first point that has one of the values. See `any_value`."""
    if not pairs:
        return None
    request = {"filter": any_value(pairs), "limit": 1, **wanted}
    return next(iter(connection.post("/points/scroll", request, Answer[Page]).points), None)


def values(connection: Connection, keys: Sequence[str], most: int) -> dict[str, tuple[str, ...]]:
    """The texts that payload keys hold, sorted. Left out: a key with more than `most`, or without a payload index."""
    found: dict[str, tuple[str, ...]] = {}
    for key in keys:
        with suppress(RequestRefused):  # no payload index serves it
            hits = connection.post("/facet", {"key": key, "limit": most + 1}, Answer[Facet]).hits
            if len(hits) <= most:
                found[key] = tuple(sorted(hit["value"] for hit in hits if isinstance(hit.get("value"), str)))
    return found
