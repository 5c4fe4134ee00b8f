"""The message for a request that an embedding service refuses."""

from handler.config import models
from handler.config.models import Provider


def model_refused(provider: Provider, model: str, dimension: int) -> str:
    """The message for a refused request. The request is so plain that only its model can be wrong."""
    fitting = " or ".join(models.with_dimension(provider, dimension))
    return (
        f"The embedding service refused the model '{model}'. Set EMBEDDING_MODEL (or the profile's "
        "embedding.model) to the model the collection was embedded with; its vectors have dimension "
        f"{dimension}" + (f", as those of {fitting}." if fitting else ".")
    )
