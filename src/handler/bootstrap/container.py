"""The composition root: reads the settings, builds the adapters once a container, and nothing before it is needed.

`handler.bootstrap.factories` knows which class stands behind a port; nothing else does.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

from handler import contracts, telemetry
from handler.bootstrap.factories import EMBEDDERS, RERANKERS, SINKS, STORES, Keys, require_key
from handler.config import profiles
from handler.config import validation as suitability
from handler.config.profiles import Profile
from handler.config.settings import HttpSettings, RuntimeSettings, Settings
from handler.core.deadline import Deadline
from handler.core.embedding_cache import EmbeddingCache
from handler.core.errors import CollectionNotServed, ConfigurationError
from handler.core.model import CollectionInfo
from handler.core.ports import ReplySink
from handler.core.rerank import Reranking
from handler.core.retrieve import Retriever

LAMBDA_MARGIN = 0.5
"""Seconds kept of what Lambda has left, to send the answer: a function that is cut off answers nothing at all."""

READY_SECONDS = 30.0
"""How long a good answer of /ready stands, so that a monitor is not a load."""


def _key(profile: Profile) -> tuple[str, str]:
    return profile.name, profile.collection.name


@runtime_checkable
class _Restorable(Protocol):
    """An adapter that holds something a restored snapshot must not use."""

    def restored(self) -> None: ...


class Container:
    """Everything that lives as long as a container. See `handler.service.answering.Services`."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._retrievers: dict[tuple[str, str], Retriever] = {}
        self._ready: dict[tuple[str, str], tuple[float, CollectionInfo]] = {}

    def http(self) -> HttpSettings:
        return self._http

    @cached_property
    def _http(self) -> HttpSettings:
        return HttpSettings.from_env(self._environ)

    @cached_property
    def settings(self) -> Settings:
        settings = Settings.from_env(self._environ)
        telemetry.configure(settings.service, settings.secrets())
        return settings

    @cached_property
    def _keys(self) -> Keys:
        return Keys(self.settings, self._environ)

    def in_lambda(self) -> bool:
        return RuntimeSettings.from_env(self._environ).in_lambda

    def snap_start(self) -> bool:
        return RuntimeSettings.from_env(self._environ).snap_start

    def log_query_text(self) -> bool:
        return self.settings.log_query_text

    def profile(self, name: str | None) -> Profile:
        default = self.settings.default_profile
        if name in (None, default):
            return self._default
        return contracts.load(str(name))

    @cached_property
    def _default(self) -> Profile:
        name = self.settings.default_profile
        if name not in profiles.names():
            raise ConfigurationError(f"DEFAULT_PROFILE is '{name}'. Known are: {', '.join(profiles.names())}.")
        profile = contracts.load(name).overridden(self.settings)
        require_key(self.settings, profile)
        return profile

    def broken_profiles(self) -> list[ConfigurationError]:
        _, broken = contracts.served()
        with suppress(ConfigurationError):
            broken.pop(self.settings.default_profile, None)
        return list(broken.values())

    def serving(self, profile: Profile, collection: str | None) -> Profile:
        if collection in (None, profile.collection.name):
            return profile
        if collection not in self.settings.allowed_collections:
            allowed = ", ".join((profile.collection.name, *self.settings.allowed_collections))
            raise CollectionNotServed(f"This deployment does not serve that collection. It serves: {allowed}.")
        return profile.serving(str(collection))

    def retriever(self, profile: Profile) -> Retriever:
        key = _key(profile)
        if key not in self._retrievers:
            self._retrievers[key] = Retriever(
                embedder=EMBEDDERS[profile.embedding.provider](self.settings, profile, self._keys),
                store=STORES[self.settings.store](self.settings, profile, self._keys),
                reranking=self._reranking,
                cache=self._embedding_cache,
                usable=contracts.find(profile.contract).usable,
                space=f"{profile.embedding.provider} {profile.embedding.model} {profile.collection.dimension}",
            )
        return self._retrievers[key]

    @cached_property
    def _embedding_cache(self) -> EmbeddingCache:
        """One for all profiles: its size is the container's."""
        return EmbeddingCache(self.settings.embedding_cache_size)

    @cached_property
    def _reranking(self) -> Reranking | None:
        """One for all profiles: it knows no collection."""
        settings = self.settings
        if settings.rerank_provider is None:
            return None
        return Reranking(
            RERANKERS[settings.rerank_provider](settings, self._keys),
            candidates=settings.rerank_candidates,
            seconds=settings.rerank_timeout_ms / 1000,
        )

    def ready(self, profile: Profile, deadline: Deadline) -> CollectionInfo:
        now = time.monotonic()
        known = self._ready.get(_key(profile))
        if known is not None and now - known[0] < READY_SECONDS:
            return known[1]
        info = self.retriever(profile).describe(deadline)
        for problem in suitability.problems(profile, info):
            raise problem
        self._ready[_key(profile)] = (now, info)
        return info

    def reply_sinks(self) -> Sequence[ReplySink]:
        return self._reply_sinks

    @cached_property
    def _reply_sinks(self) -> Sequence[ReplySink]:
        settings = self.settings
        chosen = [(make, target) for name, make in SINKS.items() if (target := getattr(settings, name))]
        if not chosen:
            raise ConfigurationError(
                "Messages have nowhere to be answered: set REPLY_QUEUE_URL, REPLY_TOPIC_ARN or REPLY_BUS_NAME."
            )
        return [make(settings, target) for make, target in chosen]

    def load(self) -> None:
        profile = self.profile(None)  # a wrong setting is found before anything is imported
        from handler.adapters import transport  # noqa: PLC0415 - see above

        with transport.preparing():
            self.retriever(profile)

    def warm(self) -> None:
        self.retriever(self.profile(None)).warm()
        for key in self._keys.made():
            key.prefetch()

    def unload(self) -> None:
        self._retrievers.clear()
        self._ready.clear()
        for name in ("_keys", "_reranking"):
            self.__dict__.pop(name, None)

    def before_snapshot(self) -> None:
        """See `handler.cold_start.snap_start.Restorable`."""
        transport = sys.modules.get("handler.adapters.transport")
        if transport is not None:  # whatever made a connection has imported it
            with suppress(ConfigurationError):
                transport.shared().close()  # the pool's connections; the pool itself goes on
        self._ready.clear()

    def after_restore(self) -> None:
        """See `handler.cold_start.snap_start.Restorable`."""
        self.before_snapshot()  # what happened between the two hooks is not recent, either
        for key in self._keys.made() if self._retrievers else ():
            key.restored()
        adapters: list[object] = [self._reranking.reranker] if self._retrievers and self._reranking else []
        for retriever in self._retrievers.values():
            adapters += (retriever.embedder, retriever.store)
        for adapter in adapters:
            if isinstance(adapter, _Restorable):
                adapter.restored()

    def deadline(self, context: Any, limit: float | None) -> Deadline:
        seconds = [self.settings.request_timeout_ms / 1000]
        if limit is not None:
            seconds.append(limit)
        if context is not None:
            seconds.append(context.get_remaining_time_in_millis() / 1000 - LAMBDA_MARGIN)
        return Deadline.after(min(seconds))


def build() -> Container:
    """This container's services. Reads nothing yet."""
    return Container(os.environ)
