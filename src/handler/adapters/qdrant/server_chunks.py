"""Chunks on a server that no vector finds: those around a passage, and one by its id. No search imports this module."""

from __future__ import annotations

from collections.abc import Sequence

from handler.adapters.qdrant import collection_info, query
from handler.adapters.qdrant.answers import Record, Records, ScoredPoint, Scrolled
from handler.adapters.qdrant.collection_info import check_neighbors, index_kinds, indexes, matches_by_prefix
from handler.adapters.qdrant.connection import Connection
from handler.adapters.qdrant.filters import condition_json
from handler.adapters.qdrant.neighborhoods import Neighborhood, most_neighbors, neighborhoods
from handler.config.profiles import Profile
from handler.config.validation import check_indexes
from handler.core.errors import RequestRefused
from handler.core.model import Passage


def around(connection: Connection, profile: Profile, wanted: Sequence[tuple[Passage, int]]) -> Sequence[ScoredPoint]:
    """The chunks around passages, found in one request.

    Args:
        wanted: passages, each with how many chunks before and after it to find.

    Raises:
        RequestRefused: names the limit that is too small, or the payload index that is missing, if one is.
        PassageError: see `Connection.call`.
    """
    places = neighborhoods(wanted, profile)
    if not places:
        return ()
    limit = most_neighbors(wanted)
    try:
        return _at(connection, profile, places, limit, sections=True)
    except RequestRefused as error:
        info = collection_info.read(connection)
        check_neighbors(error, limit, profile.collection, info)
        if matches_by_prefix(connection.get):
            kinds = {place.url[0]: "keyword" for place in places} | {place.index[0]: "integer" for place in places}
            check_indexes(profile.collection, kinds, indexes(info), error.detail)
            raise
    return _at(connection, profile, places, limit, sections=False)


def _at(
    connection: Connection, profile: Profile, places: Sequence[Neighborhood], limit: int, *, sections: bool
) -> Sequence[ScoredPoint]:
    """The points of any of the places; without `sections` only those with a page's own URL."""
    should = []
    for place in places:
        key, alternatives = place.url
        urls = [condition_json(key, one) for one in (alternatives if sections else alternatives[:1])]
        should.append({"must": [{"should": urls}, condition_json(*place.index)]})
    return connection.query({"filter": {"should": should}, "limit": limit, "with_payload": profile.payload.read})


def find(connection: Connection, profile: Profile, chunk: str, *, with_vectors: bool) -> Record | None:
    """The point with the id `chunk`, or else one whose payload has it as its chunk id, text or integer.

    Qdrant's strict mode refuses a filter with one condition that no payload index serves, so the conditions that an
    index serves are asked again without the others.

    Raises:
        RequestRefused: names the payload index that is missing, if one is.
        PassageError: see `Connection.call`.
    """
    found = _by_point_id(connection, chunk, with_vectors=with_vectors)
    keys = profile.payload.keys("chunk_id")
    conditions = [(key, value) for key in keys for value in query.chunk_id_values(chunk)]
    if found is not None or not conditions:
        return found
    try:
        return _matching(connection, conditions, with_vectors=with_vectors)
    except RequestRefused as error:
        kinds = indexes(collection_info.read(connection))
        if keys[0] not in kinds:
            check_indexes(profile.collection, {keys[0]: "keyword"}, kinds, error.detail)
        served = [(key, value) for key, value in conditions if kinds.get(key) in index_kinds(value)]
        if served == conditions:
            raise
        return _matching(connection, served, with_vectors=with_vectors) if served else None


def _by_point_id(connection: Connection, chunk: str, *, with_vectors: bool) -> Record | None:
    identity = query.point_id(chunk)
    if identity is None:
        return None
    asked = {"ids": [identity], "with_payload": True, "with_vector": with_vectors}
    return next(iter(connection.post("", asked, Records).result), None)


def _matching(
    connection: Connection, conditions: Sequence[tuple[str, str | int]], *, with_vectors: bool
) -> Record | None:
    """The first point that meets one of the conditions: a payload key and the value it has."""
    any_of = [{"key": key, "match": {"value": value}} for key, value in conditions]
    asked = {"filter": {"should": any_of}, "limit": 1, "with_payload": True, "with_vector": with_vectors}
    return next(iter(connection.post("/scroll", asked, Scrolled).result.points), None)
