"""Checks a profile's embedding model: its provider and its dimension. Words its refusals."""

from handler.config import models
from handler.config.profiles import Profile
from handler.config.providers import PROVIDERS, Model
from handler.core.errors import ConfigurationError, DimensionMismatch

QUESTIONS = "EMBEDDING_MODEL (or the profile's embedding.model)"


def check_model(profile: Profile, name: str, variable: str) -> str | None:
    """Check one of a profile's embedding models.

    Its dimension is not compared with the collection's: callers may send only vectors, which need no embedding.

    Args:
        variable: the setting that names the model.

    Returns:
        A warning about a deprecated or unknown model, for the log; None for another model.

    Raises:
        ConfigurationError: the model is retired, or another provider's.
    """
    provider, dimension = profile.embedding.provider, profile.collection.dimension
    model = models.find(name)
    if model is None:
        return f"The embedding model '{name}' is not in Passage's table of models: its limits are assumed."
    if model.state == "retired":
        raise ConfigurationError(
            f"The embedding model '{name}' was retired on {model.since}. Set {variable} to {model.replacement} and "
            "index the site again: vectors of the two are not comparable.",
            upstream="embedding",
        )
    if not model.embeds:
        raise ConfigurationError(
            f"'{name}' is a reranking model, not an embedding model. {_choice(provider, dimension, variable)}",
            upstream="embedding",
        )
    if model not in PROVIDERS[provider].models:
        raise ConfigurationError(
            f"'{name}' is a model of {models.provider_of(model)}, but EMBEDDING_PROVIDER (or the profile's "
            f"embedding.provider) is {provider}. {_choice(provider, dimension, variable, like=model)}",
            upstream="embedding",
        )
    if model.state == "deprecated":
        return f"The embedding model '{name}' was deprecated on {model.since}: plan to move to {model.replacement}."
    return None


def check_dimension(provider: str, name: str, dimension: int, variable: str = QUESTIONS) -> None:
    """Check that a model has the collection's dimension. An unknown model is accepted.

    Raises:
        DimensionMismatch: names the model's dimensions, and the models that fit.
    """
    model = models.find(name)
    if model is not None and dimension not in model.dimensions:
        raise DimensionMismatch(
            f"The model '{name}' gives vectors of dimension {' or '.join(map(str, model.dimensions))}, but the "
            f"collection takes {dimension}. {_choice(provider, dimension, variable)} Or set EMBEDDING_DIMENSION to the "
            "collection's dimension.",
            upstream="embedding",
        )


def model_refused(provider: str, name: str, dimension: int) -> str:
    """The message for a request that the service refuses. The request is so plain that only its model can be wrong.

    Args:
        dimension: the collection's.
    """
    fitting = " or ".join(models.with_dimension(provider, dimension))
    return (
        f"The embedding service refused the model '{name}'. Set {QUESTIONS} to the model the collection was embedded "
        f"with; its vectors have dimension {dimension}" + (f", as those of {fitting}." if fitting else ".")
    )


def _choice(provider: str, dimension: int, variable: str, like: Model | None = None) -> str:
    """The advice in an error: the same model by the provider's name, or models of the collection's dimension."""
    same = [model.name for model in PROVIDERS[provider].models if like and model.space == like.space]
    fitting = same or models.with_dimension(provider, dimension)
    if not fitting:
        return f"Set {variable} to the model the collection was embedded with."
    kind = "" if same else f" of dimension {dimension}"
    return f"Set {variable} to the model the collection was embedded with{kind}: {' or '.join(fitting)}."
