"""One run's chunks and stored points, in a temporary SQLite file: memory does not grow with the site."""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from pydantic import TypeAdapter

from handler.config.profiles import Profile
from passage.indexing import payloads, stored
from passage.indexing.cache_filler import Text
from passage.indexing.chunks import Chunk
from passage.indexing.cutting import Row
from passage.indexing.plan import Action, Changes
from passage.indexing.stored import StoredPoint
from passage.sites.model import Page, SiteError

BATCH = 256
"""Chunks held in memory at a time: their vectors take a few megabytes."""

_TABLES = """
CREATE TABLE chunk (place INTEGER PRIMARY KEY, point INTEGER UNIQUE, page TEXT, key BLOB, tokens INTEGER, body BLOB);
CREATE TABLE stored (point INTEGER PRIMARY KEY, page TEXT, number INTEGER, since INTEGER, same INTEGER);
CREATE TABLE written (point INTEGER PRIMARY KEY);
"""
_TO_WRITE: Mapping[Action, str] = {
    "nothing": "0",
    "replace": "chunk.point NOT IN (SELECT point FROM written)",
    "edit": "(stored.page IS NULL OR NOT same)",
}
_PAGES = """
SELECT SUM(now AND NOT before), SUM(now AND before AND touched), SUM(now AND before AND NOT touched),
    SUM(before AND NOT now)
FROM (SELECT MAX(now) AS now, MAX(before) AS before, MAX(touched) AS touched FROM (
    SELECT chunk.page AS page, 1 AS now, 0 AS before, stored.page IS NULL OR NOT same AS touched
    FROM chunk LEFT JOIN stored USING (point)
    UNION ALL SELECT stored.page, 0, 1, chunk.page IS NULL FROM stored LEFT JOIN chunk USING (point)
) GROUP BY page)
"""
_POINTS = """
SELECT SUM(stored.page IS NULL), SUM(stored.page IS NOT NULL AND NOT same), SUM(stored.page IS NOT NULL AND same),
    (SELECT COUNT(*) FROM stored WHERE point NOT IN (SELECT point FROM chunk))
FROM chunk LEFT JOIN stored USING (point)
"""
_chunk = TypeAdapter(Chunk)


@dataclass(frozen=True, slots=True)
class Entry:
    """A point to write. `key` is the key of its text in the vector cache."""

    point: int
    key: bytes
    payload: dict[str, Any]


