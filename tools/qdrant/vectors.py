"""A collection's vectors: reads their configuration from a request or a shard's file, and validates points' vectors."""

from __future__ import annotations  # the bindings' type names exist in their stubs only

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import qdrant_edge as edge

from tools.qdrant.errors import format_error, out_of_range, wrong_input

MAX_DIMENSION = 65_536
LARGEST = float(np.finfo(np.float32).max)
DISTANCES: Mapping[str, edge.Distance] = {
    "Cosine": edge.Distance.Cosine,
    "Dot": edge.Distance.Dot,
    "Euclid": edge.Distance.Euclid,
    "Manhattan": edge.Distance.Manhattan,
}
_NO_VECTOR = "(no vector)"
_NO_CONFIG = "data did not match any variant of untagged enum VectorsConfig"


@dataclass(frozen=True)
class VectorParams:
    """Size and distance of a dense vector."""

    size: int
    distance: str


@dataclass(frozen=True)
class VectorSpace:
    """Dense vectors by name (the unnamed one is called "") and sparse ones, each with its modifier."""

    dense: Mapping[str, VectorParams]
    sparse: Mapping[str, str]

    def engine_config(self) -> edge.EdgeConfig:
        """The configuration of a new shard. The engine wants a vector; the server does not."""
        sparse = self.sparse if self.dense or self.sparse else {_NO_VECTOR: "none"}
        return edge.EdgeConfig(
            vectors={
                name: edge.EdgeVectorParams(size=params.size, distance=DISTANCES[params.distance])
                for name, params in self.dense.items()
            },
            sparse_vectors={
                name: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf if modifier == "idf" else None)
                for name, modifier in sparse.items()
            },
        )

    def info(self) -> dict[str, object]:
        """The part of collection info that describes vectors."""
        described: dict[str, object] = {
            name: {"size": params.size, "distance": params.distance} for name, params in self.dense.items()
        }
        shown: dict[str, object] = {"vectors": described[""] if list(described) == [""] else described}
        if self.sparse:
            shown["sparse_vectors"] = {name: {"modifier": modifier} for name, modifier in self.sparse.items()}
        return shown

    def check(self, name: str, vector: object) -> Any:
        """A vector for the engine, a list `(size,)` or a sparse one, or the server's refusal."""
        if name in self.sparse:
            return _sparse(vector)
        params = self.dense.get(name)
        if params is None:
            raise wrong_input(f"Not existing vector name error: {name}")
        numbers = _numbers(vector)
        if len(numbers) != params.size:
            raise wrong_input(f"Vector dimension error: expected dim: {params.size}, got {len(numbers)}")
        return numbers


def has_infinity(vector: object) -> bool:
    """Whether a vector, shape `(size,)`, has a number that 32 bits cannot hold."""
    return isinstance(vector, list) and any(isinstance(one, int | float) and abs(one) > LARGEST for one in vector)


def read_space(shard_config: Path) -> VectorSpace:
    """The vectors of an existing shard, from the engine's file in its folder."""
    stored = json.loads(shard_config.read_text(encoding="utf-8"))
    dense = {name: VectorParams(one["size"], one["distance"]) for name, one in stored.get("vectors", {}).items()}
    sparse = {name: one.get("modifier") or "none" for name, one in stored.get("sparse_vectors", {}).items()}
    sparse.pop(_NO_VECTOR, None)
    return VectorSpace(dense, sparse)


def parse_space(body: Mapping[str, Any]) -> VectorSpace:
    """The vectors in the body of `PUT /collections/{name}`."""
    vectors, sparse = body.get("vectors", {}), body.get("sparse_vectors") or {}
    if not isinstance(vectors, dict) or not isinstance(sparse, dict):
        raise format_error(_NO_CONFIG)
    dense = {"": _params(vectors)} if "size" in vectors else {name: _params(one) for name, one in vectors.items()}
    return VectorSpace(dense, {name: (one or {}).get("modifier") or "none" for name, one in sparse.items()})


def _params(data: object) -> VectorParams:
    params = data if isinstance(data, dict) else {}
    size, distance = params.get("size"), str(params.get("distance"))
    if not isinstance(size, int) or isinstance(size, bool) or distance not in DISTANCES:
        raise format_error(_NO_CONFIG)
    if size == 0:
        raise wrong_input("vector size must be greater than 0")
    if not 1 <= size <= MAX_DIMENSION:
        raise out_of_range("JSON body", "vectors.size", size, f"must be from 1 to {MAX_DIMENSION}")
    return VectorParams(size, distance)


def _sparse(data: object) -> edge.SparseVector:
    indices = data.get("indices") if isinstance(data, dict) else None
    values = data.get("values") if isinstance(data, dict) else None
    if not isinstance(indices, list) or not isinstance(values, list) or len(indices) != len(values):
        raise format_error("a sparse vector needs indices and values of one length")
    return edge.SparseVector(indices=indices, values=_numbers(values))


def _numbers(data: object) -> list[float]:
    if not isinstance(data, list) or not set(map(type, data)) <= {int, float}:
        raise format_error("data did not match any variant of untagged enum Vector: the emulator takes flat lists")
    try:
        fits = np.isfinite(np.asarray(data, dtype=np.float64)).all()  # 1e999 is a number to a JSON parser
    except OverflowError:
        fits = np.False_
    if not fits:
        raise format_error("number out of range")
    return data
