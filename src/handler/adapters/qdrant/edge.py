"""The Edge store: an index that ships with the function, searched by Qdrant's engine in the same process."""

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import qdrant_edge

from handler.adapters.qdrant import manifest, payload, text_search
from handler.adapters.qdrant.manifest import SHARD, Manifest
from handler.adapters.qdrant.text_search import TextSearch, asked_words, noise_of
from handler.config.payload_keys import KeyPath
from handler.config.profiles import Profile
from handler.config.validation import check_distance, check_vectors, distance_name
from handler.core import deadline as deadlines
from handler.core.errors import ConfigurationError, UpstreamUnavailable
from handler.core.model import CollectionInfo, Noise, Passage, PointId, Search, SearchResult, Vector

MOST_PAGES = 10_000
"""The most pages of which the values of payload keys are read."""

NO_TEXT_INDEX = (
    "The index is searched by vectors only, because an earlier version of Passage wrote it without a text index: run "
    "`passage index` again to search by words, too."
)
MATCHES: Mapping[str, Callable[[Any], Any]] = {
    "any": qdrant_edge.MatchAny,
    "prefix": qdrant_edge.MatchPrefix,
    "text": qdrant_edge.MatchText,
    "value": qdrant_edge.MatchValue,
}
"""The engine's classes by the name of the match in Qdrant's API."""

T = TypeVar("T")


