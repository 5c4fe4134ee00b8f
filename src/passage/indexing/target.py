"""The target of `passage index`: an index on disk, or a collection of a Qdrant server."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from handler.config.profiles import Profile
from passage.indexing.stored import StoredPoint
from passage.indexing.text_index import TextIndex

Ids = Iterator[list[int]]
Advance = Callable[[int], None]
"""Called with the number of newly finished items."""

COMPARABLE = ("vector", "dimension", "distance", "embedding_model", "embedded_by")
"""Values that must be equal before one index's vectors are used in another."""


class TargetError(Exception):
    """The store could not be read or written; the message says in one line what to do."""


@dataclass(frozen=True, slots=True)
class NewPoint:
    """A point to write. `vector` has the shape `(dimension,)`; it is empty in an index without vectors."""

    id: int | str
    vector: Sequence[float]
    payload: Mapping[str, Any]

    def vectors(self, name: str) -> Any:
        """The vector as both engines take it: by its name, or alone where the name is empty."""
        numbers = list(self.vector)
        return {} if not numbers else {name: numbers} if name else numbers


@dataclass(frozen=True, slots=True)
class WantedIndex:
    """The index that a run leaves behind.

    Attributes:
        digest: of its whole content except times.
        points: their number.
        embedded_by: the provider of the vectors. Vectors of two services differ even for equal model names.
    """

    profile: Profile
    digest: str
    points: int
    embedded_by: str
    text_indexes: tuple[TextIndex, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreState:
    """The current content of a store.

    Attributes:
        complete: it is the wanted index.
        comparable: its vectors can be reused.
        editable: points may be changed one by one. Otherwise the index is written whole, beside the old one.
        note: why it cannot be edited, in a few words; empty where the store is empty.
    """

    complete: bool = False
    comparable: bool = False
    editable: bool = False
    note: str = ""


class Target(Protocol):
    """One profile's place in a store."""

    @property
    def where(self) -> str:
        """Its name for people."""

    def lock(self, waiting: Callable[[], None]) -> AbstractContextManager[None]:
        """Lock out other runs where possible; `waiting` is called when another run must end first."""

    def compare(self, wanted: WantedIndex, ids: Ids) -> StoreState:
        """Compare the stored index with the wanted one, whose points are `ids`."""

    def stored_points(self) -> Iterator[list[StoredPoint]]:
        """Every point that serves questions, without its text, in batches."""

    def vectors(self, ids: Sequence[int]) -> dict[int, list[float]]:
        """The stored vectors of these points, each of shape `(dimension,)`."""

    def written_points(self, wanted: WantedIndex) -> Ids:
        """The points that an earlier, unfinished run wrote and `replace` would complete."""

    def replace(self, wanted: WantedIndex, points: Iterable[NewPoint], progress: Advance) -> None:
        """Write the whole index and replace the old one in one step.

        Args:
            points: all points of the index except those of `written_points`.
        """

    def refresh(self, wanted: WantedIndex) -> None:
        """Bring an index whose points are complete up to date with its server, without writing a point."""

    def edit(self, wanted: WantedIndex, points: Iterable[NewPoint], gone: Ids, progress: Advance) -> None:
        """Edit the existing index: write `points` first and delete `gone` afterwards."""

    def noise(self) -> Mapping[str, Any]:
        """The noise that is stored with the index now (`passage.indexing.noise`); empty without one."""

    def best_cosines(self, vectors: Sequence[Sequence[float]]) -> list[float]:
        """The similarity of the nearest point to each vector, in the index as it serves questions."""

    def keep_noise(self, noise: Mapping[str, Any]) -> None:
        """Store the noise with the index."""


def comparable(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> bool:
    """Whether the vectors of two indexes are interchangeable, by the metadata of both."""
    return one is not None and all(one.get(key) == other[key] for key in COMPARABLE)
