"""What no vector finds on a server: chunks around a passage or by an id, and values. No search imports this module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from handler.adapters.qdrant import collection_info, query
from handler.adapters.qdrant.answers import Faceted, Records, ScoredPoint, Scrolled, StoredPoint
from handler.adapters.qdrant.collection_info import explain, index_kinds, indexes, limits_of
from handler.adapters.qdrant.connection import Connection
from handler.adapters.qdrant.filters import condition_json, index_type
from handler.adapters.qdrant.neighborhoods import Neighborhood, most_neighbors, neighborhoods
from handler.config.profiles import Profile
from handler.config.validation import WITH_PREFIX, check_indexes
from handler.core.conditions import Condition
from handler.core.errors import RequestRefused
from handler.core.model import Passage

Conditions = list[tuple[str, Condition]]

ONLY_ITS_SECTION = (
    "Neighbors in other sections of a page are missing: the collection stores no address of the page alone, and its "
    "server is older than Qdrant 1.19, which finds them by the beginning of their URL."
)


def around(
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
        PassageError: see `Connection.call`.
    """
    places = neighborhoods(wanted, profile)
    if not places:
        return (), ()
    sections = all(len(place.url[1]) == 1 for place in places) or matches_by_prefix()
    warnings = () if sections else (ONLY_ITS_SECTION,)
    request = _at(places, sections=sections)
    limit = most_neighbors(wanted)
    request["with_payload"] = profile.payload.read
    try:
        return connection.query({**request, "limit": limit}), warnings
    except RequestRefused as error:
        info = collection_info.read(connection)
        most, least = limits_of(info).points, sum(2 * reach + 1 for _, reach in wanted)
        if most is not None and least <= most < limit:  # without room for copies
            return connection.query({**request, "limit": most}), warnings
        asked = [one for place in places for either in _conditions(place, sections) for one in either]
        kinds = {key: index_type(condition) for key, condition in asked}
        explain(error, [{**request, "limit": least}], kinds, profile.collection, info)
        raise


def _at(places: Sequence[Neighborhood], *, sections: bool) -> dict[str, Any]:
    """The filter for the points of any of the places; without `sections` only those with a page's own URL."""
    should = [
        {"must": [{"should": [condition_json(*one) for one in either]} for either in _conditions(place, sections)]}
        for place in places
    ]
    return {"filter": {"should": should}}


def _conditions(place: Neighborhood, sections: bool) -> tuple[Conditions, Conditions]:
    """The alternatives for the URL and those for the position, each with its payload key."""
    (url, addresses), (index, runs) = place.url, place.index
    return [(url, one) for one in (addresses if sections else addresses[:1])], [(index, one) for one in runs]


def find(connection: Connection, profile: Profile, chunk: str, *, with_vectors: bool) -> StoredPoint | None:
    """The point with the id `chunk`, or else one whose payload has it as its chunk id, text or integer.

    Qdrant's strict mode refuses a filter with one condition that no payload index serves, so the conditions that an
    index serves are asked again without the others.

    Raises:
        RequestRefused: names the payload index that is missing, if one is.
        PassageError: see `Connection.call`.
    """
    record = _by_point_id(connection, chunk, with_vectors=with_vectors)
    keys = profile.payload.keys("chunk_id")
    conditions = [(key, value) for key in keys for value in query.chunk_id_values(chunk)]
    if record is not None or not conditions:
        return record
    try:
        return _matching(connection, conditions, with_vectors=with_vectors)
    except RequestRefused as error:
        kinds = indexes(collection_info.read(connection))
        own = profile.payload.chunk_id[:1]
        if own and own[0] not in kinds:
            check_indexes(profile.collection, {own[0]: "keyword"}, kinds, error.detail)
        served = [(key, value) for key, value in conditions if _kind(kinds.get(key)) in index_kinds(value)]
        if served == conditions:
            raise
        return _matching(connection, served, with_vectors=with_vectors) if served else None


def _kind(index: str | None) -> str:
    return (index or "").removesuffix(WITH_PREFIX)


def _by_point_id(connection: Connection, chunk: str, *, with_vectors: bool) -> StoredPoint | None:
    identity = query.point_id(chunk)
    if identity is None:
        return None
    asked = {"ids": [identity], "with_payload": True, "with_vector": with_vectors}
    return next(iter(connection.post("/points", asked, Records).result), None)


def _matching(
    connection: Connection, conditions: Sequence[tuple[str, str | int]], *, with_vectors: bool
) -> StoredPoint | None:
    """The first point that meets one of the conditions: a payload key and the value it has."""
    any_of = [{"key": key, "match": {"value": value}} for key, value in conditions]
    asked = {"filter": {"should": any_of}, "limit": 1, "with_payload": True, "with_vector": with_vectors}
    return next(iter(connection.post("/points/scroll", asked, Scrolled).result.points), None)


def values(connection: Connection, keys: Sequence[str], most: int) -> dict[str, tuple[str, ...]]:
    """The texts that payload keys hold, sorted. Left out: a key with more than `most`, or without a payload index.

    Raises:
        PassageError: see `Connection.call`.
    """
    found: dict[str, tuple[str, ...]] = {}
    for key in keys:
        with suppress(RequestRefused):  # no payload index serves it
            hits = connection.post("/facet", {"key": key, "limit": most + 1}, Faceted).result.hits
            if len(hits) <= most:
                found[key] = tuple(sorted(hit.value for hit in hits if isinstance(hit.value, str)))
    return found
