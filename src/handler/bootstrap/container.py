"""The composition root: reads the settings and builds each adapter once per container, at its first use.

Only `handler.bootstrap.factories` knows which class implements a port.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from handler import telemetry
from handler.bootstrap.factories import Adapters
from handler.config import profiles
from handler.config.profiles import Profile
from handler.config.settings import HttpSettings, RuntimeSettings, Settings
from handler.contracts import registry
from handler.core.embedding import EmbeddingCache, QuestionEmbedder
from handler.core.errors import ConfigurationError, NotFound
from handler.core.rerank import Reranking
from handler.core.retrieve import Retriever
from handler.service.services import Readiness, Served

if TYPE_CHECKING:
    from handler.adapters.aws.replies import Sink


class Container:
    """Everything that a Lambda container keeps between events. Settings are read and adapters built at first use.

    All of it can raise ConfigurationError.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._retrievers: dict[tuple[str, str], Retriever] = {}
        self.readiness = Readiness()
        self.served = cache(self._find_served)
        """Finds a profile by name, the default one for None. An error is not cached."""

    @cached_property
    def http_settings(self) -> HttpSettings:
        return HttpSettings.from_env(self._environ)

    @cached_property
    def settings(self) -> Settings:
        settings = Settings.from_env(self._environ)
        telemetry.configure(settings.service, settings.secrets(), settings.log_level)
        return settings

    @cached_property
    def _adapters(self) -> Adapters:
        return Adapters(self.settings, self._environ)

    @cached_property
    def runtime(self) -> RuntimeSettings:
        return RuntimeSettings.from_env(self._environ)

    @cached_property
    def _profiles(self) -> list[str]:
        """The names of the profiles that this deployment serves, in alphabetical order.

        Raises:
            ConfigurationError: a setting names a profile that does not exist.
        """
        chosen = {"DEFAULT_PROFILE": (self.settings.default_profile,), "PROFILES": self.settings.profiles}
        known = profiles.names()
        for variable, names in chosen.items():
            for name in names:
                if name not in known:
                    raise ConfigurationError(
                        f"{variable} names '{name}', which is no profile. The profiles are: {', '.join(known)}."
                    )
        return sorted({name for names in chosen.values() for name in names})

    def _find_served(self, name: str | None) -> Served:
        settings, names = self.settings, self._profiles
        if name is not None and name not in names:
            raise NotFound(f"There is no such profile. The profiles are: {', '.join(names)}.")
        profile = profiles.load_with_settings(settings.default_profile if name is None else name, settings)
        if profile.name == settings.default_profile:
            self._adapters.require_keys(profile)
        return Served(profile, registry.find(profile), settings, self.retriever)

    def usable_profiles(self) -> list[Served]:
        """Every valid profile, without those that the folder of EDGE_INDEX_PATH has no index for."""
        settings, usable = self.settings, []
        root = settings.edge_index_path if settings.store == "qdrant_edge" else None
        for name in self._profiles:
            # The default profile counts even without an index: the error of its questions says what to do.
            if root is None or name == settings.default_profile or (root / name).is_dir():
                with suppress(ConfigurationError):
                    usable.append(self.served(name))
        return usable

    def broken_profiles(self) -> list[ConfigurationError]:
        """The errors of the profiles besides the default one, whose errors every question gets anyway."""
        broken = []
        with suppress(ConfigurationError):  # of the settings: every question gets it
            for name in (name for name in self._profiles if name != self.settings.default_profile):
                try:
                    registry.check(profiles.load(name))
                except ConfigurationError as error:
                    broken.append(error)
        return broken

    def retriever(self, profile: Profile) -> Retriever:
        key = (profile.name, profile.collection.name)
        if key not in self._retrievers:
            embedding, dimension = profile.embedding, profile.collection.dimension
            contract = registry.find(profile)
            self._adapters.require_keys(profile)
            self._retrievers[key] = Retriever(
                embedder=QuestionEmbedder(
                    self._adapters.embedder(profile),
                    dimension=dimension,
                    cache=self._embedding_cache,
                    space=f"{embedding.provider} {embedding.model} {dimension}",
                ),
                store=self._adapters.store(profile),
                reranking=self._reranking,
                displayable=contract.displayable,
                mode=profile.search.mode,
                embedding_seconds=profile.search.embedding_seconds,
                order=contract.order,
                candidates=profile.search.candidates,
                usual_top_k=profile.query.count.default,
            )
        return self._retrievers[key]

    @cached_property
    def _embedding_cache(self) -> EmbeddingCache:
        """Shared by all profiles: EMBEDDING_CACHE_SIZE is per container."""
        return EmbeddingCache(self.settings.embedding_cache_size)

    @cached_property
    def _reranking(self) -> Reranking | None:
        """Shared by all profiles: it does not depend on a collection."""
        settings, reranker = self.settings, self._adapters.reranker()
        if reranker is None:
            return None
        return Reranking(reranker, candidates=settings.rerank_candidates, seconds=settings.rerank_timeout_ms / 1000)

    @cached_property
    def reply_sinks(self) -> "list[Sink]":
        """Where replies to messages go. Raises ConfigurationError when no destination is set."""
        return self._adapters.reply_sinks()

    def load(self) -> None:
        """Import what the default profile's questions need."""
        served = self.served(None)  # a wrong setting is found before anything is imported
        from handler.adapters import transport  # noqa: PLC0415 - see above

        with transport.load_certificates_meanwhile():
            _ = served.retriever

    def warm(self) -> None:
        """Build what the default profile's first question needs, without a network request."""
        self.served(None).retriever.warm()
        for key in self._adapters.keys.values():
            key.prefetch()

    def before_snapshot(self) -> None:
        """Close every connection."""
        transport = sys.modules.get("handler.adapters.transport")
        if transport is not None:  # all connections belong to it
            with suppress(ConfigurationError):
                transport.shared().close()  # closes the pool's connections; the pool itself stays usable
        self.readiness.forget()

    def after_restore(self) -> None:
        """Forget what was recent; get new credentials and connections."""
        self.before_snapshot()  # discard connections and results made between the two hooks, too
        for key in self._adapters.keys.values() if self._retrievers else ():
            key.after_restore()
        adapters: list[Any] = [self._reranking.reranker] if self._retrievers and self._reranking else []
        for retriever in self._retrievers.values():
            adapters += (retriever.embedder.embedder, retriever.store)
        for adapter in adapters:
            if hasattr(adapter, "after_restore"):  # it holds credentials
                adapter.after_restore()


def build() -> Container:
    """This container's services. Settings are read at first use."""
    return Container(os.environ)
