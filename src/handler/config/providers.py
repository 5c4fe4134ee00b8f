"""The table of providers: who embeds and reranks, by which adapter, with which variables, limits and models.

A row is all that the rest of Passage knows of a provider. It names its adapters as `module:class`, so reading the table
imports no SDK. Imported at every cold start, so its rows are plain named tuples.

Sources: Cohere's model pages, changelog and deprecations page, and Amazon Bedrock's model cards (November 2026).
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import AfterValidator, SecretStr

from handler.config.values import SecretReference, cohere_url, service_url, usable_key

T = TypeVar("T")

State = Literal["active", "deprecated", "retired"]

TEXTS_PER_CALL = 96
"""The most questions that are embedded in a call: Cohere's limit, also on Bedrock."""

EMULATOR = "emulator"
"""What an index or a collection records as the provider of vectors that the emulator made."""

BALANCE = 0.65
"""How much vectors count against words in a hybrid search: 0 is words alone, 1 vectors alone. A provider's vectors find
more than words do (docs/search.md)."""

EMULATED_BALANCE = 0.4
"""The same for the emulator's vectors, which find less than words do."""


class Model(NamedTuple):
    """A model by its provider's own name.

    Attributes:
        tokens_per_text: how many tokens of a text the model reads; the provider silently cuts the rest.
        dimensions: the sizes of its vectors, the default first; empty for a reranker. With more than one, the
            request chooses.
        space: models of one vector space give comparable vectors; empty for a reranker.
        texts_per_call: the most documents that a request may hold.
        since: the day the provider deprecated or retired it, as YYYY-MM-DD.
        replacement: the model to use instead of a deprecated or retired one.
        price: US dollars for a million tokens, as its provider publishes it; None where it is not known.
    """

    name: str
    tokens_per_text: int
    dimensions: tuple[int, ...] = ()
    space: str = ""
    texts_per_call: int = TEXTS_PER_CALL
    state: State = "active"
    since: str = ""
    replacement: str = ""
    price: float | None = None

    @property
    def embeds(self) -> bool:
        return bool(self.dimensions)


