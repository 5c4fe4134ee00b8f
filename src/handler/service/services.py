"""A profile as a deployment serves it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from handler.config.profiles import Profile
from handler.contracts.base import OPTIONS, Contract
from handler.core.errors import CollectionNotServed
from handler.core.retrieve import Retriever


@dataclass(frozen=True)
class Served:
    """A profile as this deployment serves it: everything its questions need, resolved once per container.

    Attributes:
        collections: the collections that a request may name in addition to the profile's.
        log_query_text: whether the log may hold question text.
        debug_answers: whether a request may ask for `debug`.
        chunks: whether a chunk can be fetched by its id; "raw" shows its whole payload and vector.
        find_retriever: returns a profile's pipeline, built at first use, so that a bad request imports no SDK.
    """

    profile: Profile
    contract: Contract
    collections: tuple[str, ...]
    log_query_text: bool
    find_retriever: Callable[[Profile], Retriever]
    debug_answers: bool = False
    chunks: Literal["true", "false", "raw"] = "true"

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
    def field_names(self) -> frozenset[str]:
        """The fields that a question may have here: the contract's, under the profile's names too, and the options."""
        query = self.profile.query
        return OPTIONS.union(self.contract.request_model.model_fields, query.text.names, query.count.names)

    @cached_property
    def retriever(self) -> Retriever:
        """The pipeline for the profile's own collection."""
        return self.find_retriever(self.profile)


FindServed = Callable[[str | None], Served]
"""Finds a profile by name, the default one for None. Raises NotFound, or ConfigurationError."""
