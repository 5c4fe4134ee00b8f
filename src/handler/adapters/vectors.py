"""Whether what an embedding service gave is what was asked for."""

import math
from collections.abc import Sequence

from handler.adapters.errors import Service
from handler.config import models
from handler.config.models import Provider
from handler.core.errors import DimensionMismatch
from handler.core.model import Vector


def checked(vectors: Sequence[Vector], service: Service, model: str, dimension: int) -> list[Vector]:
    """The vectors, each `(dimension,)` and every number finite.

    Raises:
        UpstreamUnavailable: there is something in them that is not a number.
        DimensionMismatch: they are of another dimension; says which variable to change.
    """
    for vector in vectors:
        if not all(map(math.isfinite, vector)):
            raise service.unavailable("gave an embedding that is not a number", f"model {model}")
        if len(vector) != dimension:
            raise DimensionMismatch(
                f"The model '{model}' gives vectors of dimension {len(vector)}, but the collection takes "
                f"{dimension}: set EMBEDDING_MODEL to the model the collection was embedded with, or "
                "EMBEDDING_DIMENSION to the collection's dimension.",
                upstream="embedding",
            )
    return list(vectors)


def model_refused(provider: Provider, model: str, dimension: int) -> str:
    """The message for a refused request. The request is so plain that only its model can be wrong."""
    fitting = " or ".join(models.with_dimension(provider, dimension))
    return (
        f"The embedding service refused the model '{model}'. Set EMBEDDING_MODEL (or the profile's "
        "embedding.model) to the model the collection was embedded with; its vectors have dimension "
        f"{dimension}" + (f", as those of {fitting}." if fitting else ".")
    )
