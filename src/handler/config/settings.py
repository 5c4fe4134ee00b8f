"""Every environment variable the function reads, typed and bounded. `bootstrap` reads them once; nothing else does.

Powertools reads its own beside these: POWERTOOLS_LOG_LEVEL, POWERTOOLS_LOGGER_LOG_EVENT and the like.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from handler.config import models
from handler.core.errors import ConfigurationError

QDRANT_PORT = 6333


def _names(value: Any) -> Any:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


def _origin(value: str) -> str:
    if value == "*":
        return value
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc or value != f"{parts.scheme}://{parts.netloc}":
        raise ValueError(
            f"{value!r} is not an origin: scheme://host[:port], without a path or a trailing slash, "
            "as in https://user.github.io"
        )
    return value


def _base_path(value: str) -> str:
    if value and (not value.startswith("/") or value.endswith("/")):
        raise ValueError("starts with a slash and does not end with one, as in /docs-api; empty for none")
    return value


def _service_url(value: str) -> str:
    """Check what the SDKs would take and misread: no scheme, spaces, credentials, a query."""
    if any(character.isspace() for character in value):
        raise ValueError("holds white space")
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("starts with http:// or https://, followed by the host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("holds nothing but scheme, host, port and path; keys have variables of their own")
    _ = parts.port  # raises ValueError when it is not a number below 65536
    return value.rstrip("/")


def _qdrant_url(value: str) -> str:
    """Qdrant's client takes a URL without a port to mean 6333, which is not what https://host means anywhere else."""
    value = _service_url(value)
    parts = urlsplit(value)
    if parts.port is not None:
        return value
    return parts._replace(netloc=f"{parts.netloc}:{443 if parts.scheme == 'https' else QDRANT_PORT}").geturl()


def usable_key(value: str) -> str:
    """A secret read from a file ends in a line break; in a header that looks like a service that cannot be reached.

    Raises:
        ValueError: no header can hold it; the message does not hold it, either.
    """
    key = value.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("holds nothing, white space or a character beyond printable ASCII: no key does")
    return key


@dataclass(frozen=True)
class SecretReference:
    """Where a key is kept: a secret of Secrets Manager by name or ARN, or a parameter of Parameter Store.

    field: the key's name in a secret that is a JSON object; empty when the secret is the key itself.
    """

    name: str
    in_parameter_store: bool = False
    field: str = ""

    @classmethod
    def parse(cls, text: str) -> "SecretReference":
        """Read `name`, `arn:…` or `ssm:/path`, each of them with `#field` after it if need be."""
        name, hash_sign, field = text.strip().partition("#")
        plain = name.removeprefix("ssm:")
        if not re.fullmatch(r"[\w/+=.@:-]+", plain) or bool(hash_sign) != bool(field) or "#" in field:
            raise ValueError(
                "takes a secret's name or ARN, or ssm: and a parameter's name, as in ssm:/passage/cohere; "
                "#field after it names a field of a secret that is a JSON object"
            )
        return cls(plain, plain != name or bool(re.match(r"arn:[\w-]+:ssm:", name)), field)

    @property
    def region(self) -> str | None:
        """The region an ARN names; None for a name, which is looked up in the function's own."""
        return self.name.split(":")[3] if self.name.startswith("arn:") and self.name.count(":") > 4 else None


def _bucket(value: str) -> str:
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\s?#]*)?", value):
        raise ValueError("takes s3://bucket or s3://bucket/folder, where `passage index --publish` put the index")
    return value.rstrip("/")


Key = Annotated[SecretStr, AfterValidator(lambda value: SecretStr(usable_key(value.get_secret_value())))]
KeptKey = Annotated[SecretReference, BeforeValidator(SecretReference.parse)]
BucketUri = Annotated[str, AfterValidator(_bucket)]
ServiceUrl = Annotated[str, AfterValidator(_service_url)]
QdrantUrl = Annotated[str, AfterValidator(_qdrant_url)]
Origin = Annotated[str, AfterValidator(_origin)]


class _Environment(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True, defer_build=True)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Self:
        """Read the variables; one that is set but empty counts as not set, which is how templates pass "none".

        Raises:
            ConfigurationError: names each variable that is wrong and what it takes.
        """
        try:
            return cls.model_validate({name: value for name, value in environ.items() if value.strip()})
        except ValidationError as error:
            raise ConfigurationError(
                "The function's environment is not usable: " + "; ".join(_explain(item) for item in error.errors())
            ) from None  # the cause would carry the values, and some of them are keys


def _explain(item: Any) -> str:
    name = str(item["loc"][0]) if item["loc"] else ""
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"{name}: {message}" if name else message


class RuntimeSettings(_Environment):
    """Where the code runs. Lambda sets the variable to on-demand, provisioned-concurrency or snap-start."""

    initialization_type: str | None = Field(None, alias="AWS_LAMBDA_INITIALIZATION_TYPE")

    @property
    def in_lambda(self) -> bool:
        return self.initialization_type is not None

    @property
    def snap_start(self) -> bool:
        return self.initialization_type == "snap-start"


class HttpSettings(_Environment):
    """Read apart from the rest, so that an answer about a wrong setting still reaches the browser that asked."""

    allowed_origins: Annotated[tuple[Origin, ...], BeforeValidator(_names)] = Field(
        ("http://localhost:3000",), alias="ALLOWED_ORIGINS"
    )
    base_path: Annotated[str, AfterValidator(_base_path)] = Field("", alias="BASE_PATH")
    """The path a custom domain mounts the API under."""