class QdrantEdgeStore:
    """One profile's index: a `handler.core.ports.PassageStore`.

    Args:
        root: the folder `passage index` wrote to, with one folder for each profile. It may be read-only, like a layer.
        embedded_by: see `handler.config.validation.check_embedder`.
    """

    def __init__(self, *, root: Path, profile: Profile, embedded_by: Collection[str] = ()) -> None:
        self._embedded_by = embedded_by
        self._folder = root / profile.name
        self._profile = profile
        self.collection = profile.collection.name

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        by_text = self._text if any(search.text for _, search in searches) else None
        return [self._search_one(vector, search, by_text) for vector, search in searches]

    def _search_one(self, vector: Vector, search: Search, by_text: TextSearch | None) -> SearchResult:
        if search.by is not None:
            return self._without_vector(search, by_text)
        return self._hybrid(vector, search, by_text) if by_text and search.text else self._dense(vector, search)

    def _without_vector(self, search: Search, by_text: TextSearch | None) -> SearchResult:
        field = text_search.field_without_vector(search, by_text, self.collection)
        request = self._by_words(search, field, text_search.candidates(search, 1))
        points = self._ask(lambda shard: shard.query(request))
        result = self._read(self._with_payloads(text_search.best_by_words(points, search), search), search)
        return replace(result, stages=payload.stages({"text": points})) if search.explain else result

    def prepare(self) -> None:
        """The manifest says that there is an index, and which."""
        self._manifest  # noqa: B018 - read at its first use

    def _dense(self, vector: Vector, search: Search) -> SearchResult:
        request = qdrant_edge.QueryRequest(  # outside of `_ask`, which takes any error for the engine's
            limit=search.top_k,
            query=self._nearest(vector),
            filter=self._filter(search),
            score_threshold=payload.threshold(search.score_threshold),
            with_payload=self._payload(search),
            with_vector=search.with_vectors,
        )
        points = self._ask(lambda shard: shard.query(request))
        result = self._read(points, search)
        return replace(result, stages=payload.stages({"dense": points})) if search.explain else result

    def _payload(self, search: Search) -> bool | list[str]:
        return True if search.whole_payload else list(self._profile.payload.read)

    def _nearest(self, vector: Vector) -> qdrant_edge.Query:
        check_vectors(self._profile.collection, self._manifest.sizes())
        check_distance(self._profile.collection, self._manifest.distance)
        return qdrant_edge.Query.Nearest(list(vector), using=self._profile.collection.vector or None)

    def _hybrid(self, vector: Vector, search: Search, by_text: TextSearch) -> SearchResult:
        """One hybrid search: the nearest points, those found by words, and how similar the rest of these are."""
        each, nearest = text_search.candidates(search, self._profile.search.candidates), self._nearest(vector)
        requests = self._ids(nearest, search, each), self._by_words(search, by_text.key(search), each)
        dense, text = self._ask(lambda shard: [shard.query(request) for request in requests])
        rest = {point.id for point in text} - {point.id for point in dense}
        chosen = qdrant_edge.Filter(must=[qdrant_edge.HasIdCondition(rest)])
        compared = qdrant_edge.QueryRequest(limit=max(len(rest), 1), query=nearest, filter=chosen)
        similar = self._ask(lambda shard: shard.query(compared)) if rest else []
        hits, stages = text_search.fuse_points(dense, text, similar, search, by_text.balance)
        result = self._read(self._with_payloads(hits, search), search)
        return replace(result, stages=stages, balance=by_text.balance) if search.explain else result

    def _by_words(self, search: Search, field: str, limit: int) -> qdrant_edge.QueryRequest:
        """The search by words alone, for ids. See `TextSearch` for `field`."""
        return self._ids(qdrant_edge.TextQuery(field, asked_words(field, search.text)), search, limit)

    def _ids(self, scoring: Any, search: Search, limit: int) -> qdrant_edge.QueryRequest:
        return qdrant_edge.QueryRequest(limit=limit, query=scoring, filter=self._filter(search))

    def _filter(self, search: Search) -> qdrant_edge.Filter | None:
        if not search.filters:
            return None
        from handler.adapters.qdrant.filters import as_json  # noqa: PLC0415 - most questions have no filter

        return _engine_filter(as_json(search.filters, self._profile))

    def _with_payloads(self, hits: Sequence[payload.Hit], search: Search) -> list[payload.Hit]:
        """The hits with their payloads. To read those of every candidate would take longer than to search."""
        ids: list[Any] = [hit.id for hit in hits]
        wanted = self._payload(search)
        records = self._ask(lambda shard: shard.retrieve(ids, with_payload=wanted, with_vector=search.with_vectors))
        stored = {payload.identity(record.id): record for record in records}
        return [replace(hit, payload=stored[hit.id].payload, vector=stored[hit.id].vector) for hit in hits]

    def _read(self, points: Iterable[payload.Scored], search: Search) -> SearchResult:
        result = payload.read(points, self._profile.payload, self._vector if search.with_vectors else None)
        other = self._other_model
        return result if other is None else replace(result, other_model=other)

    def neighbors(self, wanted: Sequence[tuple[Passage, int]]) -> SearchResult:
        from handler.adapters.qdrant.neighborhoods import around, most_neighbors  # noqa: PLC0415 - rarely needed

        near = around(wanted, self._profile)
        if not near["should"]:
            return SearchResult(())
        keys = list(self._profile.payload.read)
        request = qdrant_edge.QueryRequest(limit=most_neighbors(wanted), filter=_engine_filter(near), with_payload=keys)
        return SearchResult(payload.read(self._ask(lambda shard: shard.query(request)), self._profile.payload).passages)

    def noise(self) -> Noise | None:
        return noise_of(self._profile, self._manifest.noise)

    def holders(self, words: Sequence[str], most: int) -> Mapping[str, frozenset[PointId]]:
        if self._text is None or not words:
            return {}
        from handler.adapters.qdrant.filters import with_word  # noqa: PLC0415 - most questions have no filter

        filters = [_engine_filter(with_word(self._text.field, word)) for word in words]
        requests = [qdrant_edge.QueryRequest(limit=most + 1, filter=each) for each in filters]
        found = self._ask(lambda shard: shard.query_batch(qdrant_edge.QueryBatchRequest(requests)))
        return text_search.holders(words, found, most)

    def values(self, keys: Sequence[str], most: int) -> Mapping[str, tuple[str, ...]]:
        """See `handler.core.ports.PassageStore`. An index has no payload index that counts, so its pages are read.

        The first chunk of a page has the page's language, version and address.
        """
        from handler.adapters.qdrant.filters import any_value  # noqa: PLC0415 - no search needs it

        paths, read = [KeyPath.of(key) for key in keys], payload.CHUNK_FIELDS["text"]
        first = any_value((key, 0) for key in self._profile.payload.index[:1])
        pages = self._scroll(MOST_PAGES + 1, first, with_payload=[path.outer for path in paths])
        if len(pages) > MOST_PAGES:
            return {}
        found = {path.key: {read(path.value(page.payload or {})) for page in pages} - {None} for path in paths}
        return {key: tuple(sorted(values)) for key, values in found.items() if len(values) <= most}

    def fetch(self, chunk: str, *, with_vectors: bool) -> Passage | None:
        from handler.adapters.qdrant.filters import any_value  # noqa: PLC0415 - no search needs it

        number, records = payload.point_id(chunk), []
        if number is not None:
            records = self._ask(lambda shard: shard.retrieve([number], with_payload=True, with_vector=with_vectors))
        pairs = payload.chunk_id_pairs(chunk, self._profile.payload)
        if not records and pairs:
            records = self._scroll(1, any_value(pairs), with_vector=with_vectors)
        return payload.read_one(records[0], self._profile.payload, self._vector(records[0])) if records else None

    def _scroll(
        self, limit: int, given: Mapping[str, Any], *, with_payload: bool | list[str] = True, with_vector: bool = False
    ) -> list[qdrant_edge.Record]:
        """The first points that a filter lets through."""
        request = qdrant_edge.ScrollRequest(
            limit=limit, filter=_engine_filter(given), with_payload=with_payload, with_vector=with_vector
        )
        return self._ask(lambda shard: shard.scroll(request))[0]

    def describe(self) -> CollectionInfo:
        info = self._ask(lambda shard: shard.info())
        mode = self._profile.search.mode
        return CollectionInfo(
            name=self.collection,
            vector_size=self._manifest.dimension,
            distance_metric=distance_name(self._manifest.distance),
            points_count=info.points_count,
            indexed_vectors_count=info.indexed_vectors_count,
            status="green",
            embedding_model=self._manifest.embedding_model,
            search=mode if self._text else "dense",
            notes=(NO_TEXT_INDEX,) if mode != "dense" and not self._text else (),
            noise=self.noise(),
        )

    def warm(self) -> None:
        """Opens the index and searches it once, which maps it."""
        mode = self._profile.search.mode
        words = "" if mode == "dense" else "warm"
        by: Literal["words"] | None = "words" if mode == "words" and self._text else None
        self.search([([1.0] * self._profile.collection.dimension, Search(top_k=1, text=words, by=by))])

    def close(self) -> None:
        """Close the index's files. The store cannot be used afterwards."""
        shard = self.__dict__.pop("_shard", None)
        if shard is not None:
            shard.close()

    def _ask(self, call: Callable[[qdrant_edge.EdgeShard], T]) -> T:
        """Run one request on the engine and map its failure to the core's error."""
        shard = self._shard
        deadline = deadlines.current()
        if deadline is not None:
            deadline.require("store")
        try:
            return call(shard)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # the engine's class for every failure, or a panic, which has another base class
            raise UpstreamUnavailable(
                "The vector store failed to answer.", upstream="store", detail=str(error)
            ) from error

    def _vector(self, point: Any) -> Vector | None:
        vectors = point.vector
        vector = vectors.get(self._profile.collection.vector) if isinstance(vectors, dict) else vectors
        return tuple(vector) if vector is not None else None

    @cached_property
    def _manifest(self) -> Manifest:
        """The index's description, validated against the profile."""
        return manifest.read(self._folder, self._profile, self._embedded_by)

    @cached_property
    def _other_model(self) -> str | None:
        return payload.other_model(self._manifest.embedding_model, self._profile)

    @cached_property
    def _text(self) -> TextSearch | None:
        """How to search by text; None for an index without a scoring text index."""
        return TextSearch.of(self._profile, self._manifest.text_index, self._manifest.embedded_by)

    @cached_property
    def _shard(self) -> qdrant_edge.EdgeShard:
        said = self._manifest  # refuses an index of another kind before it is opened
        manifest.check_sizes(self._folder, said, self._profile)
        try:
            with _writable(self._folder / SHARD) as folder:
                shard = qdrant_edge.EdgeShard.load(str(folder))
                points = shard.info().points_count
                if points == said.points:
                    return shard
                shard.close()
                raise manifest.damage(self._profile.name, f"it has {points:,} points instead of {said.points:,}")
        except (KeyboardInterrupt, SystemExit, ConfigurationError):
            raise
        except OSError as error:  # of the copy: the engine's failures have another class
            raise ConfigurationError(
                f"The index for the profile '{self._profile.name}' cannot be copied: the function's /tmp must be "
                "writable and hold it (template: EphemeralStorage).",
                upstream="store",
                detail=str(error),
            ) from error
        except BaseException as error:  # the engine's class for every failure, or a panic, which has another base class
            raise ConfigurationError(
                f"The index for the profile '{self._profile.name}' cannot be opened: run `passage index` again.",
                upstream="store",
                detail=str(error),
            ) from error


