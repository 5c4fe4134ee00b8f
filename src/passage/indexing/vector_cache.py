"""Keeps vectors on disk by a hash of their input, so that each text is paid for once.

A vector is stored and found by its key alone. The order of texts is irrelevant, so a text cannot get the vector of
another one.
"""

import hashlib
import sqlite3
import threading
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

from handler.core.ports import TextsAre
from passage.indexing.batching import batched
from passage.indexing.file_lock import file_lock

Vector = Sequence[float]

INPUT_TYPES = {"document": "search_document", "question": "search_query"}

ROWS = 500
"""Keys in one query; SQLite allows 32,766 parameters, old builds 999."""

_TABLE = "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, numbers BLOB NOT NULL) WITHOUT ROWID"


@dataclass(frozen=True, slots=True)
class VectorKind:
    """Everything besides the text that determines its vector.

    Attributes:
        provider: who makes it; a model's name alone does not identify it.
        texts_are: what the text is; a model embeds questions in another way than documents.
    """

    provider: str
    model: str
    dimension: int
    texts_are: TextsAre = "document"

    def key(self, text: str) -> bytes:
        """The text's key: sha256, 32 bytes."""
        hashed = _begun(self).copy()
        hashed.update(_part(text))
        return hashed.digest()


@lru_cache(maxsize=8)
def _begun(kind: VectorKind) -> "hashlib._Hash":
    """The hash of a kind, which its texts' keys begin with."""
    parts = (kind.provider, kind.model, str(kind.dimension), INPUT_TYPES[kind.texts_are])
    return hashlib.sha256(b"".join(map(_part, parts)))


def _part(text: str) -> bytes:
    """A part of what is hashed. The length before it keeps ("ab", "c") and ("a", "bc") apart."""
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "big") + encoded


class VectorCache:
    """A folder with one SQLite file of vectors, as 32-bit floats.

    Several processes may read while one writes. A batch is on disk once `put` returns, even if the process is killed.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(folder / "vectors.sqlite", timeout=60, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(_TABLE)
        self._connection.commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def folder(self) -> Path:
        return self._folder

    def get(self, keys: Iterable[bytes]) -> dict[bytes, Vector]:
        """The cached vectors, each of shape `(dimension,)`, by key."""
        vectors: dict[bytes, Vector] = {}
        for some in batched(keys, ROWS):
            rows = self._select("key, numbers", some)
            vectors |= {bytes(key): array("f", numbers) for key, numbers in rows}
        return vectors

    def missing(self, keys: Iterable[bytes]) -> set[bytes]:
        """The keys without a cached vector."""
        wanted = list(keys)
        there = {bytes(key) for some in batched(wanted, ROWS) for (key,) in self._select("key", some)}
        return set(wanted) - there

    def put(self, vectors: Mapping[bytes, Vector]) -> None:
        """Store all vectors in one transaction."""
        rows = [(key, array("f", vector).tobytes()) for key, vector in vectors.items()]
        with self._lock, self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)

    def refuse(self, keys: Iterable[bytes]) -> None:
        """Remember texts that the service does not accept: an entry without a vector. They are not sent again."""
        self.put(dict.fromkeys(keys, ()))

    def refused(self) -> frozenset[bytes]:
        """The keys of texts that the service does not accept."""
        with self._lock:
            rows = self._connection.execute("SELECT key FROM vector WHERE length(numbers) = 0").fetchall()
        return frozenset(bytes(key) for (key,) in rows)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def embedding(self, waiting: Callable[[], object]) -> AbstractContextManager[None]:
        """Let one process at a time embed for this folder; `waiting` is called when another one must end first."""
        return file_lock(self._folder / "embedding.lock", waiting)

    def _select(self, columns: str, keys: Sequence[bytes]) -> list[tuple[bytes, ...]]:
        marks = ",".join("?" * len(keys))
        with self._lock:
            return self._connection.execute(f"SELECT {columns} FROM vector WHERE key IN ({marks})", keys).fetchall()  # noqa: S608 - column names and question marks
