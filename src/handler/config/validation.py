"""Collection validation: a collection compared with its profile. Every store uses these checks and messages."""

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Collection as Services

from handler.config import models
from handler.config.profiles import Collection, Profile
from handler.config.providers import EMULATOR
from handler.core.errors import (
    ConfigurationError,
    DimensionMismatch,
    ModelMismatch,
    NoTextIndex,
    RequestRefused,
    VectorNameMismatch,
)
from handler.core.model import CollectionInfo


def check_name(expected: Collection, sizes: Mapping[str, int]) -> None:
    """Check that the collection has the profile's vector.

    Args:
        sizes: the collection's vectors, name to dimension. The unnamed vector has an empty name.

    Raises:
        VectorNameMismatch: names the collection's vectors and the variable to change.
    """
    if not sizes:
        raise VectorNameMismatch(
            f"The collection '{expected.name}' has no dense vector: set SEARCH_MODE=words (or the profile's "
            "search.mode), or index the site again without --words.",
            upstream="store",
        )
    if expected.vector not in sizes:
        has = ", ".join(f"'{name}'" if name else "one unnamed vector" for name in sizes)
        wanted = f"a vector named '{expected.vector}'" if expected.vector else "an unnamed vector"
        raise VectorNameMismatch(
            f"The profile asks for {wanted}, but the collection '{expected.name}' has {has}: set VECTOR_NAME "
            "(or the profile's collection.vector).",
            upstream="store",
        )


def check_vectors(expected: Collection, sizes: Mapping[str, int]) -> None:
    """Check that the collection has the profile's vector, in the profile's dimension.

    Raises:
        VectorNameMismatch, DimensionMismatch: name what the collection has and the variable to change.
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


def distance_name(stored: str) -> str:
    """A distance by the name that seed 001 has for it: Qdrant calls one of them Euclid."""
    return "Euclidean" if stored == "Euclid" else stored


def check_distance(expected: Collection, distance: str) -> None:
    """Check that the collection has the profile's metric. By a distance, the worst passages would come first.

    Raises:
        ConfigurationError: the metrics differ.
    """
    if distance != expected.distance:
        raise ConfigurationError(
            f"The collection '{expected.name}' compares vectors by {distance}, but the profile is set to "
            f"{expected.distance}: set the profile's collection.distance (Cosine or Dot), or index the site again.",
            upstream="store",
        )


WITH_PREFIX = ", with prefix"
"""Follows the type of a payload index that serves a match by prefix: strict mode wants it from 1.19 on."""

ALSO_SERVED_BY: Mapping[str, tuple[str, ...]] = {"float": ("integer",), "keyword": ("uuid",)}
"""Other payload indexes that serve the conditions of an index type."""


def check_indexes(
    expected: Collection, wanted: Mapping[str, str], indexed: Mapping[str, str], detail: str | None
) -> None:
    """Check whether a refused filter lacks a payload index, which Qdrant Cloud's strict mode wants.

    Args:
        wanted: the payload keys of the filter, each with the index type that it needs.
        indexed: the payload keys that have an index, each with its type. One with `WITH_PREFIX` serves any match of a
            keyword.

    Raises:
        RequestRefused: names the keys and the index to create.
    """
    missing = {}
    for key, needed in wanted.items():
        has = indexed.get(key, "")
        if needed not in (has, has.removesuffix(WITH_PREFIX)) and has not in ALSO_SERVED_BY.get(needed, ()):
            missing[key] = needed
    if missing:
        named = "; ".join(f"for {key} of the type {needed}" for key, needed in missing.items())
        raise RequestRefused(
            f"The collection '{expected.name}' refused a filter on {', '.join(missing)}, without a payload index: "
            f"create one {named}.",
            upstream="store",
            detail=detail,
        )


def check_embedder(profile: Profile, made_by: str, model: str, services: Services[str], what: str) -> None:
    """Check that the service that embedded the texts gives vectors comparable with the questions'.

    Args:
        made_by: the service, as the index or the collection names it.
        model: the model of the texts.
        services: those whose vectors are comparable with the questions'; empty for any. Vectors of another service
            are comparable, too, if its model has the same vector space; the emulator's never are.
        what: the index or collection, for the message.

    Raises:
        ModelMismatch: it does not.
    """
    real = made_by != EMULATOR and models.are_comparable(model, profile.embedding.model)
    if services and made_by not in services and not real:
        raise ModelMismatch(
            f"{what} was embedded by '{made_by}', but questions are embedded by {' or '.join(services)}: run "
            "`passage index` again with the function's EMBEDDING_PROVIDER and key.",
            upstream="store",
        )


def problems(profile: Profile, info: CollectionInfo) -> list[ConfigurationError]:
    """Why a collection cannot answer the profile's questions: its dimension, metric, model, contents or status."""
    if profile.search.mode == "words":
        missing = [] if info.search == "words" else [NoTextIndex(" ".join(info.notes), upstream="store")]
        return [*missing, *_content_problems(info)]
    return [*_vector_problems(profile, info), *_content_problems(info)]


def _vector_problems(profile: Profile, info: CollectionInfo) -> Iterator[ConfigurationError]:
    expected, asking = profile.collection, profile.embedding.model
    checks: tuple[Callable[[], None], ...] = (
        lambda: check_vectors(expected, {expected.vector: info.vector_size}),
        lambda: check_distance(expected, info.distance_metric),
    )
    for check in checks:
        try:
            check()
        except ConfigurationError as error:
            yield error
    # A model of another vector space with the same dimension raises no error in a search; its answers are wrong.
    if info.embedding_model is not None and not models.are_comparable(info.embedding_model, asking):
        yield ModelMismatch(
            f"The collection '{info.name}' was embedded with '{info.embedding_model}', but questions are embedded "
            f"with '{asking}', whose vectors are not comparable: set EMBEDDING_MODEL to the collection's model, or "
            "index the site again.",
            upstream="store",
        )


def _content_problems(info: CollectionInfo) -> Iterator[ConfigurationError]:
    """Why there is nothing to find."""
    if info.status == "red":
        yield ConfigurationError(
            f"The collection '{info.name}' has the status red: an operation of the vector store failed for good. Its "
            "log says which; restart it, or index the site again.",
            upstream="store",
        )
    elif info.points_count == 0:
        yield ConfigurationError(
            f"The collection '{info.name}' is empty: run `passage index`, or set COLLECTION_NAME to another one.",
            upstream="store",
        )
