"""Whether a collection is shaped as its profile expects: one check, the same sentences, for every store."""

from collections.abc import Mapping

from handler.core.errors import ConfigurationError, DimensionMismatch, VectorNameMismatch
from handler.core.model import CollectionInfo
from handler.profiles import Collection, Embedding


def check_vectors(expected: Collection, sizes: Mapping[str, int]) -> None:
    """Compare the profile's vector with the collection's vectors, given as name (empty: unnamed) to dimension.

    Raises:
        VectorNameMismatch, DimensionMismatch: says what the collection has and which variable to change.
    """
    if expected.vector not in sizes:
        has = ", ".join(f"'{name}'" if name else "one unnamed vector" for name in sizes) or "no dense vector"
        wanted = f"a vector named '{expected.vector}'" if expected.vector else "an unnamed vector"
        raise VectorNameMismatch(
            f"The profile asks for {wanted}, but the collection '{expected.name}' has {has}: set VECTOR_NAME "
            "(or the profile's collection.vector)."
        )
    size = sizes[expected.vector]
    if size != expected.dimension:
        raise DimensionMismatch(
            f"The collection '{expected.name}' holds vectors of dimension {size}, but the profile is set to "
            f"{expected.dimension}: set EMBEDDING_DIMENSION to {size} and EMBEDDING_MODEL to the model the collection "
            f"was embedded with, or COLLECTION_NAME to a collection of dimension {expected.dimension}."
        )


def check_model(expected: Embedding, info: CollectionInfo) -> None:
    """Compare the profile's model with the one the collection records.

    Another model of the same dimension raises no error anywhere: the answers are just not answers.

    Raises:
        ConfigurationError: they differ.
    """
    if info.embedding_model is not None and info.embedding_model != expected.model:
        raise ConfigurationError(
            f"The collection '{info.name}' was embedded with '{info.embedding_model}', but questions are embedded with "
            f"'{expected.model}': set EMBEDDING_MODEL to the collection's model, or index the site again."
        )
