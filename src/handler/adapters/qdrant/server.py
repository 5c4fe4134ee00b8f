"""Searches a collection on a Qdrant server or Qdrant Cloud.

`connection` sends its requests, `metadata` knows what the collection can do, and `lookups` has what no search needs.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from handler.adapters.qdrant import metadata, payload, text_search
from handler.adapters.qdrant.connection import COLLECTION, Connection, ScoredPoint, StoredPoint
from handler.adapters.qdrant.metadata import NO_LIMITS, UNREADABLE, TextSupport, read_text_support, server_version
from handler.adapters.qdrant.text_search import TextSearch, asked_words, noise_of
from handler.adapters.transport import made_up_transport
from handler.config.profiles import Profile
from handler.config.validation import check_distance, check_name, check_vectors
from handler.core.errors import (
    CollectionNotFound,
    ConfigurationError,
    CredentialsRefused,
    DeadlineExceeded,
    InvalidRequest,
    PassageError,
    RequestRefused,
    UpstreamError,
)
from handler.core.model import CollectionInfo, Noise, Passage, PointId, Search, SearchResult, Stage, Vector

MATCHES_BY_PREFIX = (1, 19)
"""The first version with a match by prefix (Qdrant, "Filtering")."""


class QdrantServerStore:
    """One collection on a server, searched as one profile describes: a `handler.core.ports.PassageStore`.

    Args:
        connection: to the profile's collection.
        embedded_by: see `handler.config.validation.check_embedder`.
        may_be_missing: whether to look for the collection before the first text is embedded, not after.
    """

    def __init__(
        self,
        connection: Connection,
        profile: Profile,
        *,
        embedded_by: Collection[str] = (),
        may_be_missing: bool = False,
    ) -> None:
        self.collection = connection.collection
        self._connection = connection
        self._profile = profile
        self._embedded_by = embedded_by
        self._support: TextSupport | None = None
        self._may_be_missing = may_be_missing
        self._limits = NO_LIMITS
        self._has_prefixes = False

    def warm(self) -> None:
        """The client builds its types at the first search, so it makes one."""
        _ = self._connection.client
        point = {"id": 0, "version": 0, "score": 0.5, "payload": {}}
        answer = {"result": {"points": [point]}, "status": "ok", "time": 0}
        made_up = replace(self._connection, api_key=None, auth=None, transport=made_up_transport(answer))
        vector = [0.5] * self._profile.collection.dimension
        QdrantServerStore(made_up, self._profile).search([(vector, Search(top_k=1))])

    def prepare(self) -> None:
        """A hybrid search needs the collection's metadata anyway.

        A dense one looks for a collection that a caller chose, and for one that its last search missed.
        """
        if self._profile.search.mode != "dense":
            self._by_text()
        elif self._may_be_missing:
            try:
                self._connection.get(COLLECTION, dict[str, Any])
            except (CollectionNotFound, CredentialsRefused):
                raise
            except ConfigurationError:
                pass  # a proxy may refuse or shorten metadata: the search says what is wrong, if anything is
            self._may_be_missing = False

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        by_text = self._by_text() if any(search.text for _, search in searches) else None
        try:
            return self._run(searches, by_text)
        except CollectionNotFound:
            self._may_be_missing = True
            raise
        except RequestRefused as error:
            refused = error
        now = self._read_again(by_text)
        if now is not None:
            by_text = now.search
            try:  # Once only: while a cluster is changed, its nodes may say different things.
                return self._run(searches, by_text)
            except RequestRefused as error:
                refused = error
        if len(searches) == 1:
            self._explain(refused, *searches[0], by_text)
        raise refused

    def _run(self, searches: Sequence[tuple[Vector, Search]], by_text: TextSearch | None) -> list[SearchResult]:
        """The results of searches. Their stages are sent in one request, or in as few as the server's limit allows."""
        asked = [self._stages(vector, search, by_text) for vector, search in searches]
        results = self._in_batches([request for stages in asked for request in stages.values()])
        for points in results:
            if points and points[0].score < points[-1].score:  # scores that ascend are distances
                check_distance(self._profile.collection, self.describe().distance_metric)
        answers = iter(results)
        model = self._support.embedding_model if self._support else None
        return [
            self._result({name: next(answers) for name in stages}, search, by_text, model)
            for stages, (_, search) in zip(asked, searches, strict=True)
        ]

    def _in_batches(self, requests: Sequence[dict[str, Any]]) -> list[Sequence[ScoredPoint]]:
        """The points of each request, sent in as few as the server's limit allows."""
        most = self._limits.search_max_batchsize or len(requests)
        batches = [requests[start : start + most] for start in range(0, len(requests), most)]
        return [points for batch in batches for points in self._connection.query_batch(batch)]

    def _stages(self, vector: Vector, search: Search, by_text: TextSearch | None) -> dict[str, dict[str, Any]]:
        """The requests of one search, by stage: "dense" alone, or with "text" and the similarities of what it finds."""
        if search.by is not None:
            return {"text": self._without_vector(search, by_text)}
        nearest = self._request(list(vector), self._profile.collection.vector, search, search.top_k)
        if by_text is None or not search.text:
            least = payload.threshold(search.score_threshold)
            return {"dense": nearest if least is None else nearest | {"score_threshold": least}}
        each = text_search.candidates(search, self._profile.search.candidates)
        nearest["limit"] = each = self._limits.fit(each, search.top_k, by_text.shards)
        text = self._by_words(search, by_text.key(search), each)
        prefetched = {key: text[key] for key in ("query", "using", "filter", "limit") if key in text}
        # Each shard gives as many points as the prefetch's limit.
        wide = {"prefetch": [prefetched], "limit": each * by_text.shards}
        similar = nearest | wide | {"with_payload": False, "with_vector": False}
        return {"dense": nearest, "text": text, "similar": similar}

    def _without_vector(self, search: Search, by_text: TextSearch | None) -> dict[str, Any]:
        if self._support is not None and self._support.failure is not None:
            raise self._support.failure
        field = text_search.field_without_vector(search, by_text, self.collection)
        limit = self._limits.fit(text_search.candidates(search, 1), search.top_k, 1)
        return self._by_words(search, field, limit)

    def _by_words(self, search: Search, field: str, limit: int) -> dict[str, Any]:
        """The search by words alone, as JSON. See `TextSearch` for `field`."""
        return self._request({"text": asked_words(field, search.text)}, field, search, limit)

    def _request(self, scoring: Any, using: str, search: Search, limit: int) -> dict[str, Any]:
        """A search by vector or by words, with the filters and the payload of `search`.

        It is JSON for Qdrant's API (Qdrant, API reference, "Query points").

        Args:
            using: the name of the vector, empty for the unnamed one; or the payload key of the text index.
        """
        request: dict[str, Any] = {
            "query": scoring,
            "limit": limit,
            "with_payload": True if search.whole_payload else self._profile.payload.read,
            "with_vector": search.with_vectors,
        }
        if using:
            request["using"] = using
        if search.filters:
            request["filter"] = self._filter(search)
        return request

    def _filter(self, search: Search) -> dict[str, Any]:
        """The search's filter for Qdrant's API.

        Raises:
            InvalidRequest: it matches by prefix, and the server's version cannot.
        """
        from handler.adapters.qdrant.filters import as_json, has_prefix  # noqa: PLC0415 - most questions have no filter

        given = as_json(search.filters, self._profile)
        if has_prefix(given) and not self._matches_by_prefix():
            raise InvalidRequest(
                "A filter by prefix needs Qdrant 1.19 or newer, and the vector store is older: send whole values."
            )
        return given

    def _result(
        self, by_stage: Mapping[str, Any], search: Search, by_text: TextSearch | None, model: str | None
    ) -> SearchResult:
        """One search's result from the points of its stages.

        Args:
            model: that the collection's metadata names, where it was read. A passage's own has precedence.
        """
        points: Iterable[payload.Scored] = by_stage.get("dense", ())
        stages: Mapping[str, Stage] = payload.stages(by_stage) if search.explain else {}
        balance = None
        if by_text is not None and "similar" in by_stage:
            dense, text, similar = (by_stage[name] for name in ("dense", "text", "similar"))
            if {point.id for point in text} - {point.id for point in similar}:
                self._support = None  # the alias may lead to more shards now: the next question reads them
            balance = by_text.balance
            points, stages = text_search.fuse_points(dense, text, similar, search, balance)
        elif search.by is not None:
            points = text_search.best_by_words(by_stage["text"], search)
        result = payload.read(points, self._profile.payload, self._vector if search.with_vectors else None)
        best = result.passages[0].payload if result.passages else None
        stated = payload.embedding_model(best, self._profile.payload) or model
        other = payload.other_model(stated, self._profile)
        if other is not None:
            self._support = None  # the next question reads whether the site was indexed again
            result = replace(result, other_model=other)
        if search.text and search.by is None and self._support is not None and self._support.failure is not None:
            result = replace(result, warnings=(*result.warnings, UNREADABLE))
        return replace(result, stages=stages, balance=balance) if search.explain else result

    def _by_text(self) -> TextSearch | None:
        """How to search by text, as read while the first question was embedded; None where that is not possible."""
        if self._support is None or not self._support.holds:
            self._support = read_text_support(self._connection, self._profile, self._embedded_by)
            self._limits = self._support.limits
        return self._support.search

    def _read_again(self, by_text: TextSearch | None) -> TextSupport | None:
        """How the collection can be searched now, for this search and later ones; None if nothing has changed."""
        before = (by_text, self._limits)
        try:
            if by_text is None:
                support = TextSupport(None, limits=metadata.read(self._connection).limits)
            else:
                support = self._support = read_text_support(self._connection, self._profile, self._embedded_by)
        except PassageError:
            return None  # the caller raises the refusal, which says more
        self._limits = support.limits
        return None if (support.search, support.limits) == before else support

    def _matches_by_prefix(self) -> bool:
        """Whether the server matches by prefix, by its version; true where a proxy hides that. A no is asked again."""
        if not self._has_prefixes:
            version = server_version(self._connection)
            self._has_prefixes = version is None or version >= MATCHES_BY_PREFIX
        return self._has_prefixes

    def _explain(self, error: RequestRefused, vector: Vector, search: Search, by_text: TextSearch | None) -> None:
        """Find the reason for a refused search. Qdrant's message is prose, so the collection's metadata is compared.

        Raises:
            ConfigurationError: the collection's shape, its limits or its payload indexes explain the refusal.
        """
        from handler.adapters.qdrant import lookups  # noqa: PLC0415 - after an error

        try:
            info = metadata.read(self._connection)
        except (CredentialsRefused, UpstreamError, DeadlineExceeded):
            return  # only the refusal itself is known
        check_vectors(self._profile.collection, info.sizes)
        lookups.explain(error, [*self._stages(vector, search, by_text).values()], self._profile.collection, info)

    def neighbors(self, wanted: Sequence[tuple[Passage, int]]) -> SearchResult:
        from handler.adapters.qdrant import lookups  # noqa: PLC0415 - no search needs it

        points, warnings = lookups.neighbors(self._connection, self._profile, wanted, self._matches_by_prefix)
        return SearchResult(payload.read(points, self._profile.payload).passages, warnings=warnings)

    def noise(self) -> Noise | None:
        self._by_text()  # reads the collection's metadata, once
        return noise_of(self._profile, self._support.noise if self._support else None)

    def holders(self, words: Sequence[str], most: int) -> Mapping[str, frozenset[PointId]]:
        by_text = self._by_text()
        if by_text is None or not words:
            return {}
        from handler.adapters.qdrant.filters import with_word  # noqa: PLC0415 - most questions have no filter

        filters = [with_word(by_text.field, word) for word in words]
        requests = [{"filter": each, "limit": most + 1, "with_payload": False} for each in filters]
        return text_search.holders(words, self._in_batches(requests), most)

    def values(self, keys: Sequence[str], most: int) -> Mapping[str, tuple[str, ...]]:
        """See `handler.core.ports.PassageStore`. Only a payload index can count a key's values."""
        from handler.adapters.qdrant import lookups  # noqa: PLC0415 - no search needs it

        return lookups.values(self._connection, keys, most)

    def fetch(self, chunk: str, *, with_vectors: bool) -> Passage | None:
        from handler.adapters.qdrant import lookups  # noqa: PLC0415 - no search needs it

        record = lookups.find(self._connection, self._profile, chunk, with_vectors=with_vectors)
        return None if record is None else payload.read_one(record, self._profile.payload, self._vector(record))

    def describe(self) -> CollectionInfo:
        """See `handler.core.ports.PassageStore`. Later searches use what was read, too."""
        from handler.adapters.qdrant import lookups  # noqa: PLC0415 - no search needs it

        info, mode, support = metadata.read(self._connection), self._profile.search.mode, TextSupport(None)
        self._limits = info.limits
        if mode != "words":
            check_name(self._profile.collection, info.sizes)
        metadata.check_metadata(self._profile, info, self._embedded_by)
        if mode != "dense":
            version = server_version(self._connection)
            support = self._support = metadata.text_support(self._profile, info, version)
        return lookups.describe(self._connection, self._profile, info, support)

    def _vector(self, point: StoredPoint) -> Vector | None:
        name = self._profile.collection.vector
        values = point.vector.get(name) if isinstance(point.vector, dict) else point.vector
        if not isinstance(values, list):
            return None
        numbers = [item for item in values if isinstance(item, float)]
        return tuple(numbers) if len(numbers) == len(values) else None  # a multivector is no vector of ours
