"""Looks up models by name in the table of providers, checks a profile's embedding model, and words refusals."""

from typing import Literal

from handler.config.providers import PROVIDERS, Model
from handler.core.errors import ConfigurationError, DimensionMismatch

QUESTIONS = "EMBEDDING_MODEL (or the profile's embedding.model)"

UNKNOWN_TOKENS = 512
"""The assumed token limit of an unknown model: the least of the known ones."""


def find(name: str) -> Model | None:
    """The model of that name; None if no provider has it in the table.

    On Bedrock, `name` may also be an inference profile's id (`eu.cohere.embed-v4:0`) or the ARN of either.
    """
    bare = name.rpartition("/")[2]
    bare = bare[bare.find(".cohere.") + 1 :]  # behind a geography such as `eu` or `global`
    return next((model for provider in PROVIDERS.values() for model in provider.models if model.name == bare), None)


def limits(name: str) -> Model:
    """The model of that name. An unknown one has assumed limits, and vectors comparable only with its own."""
    return find(name) or Model(name, UNKNOWN_TOKENS, space=name)


def takes_dimension(name: str) -> bool:
    """Whether a request to this embedding model must name the dimension. Unknown models named embed-v… do."""
    listed = find(name)
    return len(listed.dimensions) > 1 if listed else "embed-v" in name


def are_comparable(one: str, other: str) -> bool:
    """Whether the vectors of two models are comparable."""
    return (limits(one).space or one) == (limits(other).space or other)


def with_dimension(provider: str, dimension: int) -> list[str]:
    """The active embedding models of a provider that give vectors of `dimension`."""
    return [model.name for model in _active(provider) if dimension in model.dimensions]


def reranker_refused(provider: str, name: str) -> str:
    """The message for a request that the service refuses. It is so plain that only its model can be wrong."""
    served = " or ".join(model.name for model in _active(provider) if not model.embeds)
    return f"The reranking service refused the model '{name}': set RERANK_MODEL to one that it serves, as {served}."


def provider_of(model: Model) -> str:
    """The provider whose row has the model."""
    return next(provider.name for provider in PROVIDERS.values() if model in provider.models)


def _active(provider: str) -> list[Model]:
    return [model for model in PROVIDERS[provider].models if model.state == "active"]


def check_model(provider: str, name: str, dimension: int, variable: str = QUESTIONS) -> str | None:
    """Check that a profile's embedding model is in use, and its provider's. Returns a `warning` for the log, or None.

    Its dimension is not compared with the collection's: callers may send only vectors, which need no embedding.

    Args:
        dimension: the collection's, for advice.
        variable: the setting that names the model.

    Raises:
        ConfigurationError: the model is retired, or another provider's.
    """
    model = find(name)
    if model is None:
        return warning("embedding", name)
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
            f"'{name}' is a model of {provider_of(model)}, but EMBEDDING_PROVIDER (or the profile's "
            f"embedding.provider) is {provider}. {_choice(provider, dimension, variable, like=model)}",
            upstream="embedding",
        )
    return warning("embedding", name)


def warning(kind: Literal["embedding", "reranking"], name: str) -> str | None:
    """What the log should say about a deprecated or unknown model; None for another model."""
    model = find(name)
    if model is None:
        return f"The {kind} model '{name}' is not in Passage's table of models: its limits are assumed."
    if model.state == "deprecated":
        return f"The {kind} model '{name}' was deprecated on {model.since}: plan to move to {model.replacement}."
    return None


def check_dimension(provider: str, name: str, dimension: int, variable: str = QUESTIONS) -> None:
    """Check that a model has the collection's dimension. An unknown model is accepted.

    Raises:
        DimensionMismatch: names the model's dimensions, and the models that fit.
    """
    model = find(name)
    if model is not None and dimension not in model.dimensions:
        raise DimensionMismatch(
            f"The model '{name}' gives vectors of dimension {' or '.join(map(str, model.dimensions))}, but the "
            f"collection takes {dimension}. {_choice(provider, dimension, variable)} Or set EMBEDDING_DIMENSION to the "
            "collection's dimension.",
            upstream="embedding",
        )


def embedder_refused(provider: str, name: str, dimension: int) -> str:
    """As `reranker_refused`. `dimension` is the collection's."""
    fitting = " or ".join(with_dimension(provider, dimension))
    return (
        f"The embedding service refused the model '{name}'. Set {QUESTIONS} to the model the collection was embedded "
        f"with; its vectors have dimension {dimension}" + (f", as those of {fitting}." if fitting else ".")
    )


def _choice(provider: str, dimension: int, variable: str, like: Model | None = None) -> str:
    """The advice in an error: the same model by the provider's name, or models of the collection's dimension."""
    same = [model.name for model in PROVIDERS[provider].models if like and model.space == like.space]
    fitting = same or with_dimension(provider, dimension)
    if not fitting:
        return f"Set {variable} to the model the collection was embedded with."
    kind = "" if same else f" of dimension {dimension}"
    return f"Set {variable} to the model the collection was embedded with{kind}: {' or '.join(fitting)}."
