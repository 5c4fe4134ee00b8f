"""What `passage index` writes to: an index on disk, or a collection of a Qdrant server."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from handler.config.profiles import Profile
from passage.indexing.stored import StoredPoint
from passage.indexing.text_index import TextIndex

Ids = Iterator[list[int]]

FORMAT = 1
COMPARABLE = ("vector", "dimension", "distance", "embedding_model", "embedded_by")
"""What must be the same for one index's vectors to be of use in another."""


class TargetError(Exception):
    """The store could not be read or written; says in one line what to do about it."""


@dataclass(frozen=True, slots=True)
class Point:
    """A point as it is written. `vector` has the shape `(dimension,)`."""

    id: int | str
    vector: Sequence[float]
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The index that a run leaves behind.

    Attributes:
        digest: of all it holds, times left out.
        points: how many there are.
        embedded_by: whose vectors they are: two services' vectors are not comparable, whatever the model is called.
    """

    profile: Profile
    digest: str
    points: int
    embedded_by: str
    text_index: TextIndex | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """What a store holds already.

    Attributes:
        complete: it is the wanted index.
        comparable: its vectors can be used again.
        editable: points may be changed one by one. Otherwise the index is written whole, beside the old one.
        note: why it cannot be edited, in a few words; empty where nothing is there.
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

    def locked(self, waiting: Callable[[], None]) -> AbstractContextManager[None]:
        """Keep other runs out where that is possible; `waiting` is told when another one has to end first."""

    def held(self, wanted: Wanted, ids: Ids) -> Held:
        """Compare what is there with the wanted index, whose points are `ids`."""

    def stored(self) -> Iterator[list[StoredPoint]]:
        """Every point that questions are answered from, without its text, in batches."""

    def vectors(self, ids: Sequence[int]) -> dict[int, list[float]]:
        """The stored vectors of these points, each of shape `(dimension,)`."""

    def written(self, wanted: Wanted) -> Ids:
        """The points that an earlier run wrote to the index that `replace` would complete."""

    def replace(self, wanted: Wanted, points: Iterable[Point], progress: Callable[[int], None]) -> None:
        """Write the index whole and put it in the old one's place in one step.

        Args:
            points: all of the index but those of `written`.
        """

    def edit(self, wanted: Wanted, points: Iterable[Point], gone: Ids, progress: Callable[[int], None]) -> None:
        """Write `points` first and delete `gone` afterwards, in the index that is there."""


def comparable(one: Mapping[str, Any] | None, other: Mapping[str, Any]) -> bool:
    """Whether the vectors of two indexes, by what they say of themselves, can stand in each other's place."""
    return one is not None and all(one.get(key) == other[key] for key in COMPARABLE)