class CollectionSettings(_Environment):
    """What a deployment sets for the collection of its default profile. `passage index` reads it, too."""

    default_profile: str = Field("query-response", alias="DEFAULT_PROFILE")
    collection_name: str | None = Field(None, alias="COLLECTION_NAME")
    vector_name: str | None = Field(None, alias="VECTOR_NAME")
    embedding_provider: models.Provider | None = Field(None, alias="EMBEDDING_PROVIDER")
    embedding_model: str | None = Field(None, alias="EMBEDDING_MODEL")
    embedding_document_model: str | None = Field(None, alias="EMBEDDING_DOCUMENT_MODEL")
    """Embeds texts. Without it: the profile's, or EMBEDDING_MODEL where that is of another vector space."""
    embedding_dimension: int | None = Field(None, ge=1, le=65_536, alias="EMBEDDING_DIMENSION")


class Settings(CollectionSettings):
    """What the pipeline needs."""

    service: str = Field("passage", alias="POWERTOOLS_SERVICE_NAME")
    log_query_text: bool = Field(False, alias="LOG_QUERY_TEXT")
    request_timeout_ms: int = Field(28_500, ge=100, le=900_000, alias="REQUEST_TIMEOUT_MS")

    allowed_collections: Annotated[tuple[str, ...], BeforeValidator(_names)] = Field((), alias="ALLOWED_COLLECTIONS")
    """Collections a request may name beside its profile's own."""

    cohere_api_key: Key | None = Field(None, alias="COHERE_API_KEY")
    cohere_api_key_secret: KeptKey | None = Field(None, alias="COHERE_API_KEY_SECRET")
    cohere_base_url: ServiceUrl = Field("https://api.cohere.com", alias="COHERE_BASE_URL")

    embedding_cache_size: int = Field(1_000, ge=0, le=100_000, alias="EMBEDDING_CACHE_SIZE")
    """How many questions' embeddings a container remembers."""

    rerank_provider: models.Provider | None = Field(None, alias="RERANK_PROVIDER")
    rerank_model: str | None = Field(None, alias="RERANK_MODEL")
    rerank_candidates: int = Field(50, ge=1, le=1000, alias="RERANK_CANDIDATES")
    """How many passages the store is asked for, of which the best by relevance are answered."""
    rerank_timeout_ms: int = Field(3_000, ge=200, le=60_000, alias="RERANK_TIMEOUT_MS")

    store: Literal["qdrant_server", "qdrant_edge"] = Field("qdrant_server", alias="STORE")
    qdrant_url: QdrantUrl | None = Field(None, alias="QDRANT_URL")
    qdrant_api_key: Key | None = Field(None, alias="QDRANT_API_KEY")
    qdrant_api_key_secret: KeptKey | None = Field(None, alias="QDRANT_API_KEY_SECRET")
    secrets_ttl_seconds: int = Field(900, ge=60, le=86_400, alias="SECRETS_TTL_SECONDS")
    edge_index_path: Path | None = Field(None, alias="EDGE_INDEX_PATH")
    edge_index_uri: BucketUri | None = Field(None, alias="EDGE_INDEX_URI")
    edge_index_check_seconds: int = Field(60, ge=1, le=86_400, alias="EDGE_INDEX_CHECK_SECONDS")

    reply_queue_url: ServiceUrl | None = Field(None, alias="REPLY_QUEUE_URL")
    reply_topic_arn: str | None = Field(None, pattern=r"^arn:[\w-]+:sns:", alias="REPLY_TOPIC_ARN")
    reply_bus_name: str | None = Field(None, max_length=1600, alias="REPLY_BUS_NAME")
    idempotency_table: str | None = Field(None, alias="IDEMPOTENCY_TABLE")
    """A DynamoDB table that remembers which replies were sent."""

    @model_validator(mode="after")
    def _store_has_an_address(self) -> Self:
        if self.store == "qdrant_server" and self.qdrant_url is None:
            raise ValueError(
                "QDRANT_URL: required when STORE is qdrant_server, as in https://<cluster>.cloud.qdrant.io"
            )
        if self.store == "qdrant_edge" and (self.edge_index_path is None) == (self.edge_index_uri is None):
            raise ValueError(
                "EDGE_INDEX_PATH: required when STORE is qdrant_edge: the folder `passage index` wrote; or else "
                "EDGE_INDEX_URI, where it published the index, but not both"
            )
        return self

    @model_validator(mode="after")
    def _each_key_has_one_place(self) -> Self:
        for name in ("cohere_api_key", "qdrant_api_key"):
            if getattr(self, name) is not None and getattr(self, f"{name}_secret") is not None:
                variable = name.upper()
                raise ValueError(f"{variable}: set it or {variable}_SECRET, not both")
        return self

    @model_validator(mode="after")
    def _a_reranker_is_whole(self) -> Self:
        for name in ("rerank_model", "rerank_candidates", "rerank_timeout_ms"):
            if self.rerank_provider is None and name in self.model_fields_set:
                raise ValueError(f"{name.upper()}: needs RERANK_PROVIDER, cohere or bedrock")
        model = self.rerank_model or ""
        of_bedrock = model.startswith(("arn:", "cohere."))
        defaults = models.DEFAULT_RERANKERS
        if model and self.rerank_provider == "bedrock" and not of_bedrock:
            raise ValueError(f"RERANK_MODEL: with bedrock, one of Cohere's models there, as in {defaults['bedrock']}")
        if self.rerank_provider == "cohere" and of_bedrock:
            raise ValueError(
                f"RERANK_MODEL: with cohere, a model by Cohere's own name for it, as in {defaults['cohere']}"
            )
        known = models.find(model)
        if known is not None and known.state == "retired":
            raise ValueError(f"RERANK_MODEL: '{model}' was retired on {known.since}: set {known.replacement}")
        return self

    def secrets(self) -> list[str]:
        """What must never be logged."""
        keys = (self.cohere_api_key, self.qdrant_api_key)
        return [key.get_secret_value() for key in keys if key is not None]
