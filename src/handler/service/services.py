"""A profile as a deployment serves it: its pipeline, whether its collection is ready, and its chunks by their ids."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from handler.config import validation
from handler.config.profiles import Profile
from handler.config.settings import Settings
from handler.contracts.base import OPTIONS, Contract
from handler.contracts.fields import json_safe, zulu
from handler.core.deadline import Deadline
from handler.core.errors import CollectionNotServed, InvalidRequest, NotFound
from handler.core.model import CollectionInfo, Passage
from handler.core.retrieve import Retriever

READY_SECONDS = 30.0
"""Seconds a good result is cached, so that a monitor does not burden the store."""

FIELDS = ("text", "url", "title", "headings", "chapter", "section", "index", "chunk_id", "tokens", "created_at")
"""The fields of a passage that everybody may see: those that a profile's `[payload]` maps."""


@dataclass(frozen=True)
class Served:
    """A profile as this deployment serves it: everything its questions need, resolved once per container.

    Attributes:
        find_retriever: returns a profile's pipeline, built at first use, so that a bad request imports no SDK.
    """

    profile: Profile
    contract: Contract
    settings: Settings
    find_retriever: Callable[[Profile], Retriever]

    def retriever_for(self, name: str | None) -> Retriever:
        """The pipeline for the collection `name`, the profile's for None. Raises CollectionNotServed for any other."""
        if name is None or name == self.profile.collection.name:
            return self.retriever
        others = self.settings.allowed_collections
        if name not in others:
            allowed = ", ".join((self.profile.collection.name, *others))
            raise CollectionNotServed(f"This deployment does not serve that collection. It serves: {allowed}.")
        return self.find_retriever(self.profile.with_collection(name))

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


class Readiness:
    """Whether the default profile's collection is reachable and matches the profile. A good result is cached."""

    _good: tuple[float, CollectionInfo] | None = None

    def check(self, served: Served, deadline: Deadline) -> CollectionInfo:
        """The collection's metadata.

        Raises:
            ConfigurationError: the collection does not match the profile; says what to change.
            PassageError: as `Retriever.describe`.
        """
        if self._good is not None and time.monotonic() - self._good[0] < READY_SECONDS:
            return self._good[1]
        info = served.retriever.describe(deadline)
        problems = validation.problems(served.profile, info)
        if problems:
            raise problems[0]
        self._good = (time.monotonic(), info)
        return info

    def forget(self) -> None:
        """Check again at the next request."""
        self._good = None


def find_chunk(served: Served, chunk_id: str, until: Deadline, *, with_vectors: bool = False) -> tuple[Passage, float]:
    """Find a chunk by its point id or by the chunk id that the contract shows; with the milliseconds that it took.

    Raises:
        NotFound: there is none that the contract can show, or the deployment serves no chunks.
        InvalidRequest: vectors are requested where they are not shown.
        PassageError: as `Retriever.fetch`.
    """
    if served.settings.chunks == "false":
        raise NotFound("This deployment serves no chunks by their id.")
    if with_vectors and not _is_raw(served):
        raise InvalidRequest("'with_vectors' must be false: this profile shows no vectors.")
    return served.retriever.fetch(served.contract.stored_id(chunk_id), until, with_vectors=with_vectors)


def shown_payload(served: Served, chunk: Passage) -> Mapping[str, Any]:
    """A chunk's mapped fields, or its whole payload where the profile shows that; fit for JSON."""
    if _is_raw(served):
        whole: Mapping[str, Any] = json_safe(chunk.payload)
        return whole
    present = {name: value for name in FIELDS if (value := getattr(chunk, name)) not in (None, ())}
    return {name: zulu(value) if isinstance(value, datetime) else json_safe(value) for name, value in present.items()}


def _is_raw(served: Served) -> bool:
    return served.contract.raw or served.settings.chunks == "raw"
