"""Fuses a search by vectors and a search by words: a weighted sum of both scores, each scaled to 0…1.

It keeps how much better a passage is than the next one, which a fusion of ranks (RRF) does not (Bruch, Gai and Ingber,
"An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023).
"""

from collections.abc import Mapping
from math import inf, isfinite
from typing import NamedTuple, TypeVar

from handler.core.model import PointId

K = TypeVar("K")


class Fused(NamedTuple):
    """A passage's fused score and the two parts of it, each from 0 to 1.

    Attributes:
        vectors: its similarity on a scale from the lowest of all passages, 0, to the highest, 1. If all are equal, 1.
        words: its BM25 score as a share of the highest one; 0 where it has no word of the question.
    """

    score: float
    vectors: float
    words: float


Parts = tuple[float, float]
"""A passage's `vectors` and `words`, see `Fused`."""


def fused_scores(parts: Mapping[K, Parts], balance: float) -> dict[K, float]:
    """The fused score of each passage. `balance` is 1 for vectors alone, 0 for words alone."""
    return {key: balance * vectors + (1 - balance) * words for key, (vectors, words) in parts.items()}


def fuse(similarities: Mapping[PointId, float], bm25: Mapping[PointId, float], balance: float) -> dict[PointId, Fused]:
    """The passages of both lists, best first. Of equal scores, the more similar comes first, then the lower id.

    Args:
        similarities: of every passage, cosines or dot products. One without a finite value has no part by vectors.
        bm25: scores of the passages that words found.
    """
    known = [value for value in similarities.values() if isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    highest = max(bm25.values(), default=0.0)
    parts: dict[PointId, Parts] = {}
    for point in {**similarities, **bm25}:
        similarity = similarities.get(point, -inf)
        vectors = 0.0 if not isfinite(similarity) else (similarity - low) / (high - low) if high > low else 1.0
        parts[point] = vectors, max(bm25.get(point, 0.0), 0.0) / highest if highest > 0 else 0.0
    order = sorted(
        (
            -score,
            -finite if isfinite(finite := similarities.get(point, -inf)) else inf,
            not isinstance(point, int),
            point,
        )
        for point, score in fused_scores(parts, balance).items()
    )
    return {point: Fused(-negative, *parts[point]) for negative, *_, point in order}
