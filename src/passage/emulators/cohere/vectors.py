"""The embedding types of the Cohere API: each encodes float32 vectors as JSON values."""

import base64
from collections.abc import Callable, Mapping

import numpy as np

from passage.emulators.embedding import Matrix, as_floats

# Cohere calibrates its integers per model; for unit vectors of some hundred dimensions this spreads them usefully.
_INT8_SCALE = 512.0


def _floats(vectors: Matrix) -> list[object]:
    return [as_floats(row) for row in vectors]


def _base64(vectors: Matrix) -> list[object]:
    return [base64.b64encode(row.astype("<f4").tobytes()).decode("ascii") for row in vectors]


def _int8(vectors: Matrix) -> list[object]:
    rows: list[object] = np.clip(np.rint(vectors * _INT8_SCALE), -128, 127).astype(int).tolist()
    return rows


def _uint8(vectors: Matrix) -> list[object]:
    rows: list[object] = np.clip(np.rint(vectors * _INT8_SCALE) + 128, 0, 255).astype(int).tolist()
    return rows


def _ubinary(vectors: Matrix) -> list[object]:
    rows: list[object] = np.packbits(vectors > 0, axis=1).astype(int).tolist()
    return rows


def _binary(vectors: Matrix) -> list[object]:
    rows: list[object] = (np.packbits(vectors > 0, axis=1).astype(int) - 128).tolist()
    return rows


# Vectors (n, dimension) to n JSON values: dimension numbers, one string, or dimension / 8 numbers for the binary ones.
ENCODERS: Mapping[str, Callable[[Matrix], list[object]]] = {
    "float": _floats,
    "base64": _base64,
    "int8": _int8,
    "uint8": _uint8,
    "binary": _binary,
    "ubinary": _ubinary,
}
