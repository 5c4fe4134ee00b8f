"""Looks up models by name in the table of providers: limits, vector spaces, and what replaces what."""

from handler.config.providers import PROVIDERS, TEXTS_PER_CALL, Model

UNKNOWN_TOKENS = 512
"""The assumed token limit of an unknown model: the least of the known ones."""


def find(name: str) -> Model | None:
    """The model of that name; None if no provider has it in the table.

    On Bedrock, `name` may also be an inference profile's id (`eu.cohere.embed-v4:0`) or the ARN of either.
    """
    bare = name.rpartition("/")[2]
    bare = bare[bare.find(".cohere.") + 1 :]  # behind a geography such as `eu` or `global`
    return next((model for provider in PROVIDERS.values() for model in provider.models if model.name == bare), None)


def takes_dimension(name: str) -> bool:
    """Whether a request to this embedding model must name the dimension. Unknown models named embed-v… do."""
    listed = find(name)
    return len(listed.dimensions) > 1 if listed else "embed-v" in name


def tokens_per_text(name: str) -> int:
    """How many tokens of a text the model reads."""
    listed = find(name)
    return listed.tokens_per_text if listed else UNKNOWN_TOKENS


def texts_per_call(name: str) -> int:
    """The most documents that a request to this model may hold."""
    listed = find(name)
    return listed.texts_per_call if listed else TEXTS_PER_CALL


def comparable(one: str, other: str) -> bool:
    """Whether the vectors of two models are comparable. An unknown model's are comparable only with its own."""
    return _space(one) == _space(other)


def with_dimension(provider: str, dimension: int) -> list[str]:
    """The active embedding models of a provider that give vectors of `dimension`."""
    return [model.name for model in _active(provider) if dimension in model.dimensions]


def reranker_refused(provider: str, name: str) -> str:
    """The message for a refused request. The request is so plain that only its model can be wrong."""
    served = " or ".join(model.name for model in _active(provider) if not model.embeds)
    return f"The reranking service refused the model '{name}': set RERANK_MODEL to one that it serves, as {served}."


def provider_of(model: Model) -> str:
    """The provider whose row has the model."""
    return next(provider.name for provider in PROVIDERS.values() if model in provider.models)


def _active(provider: str) -> list[Model]:
    return [model for model in PROVIDERS[provider].models if model.state == "active"]


def _space(name: str) -> str:
    listed = find(name)
    return listed.space if listed and listed.embeds else name
