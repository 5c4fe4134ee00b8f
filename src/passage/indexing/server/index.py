"""Updates a collection of a Qdrant server to a site's current content. Questions reach it by an alias.

A whole index goes into a new collection. After its checks the alias points to it. A small change goes into the served
collection: new points are written first, then old ones are deleted (docs/decisions, "The index on a server").
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from qdrant_client import models

from handler.config.profiles import Profile
from passage.indexing import stored
from passage.indexing.batching import batched
from passage.indexing.server.checks import check
from passage.indexing.server.collection import Index, Shape, create_arguments, metadata, same_points, shape
from passage.indexing.server.connection import SCORING, ServerConnection
from passage.indexing.server.releases import Release, Releases
from passage.indexing.stored import StoredPoint
from passage.indexing.target import Advance, Ids, NewPoint, StoreState, TargetError, WantedIndex, comparable

BATCH = 128
"""Points in one request; Qdrant's documentation recommends 64 to 256 and two to four streams."""

STREAMS = 4
POLL_SECONDS = 2.0
LONGEST_BUILD_SECONDS = 3_600.0


class ServerIndex:
    """One profile's index on a server; a `passage.indexing.target.Target`.

    Args:
        keep: how many earlier collections stay for `passage rollback`.
        note: is called with messages for people.
    """

    def __init__(
        self,
        connection: ServerConnection,
        profile: Profile,
        *,
        keep: int = 1,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._connection = connection
        self._profile = profile
        self._keep = keep
        self._note = note
        self._releases = Releases(connection, profile.collection.name)
        self._current: Release | None = None
        self._begun: Release | None = None

    @property
    def where(self) -> str:
        return f"the collection '{self._releases.alias}' at {self._connection.url}"

    @contextmanager
    def lock(self, waiting: Callable[[], None]) -> Iterator[None]:  # noqa: ARG002 - a server has no locks
        """Runs need no lock: each one builds a separate collection, and the last one is served."""
        yield

    def compare(self, wanted: WantedIndex, ids: Ids) -> StoreState:  # noqa: ARG002 - the server's count is enough
        current = self._releases.current()
        if current is None:
            return StoreState()
        if not current.passage:
            return StoreState(note=f"'{current.name}' was not made by `passage index`")
        self._current = current
        goal = metadata(wanted, self._shape(wanted), "ready")
        said = {**current.metadata, **current.passage}
        same_vectors = comparable(said, {**goal, **goal["passage"]})
        count = self._connection.count(current.name)
        same_rest = current.says({**goal, "passage": current.passage})
        if same_rest and same_points(current.passage, goal["passage"]) and count == wanted.points:
            return StoreState(complete=True, comparable=True)
        content = {"digest": "", "points": 0}  # changes with each run; the rest is the collection's shape
        if not same_vectors:
            why = "its vectors are of another model or provider"
        elif not same_points({**current.passage, **content}, {**goal["passage"], **content}):
            why = "the collection's shape changes"
        elif current.passage["digest"] and current.passage["points"] != count:  # without a digest: an unfinished edit
            why = "points were added or removed by someone else"
        else:
            why = ""
        return StoreState(comparable=same_vectors, editable=not why, note=why)

    def stored_points(self) -> Iterator[list[StoredPoint]]:
        if self._current is None:
            return
        selector = models.PayloadSelectorExclude(exclude=stored.unread_keys(self._profile))
        for records in self._connection.scroll(self._current.name, payload=selector, vectors=False):
            ours = [record for record in records if isinstance(record.id, int)]
            yield [StoredPoint(int(record.id), record.payload or {}) for record in ours]

    def vectors(self, ids: Sequence[int]) -> dict[int, list[float]]:
        if self._current is None:
            return {}
        name, vector = self._current.name, self._profile.collection.vector
        wants: Any = [vector] if vector else True
        records = self._connection.call(
            lambda client: client.retrieve(name, list(ids), with_payload=False, with_vectors=wants)
        )
        return {int(record.id): stored.numbers(record.vector, vector) for record in records}

    def written_points(self, wanted: WantedIndex) -> Ids:
        """See `Target`: points of an earlier run with the same content that was killed while it wrote."""
        goal = metadata(wanted, self._shape(wanted), "building")
        self._begun = next((one for one in self._releases.all() if one.says(goal)), None)
        if self._begun is not None:
            self._note(f"An earlier run began the collection '{self._begun.name}'; this one completes it.")
            for records in self._connection.scroll(self._begun.name, payload=False, vectors=False):
                yield [int(record.id) for record in records]

    def replace(self, wanted: WantedIndex, points: Iterable[NewPoint], progress: Advance = lambda _: None) -> None:
        target_shape = self._shape(wanted)
        if wanted.text_indexes and self._version < SCORING:
            version = ".".join(map(str, self._version))
            self._note(f"The server is Qdrant {version}: ranking by words (BM25) needs a text index of 1.20 or newer.")
        name = self._begun.name if self._begun else self._create(wanted, target_shape)
        # Indexes are created before the points, so that the search graph is built for them (Qdrant, "Indexing").
        for key, index in target_shape.indexes.items():
            self._index(name, key, index)
        self._upload(name, points, progress)
        self._wait_until_searchable(name)
        check(self._connection, name, wanted)
        self._describe(name, metadata(wanted, target_shape, "ready"))
        self._releases.switch(name)
        self.prune()

    def refresh(self, wanted: WantedIndex) -> None:
        """A server that was updated since the last run may want another payload index."""
        current = self._current
        assert current is not None  # noqa: S101 - `compare` says it is complete
        goal = metadata(wanted, self._shape(wanted), "ready")
        if not current.says(goal):
            self._index_all(current, wanted)
            self._describe(current.name, goal)

    def edit(self, wanted: WantedIndex, points: Iterable[NewPoint], gone: Ids, progress: Advance) -> None:
        """New chunks are written before old ones are deleted, so every question finds the page."""
        current = self._current
        assert current is not None  # noqa: S101 - `compare` says it is editable
        goal = metadata(wanted, self._shape(wanted), "ready")
        # Until the edit is done, no run may take the collection for complete.
        self._describe(current.name, {**goal, "passage": {**goal["passage"], "digest": ""}})
        self._index_all(current, wanted)
        # Requests are sequential, so that a repeated edit gives new chunks the same numbers.
        for batch in batched(points, BATCH):
            self._upsert(current.name, batch)
            progress(len(batch))
        for ids in gone:
            selector = models.PointIdsList(points=list(ids))
            self._connection.call(lambda client, selector=selector: client.delete(current.name, selector))  # type: ignore[misc]
            progress(len(ids))
        check(self._connection, current.name, wanted)
        self._describe(current.name, goal)
        self.prune()

    def noise(self) -> Mapping[str, Any]:
        current = self._releases.current()
        stored = current.metadata.get("noise") if current else None
        return stored if isinstance(stored, Mapping) else {}

    def best_cosines(self, vectors: Sequence[Sequence[float]]) -> list[float]:
        return self._connection.best_cosines(self._releases.alias, self._profile.collection.vector, vectors)

    def keep_noise(self, noise: Mapping[str, Any]) -> None:
        current = self._releases.current()
        if current is not None:
            self._describe(current.name, {"noise": dict(noise)})

    def prune(self) -> None:
        """Delete the collections that are not kept."""
        for name in self._releases.prune(self._keep):
            self._note(f"Deleted the old collection '{name}'.")

    @cached_property
    def _version(self) -> tuple[int, int]:
        return self._connection.version()

    def _shape(self, wanted: WantedIndex) -> Shape:
        return shape(wanted, self._version)

    def _create(self, wanted: WantedIndex, target_shape: Shape) -> str:
        name = self._releases.new_name()
        arguments = create_arguments(target_shape)
        said = metadata(wanted, target_shape, "building")

        def create(client: Any) -> None:
            # A first attempt may have succeeded although its answer was lost. Only this run uses the name.
            if not client.collection_exists(name):
                client.create_collection(name, metadata=said, **arguments)

        self._connection.call(create)
        return name

    def _index_all(self, current: Release, wanted: WantedIndex) -> None:
        """Create the payload indexes that the collection has in another form."""
        shape = self._shape(wanted)
        had, described = (current.passage.get("shape") or {}).get("indexes") or {}, shape.to_metadata()["indexes"]
        for key, index in shape.indexes.items():
            if had.get(key) != described[key]:
                self._note(f"Indexing the payload key '{key}' again …")
                self._index(current.name, key, index)

    def _index(self, name: str, key: str, index: Index) -> None:
        self._connection.call(lambda client: client.create_payload_index(name, key, index))

    def _upload(self, name: str, points: Iterable[NewPoint], progress: Advance) -> None:
        running: set[Future[int]] = set()

        def send(batch: list[NewPoint]) -> int:
            self._upsert(name, batch)
            return len(batch)

        with ThreadPoolExecutor(STREAMS, thread_name_prefix="upload") as pool:
            for batch in batched(points, BATCH):
                if len(running) == STREAMS:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    progress(sum(one.result() for one in done))
                running.add(pool.submit(send, batch))
            for one in running:
                progress(one.result())

    def _upsert(self, name: str, batch: Sequence[NewPoint]) -> None:
        vector = self._profile.collection.vector
        points = [
            models.PointStruct(
                id=point.id,
                vector=point.vectors(vector),
                payload=dict(point.payload),
            )
            for point in batch
        ]
        self._connection.call(lambda client: client.upsert(name, points))

    def _describe(self, name: str, said: dict[str, Any]) -> None:
        self._connection.call(lambda client: client.update_collection(name, metadata=said))

    def _wait_until_searchable(self, name: str) -> None:
        """Wait for the search graph: without it, each question would be compared with every point."""
        until = time.monotonic() + LONGEST_BUILD_SECONDS
        told = False
        building = models.CollectionStatus.YELLOW
        while self._connection.call(lambda client: client.get_collection(name).status) == building:
            if not told:
                self._note("The server is building its search graph …")
                told = True
            if time.monotonic() > until:
                raise TargetError(
                    f"The server has not built the search graph of '{name}' within an hour. Questions are answered "
                    "from the index before it. Run it again later: nothing is embedded or written twice."
                )
            time.sleep(POLL_SECONDS)
