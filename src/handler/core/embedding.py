"""Questions to vectors: cached ones first, because readers repeat a widget's suggestions, the rest in one call."""

import math
import unicodedata
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from handler.core.deadline import Deadline, with_one_retry
from handler.core.errors import DimensionMismatch, PassageError, UpstreamUnavailable
from handler.core.model import RetrievalRequest, Vector
from handler.core.ports import Embedder

DIGEST_BYTES = 16

SHORTEST = 2.0**-11.5
"""The square root of a 32-bit float's epsilon (2^-23): Qdrant takes a shorter vector for zero."""

LONGEST = 2.0**63.99
"""A little below the square root of the largest 32-bit float (about 2^128)."""


class EmbeddedQuestion(NamedTuple):
    """A question and its vector, `(dimension,)`; empty for a search without a vector.

    Attributes:
        cached: whether it cost no call; None when it was not embedded.
        text: the question as it was embedded or is searched; empty when the caller sent the vector.
        failure: as `Retrieval.embedding_failure`.
    """

    request: RetrievalRequest
    vector: Vector
    cached: bool | None = None
    text: str = ""
    failure: PassageError | None = None


class NoEmbedder:
    """The embedder of a profile that is searched by words alone: it is never called."""

    model = ""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise NotImplementedError

    def warm(self) -> None:
        """Nothing to build."""


class EmbeddingCache:
    """A least-recently-used cache of at most `size` embeddings, 0 for none. A vector takes 8 bytes a number.

    The key is a digest, so the cache does not hold the questions.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[bytes, array[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: bytes) -> Vector | None:
        """The vector cached under `key`, `(dimension,)`; None without one."""
        vector = self._kept.get(key)
        if vector is not None:
            self._kept.move_to_end(key)
        return vector

    def put(self, key: bytes, vector: Vector) -> None:
        """Cache `vector`. The least recently used one is evicted."""
        self._kept[key] = array("d", vector)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)


class QuestionEmbedder(NamedTuple):
    """An embedder with its cache.

    Attributes:
        dimension: the collection's, which the embedder's vectors must have.
        space: a prefix of cache keys that separates this embedder's vectors from others.
    """

    embedder: Embedder
    dimension: int
    cache: EmbeddingCache
    space: str = ""

    def embed(self, requests: Sequence[RetrievalRequest], deadline: Deadline) -> list[EmbeddedQuestion]:
        """Each question with its vector: the caller's own, a cached one, or one embedded together with the others'.

        Raises:
            PassageError: as `Embedder.embed`, after one retry.
        """
        texts = [normalise(request.text) for request in requests]
        asked = [text for request, text in zip(requests, texts, strict=True) if needs_vector(request)]
        keys = {text: _digest(self.space, text) for text in asked}
        vectors = {text: vector for text, key in keys.items() if (vector := self.cache.get(key)) is not None}
        new = [text for text in keys if text not in vectors]
        if new:
            made = with_one_retry(
                lambda: validate_vectors(self.embedder.embed(new), self.embedder.model, self.dimension, len(new)),
                deadline,
                "embedding",
            )
            for text, vector in zip(new, made, strict=True):
                vectors[text] = vector
                self.cache.put(keys[text], vector)
        embedded, paid = [], set(new)
        for request, text in zip(requests, texts, strict=True):
            if not needs_vector(request):
                embedded.append(skip_embedding(request))
            else:
                embedded.append(EmbeddedQuestion(request, vectors[text], cached=text not in paid, text=text))
                paid.discard(text)  # a text that occurs twice in a batch is embedded once
        return embedded


def needs_vector(request: RetrievalRequest) -> bool:
    """Whether a question has to be embedded."""
    return request.vector is None and request.search.by is None


def skip_embedding(request: RetrievalRequest, failure: PassageError | None = None) -> EmbeddedQuestion:
    """A question that is not embedded: it brings its vector, or is searched without one."""
    text = "" if request.vector is not None else normalise(request.text)
    return EmbeddedQuestion(request, request.vector or (), text=text, failure=failure)


def normalise(text: str) -> str:
    """A question as it is embedded: NFC, each run of white space one space. Case stays: the models distinguish it."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def has_direction(vector: Vector) -> bool:
    """Whether a store can compare the vector: its numbers are finite, and so is its length, in 32 bits too.

    Qdrant normalises vectors in 32-bit floats: a squared length below the float's epsilon, or one that overflows, gives
    scores that mean nothing.
    """
    return SHORTEST <= math.hypot(*vector) <= LONGEST


def validate_vectors(vectors: Sequence[Vector], model: str, dimension: int, expected: int) -> Sequence[Vector]:
    """The vectors of the `expected` texts, each `(dimension,)`, which a store can compare.

    Raises:
        UpstreamUnavailable: their number is another, or one has no direction.
        DimensionMismatch: one has another dimension; names the variable to change.
    """
    if len(vectors) != expected:
        raise UpstreamUnavailable(
            f"The embedding service gave {len(vectors)} of {expected} embeddings.", upstream="embedding"
        )
    for vector in vectors:
        if not has_direction(vector):
            raise UpstreamUnavailable(
                "The embedding service gave an embedding that cannot be searched with.",
                upstream="embedding",
                detail=f"model {model}, {len(vector)} numbers of length {math.hypot(*vector):g}",
            )
        if len(vector) != dimension:
            raise DimensionMismatch(
                f"The model '{model}' gives vectors of dimension {len(vector)}, but the collection takes "
                f"{dimension}: set EMBEDDING_MODEL to the model the collection was embedded with, or "
                "EMBEDDING_DIMENSION to the collection's dimension.",
                upstream="embedding",
            )
    return vectors


def _digest(space: str, text: str) -> bytes:
    return blake2b(f"{space}\n{text}".encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
