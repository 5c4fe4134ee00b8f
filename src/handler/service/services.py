"""What the entrypoints get from the composition root."""

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
    """A profile as this deployment serves it: all that its questions need, resolved once a container.

    Attributes:
        collections: the collections that a request may name besides the profile's own.
        log_query_text: whether the log may hold question text.
        find_retriever: a profile's pipeline, built at its first use: a bad request must not import an SDK.
    """

    profile: Profile
    contract: Contract
    collections: tuple[str, ...]
    log_query_text: bool
    find_retriever: Callable[[Profile], Retriever]

    def retriever_for(self, name: str) -> Retriever:
        """The pipeline for a collection that a request names.

        Raises:
            CollectionNotServed: this deployment does not serve it.
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
    """The container. Nothing in it is built before it is asked for."""

    def __hash__(self) -> int: ...

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

    @property
    def served(self) -> Callable[[str | None], Served]:
        """Finds the profile of a name; the default one for None. Raises NotFound."""
        ...

    @property
    def readiness(self) -> Readiness: ...

    @property
    def reply_sinks(self) -> Sequence[ReplySink]:
        """Where replies to messages go. Raises ConfigurationError when no destination is set."""
        ...

    def broken_profiles(self) -> Sequence[ConfigurationError]:
        """The errors of all profiles but the default one. Every question is answered with that one's errors."""
        ...

    def load(self) -> None:
        """Import what the default profile's questions need."""
        ...

    def warm(self) -> None:
        """Build what the default profile's first question needs, without a request to anyone."""
        ...

    def usable_profiles(self) -> list[Served]:
        """Every profile that can be asked; one with an error must not take the others with it."""
        ...
