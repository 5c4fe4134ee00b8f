"""Checks a new collection before it serves questions: its count, and a search that finds passages."""

from typing import Any

from qdrant_client import models

from handler.adapters.qdrant.payload import Hit, read
from passage.indexing.server.connection import ServerConnection
from passage.indexing.target import TargetError, WantedIndex

SAMPLES = 3
SAME = 0.99
"""The least cosine when a point is searched by its own vector: 1, minus the error of quantization."""


def check(connection: ServerConnection, name: str, wanted: WantedIndex) -> None:
    """Raise TargetError for a collection that does not hold what was written or cannot be searched."""
    count = connection.count(name)
    if count != wanted.points:
        raise _failure(name, f"it holds {count} points, not {wanted.points}")
    if not wanted.profile.search.has_vectors:
        return
    vector = wanted.profile.collection.vector
    using = vector or None
    wants: Any = [vector] if vector else True
    samples, _ = connection.call(lambda client: client.scroll(name, limit=SAMPLES, with_vectors=wants))
    for sample in samples:
        numbers: Any = sample.vector.get(vector) if isinstance(sample.vector, dict) else sample.vector
        scored = connection.call(
            lambda client, numbers=numbers: client.query_points(name, numbers, using=using, limit=SAMPLES).points  # type: ignore[misc]
        )
        _check_search(name, sample, scored, wanted)


def _check_search(name: str, sample: models.Record, scored: list[models.ScoredPoint], wanted: WantedIndex) -> None:
    # By inner product, a longer vector may rank before the point itself.
    by_itself = wanted.profile.collection.distance == "Dot" or any(point.score >= SAME for point in scored)
    if not scored or not (by_itself or sample.id in [point.id for point in scored]):
        raise _failure(name, f"a search by the vector of point {sample.id} does not find it")
    hits = [Hit(str(point.id), point.score, point.payload) for point in scored]
    if not read(hits, wanted.profile.payload).passages:
        raise _failure(name, f"the profile '{wanted.profile.name}' finds no text and URL in its points")


def _failure(name: str, why: str) -> TargetError:
    return TargetError(
        f"The collection '{name}' failed its check: {why}. Run it again; if it fails again, delete the collection "
        "and run it once more."
    )
