"""API keys: those in secrets, and whether a deployment has the keys it needs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handler.config.profiles import Profile
from handler.config.providers import PROVIDERS, Provider
from handler.config.settings import Settings
from handler.config.values import SecretReference
from handler.core.errors import ConfigurationError

if TYPE_CHECKING:
    from handler.adapters.aws.secrets import CachedKey


class Keys:
    """The cached keys: one for each secret, shared by the adapters that use it."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self._cached: dict[str, CachedKey] = {}

    def of(self, provider: Provider) -> "CachedKey | None":
        """The key in a provider's …_API_KEY_SECRET; None where that is not set."""
        return self._key(provider.secret_variable, self._settings.providers[provider.name].secret, "embedding")

    def qdrant(self) -> "CachedKey | None":
        """The key in QDRANT_API_KEY_SECRET; None where that is not set."""
        return self._key("QDRANT_API_KEY_SECRET", self._settings.qdrant_api_key_secret, "store")

    def in_use(self) -> list["CachedKey"]:
        """The keys that an adapter was built with."""
        return list(self._cached.values())

    def _key(self, variable: str, reference: SecretReference | None, upstream: Any) -> "CachedKey | None":
        if reference is None:
            return None
        from handler.adapters.aws.secrets import CachedKey  # noqa: PLC0415 - loads httpx, only where it is used

        if variable not in self._cached:
            self._cached[variable] = CachedKey(
                reference,
                variable=variable,
                upstream=upstream,
                ttl=self._settings.secrets_ttl_seconds,
                environ=self._environ,
            )
        return self._cached[variable]


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
