"""The fields that all requests for points share (page size, payload, vectors), and the JSON form of a point."""

from __future__ import annotations  # the bindings' type names exist in their stubs only

from collections.abc import Mapping
from typing import Any

import numpy as np
import qdrant_edge as edge

from passage.emulators.embedding import as_floats
from tools.qdrant.errors import format_error, out_of_range
from tools.qdrant.ids import id_json

Json = Mapping[str, Any]

DEFAULT_LIMIT = 10


def limit_of(body: Json) -> int:
    """The requested page size, or the server's default."""
    limit = whole_number(body, "limit", DEFAULT_LIMIT)
    if limit == 0:
        raise out_of_range("JSON body", "limit", 0, "must be 1 or larger")
    return limit


def whole_number(body: Json, key: str, default: int) -> int:
    """A number of 0 or more from a body."""
    value = body.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise format_error(f"invalid value for {key}: {value}, expected usize")
    return value


def with_payload(body: Json, default: bool) -> edge.WithPayloadType:
    """The part of the payload to return: all, nothing, or some keys."""
    wanted = body.get("with_payload")
    if wanted is None:
        return default
    if isinstance(wanted, bool):
        return wanted
    chosen = {"include": wanted} if isinstance(wanted, list) else wanted
    if isinstance(chosen, dict) and isinstance(chosen.get("include"), list):
        return edge.PayloadSelector.Include(chosen["include"])
    if isinstance(chosen, dict) and isinstance(chosen.get("exclude"), list):
        return edge.PayloadSelector.Exclude(chosen["exclude"])
    raise format_error("data did not match any variant of untagged enum WithPayloadInterface")


def with_vector(body: Json) -> bool | list[str]:
    """Which vectors to return: all, none, or some by name."""
    wanted = body.get("with_vector")
    if wanted is None:
        wanted = body.get("with_vectors")
    if wanted is None or isinstance(wanted, (bool, list)):
        return wanted or False
    raise format_error("data did not match any variant of untagged enum WithVector")


def point_json(point: edge.Record | edge.ScoredPoint, vectors: bool | list[str]) -> dict[str, object]:
    """A point as JSON, with the requested vectors. The engine's MMR queries always return vectors."""
    shown: dict[str, object] = {"id": id_json(point.id)}
    if point.payload is not None:
        shown["payload"] = point.payload
    if vectors and point.vector is not None:
        shown["vector"] = _vector_json(point.vector)
    return shown


def _vector_json(vector: Any) -> object:
    """Numbers as the shortest decimals that read back to the stored 32-bit floats, as the server prints them."""
    if isinstance(vector, dict):
        return {name: _vector_json(one) for name, one in vector.items()}
    if isinstance(vector, edge.SparseVector):
        return {"indices": vector.indices, "values": _vector_json(vector.values)}
    return as_floats(np.asarray(vector, dtype=np.float32))
