"""The table of models: dimensions, token limits, and whether the provider still serves each.

Sources: Cohere's model pages, changelog and deprecations page, and Amazon Bedrock's model cards (November 2026).
Imported at every cold start, so it uses plain dataclasses.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal

Provider = Literal["cohere", "bedrock"]
State = Literal["active", "deprecated", "retired"]

TEXTS_PER_CALL = 96
"""The most texts that Cohere's embed endpoint accepts in a call, also on Bedrock."""

EMULATOR = "emulator"
"""The provider of vectors that the emulator made, as an index or a collection records it."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """How a hybrid search fuses its two lists: reciprocal rank fusion as Qdrant computes it.

    A passage at rank r of a list with the weight w gets 1 / (r / w + k - 1) from it.

    Attributes:
        weights: of the list by vectors and of the list by text. If one is a small fraction of the other, as in
            [1, 3], many passages get equal scores.
        k: at least 1. With 1, a score is w / r.
    """

    weights: tuple[float, float] = (1.0, 1.1)
    k: int = 2


EMULATED = Fusion((1.0, 3.1), 1)
"""For the emulator's vectors, which find less than words do: 0.81 nDCG@10 where equal weights get 0.77."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model by its provider's own name.

    Attributes:
        tokens_per_text: how many tokens of a text the model reads; the provider silently cuts the rest.
        dimensions: the sizes of its vectors, the default first; empty for a reranker. With more than one, the
            request chooses (`output_dimension`).
        space: models of one vector space give comparable vectors; empty for a reranker.
        texts_per_call: the most texts a request may hold.
        since: the day the provider deprecated or retired it, as YYYY-MM-DD.
        replacement: the model to use instead of a deprecated or retired one.
        price: US dollars for a million tokens, as its provider publishes it; None where it is not known.
        fusion: how a hybrid search weighs its vectors against words, unless the profile says otherwise.
    """

    name: str
    provider: Provider
    tokens_per_text: int
    dimensions: tuple[int, ...] = ()
    space: str = ""
    texts_per_call: int = TEXTS_PER_CALL
    state: State = "active"
    since: str = ""
    replacement: str = ""
    price: float | None = None
    fusion: Fusion = Fusion()

    @property
    def embeds(self) -> bool:
        return bool(self.dimensions)


V5_DIMENSIONS = (2048, 1536, 1024, 768, 512, 256)
V4_DIMENSIONS = (1536, 1024, 512, 256)
V5, V4 = "embed-v5.0", "embed-v4.0"
ENGLISH_V3, MULTILINGUAL_V3 = "embed-english-v3.0", "embed-multilingual-v3.0"
ENGLISH_LIGHT_V3, MULTILINGUAL_LIGHT_V3 = "embed-english-light-v3.0", "embed-multilingual-light-v3.0"
V5_FAST = "embed-v5.0-fast"
V2_RETIRED = "2026-04-04"


def _retired_v2(name: str, dimension: int, tokens: int) -> Model:
    return Model(name, "cohere", tokens, (dimension,), name, state="retired", since=V2_RETIRED, replacement=V5_FAST)


MODELS: tuple[Model, ...] = (
    # Pro and Fast share one space: Cohere recommends to index with Pro and to ask with Fast.
    Model("embed-v5.0-pro", "cohere", 128_000, V5_DIMENSIONS, V5, price=0.12),
    Model(V5_FAST, "cohere", 128_000, V5_DIMENSIONS, V5, price=0.08),
    Model("embed-v4.0", "cohere", 128_000, V4_DIMENSIONS, V4, price=0.12),
    Model("embed-english-v3.0", "cohere", 512, (1024,), ENGLISH_V3, price=0.10),
    Model("embed-multilingual-v3.0", "cohere", 512, (1024,), MULTILINGUAL_V3, price=0.10),
    Model("embed-english-light-v3.0", "cohere", 512, (384,), ENGLISH_LIGHT_V3, price=0.10),
    Model("embed-multilingual-light-v3.0", "cohere", 512, (384,), MULTILINGUAL_LIGHT_V3, price=0.10),
    _retired_v2("embed-english-v2.0", 4096, 512),
    _retired_v2("embed-english-light-v2.0", 1024, 512),
    _retired_v2("embed-multilingual-v2.0", 768, 256),
    Model("cohere.embed-v4:0", "bedrock", 128_000, V4_DIMENSIONS, V4, price=0.12),
    Model("cohere.embed-english-v3", "bedrock", 512, (1024,), ENGLISH_V3, price=0.10),
    Model("cohere.embed-multilingual-v3", "bedrock", 512, (1024,), MULTILINGUAL_V3, price=0.10),
    Model("rerank-v5.0-pro", "cohere", 32_000),
    Model("rerank-v5.0-fast", "cohere", 32_000),
    Model("rerank-v4.0-pro", "cohere", 32_000),
    Model("rerank-v4.0-fast", "cohere", 32_000),
    Model("rerank-v3.5", "cohere", 4_096),
    Model("rerank-english-v3.0", "cohere", 4_096),
    Model("rerank-multilingual-v3.0", "cohere", 4_096),
    *(
        Model(name, "cohere", 512, state="retired", since="2025-04-30", replacement="rerank-v4.0-fast")
        for name in ("rerank-english-v2.0", "rerank-multilingual-v2.0")
    ),
    Model("cohere.rerank-v3-5:0", "bedrock", 4_096),
)

DEFAULT_RERANKERS: dict[Provider, str] = {"cohere": "rerank-v4.0-fast", "bedrock": "cohere.rerank-v3-5:0"}

UNKNOWN_TOKENS = 512
"""The assumed token limit of an unknown model: the least of the known ones."""


@cache
def find(name: str) -> Model | None:
    """The model of that name; None if the table does not have it.

    On Bedrock, `name` may also be an inference profile's id (`eu.cohere.embed-v4:0`) or the ARN of either.
    """
    bare = name.rpartition("/")[2]
    start = bare.find(".cohere.") + 1  # behind a geography such as `eu` or `global`
    return next((model for model in MODELS if model.name == bare[start:]), None)


def fusion(name: str, embedded_by: str) -> Fusion:
    """How to fuse a search by vectors of the model `name`.

    Args:
        embedded_by: the provider that made the collection's vectors; empty if it is not known.
    """
    if embedded_by == EMULATOR:
        return EMULATED
    found = find(name)
    return found.fusion if found else Fusion()


def takes_dimension(name: str) -> bool:
    """Whether a request to this embedding model must name the dimension. Unknown models named embed-v… do."""
    found = find(name)
    return len(found.dimensions) > 1 if found else "embed-v" in name


def tokens_per_text(name: str) -> int:
    """How many tokens of a text the model reads."""
    found = find(name)
    return found.tokens_per_text if found else UNKNOWN_TOKENS


def texts_per_call(name: str) -> int:
    """The most texts that a request to this model may hold."""
    found = find(name)
    return found.texts_per_call if found else TEXTS_PER_CALL


def comparable(one: str, other: str) -> bool:
    """Whether the vectors of two models are comparable. An unknown model's are comparable only with its own."""
    return _space(one) == _space(other)


def with_dimension(provider: Provider, dimension: int) -> list[str]:
    """The active embedding models of a provider that give vectors of `dimension`."""
    return [
        model.name
        for model in MODELS
        if model.provider == provider and model.state == "active" and dimension in model.dimensions
    ]


def rerankers(provider: Provider) -> list[str]:
    """The active reranking models of a provider."""
    return [
        model.name for model in MODELS if model.provider == provider and model.state == "active" and not model.embeds
    ]


def _space(name: str) -> str:
    found = find(name)
    return found.space if found and found.embeds else name
