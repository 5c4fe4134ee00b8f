"""API keys: those in secrets, and whether a deployment has the keys it needs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handler.config.profiles import Profile
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

    def cohere(self) -> "CachedKey | None":
        """The key in COHERE_API_KEY_SECRET; None where that is not set."""
        return self._key("COHERE_API_KEY_SECRET", self._settings.cohere_api_key_secret, "embedding")

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


PLACEHOLDER = "in-a-secret"
"""The key given to an SDK that requires one, where `KeyAuth` puts the real key into each request."""


def require_key(settings: Settings, profile: Profile) -> None:
    """Check that the profile's embedding service and the deployment's reranker have a key.

    Raises:
        ConfigurationError: one of them needs a key, and none is set.
    """
    if profile.embedding.provider == "cohere" and not _has_key(settings):
        raise ConfigurationError(
            "COHERE_API_KEY: required, or COHERE_API_KEY_SECRET, which names its secret. Neither is with "
            "EMBEDDING_PROVIDER=bedrock."
        )
    if settings.rerank_provider == "cohere":
        require_rerank_key(settings)


def require_rerank_key(settings: Settings) -> None:
    """See `require_key`."""
    if not _has_key(settings):
        raise ConfigurationError(
            "COHERE_API_KEY: required with RERANK_PROVIDER=cohere, or COHERE_API_KEY_SECRET, which names its secret."
        )


def _has_key(settings: Settings) -> bool:
    return settings.cohere_api_key is not None or settings.cohere_api_key_secret is not None
