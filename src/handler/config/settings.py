"""Every environment variable the function reads, typed and bounded. `bootstrap` reads them once; nothing else does.

A setting is a variable of its own, or one of the pairs in PASSAGE_SETTINGS, template.yaml's parameter `Settings`.
Powertools reads its own beside these: POWERTOOLS_LOGGER_LOG_EVENT and the like.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, ValidationInfo, model_validator

from handler.config import models, values
from handler.config.providers import PROVIDERS, Access, EmbeddingProvider, RerankingProvider, read_access
from handler.core.errors import ConfigurationError
from handler.core.model import SearchMode

PACKED = "PASSAGE_SETTINGS"

_SEPARATOR = re.compile(r"\s*[\n;,]\s*(?=\w+=)")
"""Between two packed settings. A comma, semicolon or line break without `NAME=` after it belongs to the value."""


def unpack(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings of PASSAGE_SETTINGS by name. `Settings.from_env` says what is wrong with it."""
    return dict(_pairs(environ))


def _pairs(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    text = environ.get(PACKED, "").strip().rstrip(";,")
    for pair in _SEPARATOR.split(text) if text else ():
        name, equals, value = pair.partition("=")
        yield name.strip() if equals else "", value.strip()


def _packing_faults(environ: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with PASSAGE_SETTINGS as a whole: its form, unknown names, and settings that are set twice."""
    known = names() - {PACKED}
    seen: set[str] = set()
    for name, _ in _pairs(environ):
        if not re.fullmatch(r"\w+", name):
            yield f"{PACKED}: must be NAME=value pairs, one a line or separated by commas or semicolons"
        elif name not in known:
            yield f"{PACKED}: there is no setting {name}"
        elif name in seen:
            yield f"{PACKED}: has {name} twice"
        elif environ.get(name, "").strip():
            yield f"{name}: is set as a variable and in {PACKED}; set it in one place"
        seen.add(name)


class _Environment(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True, defer_build=True)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Read the variables. An empty one counts as not set, because templates cannot omit a variable.

        Raises:
            ConfigurationError: names each wrong variable and the values it accepts.
        """
        variables = {name: value for name, value in environ.items() if value.strip()}
        given = {name: value for name, value in {**unpack(environ), **variables}.items() if value}
        try:
            return cls.model_validate(given, context=given)
        except ValidationError as error:
            raise _invalid(
                _explain(item) for item in error.errors()
            ) from None  # the cause holds values, and some are keys


def _invalid(problems: Iterable[str]) -> ConfigurationError:
    return ConfigurationError("The function's environment is invalid: " + "; ".join(problems))


def _explain(item: Any) -> str:
    name = str(item["loc"][0]) if item["loc"] else ""
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"{name}: {message}" if name.isupper() else message  # otherwise the message names its variables


UTF8_RUNTIMES = frozenset(f"AWS_Lambda_python3.{minor}" for minor in range(12, 16))
"""The runtimes in which awslambdaric 4.2 writes UTF-8. Elsewhere responses are counted with escapes, as more bytes."""


class RuntimeSettings(_Environment):
    """Where the code runs. Lambda sets both; the first is on-demand, provisioned-concurrency or snap-start."""

    initialization_type: str | None = Field(None, alias="AWS_LAMBDA_INITIALIZATION_TYPE")
    execution_environment: str = Field("", alias="AWS_EXECUTION_ENV")

    @property
    def in_lambda(self) -> bool:
        return self.initialization_type is not None

    @property
    def snap_start(self) -> bool:
        return self.initialization_type == "snap-start"

    @property
    def writes_utf8(self) -> bool:
        """Whether Lambda's runtime writes responses in UTF-8, not in ASCII with escapes (awslambdaric's `Encoder`)."""
        return self.execution_environment in UTF8_RUNTIMES


class HttpSettings(_Environment):
    """CORS and paths. Read separately, so that a browser can still read the error about another wrong setting."""

    allowed_origins: Annotated[tuple[values.Origin, ...], values.Names] = Field(
        ("http://localhost:3000",), alias="ALLOWED_ORIGINS"
    )
    allowed_headers: Annotated[tuple[values.HeaderName, ...], values.Names] = Field((), alias="ALLOWED_HEADERS")
    """Request headers that browsers may send, besides Powertools' own list."""
    base_path: values.BasePath = Field("", alias="BASE_PATH")
    """The path that a custom domain adds before the API's paths."""


def _read_access(_: object, info: ValidationInfo) -> Mapping[str, Access]:
    return read_access(info.context or {}, *PROVIDERS.values())


class CollectionSettings(_Environment):
    """The providers, and overrides of the default profile's collection and models. `passage index` reads them, too."""

    providers: Annotated[Mapping[str, Access], PlainValidator(_read_access)] = Field(
        {}, exclude=True, validate_default=True
    )
    """How each provider is reached, by its name. It is read from the variables that the provider's row names."""
    default_profile: str = Field("query-response", alias="DEFAULT_PROFILE")
    collection_name: str | None = Field(None, alias="COLLECTION_NAME")
    vector_name: str | None = Field(None, alias="VECTOR_NAME")
    embedding_provider: EmbeddingProvider | None = Field(None, alias="EMBEDDING_PROVIDER")
    embedding_model: str | None = Field(None, alias="EMBEDDING_MODEL")
    embedding_document_model: str | None = Field(None, alias="EMBEDDING_DOCUMENT_MODEL")
    """Embeds texts. The default is the profile's model, or EMBEDDING_MODEL if that has another vector space."""
    embedding_dimension: int | None = Field(None, ge=1, le=65_536, alias="EMBEDDING_DIMENSION")
    search_mode: SearchMode | None = Field(None, alias="SEARCH_MODE")
    without_embedding: Literal["error", "words"] | None = Field(None, alias="WITHOUT_EMBEDDING")


class Settings(CollectionSettings):
    """All other settings: services, keys, limits, stores and replies."""

    passage_settings: str = Field("", alias="PASSAGE_SETTINGS", repr=False, exclude=True)
    """Further settings, as NAME=value pairs. One may be a key."""
    profiles: Annotated[tuple[str, ...], values.Names] = Field((), alias="PROFILES")
    """The profiles that are served besides the default one. Any other is unknown to a caller."""
    service: str = Field("passage", alias="POWERTOOLS_SERVICE_NAME")
    log_level: Annotated[Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] | None, values.UpperCase] = Field(
        None, alias="POWERTOOLS_LOG_LEVEL"
    )
    log_query_text: bool = Field(False, alias="LOG_QUERY_TEXT")
    feedback: bool = Field(True, alias="FEEDBACK")
    """Whether `POST /feedback` is served."""
    access: Literal["open", "key", "iam", "jwt"] = Field("open", alias="ACCESS")
    """Who may ask, for the OpenAPI document to say. The API in front of the function enforces it."""
    chunks: Literal["true", "false", "raw"] = Field("true", alias="CHUNKS")
    """Whether a chunk can be fetched by its id; "raw" shows its whole payload and vector under any contract."""
    debug_answers: bool = Field(False, alias="DEBUG_ANSWERS")
    """Whether a request may ask how its answer came about."""
    request_timeout_ms: int = Field(28_500, ge=100, le=900_000, alias="REQUEST_TIMEOUT_MS")

    allowed_collections: Annotated[tuple[str, ...], values.Names] = Field((), alias="ALLOWED_COLLECTIONS")
    """Collections that a request may name in addition to its profile's."""

    mcp_name: str = Field("passage", max_length=100, alias="MCP_NAME")
    """What MCP clients call this server."""
    mcp_description: str = Field("", max_length=500, alias="MCP_DESCRIPTION")
    """What the site documents, in words that follow "search". MCP's tools say it to the model."""

    embedding_cache_size: int = Field(1_000, ge=0, le=100_000, alias="EMBEDDING_CACHE_SIZE")
    """How many embeddings of questions a container caches."""

    rerank_provider: RerankingProvider | None = Field(None, alias="RERANK_PROVIDER")
    rerank_model: str | None = Field(None, alias="RERANK_MODEL")
    rerank_candidates: int = Field(50, ge=1, le=1000, alias="RERANK_CANDIDATES")
    """How many passages the store returns for reranking. The answer has the most relevant of them."""
    rerank_timeout_ms: int = Field(3_000, ge=200, le=60_000, alias="RERANK_TIMEOUT_MS")

    store: Literal["qdrant_server", "qdrant_edge"] = Field("qdrant_server", alias="STORE")
    qdrant_url: values.QdrantUrl | None = Field(None, alias="QDRANT_URL")
    qdrant_api_key: values.Key | None = Field(None, alias="QDRANT_API_KEY")
    qdrant_api_key_secret: values.SecretKey | None = Field(None, alias="QDRANT_API_KEY_SECRET")
    secrets_ttl_seconds: int = Field(900, ge=60, le=86_400, alias="SECRETS_TTL_SECONDS")
    edge_index_path: Path | None = Field(None, alias="EDGE_INDEX_PATH")
    edge_index_uri: values.BucketUri | None = Field(None, alias="EDGE_INDEX_URI")
    edge_index_check_seconds: int = Field(60, ge=1, le=86_400, alias="EDGE_INDEX_CHECK_SECONDS")

    reply_queue_url: values.ServiceUrl | None = Field(None, alias="REPLY_QUEUE_URL")
    reply_topic_arn: str | None = Field(None, pattern=r"^arn:[\w-]+:sns:", alias="REPLY_TOPIC_ARN")
    reply_bus_name: str | None = Field(None, max_length=1600, alias="REPLY_BUS_NAME")
    idempotency_table: str | None = Field(None, alias="IDEMPOTENCY_TABLE")
    """A DynamoDB table that records sent replies."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """As the other models', and checks PASSAGE_SETTINGS as a whole."""
        if refused := list(_packing_faults(environ)):
            raise _invalid(refused)
        return super().from_env(environ)

    @model_validator(mode="after")
    def _store_has_one_address_and_one_key(self) -> Self:
        if self.store == "qdrant_server" and self.qdrant_url is None:
            raise ValueError(
                "QDRANT_URL: required when STORE is qdrant_server, as in https://<cluster>.cloud.qdrant.io"
            )
        if self.store == "qdrant_edge" and (self.edge_index_path is None) == (self.edge_index_uri is None):
            raise ValueError(
                "EDGE_INDEX_PATH: required when STORE is qdrant_edge: the folder that `passage index` wrote; or "
                "EDGE_INDEX_URI, where it published the index. Set one, not both"
            )
        if self.qdrant_api_key is not None and self.qdrant_api_key_secret is not None:
            raise ValueError("QDRANT_API_KEY: set it or QDRANT_API_KEY_SECRET, not both")
        return self

    @model_validator(mode="after")
    def _reranker_settings_fit(self) -> Self:
        for name in ("rerank_model", "rerank_candidates", "rerank_timeout_ms"):
            if self.rerank_provider is None and name in self.model_fields_set:
                rerankers = " or ".join(provider.name for provider in PROVIDERS.values() if provider.reranker)
                raise ValueError(f"{name.upper()}: needs RERANK_PROVIDER, {rerankers}")
        if self.rerank_provider is None or self.rerank_model is None:
            return self
        provider, model = PROVIDERS[self.rerank_provider], self.rerank_model
        if not provider.names(model):
            raise ValueError(
                f"RERANK_MODEL: must be {provider.label}'s name of a model, as in {provider.default_reranker}"
            )
        known = models.find(model)
        if known is not None and known.state == "retired":
            raise ValueError(f"RERANK_MODEL: '{model}' was retired on {known.since}: set {known.replacement}")
        return self

    def secrets(self) -> list[str]:
        """The keys in the environment, for redaction in the log."""
        keys = (*(access.key for access in self.providers.values()), self.qdrant_api_key)
        return [key.get_secret_value() for key in keys if key is not None]


def names() -> frozenset[str]:
    """The environment variables that an operator may set."""
    fields = [field for model in (HttpSettings, Settings) for field in model.model_fields.values()]
    ours = {str(field.alias) for field in fields if field.alias}
    return frozenset(ours.union(*(provider.variables for provider in PROVIDERS.values())))
