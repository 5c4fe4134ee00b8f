"""Builds each adapter from the settings: embedders and rerankers by their provider's row, stores and sinks by name.

Adapters are imported here where they are used, because they load their SDKs.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from handler import telemetry
from handler.config import models
from handler.config.profiles import Profile
from handler.config.providers import EMULATOR, PROVIDERS, Provider
from handler.config.settings import Settings
from handler.config.values import SecretReference
from handler.core.embedding import NoEmbedder
from handler.core.errors import ConfigurationError, Upstream
from handler.core.ports import Embedder, PassageStore, Reranker

if TYPE_CHECKING:
    from handler.adapters.account import Account, EmbedderClass, RerankerClass
    from handler.adapters.aws.replies import Sink
    from handler.adapters.aws.secrets import CachedKey


SINKS = {"reply_queue_url": "queue", "reply_topic_arn": "topic", "reply_bus_name": "bus"}
"""The settings that name a destination of replies, each with its kind."""


@cache
def _warn_once(warning: str | None) -> None:
    """Log a warning, if there is one, once in this container."""
    if warning is not None:
        telemetry.logger.warning(warning)


def adapter(path: str) -> Any:
    """The class that a provider's row names as `module:class`. The import loads its SDK."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


class Adapters:
    """Builds a container's adapters. Those that use the same secret share one cached key.

    Attributes:
        keys: the cached keys that an adapter was built with, by the variable that names their secret.
    """

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self.keys: dict[str, CachedKey] = {}

    def require_keys(self, profile: Profile) -> None:
        """Check that the services that embed a profile's questions, and that rerank, have a key.

        Raises:
            ConfigurationError: one needs a key, and none is set.
        """
        settings = self._settings
        asked = [(profile.embedding.provider, "embed")] if profile.search.has_vectors else []
        if settings.rerank_provider is not None:
            asked.append((settings.rerank_provider, "rerank"))
        for name, task in asked:
            provider = PROVIDERS[name]
            if provider.url is None or settings.providers[name].has_key:
                continue
            without = " or ".join(other.name for other in PROVIDERS.values() if other.url is None)
            by = f" with RERANK_PROVIDER={name}" if task == "rerank" else ""
            other = f" Neither is with EMBEDDING_PROVIDER={without}." if task == "embed" else ""
            raise ConfigurationError(
                f"{provider.key_variable}: required{by}, or {provider.secret_variable}, which names its secret.{other}"
            )

    def embedder(self, profile: Profile) -> Embedder:
        """The embedder of a profile's questions. Its SDK is imported once the settings are known to be right.

        A profile that is searched by words alone needs no service.

        Raises:
            ConfigurationError: the model is retired or another provider's.
        """
        if not profile.search.has_vectors:
            return NoEmbedder()
        embedding, dimension = profile.embedding, profile.collection.dimension
        _warn_once(models.check_model(embedding.provider, embedding.model, dimension))
        provider = PROVIDERS[embedding.provider]
        make: EmbedderClass = adapter(provider.embedder)
        return make(self._account(provider), model=embedding.model, dimension=dimension, texts_are="question")

    def reranker(self) -> Reranker | None:
        """The deployment's reranker; None where RERANK_PROVIDER is not set."""
        if self._settings.rerank_provider is None:
            return None
        provider = PROVIDERS[self._settings.rerank_provider]
        make: RerankerClass = adapter(provider.reranker or "")
        name = self._settings.rerank_model or provider.default_reranker
        _warn_once(models.warning("reranking", name))
        return make(self._account(provider), model=name)

    def store(self, profile: Profile) -> PassageStore:
        """The store of a profile's collection."""
        return self._qdrant_edge(profile) if self._settings.store == "qdrant_edge" else self._qdrant_server(profile)

    def reply_sinks(self) -> "list[Sink]":
        """The sinks of all destinations that are set.

        Raises:
            ConfigurationError: none is set.
        """
        settings = self._settings
        targets = {kind: target for name, kind in SINKS.items() if (target := getattr(settings, name))}
        if not targets:
            raise ConfigurationError(
                "No reply destination is set: set REPLY_QUEUE_URL, REPLY_TOPIC_ARN or REPLY_BUS_NAME."
            )
        from handler.adapters.aws import replies  # noqa: PLC0415 - loads boto3, only where messages are answered

        return [replies.Sink(kind, target, settings.idempotency_table) for kind, target in targets.items()]

    def _key(
        self, variable: str, reference: SecretReference | None, upstream: Upstream, header: tuple[str, str]
    ) -> "CachedKey | None":
        """The key in the secret that `variable` names; None where it is not set. `header`: see `CachedKey`."""
        if reference is None:
            return None
        from handler.adapters.aws.secrets import CachedKey  # noqa: PLC0415 - loads httpx, only where it is used

        if variable not in self.keys:
            ttl = self._settings.secrets_ttl_seconds
            self.keys[variable] = CachedKey(
                reference, variable=variable, upstream=upstream, ttl=ttl, environ=self._environ, header=header
            )
        return self.keys[variable]

    def _account(self, provider: Provider) -> "Account":
        from handler.adapters.account import Account  # noqa: PLC0415 - loads httpx, only where it is used

        access = self._settings.providers[provider.name]
        key = self._key(provider.secret_variable, access.secret, "embedding", ("Authorization", "Bearer "))
        return Account(provider, access, key)

    def _qdrant_server(self, profile: Profile) -> PassageStore:
        from handler.adapters.qdrant.connection import Connection  # noqa: PLC0415 - loads the SDK, only where it is used
        from handler.adapters.qdrant.server import QdrantServerStore  # noqa: PLC0415 - see above

        settings = self._settings
        assert settings.qdrant_url is not None  # noqa: S101 - the settings' own check
        key, secret = settings.qdrant_api_key, "QDRANT_API_KEY_SECRET"
        cached = self._key(secret, settings.qdrant_api_key_secret, "store", ("api-key", ""))
        name, default = profile.collection.name, settings.default_profile
        connection = Connection(
            name,
            settings.qdrant_url,
            api_key=key.get_secret_value() if key else None,
            auth=cached,
            key_variable=secret if cached else "QDRANT_API_KEY",
        )
        chosen = profile.name != default or name in settings.allowed_collections  # by a caller
        embedded_by = self._embedded_by(profile)
        return QdrantServerStore(connection, profile, embedded_by=embedded_by, may_be_missing=chosen)

    def _qdrant_edge(self, profile: Profile) -> PassageStore:
        from handler.adapters.qdrant.edge import QdrantEdgeStore  # noqa: PLC0415 - loads the SDK, only where it is used

        settings, embedded_by = self._settings, self._embedded_by(profile)
        if settings.edge_index_path is not None:
            return QdrantEdgeStore(root=settings.edge_index_path, profile=profile, embedded_by=embedded_by)
        assert settings.edge_index_uri is not None  # noqa: S101 - the settings' own check
        from handler.adapters.qdrant.published_index import PublishedIndex  # noqa: PLC0415 - loads boto3, only where it is used
        from handler.adapters.qdrant.published_store import PublishedStore  # noqa: PLC0415 - see above

        return PublishedStore(
            PublishedIndex(settings.edge_index_uri, profile.name),
            lambda root: QdrantEdgeStore(root=root, profile=profile, embedded_by=embedded_by),
            collection=profile.collection.name,
            every=settings.edge_index_check_seconds,
        )

    def _embedded_by(self, profile: Profile) -> tuple[str, ...]:
        """Providers whose vectors are comparable with this profile's; none for one without vectors.

        At another address than its own, the service may be the provider's behind a proxy, or the emulator.
        """
        if not profile.search.has_vectors:
            return ()
        provider = PROVIDERS[profile.embedding.provider]
        if not provider.emulated or _domain(self._settings.providers[provider.name].url) == _domain(provider.url or ""):
            return (provider.name,)
        return (provider.name, EMULATOR)


def _domain(url: str) -> str:
    return ".".join((urlsplit(url).hostname or "").split(".")[-2:])
