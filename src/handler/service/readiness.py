"""Whether a profile's collection can answer questions: reachable, and shaped as the profile expects."""

import time

from handler.config import validation
from handler.config.profiles import Profile
from handler.core.deadline import Deadline
from handler.core.model import CollectionInfo
from handler.core.retrieve import Retriever

READY_SECONDS = 30.0
"""How long a good result stands, so that a monitor is not a load."""


class Readiness:
    """Checks collections, and keeps good results for a while."""

    def __init__(self) -> None:
        self._good: dict[tuple[str, str], tuple[float, CollectionInfo]] = {}

    def check(self, profile: Profile, retriever: Retriever, deadline: Deadline) -> CollectionInfo:
        """The collection's metadata.

        Raises:
            ConfigurationError: the collection does not suit the profile; says what to change.
            PassageError: as `Retriever.describe`.
        """
        key = (profile.name, profile.collection.name)
        kept = self._good.get(key)
        if kept is not None and time.monotonic() - kept[0] < READY_SECONDS:
            return kept[1]
        info = retriever.describe(deadline)
        for problem in validation.problems(profile, info):
            raise problem
        self._good[key] = (time.monotonic(), info)
        return info

    def forget(self) -> None:
        """Check again at the next request."""
        self._good.clear()
