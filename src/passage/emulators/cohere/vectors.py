"""The embedding types of the Cohere API: each encodes float32 vectors as JSON values."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passage.emulators.embedding import Matrix, as_floats

_INT8_SCALE = 512.0
"""Cohere calibrates its integers per model; for unit vectors of some hundred dimensions this spreads them usefully."""


def _floats(vectors: Matrix) -> list[object]:
    return [as_floats(row) for row in vectors]


def _base64(vectors: Matrix) -> list[object]:
    return [base64.b64encode(row.astype("<f4").tobytes()).decode("ascii") for row in vectors]


def _integers(values: NDArray[Any]) -> list[object]:
    rows: list[object] = values.astype(int).tolist()
    return rows


def _signs(vectors: Matrix) -> NDArray[Any]:
    """The signs of the numbers, eight in a byte."""
    return np.packbits(vectors > 0, axis=1).astype(int)


ENCODERS: Mapping[str, Callable[[Matrix], list[object]]] = {
    "float": _floats,
    "base64": _base64,
    "int8": lambda vectors: _integers(np.clip(np.rint(vectors * _INT8_SCALE), -128, 127)),
    "uint8": lambda vectors: _integers(np.clip(np.rint(vectors * _INT8_SCALE) + 128, 0, 255)),
    "binary": lambda vectors: _integers(_signs(vectors) - 128),
    "ubinary": lambda vectors: _integers(_signs(vectors)),
}
"""By name; each turns vectors `(n, dimension)` into n JSON values: dimension numbers, one string, or, for the binary
types, dimension / 8 numbers."""