def _engine_filter(given: Mapping[str, Any]) -> qdrant_edge.Filter:
    """A filter of Qdrant's API (see `filters`) as the engine's."""
    clauses: dict[str, Any] = {name: [_condition(one) for one in conditions] for name, conditions in given.items()}
    return qdrant_edge.Filter(**clauses)


def _condition(given: Mapping[str, Any]) -> qdrant_edge.FieldCondition | qdrant_edge.Filter:
    match given:
        case {"key": key, "range": bounds}:
            times = any(isinstance(bound, str) for bound in bounds.values())
            within = qdrant_edge.RangeDateTime(**bounds) if times else qdrant_edge.RangeFloat(**bounds)
            return qdrant_edge.FieldCondition(key, range=within)
        case {"key": key, "match": match}:
            ((kind, value),) = match.items()
            return qdrant_edge.FieldCondition(key, match=MATCHES[kind](value))
        case _:
            return _engine_filter(given)


@contextmanager
def _writable(shard: Path) -> Iterator[Path]:
    """The shard, or a copy if it is read-only: the engine opens its files for writing even to read them.

    If the block fails, the copy is removed, so that further tries do not fill the disk.
    """
    if os.access(shard, os.W_OK) or not shard.exists():
        yield shard
        return
    folder = Path(tempfile.mkdtemp(prefix="passage-index-"))
    try:
        from handler.adapters.qdrant import sparse_files  # noqa: PLC0415 - only an index in a layer is copied

        yield sparse_files.copy_folder(shard, folder / SHARD)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
