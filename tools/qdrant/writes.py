"""Writes and deletes points."""

from __future__ import annotations  # the bindings' type names exist in their stubs only

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import qdrant_edge as edge

from tools.qdrant.collections import Collection
from tools.qdrant.errors import engine_errors, format_error, invalid, unsupported
from tools.qdrant.filters import parse_filter
from tools.qdrant.ids import parse_id, parse_ids
from tools.qdrant.shapes import Json


def upsert(collection: Collection, body: Json) -> int:
    """Insert or replace points, all or none of them; returns the operation's number."""
    for key in ("update_filter", "update_mode"):
        if body.get(key) is not None:
            raise unsupported(key, ["plain upserts"])
    rows = _from_batch(body["batch"]) if "batch" in body else body.get("points")
    if not isinstance(rows, list):
        raise format_error("data did not match any variant of untagged enum PointInsertOperations")
    with engine_errors():
        points = [_point(collection, row) for row in rows]
    return collection.update(edge.UpdateOperation.upsert_points(points))


def delete(collection: Collection, body: Json) -> int:
    """Delete points by id or by filter; returns the operation's number."""
    if body.get("points") is not None:
        return collection.update(edge.UpdateOperation.delete_points(parse_ids(body["points"])))
    condition = parse_filter(body.get("filter"))
    if condition is None:
        raise format_error("data did not match any variant of untagged enum PointsSelector")
    return collection.update(edge.UpdateOperation.delete_points_by_filter(condition))


def batch(collection: Collection, body: Json) -> Iterator[int]:
    """Run several operations in order; returns each operation's number."""
    operations = body.get("operations")
    if not isinstance(operations, list):
        raise format_error("missing field `operations`")
    for operation in operations:
        kind = str(next(iter(operation), None)) if isinstance(operation, dict) and len(operation) == 1 else "none"
        if kind not in _OPERATIONS:
            raise unsupported(f"the operation {kind}", _OPERATIONS)
        yield _OPERATIONS[kind](collection, operation[kind])


def _from_batch(batch: Any) -> list[dict[str, Any]]:
    try:
        ids, vectors = batch["ids"], batch["vectors"]
        payloads = batch.get("payloads") or [None] * len(ids)
        if isinstance(vectors, dict):
            columns = [[(name, vector) for vector in column] for name, column in vectors.items()]
            vectors = [dict(row) for row in zip(*columns, strict=True)]
        return [
            {"id": point_id, "vector": vector, "payload": payload}
            for point_id, vector, payload in zip(ids, vectors, payloads, strict=True)
        ]
    except ValueError as error:
        raise invalid(f"batch: ids, vectors and payloads must have one length ({error})") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise format_error(f"ids, vectors and payloads of a batch must be lists ({error})") from error


def _point(collection: Collection, row: Any) -> edge.Point:
    if not isinstance(row, dict) or "id" not in row or "vector" not in row:
        raise format_error("data did not match any variant of untagged enum PointInsertOperations")
    point_id, given, payload = parse_id(row["id"]), row["vector"], row.get("payload")
    if payload is not None and not isinstance(payload, dict):
        raise format_error("invalid type for payload, expected a map")
    check = collection.space.check
    vector = {name: check(name, one) for name, one in given.items()} if isinstance(given, dict) else check("", given)
    return edge.Point(point_id, vector, payload)


_OPERATIONS: Mapping[str, Callable[[Collection, Json], int]] = {"upsert": upsert, "delete": delete}
