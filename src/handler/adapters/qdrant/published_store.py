"""The Edge store on an index published in S3: fetched at cold start, replaced when a new version is published.

A container answers one request at a time, so a version can be swapped between two searches without a lock.
"""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from handler import telemetry
from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.adapters.qdrant.published_index import Pointer, PublishedIndex
from handler.core import deadline as deadlines
from handler.core.deadline import Deadline
from handler.core.errors import DeadlineExceeded, PassageError, UpstreamError
from handler.core.model import CollectionInfo, Noise, Passage, PointId, Search, SearchResult, Vector

WARM_SECONDS = 5.0
"""The most seconds that a warm-up waits for S3. INIT has ten for everything, and Lambda starts anew after them."""


class PublishedStore:
    """One profile's index: a `handler.core.ports.PassageStore`.

    Args:
        open_index: opens an index, given the folder that holds it.
        every: seconds between two checks for a new version. The request that finds one fetches it.
    """

    def __init__(
        self, index: PublishedIndex, open_index: Callable[[Path], QdrantEdgeStore], *, collection: str, every: float
    ) -> None:
        self._index = index
        self._open_index = open_index
        self.collection = collection
        self._every = every
        self._store: QdrantEdgeStore | None = None
        self._version = ""
        self._due = 0.0

    def prepare(self) -> None:
        """Fetches the index, if that has not been done."""
        self._current()

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        return self._current().search(searches)

    def neighbors(self, wanted: Sequence[tuple[Passage, int]]) -> SearchResult:
        return self._current().neighbors(wanted)

    def noise(self) -> Noise | None:
        return self._current().noise()

    def holders(self, words: Sequence[str], most: int) -> Mapping[str, frozenset[PointId]]:
        return self._current().holders(words, most)

    def values(self, keys: Sequence[str], most: int) -> Mapping[str, tuple[str, ...]]:
        """See `handler.core.ports.PassageStore`."""
        return self._current().values(keys, most)

    def fetch(self, chunk: str, *, with_vectors: bool) -> Passage | None:
        return self._current().fetch(chunk, with_vectors=with_vectors)

    def describe(self) -> CollectionInfo:
        return self._current().describe()

    def warm(self) -> None:
        """Fetches the index, opens it and searches it.

        What cannot be fetched in time is left to the first question, which has a deadline of its own.
        """
        try:
            with deadlines.within(Deadline.after(WARM_SECONDS)):
                self._current()
        except (UpstreamError, DeadlineExceeded) as error:  # temporary: the first question tries again
            telemetry.log_not_renewed("an index could not be fetched ahead of its use", error)

    def after_restore(self) -> None:
        """After a snapshot was restored, check for a new version at once, with fresh credentials."""
        self._index.forget_credentials()
        self._due = 0.0

    def _current(self) -> QdrantEdgeStore:
        """The open index, checked for a new version once every `every` seconds."""
        deadline = deadlines.current()
        if self._store is None:
            store = self._replace(self._index.pointer(deadline), deadline)
            self._due = time.monotonic() + self._every
            return store
        if time.monotonic() < self._due:
            return self._store
        self._due = time.monotonic() + self._every  # also after a failure, so that not every request tries again
        # The request that checks must still be answered, so fetching may take half of its time.
        until = Deadline.after(deadline.remaining() / 2) if deadline else None
        try:
            pointer = self._index.pointer(until)
            return self._store if pointer.sha256 == self._version else self._replace(pointer, until)
        except PassageError as error:
            temporary = isinstance(error, UpstreamError | DeadlineExceeded)
            telemetry.log_refused_index(error, temporary=temporary)
            return self._store

    def _replace(self, pointer: Pointer, until: Deadline | None) -> QdrantEdgeStore:
        """Fetch a version, open it, and delete every other one."""
        folder = self._index.unpack(pointer, until)
        store = self._open_index(folder)
        try:
            store.warm()  # a mismatched index is found here, before it replaces the old one
        except BaseException:
            store.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if self._store is not None:
            self._store.close()
        self._index.remove_others(folder)  # the version before, and those left by a process that was killed
        self._store, self._version = store, pointer.sha256
        return store
