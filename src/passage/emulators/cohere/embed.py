"""Cohere's embed endpoint: validates a request and returns vectors."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from handler.config.providers import Model
from passage.emulators.cohere.requests import (
    check_words,
    find_models,
    invalid,
    no_such_model,
    read_object,
    strings_of,
    text_of,
)
from passage.emulators.embedding import Matrix, as_floats, load_model

MODELS = find_models("cohere", embeds=True)
INPUT_TYPES = frozenset({"search_document", "search_query", "classification", "clustering", "image"})
TRUNCATIONS = ("END", "START", "NONE")

ENCODERS: Mapping[str, Callable[[Matrix], list[object]]] = {
    "float": lambda vectors: [as_floats(row) for row in vectors],
    "base64": lambda vectors: [base64.b64encode(row.astype("<f4").tobytes()).decode("ascii") for row in vectors],
}
"""The embedding types that Passage asks for. Each turns vectors `(n, dimension)` into n JSON values."""


@dataclass(frozen=True)
class EmbedRequest:
    """A validated request. `types` is None when the body names no embedding type."""

    texts: list[str]
    model: Model
    dimension: int
    types: list[str] | None
    truncate: str


@dataclass(frozen=True)
class Embedded:
    """Vectors `(texts, dimension)` and the number of tokens they are made of."""

    vectors: Matrix
    tokens: int


async def read_embed(request: web.Request) -> EmbedRequest:
    """Read an embed request."""
    body = await read_object(request)
    name = text_of(body, "model")
    model = MODELS.get(name)
    if model is None:
        raise no_such_model(name)
    texts = strings_of(body, "texts")
    if not texts:
        raise invalid("at least one text must be provided")
    check_words(texts)
    if len(texts) > model.texts_per_call:
        raise invalid(f"total number of texts must be at most {model.texts_per_call} - received {len(texts)}")
    if str(body.get("input_type")) not in INPUT_TYPES:
        raise invalid("valid input_type must be provided with the provided model")
    truncate = body.get("truncate") or TRUNCATIONS[0]
    if truncate not in TRUNCATIONS:
        raise invalid(f"truncate must be one of {', '.join(TRUNCATIONS)}")
    return EmbedRequest(texts, model, _dimension(body, model), _types(body), truncate)


def run_embed(asked: EmbedRequest) -> Embedded:
    """The vectors of the texts, each cut to the model's token limit."""
    model = load_model()
    tokens = model.tokenize(asked.texts)
    limit = asked.model.tokens_per_text
    if asked.truncate == "NONE" and any(len(ids) > limit for ids in tokens):
        raise invalid(f"a text is longer than the {limit} tokens the model reads and truncate is NONE")
    kept = [ids[-limit:] if asked.truncate == "START" else ids[:limit] for ids in tokens]
    return Embedded(model.embed_tokens(kept, asked.dimension), sum(map(len, kept)))


def _dimension(body: dict[str, Any], model: Model) -> int:
    asked = body.get("output_dimension")
    if asked is None:
        return model.dimensions[0]
    if len(model.dimensions) == 1:
        raise invalid(f"output_dimension is not supported by model {model.name}")
    if not isinstance(asked, int) or isinstance(asked, bool) or asked not in model.dimensions:
        raise invalid(f"output_dimension must be one of {', '.join(map(str, sorted(model.dimensions)))}")
    return asked


def _types(body: dict[str, Any]) -> list[str] | None:
    types = strings_of(body, "embedding_types")
    for kind in types:
        if kind not in ENCODERS:
            raise invalid(f"embedding_types must be of {', '.join(ENCODERS)}; got {kind}")
    return types or None
