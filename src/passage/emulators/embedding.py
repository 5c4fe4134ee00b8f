"""Text embeddings without a key or a network, from the static word vectors in the wordllama package.

Only wordllama's two data files are used. Importing the package would configure the root logger. Its batches are padded,
so the last bits of a text's vector depend on its neighbours; here, a vector is the mean over the text's tokens.
"""

import threading
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Matrix = NDArray[np.float32]

NATIVE_DIMENSION = 256
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_LOADING = threading.Lock()


class StaticModel:
    """A table of token vectors `(tokens, 256)` and the tokenizer that indexes it."""

    def __init__(self, table: Matrix, tokenizer: Tokenizer) -> None:
        self._table = table
        self._tokenizer = tokenizer
        self._nowhere = table.mean(axis=0)  # blank text: a valid vector, as a hosted model returns

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text; an empty list for a blank one."""
        clean = [replace_lone_surrogates(text) for text in texts]
        encoded = self._tokenizer.encode_batch(clean, add_special_tokens=False)
        return [item.ids if text.strip() else [] for text, item in zip(clean, encoded, strict=True)]

    def embed_tokens(self, tokens: Sequence[Sequence[int]], dimension: int) -> Matrix:
        """Unit vectors `(len(tokens), dimension)`. Above 256 dimensions zeros follow, which keep every cosine exact."""
        pooled = np.zeros((len(tokens), dimension), dtype=np.float32)
        width = min(dimension, NATIVE_DIMENSION)
        for row, ids in enumerate(tokens):
            mean = self._table[np.minimum(ids, len(self._table) - 1)].mean(axis=0) if ids else self._nowhere
            kept = mean[:width]
            pooled[row, :width] = kept / (np.linalg.norm(kept) or 1.0)
        return pooled


def replace_lone_surrogates(text: str) -> str:
    """The text with unpaired surrogates, which have no UTF-8 form, as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@cache
def _load() -> StaticModel:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise RuntimeError("the Cohere emulator needs the wordllama package for its word vectors")
    package = Path(spec.origin).parent
    (table,) = load_file(package / _WEIGHTS).values()
    tokenizer = Tokenizer.from_file(str(package / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return StaticModel(np.ascontiguousarray(table, dtype=np.float32), tokenizer)


def load_model() -> StaticModel:
    """The model, read from disk on the first call and shared afterwards."""
    with _LOADING:
        return _load()


def as_floats(vector: NDArray[np.float32]) -> list[float]:
    """A float32 vector `(dimension,)` as the shortest decimals that read back to it, as services print them."""
    return [float(str(value)) for value in vector]


def embed(texts: Sequence[str], dimension: int) -> list[list[float]]:
    """One unit vector `(dimension,)` per text; the same text always gets the same vector."""
    if dimension < 1:
        raise ValueError(f"dimension is 1 or more; got {dimension}")
    model = load_model()
    return [as_floats(row) for row in model.embed_tokens(model.tokenize(texts), dimension)]
