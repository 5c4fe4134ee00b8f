"""Builds each adapter from the settings: embedders and rerankers by their provider's row, stores and sinks by name.

Adapters are imported here where they are used, because they load their SDKs.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast
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
from handler.service.replies import ReplySink

if TYPE_CHECKING:
    from handler.adapters.account import Account, EmbedderClass, RerankerClass
    from handler.adapters.aws.secrets import CachedKey


class Keys:
    """The keys in secrets. Adapters that use the same secret share one cached key.

    Attributes:
        in_use: the keys that an adapter was built with, by the variable that names their secret.
    """

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self.in_use: dict[str, CachedKey] = {}

    def find(
        self, variable: str, reference: SecretReference | None, upstream: Upstream, **header: tuple[str, str]
    ) -> "CachedKey | None":
        """The key in the secret that `variable` names; None where it is not set. `header`: see `CachedKey`."""
        if reference is None:
            return None
        from handler.adapters.aws.secrets import CachedKey  # noqa: PLC0415 - loads httpx, only where it is used

        if variable not in self.in_use:
            ttl = self._settings.secrets_ttl_seconds
            self.in_use[variable] = CachedKey(
                reference, variable=variable, upstream=upstream, ttl=ttl, environ=self._environ, **header
            )
        return self.in_use[variable]


def require_key(settings: Settings, provider: Provider, *, reranks: bool = False) -> None:
    """Check that a provider has its key.

    Args:
        reranks: whether it is asked to rerank; the message names the setting that asks it.

    Raises:
        ConfigurationError: it needs a key, and none is set.
    """
    if provider.url is None or settings.providers[provider.name].has_key:
        return
    asked = f" with RERANK_PROVIDER={provider.name}" if reranks else ""
    without = " or ".join(other.name for other in PROVIDERS.values() if other.url is None)
    other = "" if reranks else f" Neither is with EMBEDDING_PROVIDER={without}."
    raise ConfigurationError(
        f"{provider.key_variable}: required{asked}, or {provider.secret_variable}, which names its secret.{other}"
    )


def require_keys(settings: Settings, profile: Profile) -> None:
    """Check that the profile's embedding service and the deployment's reranker have a key. As `require_key`."""
    if profile.search.mode != "words":
        require_key(settings, PROVIDERS[profile.embedding.provider])
    if settings.rerank_provider is not None:
        require_key(settings, PROVIDERS[settings.rerank_provider], reranks=True)


def adapter(path: str) -> Any:
    """The class that a provider's row names as `module:class`. The import loads its SDK."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _account(settings: Settings, provider: Provider, keys: Keys) -> "Account":
    from handler.adapters.account import Account  # noqa: PLC0415 - loads httpx, only where it is used

    access = settings.providers[provider.name]
    return Account(provider, access, keys.find(provider.secret_variable, access.secret, "embedding"))


def embedder(settings: Settings, profile: Profile, keys: Keys) -> Embedder:
    """The embedder of a profile's questions. Its SDK is imported once the settings are known to be right.

    A profile that is searched by words alone needs no service.

    Raises:
        ConfigurationError: the model is retired or another provider's, or no key is set.
    """
    if profile.search.mode == "words":
        return NoEmbedder()
    embedding, dimension = profile.embedding, profile.collection.dimension
    _warn_once(models.check_model(embedding.provider, embedding.model, dimension))
    provider = PROVIDERS[embedding.provider]
    require_key(settings, provider)
    make = cast("EmbedderClass", adapter(provider.embedder))
    return make(_account(settings, provider, keys), model=embedding.model, dimension=dimension, texts_are="question")


def reranker(settings: Settings, keys: Keys) -> Reranker | None:
    """The deployment's reranker; None where RERANK_PROVIDER is not set.

    Raises:
        ConfigurationError: no key is set.
    """
    if settings.rerank_provider is None:
        return None
    provider = PROVIDERS[settings.rerank_provider]
    require_key(settings, provider, reranks=True)
    make = cast("RerankerClass", adapter(provider.reranker or ""))
    name = settings.rerank_model or provider.default_reranker
    _warn_once(models.warning("reranking", name))
    return make(_account(settings, provider, keys), model=name)


@cache
def _warn_once(warning: str | None) -> None:
    """Log a warning, if there is one, once in this container."""
    if warning is not None:
        telemetry.logger.warning(warning)


def _qdrant_server(settings: Settings, profile: Profile, keys: Keys) -> PassageStore:
    from handler.adapters.qdrant.server import QdrantServerStore  # noqa: PLC0415 - loads the SDK, only where it is used

    assert settings.qdrant_url is not None  # noqa: S101 - the settings' own check
    key, secret = settings.qdrant_api_key, "QDRANT_API_KEY_SECRET"
    cached = keys.find(secret, settings.qdrant_api_key_secret, "store", header=("api-key", ""))
    return QdrantServerStore(
        url=settings.qdrant_url,
        api_key=key.get_secret_value() if key else None,
        auth=cached,
        key_variable=secret if cached else "QDRANT_API_KEY",
        profile=profile,
        embedded_by=_embedded_by(settings, profile),
        # A caller chose it.
        may_be_missing=profile.name != settings.default_profile
        or profile.collection.name in settings.allowed_collections,
    )


def _embedded_by(settings: Settings, profile: Profile) -> tuple[str, ...]:
    """Providers whose vectors are comparable with this profile's; none for one without vectors.

    At another address than its own, the service may be the provider's behind a proxy, or the emulator.
    """
    if profile.search.mode == "words":
        return ()
    provider = PROVIDERS[profile.embedding.provider]
    if not provider.emulated or _domain(settings.providers[provider.name].url) == _domain(provider.url or ""):
        return (provider.name,)
    return (provider.name, EMULATOR)


def _domain(url: str) -> str:
    return ".".join((urlsplit(url).hostname or "").split(".")[-2:])


def _qdrant_edge(settings: Settings, profile: Profile, _: Keys) -> PassageStore:
    from handler.adapters.qdrant.edge import QdrantEdgeStore  # noqa: PLC0415 - loads the SDK, only where it is used

    embedded_by = _embedded_by(settings, profile)
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


STORES: Mapping[str, Callable[[Settings, Profile, Keys], PassageStore]] = {
    "qdrant_server": _qdrant_server,
    "qdrant_edge": _qdrant_edge,
}


SINKS = {"reply_queue_url": "queue", "reply_topic_arn": "topic", "reply_bus_name": "bus"}
"""The settings that name a destination of replies, each with its kind."""


def reply_sinks(settings: Settings) -> list[ReplySink]:
    """The sinks of all destinations that are set.

    Raises:
        ConfigurationError: none is set.
    """
    targets = {kind: target for name, kind in SINKS.items() if (target := getattr(settings, name))}
    if not targets:
        raise ConfigurationError("No reply destination is set: set REPLY_QUEUE_URL, REPLY_TOPIC_ARN or REPLY_BUS_NAME.")
    from handler.adapters.aws import replies  # noqa: PLC0415 - loads boto3, only where messages are answered

    return [replies.Sink(kind, target, settings.idempotency_table) for kind, target in targets.items()]
