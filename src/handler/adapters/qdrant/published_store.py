"""The Edge store on an index that is published in S3: unpacked at cold start, replaced when a new version is there."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handler import telemetry
from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.adapters.qdrant.published_index import Pointer, PublishedIndex, Unpacked
from handler.core import deadline as deadlines
from handler.core.errors import DeadlineExceeded, PassageError, UpstreamError
from handler.core.model import CollectionInfo, Found, Point, Search, Vector


@dataclass(slots=True)
class _Version:
    """An open index, and how many requests are asking it."""

    unpacked: Unpacked
    store: QdrantEdgeStore
    users: int = 0
    retired: bool = False


class PublishedStore:
    """One profile's index.

    Args:
        open_index: what asks an index, given the folder it was unpacked to.
        every: seconds between two looks for a new version, which the request that finds it fetches.
    """

    def __init__(
        self, index: PublishedIndex, open_index: Callable[[Path], QdrantEdgeStore], *, collection: str, every: float
    ) -> None:
        self._index = index
        self._open_index = open_index
        self._collection = collection
        self._every = every
        self._lock = threading.Lock()
        self._renewing = threading.Lock()
        self._current: _Version | None = None
        self._due = 0.0

    @property
    def collection(self) -> str:
        return self._collection

    def search(self, vector: Vector, search: Search) -> Found:
        """See `handler.core.ports.PassageStore`."""
        with self._open() as store:
            return store.search(vector, search)

    def search_many(self, searches: Sequence[tuple[Vector, Search]]) -> list[Found]:
        """See `handler.core.ports.PassageStore`."""
        with self._open() as store:
            return store.search_many(searches)

    def fetch(self, chunk: str, *, with_vectors: bool) -> Point | None:
        """See `handler.core.ports.PassageStore`."""
        with self._open() as store:
            return store.fetch(chunk, with_vectors=with_vectors)

    def describe(self) -> CollectionInfo:
        """See `handler.core.ports.PassageStore`."""
        with self._open() as store:
            return store.describe()

    def warm(self) -> None:
        """See `handler.core.ports.PassageStore`. Fetches the index, which opens and searches it."""
        try:
            self._renew()
        except (
            UpstreamError,
            DeadlineExceeded,
        ) as error:  # nothing is wrong with the function: the first question asks
            telemetry.kept("an index could not be fetched ahead of its use", code=error.code, detail=error.detail)

    def restored(self) -> None:
        """A snapshot was restored: look for a new version at once, with credentials of now."""
        self._index.forget_credentials()
        self._due = 0.0

    @contextmanager
    def _open(self) -> Iterator[QdrantEdgeStore]:
        self._renew()
        with self._lock:
            version = self._current
            assert version is not None  # noqa: S101 - `_renew` gives one or raises
            version.users += 1
        try:
            yield version.store
        finally:
            with self._lock:
                version.users -= 1
            self._discard(version)

    def _renew(self) -> None:
        """See that there is an index, and at most every so often that it is the current one."""
        if self._current is not None and time.monotonic() < self._due:
            return
        if not self._renewing.acquire(blocking=self._current is None):
            return  # another request is at it, and there is one to go on with
        try:
            if self._current is None:
                self._first()
            elif time.monotonic() >= self._due:
                self._next(self._current)
        finally:
            self._renewing.release()

    def _first(self) -> None:
        deadline = deadlines.current()
        self._replace(self._index.pointer(), deadline.at if deadline else None)
        self._due = time.monotonic() + self._every

    def _next(self, current: _Version) -> None:
        self._due = time.monotonic() + self._every  # whatever comes of it: a failure must not slow every request down
        deadline = deadlines.current()
        # The request that happens to look is still to be answered: fetching may have half of its time.
        until = time.monotonic() + deadline.remaining() / 2 if deadline else None
        try:
            pointer = self._index.pointer()
            if pointer.sha256 != current.unpacked.sha256:
                self._replace(pointer, until)
        except PassageError as error:
            telemetry.kept("a new index could not be taken; the old one stays", code=error.code, detail=error.detail)

    def _replace(self, pointer: Pointer, until: float | None) -> None:
        unpacked = self._index.unpack(pointer, until)
        store = self._open_index(unpacked.root)
        try:
            store.warm()  # an index that does not fit is found before it takes another's place
        except BaseException:
            store.close()
            unpacked.close()
            raise
        with self._lock:
            before, self._current = self._current, _Version(unpacked, store)
            if before is not None:
                before.retired = True
        if before is None:
            self._index.sweep()  # what a process before this one left
        else:
            self._discard(before)

    def _discard(self, version: _Version) -> None:
        with self._lock:
            if not version.retired or version.users:
                return
            version.retired = False  # whoever gets here first does it
        version.store.close()
        version.unpacked.close()
        self._index.sweep()