class Provider(NamedTuple):
    """A service that embeds, and reranks if it can.

    Attributes:
        name: as in EMBEDDING_PROVIDER, RERANK_PROVIDER and a profile's `embedding.provider`. In capitals, it begins the
            names of the provider's variables.
        label: its name in messages.
        embedder: the class of its embedder, as `module:class`: see `handler.adapters.account.EmbedderClass`.
        models: every model that is known. Others may be used, with a warning.
        url: the API's address unless a variable sets another; None on AWS, where the function's role is the credential.
        check_url: validates and normalises that variable; raises ValueError.
        reranker: the class of its reranker: see `handler.adapters.account.RerankerClass`. None if it does not rerank.
        default_reranker: the reranking model unless RERANK_MODEL names another.
        model_prefixes: how the names of its models begin; empty for any name that no other provider's prefix fits.
        texts_per_minute: the published limit for embedding documents; None if there is none.
        emulated: whether `passage` has an emulator of it, which it uses where no key is set.
    """

    name: str
    label: str
    embedder: str
    models: tuple[Model, ...]
    url: str | None = None
    check_url: Callable[[str], str] = service_url
    reranker: str | None = None
    default_reranker: str = ""
    model_prefixes: tuple[str, ...] = ()
    texts_per_minute: int | None = None
    emulated: bool = False

    @property
    def key_variable(self) -> str:
        """The variable that holds its key, or what takes the key's place in messages."""
        return "the function's role" if self.url is None else f"{self.name.upper()}_API_KEY"

    @property
    def secret_variable(self) -> str:
        """The variable that says where its key is stored."""
        return f"{self.name.upper()}_API_KEY_SECRET"

    @property
    def url_variable(self) -> str:
        """The variable that sets its address."""
        return "AWS_ENDPOINT_URL" if self.url is None else f"{self.name.upper()}_BASE_URL"

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that the function reads for it: none on AWS."""
        return () if self.url is None else (self.key_variable, self.secret_variable, self.url_variable)

    def names(self, model: str) -> bool:
        """Whether a model's name can be one of this provider's."""
        if self.model_prefixes:
            return model.startswith(self.model_prefixes)
        return not any(model.startswith(other.model_prefixes) for other in PROVIDERS.values())


_V5_DIMENSIONS = (2048, 1536, 1024, 768, 512, 256)
_V4_DIMENSIONS = (1536, 1024, 512, 256)
_V5, _V4 = "embed-v5.0", "embed-v4.0"
_ENGLISH_V3, _MULTILINGUAL_V3 = "embed-english-v3.0", "embed-multilingual-v3.0"
_V5_FAST = "embed-v5.0-fast"


def _retired_v2(name: str, dimension: int, tokens: int) -> Model:
    return Model(name, tokens, (dimension,), name, state="retired", since="2026-04-04", replacement=_V5_FAST)


_COHERE = Provider(
    name="cohere",
    label="Cohere",
    embedder="handler.adapters.cohere:CohereEmbedder",
    reranker="handler.adapters.cohere:CohereReranker",
    default_reranker="rerank-v4.0-fast",
    url="https://api.cohere.com",
    check_url=cohere_url,
    # For trial and production keys alike (Cohere, "Different Types of API Keys and Rate Limits").
    texts_per_minute=2_000,
    emulated=True,
    models=(
        # Pro and Fast share one space: Cohere recommends to index with Pro and to ask with Fast.
        Model("embed-v5.0-pro", 128_000, _V5_DIMENSIONS, _V5, price=0.12),
        Model(_V5_FAST, 128_000, _V5_DIMENSIONS, _V5, price=0.08),
        Model("embed-v4.0", 128_000, _V4_DIMENSIONS, _V4, price=0.12),
        Model("embed-english-v3.0", 512, (1024,), _ENGLISH_V3, price=0.10),
        Model("embed-multilingual-v3.0", 512, (1024,), _MULTILINGUAL_V3, price=0.10),
        Model("embed-english-light-v3.0", 512, (384,), "embed-english-light-v3.0", price=0.10),
        Model("embed-multilingual-light-v3.0", 512, (384,), "embed-multilingual-light-v3.0", price=0.10),
        _retired_v2("embed-english-v2.0", 4096, 512),
        _retired_v2("embed-english-light-v2.0", 1024, 512),
        _retired_v2("embed-multilingual-v2.0", 768, 256),
        Model("rerank-v5.0-pro", 32_000),
        Model("rerank-v5.0-fast", 32_000),
        Model("rerank-v4.0-pro", 32_000),
        Model("rerank-v4.0-fast", 32_000),
        Model("rerank-v3.5", 4_096),
        Model("rerank-english-v3.0", 4_096),
        Model("rerank-multilingual-v3.0", 4_096),
        *(
            Model(name, 512, state="retired", since="2025-04-30", replacement="rerank-v4.0-fast")
            for name in ("rerank-english-v2.0", "rerank-multilingual-v2.0")
        ),
    ),
)

_BEDROCK = Provider(
    name="bedrock",
    label="Bedrock",
    embedder="handler.adapters.bedrock:BedrockEmbedder",
    reranker="handler.adapters.bedrock:BedrockReranker",
    default_reranker="cohere.rerank-v3-5:0",
    model_prefixes=("arn:", "cohere."),
    models=(
        Model("cohere.embed-v4:0", 128_000, _V4_DIMENSIONS, _V4, price=0.12),
        Model("cohere.embed-english-v3", 512, (1024,), _ENGLISH_V3, price=0.10),
        Model("cohere.embed-multilingual-v3", 512, (1024,), _MULTILINGUAL_V3, price=0.10),
        Model("cohere.rerank-v3-5:0", 4_096),
    ),
)

PROVIDERS: dict[str, Provider] = {provider.name: provider for provider in (_COHERE, _BEDROCK)}
"""Every provider by its name. A new one is a row above, and its name here."""

DEFAULT = _COHERE.name
"""The provider of a profile that names none."""


def _check_known(name: str) -> str:
    if name not in PROVIDERS:
        raise ValueError(f"must be {' or '.join(PROVIDERS)}")
    return name


def _check_reranks(name: str) -> str:
    rerankers = [provider.name for provider in PROVIDERS.values() if provider.reranker]
    if name not in rerankers:
        label = PROVIDERS[name].label if name in PROVIDERS else f"'{name}'"
        raise ValueError(f"{label} has no reranker: set {' or '.join(rerankers)}")
    return name


EmbeddingProvider = Annotated[str, AfterValidator(_check_known)]
"""The name of a provider."""
RerankingProvider = Annotated[str, AfterValidator(_check_reranks)]
"""The name of a provider that has a reranker."""


class Access(NamedTuple):
    """How a provider is reached, from its variables.

    Attributes:
        url: of its API, without a slash at the end; empty on AWS.
        key: None if it is not set.
        secret: where the key is stored; None if it is not set.
    """

    url: str = ""
    key: SecretStr | None = None
    secret: SecretReference | None = None

    @property
    def has_key(self) -> bool:
        return self.key is not None or self.secret is not None


def read_access(environ: Mapping[str, str], *providers: Provider) -> dict[str, Access]:
    """How each of `providers` is reached, by its name. An empty variable counts as not set.

    Raises:
        ValueError: names each wrong variable, without its value.
    """
    access: dict[str, Access] = {}
    faults: list[str] = []

    def read(variable: str, parse: Callable[[str], T]) -> T | None:
        text = environ.get(variable, "")
        try:
            return parse(text) if text.strip() else None
        except ValueError as error:
            faults.append(f"{variable}: {error}")
            return None

    for provider in providers:
        if provider.url is None:
            access[provider.name] = Access()
            continue
        key = read(provider.key_variable, lambda text: SecretStr(usable_key(text)))
        secret = read(provider.secret_variable, SecretReference.parse)
        if key is not None and secret is not None:
            faults.append(f"{provider.key_variable}: set it or {provider.secret_variable}, not both")
        access[provider.name] = Access(read(provider.url_variable, provider.check_url) or provider.url, key, secret)
    if faults:
        raise ValueError("; ".join(faults))
    return access