class Catalogue:
    """The chunks of a site, cut for one profile. Use it as a context manager: its file is deleted at the end."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        # Without a name, SQLite makes a temporary file and deletes it when the process ends, also after a crash.
        self._database = sqlite3.connect("", isolation_level=None)
        # The file is not needed after a crash, so durability is switched off, and nothing is committed.
        self._database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _TABLES + "BEGIN;")
        self._digest = hashlib.sha256(payloads.basis(profile))
        self._languages: Counter[str] = Counter()
        self._places = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def __len__(self) -> int:
        return self._places

    @property
    def digest(self) -> str:
        """A hash of the whole index content except times."""
        return self._digest.hexdigest()

    @property
    def languages(self) -> Mapping[str, int]:
        """Chunks by their page's language, as the site states it."""
        return self._languages

    def add(self, page: Page, rows: Iterable[Row]) -> None:
        """Add chunks of the site's next page.

        Raises:
            SiteError: another chunk has the id of one.
        """
        rows = list(rows)
        values = [(row.point, page.url, row.key, row.tokens, row.body) for row in rows]
        try:
            self._database.executemany("INSERT INTO chunk VALUES (NULL, ?, ?, ?, ?, ?)", values)
        except sqlite3.IntegrityError as error:  # very rare, but it must raise an error
            both = f"{self._other_page(page, rows)} and {page.url}"
            raise SiteError(f"Two chunks share an id, on {both}: change a word in one of them.") from error
        self._places += len(rows)
        self._digest.update(b"".join(row.body for row in rows))
        self._languages.update([page.language] * len(rows))

    def _other_page(self, page: Page, rows: Sequence[Row]) -> str:
        """The page that has a chunk with the id of one of these, or this page itself."""
        query = f"SELECT page FROM chunk WHERE point IN ({','.join('?' * len(rows))}) ORDER BY page = ?"  # noqa: S608 - question marks
        return str(self._database.execute(query, (*(row.point for row in rows), page.url)).fetchone()[0])

    def compare(self, held: Iterable[Sequence[StoredPoint]]) -> None:
        """Add the stored points, batch by batch, and compare them with the site."""
        for batch in held:
            chunks = self._chunks([point.id for point in batch])
            rows = [self._row(point, chunks.get(point.id)) for point in batch]
            self._database.executemany("INSERT OR REPLACE INTO stored VALUES (?, ?, ?, ?, ?)", rows)

    def _row(self, point: StoredPoint, chunk: Chunk | None) -> tuple[Any, ...]:
        held, profile = point.payload, self._profile
        number, since = stored.number(held, profile), stored.first_indexed(held, profile)
        wanted = {} if chunk is None else payloads.payload(chunk, number or 0, profile, since or 0)
        same = stored.without_text(wanted, profile) == stored.without_text(held, profile)
        return point.id, stored.page(held, profile), number, since, same

    def skip_written(self, ids: Iterable[Sequence[int]]) -> None:
        """Leave points out of a whole index: an earlier run wrote them to the collection that this one completes."""
        for batch in ids:
            self._database.executemany("INSERT OR IGNORE INTO written VALUES (?)", [(point,) for point in batch])

    def ids(self) -> Iterator[list[int]]:
        """The site's points, in reading order and in batches."""
        for rows in self._rows("SELECT point FROM chunk ORDER BY place"):
            yield [point for (point,) in rows]

    def gone(self) -> Iterator[list[int]]:
        """The stored points whose chunks the site no longer has, in batches."""
        for rows in self._rows("SELECT point FROM stored WHERE point NOT IN (SELECT point FROM chunk) ORDER BY point"):
            yield [point for (point,) in rows]

    def entries(self, action: Action, now: int, ranked: Collection[str]) -> Iterator[list[Entry]]:
        """The points to write, in reading order and in batches.

        A chunk that was stored keeps the time it was first indexed. In an edit it also keeps its number, and new chunks
        get the next free ones: the chunks of an edited page do not renumber those of the others.

        Args:
            now: seconds since 1970, for chunks that are new.
            ranked: the keys with a text index.
        """
        (last,) = self._database.execute("SELECT COALESCE(MAX(number), 0) FROM stored").fetchone()
        query = (
            "SELECT chunk.point, place, key, body, number, since FROM chunk LEFT JOIN stored USING (point) "  # noqa: S608 - our own condition
            f"WHERE {_TO_WRITE[action]} ORDER BY place"
        )
        for rows in self._rows(query):
            batch = []
            for point, place, key, body, number, since in rows:
                if action == "edit" and number is None:
                    last += 1
                given = place if action == "replace" else number or last
                content = payloads.payload(
                    _chunk.validate_json(body), given, self._profile, now if since is None else since, ranked
                )
                batch.append(Entry(point, bytes(key), content))
            yield batch

    def texts(
        self, action: Action, missing: Callable[[list[bytes]], set[bytes]], *, stored_vectors: bool
    ) -> Iterator[Text]:
        """The texts of the points to write that need a vector, each once, in reading order.

        Args:
            missing: gives the keys without a vector in the cache.
            stored_vectors: whether the vectors of stored points can be used again.
        """
        self._database.execute("CREATE INDEX IF NOT EXISTS chunk_key ON chunk (key)")
        condition = _TO_WRITE[action] + (" AND stored.page IS NULL" if stored_vectors else "")
        query = (
            "SELECT key, tokens, body, MIN(place) AS place FROM chunk LEFT JOIN stored USING (point) "  # noqa: S608 - as above
            f"WHERE {condition} GROUP BY key ORDER BY place"
        )
        for rows in self._rows(query):
            absent = missing([bytes(key) for key, *_ in rows])
            for key, tokens, body, _ in rows:
                if bytes(key) in absent:
                    yield Text(bytes(key), _chunk.validate_json(body).embedded_text, tokens)

    def pages(self) -> Changes:
        """Pages counted by their change."""
        return self._changes(_PAGES)

    def points(self) -> Changes:
        """Points counted by their change."""
        return self._changes(_POINTS)

    def _changes(self, query: str) -> Changes:
        return Changes(*(int(number or 0) for number in self._database.execute(query).fetchone()))

    def _chunks(self, points: Sequence[int]) -> dict[int, Chunk]:
        marks = ",".join("?" * len(points))
        query = f"SELECT point, body FROM chunk WHERE point IN ({marks})"  # noqa: S608 - question marks
        return {point: _chunk.validate_json(body) for point, body in self._database.execute(query, points)}

    def _rows(self, query: str) -> Iterator[list[tuple[Any, ...]]]:
        cursor = self._database.execute(query)
        while rows := cursor.fetchmany(BATCH):
            yield rows
