"""The Cohere models the emulator knows, with the limits a caller can run into."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class EmbedModel:
    """An embedding model. The first dimension is the default; more than one means `output_dimension` chooses.

    context: tokens read of each text, the rest is cut.
    typed: knows `input_type` (and requires it) and embedding types other than float: v3 and later.
    """

    dimensions: tuple[int, ...]
    context: int
    typed: bool = True


EMBED_MODELS: Mapping[str, EmbedModel] = {
    "embed-v4.0": EmbedModel((1536, 256, 512, 1024), 128_000),
    "embed-english-v3.0": EmbedModel((1024,), 512),
    "embed-multilingual-v3.0": EmbedModel((1024,), 512),
    "embed-english-light-v3.0": EmbedModel((384,), 512),
    "embed-multilingual-light-v3.0": EmbedModel((384,), 512),
    "embed-multilingual-v2.0": EmbedModel((768,), 256, typed=False),
}

RERANK_MODELS: Mapping[str, int] = {  # name: context in tokens
    "rerank-v3.5": 4096,
    "rerank-english-v3.0": 4096,
    "rerank-multilingual-v3.0": 4096,
}


def describe_models() -> list[dict[str, object]]:
    """Every model the way `GET /v1/models` lists it."""
    listed = [(name, "embed", model.context) for name, model in EMBED_MODELS.items()]
    listed += [(name, "rerank", context) for name, context in RERANK_MODELS.items()]
    return [
        {"name": name, "endpoints": [endpoint], "finetuned": False, "context_length": context, "default_endpoints": []}
        for name, endpoint, context in listed
    ]
