"""Fetches points by id and page by page, and counts them."""

from __future__ import annotations  # the bindings' type names exist in their stubs only

import qdrant_edge as edge

from passage.emulators.server import ApiError
from tools.qdrant.collections import Collection
from tools.qdrant.errors import format_error, unsupported
from tools.qdrant.filters import parse_filter
from tools.qdrant.ids import id_json, parse_id, parse_ids
from tools.qdrant.shapes import Json, limit_of, point_json, with_payload, with_vector


def retrieve(collection: Collection, body: Json) -> list[dict[str, object]]:
    """The points with the given ids that exist."""
    ids, vectors = parse_ids(body.get("ids")), with_vector(body)
    with collection.engine() as shard:
        return [point_json(record, vectors) for record in shard.retrieve(ids, with_payload(body, True), vectors)]


def retrieve_one(collection: Collection, text: str) -> dict[str, object]:
    """The point with the id in a path, with payload and vectors."""
    point_id = parse_id(int(text) if text.isascii() and text.isdigit() else text)
    with collection.engine() as shard:
        records = shard.retrieve([point_id], True, True)
    if not records:
        raise ApiError(404, f"Not found: Point with id {text} does not exists!")
    return point_json(records[0], True)


def scroll(collection: Collection, body: Json) -> dict[str, object]:
    """One page of points in the order of their ids."""
    if body.get("order_by") is not None:
        raise unsupported("order_by", ["scrolling in the order of ids"])
    offset, vectors = body.get("offset"), with_vector(body)
    with collection.engine() as shard:
        request = edge.ScrollRequest(
            offset=None if offset is None else parse_id(offset),
            limit=limit_of(body),
            filter=parse_filter(body.get("filter")),
            with_payload=with_payload(body, True),
            with_vector=vectors,
        )
        records, following = shard.scroll(request)
    page = None if following is None else id_json(following)
    return {"points": [point_json(record, vectors) for record in records], "next_page_offset": page}


def facet(collection: Collection, body: Json) -> dict[str, object]:
    """The values of a payload key that has an index, with how many points hold each."""
    key = body.get("key")
    if not isinstance(key, str):
        raise format_error("missing field `key`")
    with collection.engine() as shard:
        found = shard.facet(edge.FacetRequest(key, limit=limit_of(body), filter=parse_filter(body.get("filter"))))
    return {"hits": [{"value": hit.value, "count": hit.count} for hit in found.hits]}


def count(collection: Collection, body: Json) -> dict[str, int]:
    """How many points match a filter; every count is exact here."""
    with collection.engine() as shard:
        return {"count": shard.count(edge.CountRequest(exact=True, filter=parse_filter(body.get("filter"))))}
