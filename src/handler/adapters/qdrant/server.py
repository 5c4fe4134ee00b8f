"""A Qdrant server or Qdrant Cloud, through the official client over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic_core import to_json
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from qdrant_client.qdrant_remote import QdrantRemote

from handler.adapters.errors import Service
from handler.adapters.qdrant import not_found, payload, query
from handler.adapters.qdrant.text_search import Findings, Reader, TextSearch, findings, read, version_of
from handler.adapters.transport import LONGEST_RUN_SECONDS, for_client, made_up
from handler.config.profiles import Profile
from handler.config.validation import check_distance, check_indexes, check_name
from handler.core.errors import (
    CollectionNotFound,
    ConfigurationError,
    CredentialsRefused,
    DeadlineExceeded,
    PassageError,
    RequestRefused,
    UpstreamError,
)
from handler.core.model import (
    CollectionInfo,
    Passage,
    Point,
    Search,
    SearchResult,
    Vector,
)

if TYPE_CHECKING:
    from qdrant_client.http import models

    from handler.adapters.qdrant.neighborhoods import Neighborhood

SERVICE = Service("store", "vector store", "QDRANT_API_KEY", "QDRANT_URL")

GRPC_PORT = 6334

MATCHES_BY_PREFIX = (1, 19)
"""The first version with a match by prefix, which also finds the sections of a page (Qdrant, "Filtering")."""

T = TypeVar("T")


class QdrantServerStore:
    """One collection on a server, searched as one profile describes.

    Args:
        url: with an explicit port; the client would assume 6333.
        auth: puts the key into each request instead of `api_key`, where it can change.
        key_variable: the variable that holds the key or names its secret.
    """

    def __init__(
        self,
        *,
        url: str,
        api_key: str | None,
        profile: Profile,
        auth: httpx.Auth | None = None,
        key_variable: str = SERVICE.key_variable,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        has_key = api_key is not None or auth is not None
        self._service = replace(SERVICE, key_variable=key_variable, has_key=has_key)
        self._auth = auth
        self._transport = transport
        self._url = url
        self._api_key = api_key
        self._profile = profile
        self._reader = Reader(self._get, profile)
        self._found: Findings | None = None

    @property
    def collection(self) -> str:
        return self._profile.collection.name

    @cached_property
    def _client(self) -> QdrantRemote:
        """The part of `QdrantClient` that talks to a server, without its inference and local mode."""
        parts = urlsplit(self._url)
        host = parts.hostname or ""
        return QdrantRemote(
            host=f"[{host}]" if ":" in host else host,
            port=parts.port,
            https=parts.scheme == "https",
            prefix=parts.path or None,
            api_key=self._api_key,
            check_compatibility=False,  # it would start a thread that makes a request
            prefer_grpc=False,
            timeout=LONGEST_RUN_SECONDS,
            transport=self._transport or for_client(),
            auth=self._auth,
        )

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        """See `handler.core.ports.PassageStore`."""
        by_text = self._by_text() if any(search.text for _, search in searches) else None
        if by_text is None:
            return self._dense(searches)
        try:
            return self._hybrid(searches, by_text)
        except RequestRefused as error:
            changed = self._read_again(by_text)
            if changed is None:
                if len(searches) == 1:
                    self._explain(error, searches[0][1])
                raise
        # Once only: while a cluster is changed, its nodes may say different things.
        return self._dense(searches) if changed.search is None else self._hybrid(searches, changed.search)

    def _dense(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        requests = [self._request(vector, search) for vector, search in searches]
        answers = [self._query(requests[0], searches[0][1])] if len(requests) == 1 else self._query_batch(requests)
        return [self._result(points, search) for points, (_, search) in zip(answers, searches, strict=True)]

    def _hybrid(self, searches: Sequence[tuple[Vector, Search]], by_text: TextSearch) -> list[SearchResult]:
        """Searches of which at least one is hybrid, in one request.

        Qdrant returns the fused scores only, so two more searches give the similarities: of the nearest points, and
        of those found by text.
        """
        asked = [self._stages(vector, search, by_text) for vector, search in searches]
        answers = iter(self._query_batch([request for stages in asked for request in stages.values()]))
        results = []
        for stages, (_, search) in zip(asked, searches, strict=True):
            found: dict[str, Any] = {name: next(answers) for name in stages}
            points = found["dense"]
            if search.text:
                similarities = {point.id: point.score for point in (*points, *found.pop("similar"))}
                if any(point.id not in similarities for point in found["fused"]):
                    self._found = None  # the alias may lead to more shards now: the next question reads them
                points = payload.best_fused(found["fused"], similarities, search)
            result = payload.read(points, self._profile.payload, self._vector if search.with_vectors else None)
            if search.explain:
                shown: dict[str, Any] = {name: found[name] for name in ("dense", "text", "fused") if name in found}
                fusion = {"weights": by_text.fusion.weights, "k": by_text.fusion.k} if search.text else {}
                result = replace(result, stages=payload.stages(shown), fusion=fusion)
            results.append(result)
        return results

    def _stages(self, vector: Vector, search: Search, by_text: TextSearch) -> dict[str, dict[str, Any]]:
        """The requests of one search, by stage."""
        request = self._request(vector, search)
        if not search.text:
            return {"dense": request}
        each, wanted = payload.candidates(search, self._profile.search.candidates)
        filters: dict[str, Any] = {"filter": request["filter"]} if search.filters else {}
        parts = ("query", "using", "filter")
        nearest: dict[str, Any] = {key: request[key] for key in parts if key in request}
        field = by_text.key(search) if search.filters else by_text.field
        text: dict[str, Any] = {"query": {"text": search.text}, "using": field, "limit": each, **filters}
        stages: dict[str, dict[str, Any]] = {
            "fused": {
                "prefetch": [{**nearest, "limit": each}, text],
                "query": {"rrf": {"k": by_text.fusion.k, "weights": by_text.fusion.weights}},
                "limit": wanted,
                "with_payload": request["with_payload"],
                "with_vector": request["with_vector"],
            },
            "dense": {**nearest, "limit": each, "with_payload": False},
            # Each shard gives as many points as the prefetch's limit.
            "similar": {**nearest, "prefetch": [text], "limit": each * by_text.shards, "with_payload": False},
        }
        return {**stages, "text": {**text, "with_payload": False}} if search.explain else stages

    def _query(self, request: Mapping[str, Any], search: Search) -> Sequence[models.ScoredPoint]:
        body = to_json(request)
        try:
            answer = self._call(lambda: self._api.query_points(self.collection, query_request=body))
        except RequestRefused as error:
            self._explain(error, search)
            raise
        return self._points(answer.result)

    def _query_batch(self, requests: Sequence[Mapping[str, Any]]) -> list[Sequence[models.ScoredPoint]]:
        body = to_json({"searches": requests})
        answer = self._call(lambda: self._api.query_batch_points(self.collection, query_request_batch=body))
        found = answer.result or ()
        if len(found) != len(requests):
            raise self._service.unavailable("returned an unreadable answer", f"{len(found)} answers")
        for result in found:
            if result.points and result.points[0].score < result.points[-1].score:
                self._not_by_similarity()
        return [result.points for result in found]

    def _explain(self, error: RequestRefused, search: Search) -> None:
        """Find the reason for a refused search. Qdrant's message is prose, so the collection's metadata is compared.

        Raises:
            ConfigurationError: the collection's shape, or its payload indexes, explain the refusal.
        """
        from handler.adapters.qdrant import collection_info  # noqa: PLC0415 - after an error

        try:
            info = self._info()
        except (CredentialsRefused, UpstreamError, DeadlineExceeded):
            return  # only the refusal itself is known
        collection_info.explain(error, search, self._profile, info, self._matches_by_prefix)

    def _matches_by_prefix(self) -> bool:
        """Whether the server's version matches by prefix; true where the version is not known."""
        try:
            version = version_of(self._get("/"))
        except PassageError:
            return True
        return version is None or version >= MATCHES_BY_PREFIX

    @cached_property
    def _api(self) -> Any:
        """The client's calls to Qdrant's search API.

        Passage passes the request as JSON. The client's model for it, `QueryRequest`, needs more than a hundred other
        models, for searches that Passage never makes (docs/decisions, 15).
        """
        return self._client.http.search_api

    def _request(self, vector: Vector, search: Search) -> dict[str, Any]:
        """One search as JSON for Qdrant's API (Qdrant, API reference, "Query points")."""
        request: dict[str, Any] = {
            "query": list(vector),
            "limit": search.top_k,
            "with_payload": True if search.whole_payload else self._profile.payload.read,
            "with_vector": search.with_vectors,
        }
        if self._profile.collection.vector:
            request["using"] = self._profile.collection.vector
        if search.score_threshold:
            request["score_threshold"] = query.threshold(search.score_threshold)
        if search.filters:
            from handler.adapters.qdrant.filters import as_json  # noqa: PLC0415 - most questions have no filter

            request["filter"] = as_json(search.filters, self._profile)
        return request

    def _points(self, result: Any) -> Sequence[models.ScoredPoint]:
        if result is None:  # the client takes `{}` for an answer
            raise self._service.unavailable("returned an unreadable answer", "it has no result")
        points: Sequence[models.ScoredPoint] = result.points
        if points and points[0].score < points[-1].score:
            self._not_by_similarity()
        return points

    def _not_by_similarity(self) -> None:
        """Check the metric of a collection whose scores ascend: they are distances."""
        check_distance(self._profile.collection, self.describe().distance_metric)

    def _result(self, points: Iterable[payload.Scored], search: Search) -> SearchResult:
        result = payload.read(points, self._profile.payload, self._vector if search.with_vectors else None)
        return replace(result, stages=payload.stages({"dense": points})) if search.explain else result

    def prepare(self) -> None:
        """See `handler.core.ports.PassageStore`."""
        if self._found is None:
            self._reader.start()

    def neighbors(self, wanted: Sequence[tuple[Passage, int]]) -> Sequence[Passage]:
        """See `handler.core.ports.PassageStore`."""
        from handler.adapters.qdrant.neighborhoods import most_neighbors, neighborhoods  # noqa: PLC0415 - rarely needed

        places = neighborhoods(wanted, self._profile)
        if not places:
            return ()
        try:
            points = self._around(places, most_neighbors(wanted), sections=True)
        except RequestRefused as error:
            if self._matches_by_prefix():
                from handler.adapters.qdrant.collection_info import indexes  # noqa: PLC0415 - after an error

                kinds = {place.url[0]: "keyword" for place in places} | {place.index[0]: "integer" for place in places}
                check_indexes(self._profile.collection, kinds, indexes(self._info()), error.detail)
                raise
            points = self._around(places, most_neighbors(wanted), sections=False)
        return payload.read(points, self._profile.payload).passages

    def _around(self, places: Sequence[Neighborhood], limit: int, *, sections: bool) -> Sequence[models.ScoredPoint]:
        """The points of any of the places, in one request; without `sections` only those with a page's own URL."""
        from handler.adapters.qdrant.filters import condition_json  # noqa: PLC0415 - rarely needed

        should = []
        for place in places:
            key, alternatives = place.url
            urls = [condition_json(key, one) for one in (alternatives if sections else alternatives[:1])]
            should.append({"must": [{"should": urls}, condition_json(*place.index)]})
        body = to_json({"filter": {"should": should}, "limit": limit, "with_payload": self._profile.payload.read})
        answer = self._call(lambda: self._api.query_points(self.collection, query_request=body))
        return self._points(answer.result)

    def fetch(self, chunk: str, *, with_vectors: bool) -> Point | None:
        """See `handler.core.ports.PassageStore`."""
        identity = query.point_id(chunk)
        records: list[models.Record] = []
        if identity is not None:
            records = self._call(
                lambda: self._client.retrieve(
                    self.collection, ids=[identity], with_payload=True, with_vectors=with_vectors
                )
            )
        if not records:
            records = self._named(chunk, with_vectors=with_vectors)
        return next(map(self._point, records), None)

    def _point(self, record: models.Record) -> Point:
        identity, stored = query.identity(record.id), record.payload or {}
        passage = payload.passage(identity, stored, self._profile.payload)
        return Point(identity, payload.shown(stored), self._vector(record), passage)

    def _named(self, chunk: str, *, with_vectors: bool) -> list[models.Record]:
        """The points whose payload has `chunk` as their chunk id, text or integer; the first one is enough.

        Qdrant's strict mode refuses a filter with one condition that no payload index serves, so the conditions that
        an index serves are asked again without the others.
        """
        keys = self._profile.payload.keys("chunk_id")
        conditions = [(key, value) for key in keys for value in query.chunk_id_values(chunk)]
        if not conditions:
            return []
        try:
            return self._matching(conditions, with_vectors=with_vectors)
        except RequestRefused as error:
            from handler.adapters.qdrant.collection_info import index_kinds, indexes  # noqa: PLC0415 - after an error

            kinds = indexes(self._info())
            if keys[0] not in kinds:
                check_indexes(self._profile.collection, {keys[0]: "keyword"}, kinds, error.detail)
            served = [(key, value) for key, value in conditions if kinds.get(key) in index_kinds(value)]
            if served == conditions:
                raise
            return self._matching(served, with_vectors=with_vectors) if served else []

    def _matching(self, conditions: Sequence[tuple[str, str | int]], *, with_vectors: bool) -> list[models.Record]:
        """The first point that meets one of the conditions: a payload key and the value it has."""
        from qdrant_client.http import models  # noqa: PLC0415 - a second module of models, which no search needs

        any_of: list[models.Condition] = [
            models.FieldCondition(key=key, match=models.MatchValue(value=value)) for key, value in conditions
        ]
        found, _ = self._call(
            lambda: self._client.scroll(
                self.collection,
                scroll_filter=models.Filter(should=any_of),
                limit=1,
                with_payload=True,
                with_vectors=with_vectors,
            )
        )
        return found

    def describe(self) -> CollectionInfo:
        """See `handler.core.ports.PassageStore`."""
        from handler.adapters.qdrant import collection_info  # noqa: PLC0415 - not for questions

        info = self._info()
        check_name(self._profile.collection, collection_info.sizes(info))
        return collection_info.described(self._profile.collection, info, self._findings(info), self._model(info))

    def _findings(self, info: models.CollectionInfo) -> Findings:
        """How the collection can be searched now. Later searches use it, too."""
        if self._profile.search.mode == "dense":
            return Findings(None)
        try:
            version = version_of(self._get("/"))
        except ConfigurationError:
            version = None
        found = findings(self._profile, info.model_dump(mode="json", exclude_none=True), version)
        self._found = found
        return found

    def _read_again(self, by_text: TextSearch) -> Findings | None:
        """How the collection can be searched now, for this search and later ones; None if that is still `by_text`."""
        try:
            found = read(self._get, self._profile)
        except PassageError:
            return None  # the caller raises the refusal, which says more
        self._found = found
        return None if found.search == by_text else found

    def _by_text(self) -> TextSearch | None:
        """How to search by text, as read while the first question was embedded; None where that is not possible."""
        if self._found is None:
            self._found = self._reader.result()
        return self._found.search

    def _get(self, path: str, **parameters: str) -> Mapping[str, Any]:
        """The answer to `GET path` as JSON. The client's models for collection metadata cost a cold start too much."""
        api = self._client.http.client
        found: Mapping[str, Any] = self._call(
            lambda: api.request(type_=dict[str, Any], method="GET", url=path, path_params=parameters)
        )
        return found

    def warm(self) -> None:
        """See `handler.core.ports.PassageStore`. The client builds its types at the first search, so it makes one."""
        _ = self._client
        point = {"id": 0, "version": 0, "score": 0.5, "payload": {}}
        answer = {"result": {"points": [point]}, "status": "ok", "time": 0}
        QdrantServerStore(
            url=self._url,
            api_key=None,
            profile=self._profile,
            transport=made_up(answer),
        ).search([([0.5] * self._profile.collection.dimension, Search(top_k=1))])

    def _info(self) -> models.CollectionInfo:
        return self._call(lambda: self._client.get_collection(self.collection))

    def _model(self, info: models.CollectionInfo) -> str | None:
        """The model the collection says it was embedded with: in its metadata, or else in its first point."""
        stated = (info.config.metadata or {}).get("embedding_model")
        if isinstance(stated, str):
            return stated
        keys = self._profile.payload
        outer = list(dict.fromkeys(path.outer for path in keys.paths["model"]))
        if not outer:
            return None
        records, _ = self._call(lambda: self._client.scroll(self.collection, limit=1, with_payload=outer))
        return payload.embedding_model(records[0].payload, keys) if records else None

    def _vector(self, point: models.ScoredPoint | models.Record) -> Vector | None:
        name = self._profile.collection.vector
        found = point.vector.get(name) if isinstance(point.vector, dict) else point.vector
        if not isinstance(found, list):
            return None
        numbers = [item for item in found if isinstance(item, float)]
        return tuple(numbers) if len(numbers) == len(found) else None  # a multivector is no vector of ours

    def _call(self, call: Callable[[], T]) -> T:
        """Run one request and map its failure to the core's error."""
        try:
            return call()
        except QdrantException as error:  # the client's own class for a 429 that carries a Retry-After header
            wait = getattr(error, "retry_after_s", None)
            raise self._service.from_status(
                429, {} if wait is None else {"retry-after": str(wait)}, str(error)
            ) from error
        except UnexpectedResponse as error:
            raise self._refused(error) from error
        except ResponseHandlingException as error:
            source = error.source if isinstance(error.source, Exception) else error
            if isinstance(source, PassageError):  # the key could not be read
                raise source from source.__cause__
            raise self._transport_failed(source) from error
        except (httpx.HTTPError, AssertionError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise self._transport_failed(error) from error  # the last five: an answer the client could not parse

    def _refused(self, error: UnexpectedResponse) -> PassageError:
        known = self._service.from_status(error.status_code or 0, error.headers, error.content)
        if error.status_code != 404:
            return known
        if not_found.is_collection(error.content):
            return CollectionNotFound(
                f"The vector store has no collection '{self.collection}': set COLLECTION_NAME, or index the site.",
                upstream="store",
                detail=known.detail,
            )
        return not_found.explained(known, self._service, self._url, self._transport or for_client())

    def _transport_failed(self, error: Exception) -> PassageError:
        if urlsplit(self._url).port == GRPC_PORT and isinstance(error, httpx.RemoteProtocolError):
            what = f"has its gRPC port in {self._service.url_variable}: set its REST port, usually 6333"
            return self._service.misconfigured(what, repr(error))
        return self._service.from_transport(error)
