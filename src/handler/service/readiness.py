"""Readiness: whether a profile's collection is reachable and matches the profile."""

import time

from handler.config import validation
from handler.config.profiles import Profile
from handler.core.deadline import Deadline
from handler.core.model import CollectionInfo
from handler.core.retrieve import Retriever

READY_SECONDS = 30.0
"""Seconds a good result is cached, so that a monitor does not burden the store."""


class Readiness:
    """Checks collections and caches good results."""

    def __init__(self) -> None:
        self._good: dict[tuple[str, str], tuple[float, CollectionInfo]] = {}

    def check(self, profile: Profile, retriever: Retriever, deadline: Deadline) -> CollectionInfo:
        """The collection's metadata.

        Raises:
            ConfigurationError: the collection does not match the profile; says what to change.
            PassageError: as `Retriever.describe`.
        """
        key = (profile.name, profile.collection.name)
        kept = self._good.get(key)
        if kept is not None and time.monotonic() - kept[0] < READY_SECONDS:
            return kept[1]
        info = retriever.describe(deadline)
        problems = validation.problems(profile, info)
        if problems:
            raise problems[0]
        self._good[key] = (time.monotonic(), info)
        return info

    def forget(self) -> None:
        """Check again at the next request."""
        self._good.clear()
