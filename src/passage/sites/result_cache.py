"""Keeps what was made of a page on disk, by a hash of everything that it was made of."""

import hashlib
import sqlite3
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = "pages.sqlite"
MOST_BYTES = 500_000_000
"""Of all entries. Those that were not used for the longest time are deleted."""

_TABLE = "CREATE TABLE IF NOT EXISTS result (key BLOB PRIMARY KEY, day INTEGER NOT NULL, content BLOB NOT NULL)"
_DAY = 24 * 60 * 60
_LIBRARIES = ("passage", "selectolax", "html-to-markdown", "markdown-it-py", "pyromark", "semantic-text-splitter")
"""What a result depends on beside the code of `_CODE`, which changes between versions while it is developed."""
_CODE = ("passage/sites", "passage/indexing", "handler/core", "handler/config")


@cache
def code_version() -> bytes:
    """A hash of the code that reads and cuts pages."""
    hashed = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    source = Path(__file__).parents[2]
    for file in sorted(file for folder in _CODE for file in (source / folder).rglob("*.py")):
        hashed.update(file.read_bytes())
    return hashed.digest()


def key_of(*parts: bytes) -> bytes:
    """The key of a result: a hash of the code and of everything that it is made of."""
    hashed = hashlib.sha256(code_version())
    for part in parts:
        hashed.update(len(part).to_bytes(8, "big"))  # keeps ("ab", "c") and ("a", "bc") apart
        hashed.update(part)
    return hashed.digest()


class ResultCache:
    """A folder with one SQLite file of results. An entry is whole or missing, also after a crash.

    The cache only saves time, so a run goes on without it if the file cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._today = int(time.time()) // _DAY
        self._has_grown = False
        self._connection: sqlite3.Connection | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            try:
                self._connection = self._opened()
            except sqlite3.DatabaseError:  # not a database, or a damaged one
                self._file.unlink(missing_ok=True)
                self._connection = self._opened()
        except (OSError, sqlite3.Error):
            return

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._file, timeout=1)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")  # a crash of the machine may lose entries
        connection.execute(_TABLE)
        connection.commit()
        return connection

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The cached results, by key. SQLite takes at most 999 keys."""
        marks = ",".join("?" * len(keys))
        query = f"SELECT key, day, content FROM result WHERE key IN ({marks})"  # noqa: S608 - question marks
        rows = self._run(query, keys)
        old = [key for key, day, _ in rows if day != self._today]
        if old:
            marks = ",".join("?" * len(old))
            self._run(f"UPDATE result SET day = {self._today} WHERE key IN ({marks})", old)  # noqa: S608 - a number
            self._commit()
        return {bytes(key): bytes(content) for key, _, content in rows}

    def put(self, results: Mapping[bytes, bytes]) -> None:
        """Keep all results in one transaction."""
        for key, content in results.items():
            self._run("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", (key, self._today, content))
        self._commit()
        self._has_grown = self._has_grown or bool(results)

    def close(self) -> None:
        """Delete the oldest entries if there are too many bytes, and close the file."""
        if self._has_grown:
            self._shrink()
            self._commit()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _shrink(self) -> None:
        entries = self._run("SELECT key, length(content) FROM result ORDER BY day")
        size = sum(length for _, length in entries)
        for key, length in entries:
            if size <= MOST_BYTES:
                break
            self._run("DELETE FROM result WHERE key = ?", (key,))
            size -= length

    def _commit(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            self._run("COMMIT")

    def _run(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        """The rows that a query gives; none if the file fails, which is not used again then."""
        try:
            return self._connection.execute(query, values).fetchall() if self._connection else []
        except sqlite3.Error:
            self._connection = None
            return []
