"""The composition root, as the entrypoints see it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from handler.config.profiles import Profile
from handler.config.settings import HttpSettings, Settings
from handler.contracts.base import Contract
from handler.core.errors import CollectionNotServed, ConfigurationError
from handler.core.retrieve import Retriever
from handler.service.readiness import Readiness
from handler.service.replies import ReplySink


@dataclass(frozen=True)
class Served:
    """A profile as this deployment serves it: everything its questions need, resolved once per container.

    Attributes:
        collections: the collections that a request may name in addition to the profile's.
        log_query_text: whether the log may hold question text.
        debug_answers: whether a request may ask for `debug`.
        find_retriever: returns a profile's pipeline, built at first use, so that a bad request imports no SDK.
    """

    profile: Profile
    contract: Contract
    collections: tuple[str, ...]
    log_query_text: bool
    find_retriever: Callable[[Profile], Retriever]
    debug_answers: bool = False

    def retriever_for(self, name: str) -> Retriever:
        """The pipeline for the collection `name`.

        Raises:
            CollectionNotServed: this deployment does not serve the collection.
        """
        if name == self.profile.collection.name:
            return self.retriever
        if name not in self.collections:
            allowed = ", ".join((self.profile.collection.name, *self.collections))
            raise CollectionNotServed(f"This deployment does not serve that collection. It serves: {allowed}.")
        return self.find_retriever(self.profile.serving(name))

    @cached_property
    def retriever(self) -> Retriever:
        """The pipeline for the profile's own collection."""
        return self.find_retriever(self.profile)


class Services(Protocol):
    """The container. Each part is built at first use."""

    def __hash__(self) -> int:
        """Each gateway's routes are built once for a container, in a cache by container."""
        ...

    @property
    def settings(self) -> Settings:
        """Raises ConfigurationError, as all of these do."""
        ...

    @property
    def http_settings(self) -> HttpSettings: ...

    @property
    def writes_utf8(self) -> bool:
        """Whether Lambda's runtime writes responses in UTF-8, not in ASCII with escapes."""
        ...

    def served(self, name: str | None, /) -> Served:
        """A profile by name, the default one for None. Raises NotFound."""
        ...

    @property
    def readiness(self) -> Readiness: ...

    @property
    def reply_sinks(self) -> Sequence[ReplySink]:
        """Where replies to messages go. Raises ConfigurationError when no destination is set."""
        ...

    def broken_profiles(self) -> Sequence[ConfigurationError]:
        """The errors of all profiles except the default one, whose errors every question gets anyway."""
        ...

    def load(self) -> None:
        """Import what the default profile's questions need."""
        ...

    def warm(self) -> None:
        """Build what the default profile's first question needs, without a network request."""
        ...

    def usable_profiles(self) -> list[Served]:
        """Every valid profile, without those that the folder of EDGE_INDEX_PATH has no index for."""
        ...
