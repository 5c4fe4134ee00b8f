"""Whether a collection is shaped as its profile expects: one check, the same sentences, for every store."""

from collections.abc import Callable, Container, Iterable, Mapping

from handler.config import models
from handler.config.profiles import Collection, Profile
from handler.core.errors import (
    ConfigurationError,
    DimensionMismatch,
    ModelMismatch,
    RequestRefused,
    VectorNameMismatch,
)
from handler.core.model import CollectionInfo


def check_name(expected: Collection, sizes: Mapping[str, int]) -> None:
    """Find the profile's vector among the collection's, given as name (empty: unnamed) to dimension.

    Raises:
        VectorNameMismatch: says what the collection has and which variable to change.
    """
    if expected.vector not in sizes:
        has = ", ".join(f"'{name}'" if name else "one unnamed vector" for name in sizes) or "no dense vector"
        wanted = f"a vector named '{expected.vector}'" if expected.vector else "an unnamed vector"
        raise VectorNameMismatch(
            f"The profile asks for {wanted}, but the collection '{expected.name}' has {has}: set VECTOR_NAME "
            "(or the profile's collection.vector).",
            upstream="store",
        )


def check_vectors(expected: Collection, sizes: Mapping[str, int]) -> None:
    """Compare the profile's vector with the collection's.

    Raises:
        VectorNameMismatch, DimensionMismatch: says what the collection has and which variable to change.
    """
    check_name(expected, sizes)
    size = sizes[expected.vector]
    if size != expected.dimension:
        raise DimensionMismatch(
            f"The collection '{expected.name}' holds vectors of dimension {size}, but the profile is set to "
            f"{expected.dimension}: set EMBEDDING_DIMENSION to {size} and EMBEDDING_MODEL to the model the collection "
            f"was embedded with, or COLLECTION_NAME to a collection of dimension {expected.dimension}.",
            upstream="store",
        )


def check_distance(expected: Collection, distance: str) -> None:
    """Compare the profile's metric with the collection's: by a distance, the passages that fit least would come first.

    Raises:
        ConfigurationError: they differ.
    """
    if distance != expected.distance:
        raise ConfigurationError(
            f"The collection '{expected.name}' compares vectors by {distance}, but the profile is set to "
            f"{expected.distance}: set the profile's collection.distance (Cosine or Dot), or index the site again.",
            upstream="store",
        )


def check_indexes(expected: Collection, keys: Iterable[str], indexed: Container[str], detail: str | None) -> None:
    """See whether a refused request filtered by keys without a payload index, as Qdrant Cloud's strict mode refuses to.

    Raises:
        RequestRefused: names the keys, and the index to create.
    """
    missing = [key for key in keys if key not in indexed]
    if missing:
        raise RequestRefused(
            f"The collection '{expected.name}' refused a filter on {', '.join(missing)}, without a payload index: "
            "create one of the type keyword.",
            upstream="store",
            detail=detail,
        )


def problems(profile: Profile, info: CollectionInfo) -> list[ConfigurationError]:
    """What makes a collection unfit for the profile, though it can be reached: dimension, metric or model.

    Another model of the same dimension raises no error anywhere: the answers are just not answers.
    """
    found: list[ConfigurationError] = []
    expected = profile.collection
    checks: tuple[Callable[[], None], ...] = (
        lambda: check_vectors(expected, {expected.vector: info.vector_size}),
        lambda: check_distance(expected, info.distance_metric),
    )
    for check in checks:
        try:
            check()
        except ConfigurationError as error:
            found.append(error)
    if info.embedding_model is not None and not models.comparable(info.embedding_model, profile.embedding.model):
        found.append(
            ModelMismatch(
                f"The collection '{info.name}' was embedded with '{info.embedding_model}', but questions are embedded "
                f"with '{profile.embedding.model}', whose vectors do not compare: set EMBEDDING_MODEL to the "
                "collection's model, or index the site again.",
                upstream="store",
            )
        )
    return found
