"""A Qdrant server or Qdrant Cloud, through the official client over REST.

Here are the connection and the searches. Payload indexes and metadata are in `collection_info`, chunks by their id or
position in `server_chunks`; no search that succeeds imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic_core import to_json
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from qdrant_client.qdrant_remote import QdrantRemote

from handler.adapters.errors import Service
from handler.adapters.qdrant import not_found, payload, query
from handler.adapters.qdrant.text_search import (
    Reader,
    TextSearch,
    TextSupport,
    read_text_support,
    server_version,
    text_support,
)
from handler.adapters.transport import LONGEST_RUN_SECONDS, for_client, made_up
from handler.config.profiles import Profile
from handler.config.validation import check_distance, check_name
from handler.core.errors import (
    CollectionNotFound,
    CredentialsRefused,
    DeadlineExceeded,
    PassageError,
    RequestRefused,
    UpstreamError,
)
from handler.core.model import CollectionInfo, Passage, Point, Search, SearchResult, Vector

if TYPE_CHECKING:
    from qdrant_client.http import models

SERVICE = Service("store", "vector store", "QDRANT_API_KEY", "QDRANT_URL")

GRPC_PORT = 6334

T = TypeVar("T")


class Connection:
    """One collection on a server. Every failure of the client becomes an error of the core.

    Args:
        url: with an explicit port; the client would assume 6333.
        auth: puts the key into each request instead of `api_key`, where it can change.
        key_variable: the variable that holds the key or names its secret.
        transport: None for the container's own connections.
    """

    def __init__(
        self,
        collection: str,
        *,
        url: str,
        api_key: str | None,
        auth: httpx.Auth | None,
        key_variable: str,
        transport: httpx.BaseTransport | None,
    ) -> None:
        has_key = api_key is not None or auth is not None
        self.collection = collection
        self._service = replace(SERVICE, key_variable=key_variable, has_key=has_key)
        self._url = url
        self._api_key = api_key
        self._auth = auth
        self._transport = transport

    @cached_property
    def client(self) -> QdrantRemote:
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

    @cached_property
    def _api(self) -> Any:
        """The client's calls to Qdrant's search API.

        Passage passes the request as JSON. The client's model for it, `QueryRequest`, needs more than a hundred other
        models, for searches that Passage never makes (docs/decisions, 15).
        """
        return self.client.http.search_api

    def query(self, request: Mapping[str, Any]) -> Sequence[models.ScoredPoint]:
        """The points that one request finds (Qdrant, API reference, "Query points").

        Raises:
            PassageError: see `call`.
        """
        body = to_json(request)
        answer = self.call(lambda: self._api.query_points(self.collection, query_request=body))
        if answer.result is None:  # the client takes `{}` for an answer
            raise self._service.unavailable("returned an unreadable answer", "it has no result")
        points: Sequence[models.ScoredPoint] = answer.result.points
        return points

    def query_batch(self, requests: Sequence[Mapping[str, Any]]) -> list[Sequence[models.ScoredPoint]]:
        """The points that each request finds. See `query`."""
        body = to_json({"searches": requests})
        answer = self.call(lambda: self._api.query_batch_points(self.collection, query_request_batch=body))
        found = answer.result or ()
        if len(found) != len(requests):
            raise self._service.unavailable("returned an unreadable answer", f"{len(found)} answers")
        return [result.points for result in found]

    def get(self, path: str, **parameters: str) -> Mapping[str, Any]:
        """The answer to `GET path` as JSON. The client's models for collection metadata cost a cold start too much."""
        api = self.client.http.client
        found: Mapping[str, Any] = self.call(
            lambda: api.request(type_=dict[str, Any], method="GET", url=path, path_params=parameters)
        )
        return found

    def info(self) -> models.CollectionInfo:
        """The collection's metadata."""
        return self.call(lambda: self.client.get_collection(self.collection))

    def call(self, call: Callable[[], T]) -> T:
        """Make one call of the client.

        Raises:
            UpstreamError: the server failed temporarily.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the key, the collection or the request was refused, or the URL is wrong.
        """
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
        if not_found.is_missing_collection(error.content):
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


class QdrantServerStore:
    """One collection on a server, searched as one profile describes. See `Connection` for the other arguments."""

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
        self.collection = profile.collection.name
        self._connection = Connection(
            self.collection, url=url, api_key=api_key, auth=auth, key_variable=key_variable, transport=transport
        )
        self._url = url
        self._profile = profile
        self._reader = Reader(self._connection.get, profile)
        self._support: TextSupport | None = None

    def warm(self) -> None:
        """See `handler.core.ports.PassageStore`. The client builds its types at the first search, so it makes one."""
        _ = self._connection.client
        point = {"id": 0, "version": 0, "score": 0.5, "payload": {}}
        answer = {"result": {"points": [point]}, "status": "ok", "time": 0}
        same = QdrantServerStore(url=self._url, api_key=None, profile=self._profile, transport=made_up(answer))
        same.search([([0.5] * self._profile.collection.dimension, Search(top_k=1))])

    def prepare(self) -> None:
        """See `handler.core.ports.PassageStore`."""
        if self._support is None:
            self._reader.start()

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        """See `handler.core.ports.PassageStore`."""
        by_text = self._by_text() if any(search.text for _, search in searches) else None
        try:
            try:
                return self._searched(searches, by_text)
            except RequestRefused:
                changed = None if by_text is None else self._read_again(by_text)
                if changed is None:
                    raise
                # Once only: while a cluster is changed, its nodes may say different things.
                return self._searched(searches, changed.search)
        except RequestRefused as error:
            if len(searches) == 1:
                self._explain(error, searches[0][1])
            raise

    def _searched(self, searches: Sequence[tuple[Vector, Search]], by_text: TextSearch | None) -> list[SearchResult]:
        """The results of searches, whose stages are all sent in one request."""
        asked = [self._stages(vector, search, by_text) for vector, search in searches]
        requests = [request for stages in asked for request in stages.values()]
        connection = self._connection
        found = [connection.query(requests[0])] if len(requests) == 1 else connection.query_batch(requests)
        for points in found:
            if points and points[0].score < points[-1].score:  # scores that ascend are distances
                check_distance(self._profile.collection, self.describe().distance_metric)
        answers = iter(found)
        return [
            self._result({name: next(answers) for name in stages}, search, by_text)
            for stages, (_, search) in zip(asked, searches, strict=True)
        ]

    def _stages(self, vector: Vector, search: Search, by_text: TextSearch | None) -> dict[str, dict[str, Any]]:
        """The requests of one search, by stage: "dense" alone, or those of a hybrid search.

        Qdrant returns the fused scores only, so two more stages give the similarities: of the nearest points, and of
        those found by text.
        """
        request = self._request(vector, search)
        if by_text is None or not search.text:
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

    def _request(self, vector: Vector, search: Search) -> dict[str, Any]:
        """A search by vector as JSON for Qdrant's API (Qdrant, API reference, "Query points")."""
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

    def _result(self, found: Mapping[str, Any], search: Search, by_text: TextSearch | None) -> SearchResult:
        """One search's result from the points of its stages."""
        points: Iterable[payload.Scored] = found["dense"]
        fusion: Mapping[str, Any] = {}
        if by_text is not None and "fused" in found:
            fusion = {"weights": by_text.fusion.weights, "k": by_text.fusion.k}
            similarities = {point.id: point.score for point in (*found["dense"], *found["similar"])}
            if any(point.id not in similarities for point in found["fused"]):
                self._support = None  # the alias may lead to more shards now: the next question reads them
            points = payload.best_fused(found["fused"], similarities, search)
        result = payload.read(points, self._profile.payload, self._vector if search.with_vectors else None)
        if not search.explain:
            return result
        shown = {name: found[name] for name in ("dense", "text", "fused") if name in found}
        return replace(result, stages=payload.stages(shown), fusion=fusion)

    def _by_text(self) -> TextSearch | None:
        """How to search by text, as read while the first question was embedded; None where that is not possible."""
        if self._support is None:
            self._support = self._reader.result()
        return self._support.search

    def _read_again(self, by_text: TextSearch) -> TextSupport | None:
        """How the collection can be searched now, for this search and later ones; None if that is still `by_text`."""
        try:
            found = read_text_support(self._connection.get, self._profile)
        except PassageError:
            return None  # the caller raises the refusal, which says more
        self._support = found
        return None if found.search == by_text else found

    def _explain(self, error: RequestRefused, search: Search) -> None:
        """Find the reason for a refused search. Qdrant's message is prose, so the collection's metadata is compared.

        Raises:
            ConfigurationError: the collection's shape, or its payload indexes, explain the refusal.
        """
        from handler.adapters.qdrant import collection_info  # noqa: PLC0415 - after an error

        connection = self._connection
        try:
            info = connection.info()
        except (CredentialsRefused, UpstreamError, DeadlineExceeded):
            return  # only the refusal itself is known
        by_prefix = partial(collection_info.matches_by_prefix, connection.get)
        collection_info.explain(error, search, self._profile, info, by_prefix)

    def neighbors(self, wanted: Sequence[tuple[Passage, int]]) -> Sequence[Passage]:
        """See `handler.core.ports.PassageStore`."""
        from handler.adapters.qdrant import server_chunks  # noqa: PLC0415 - no search needs it

        points = server_chunks.around(self._connection, self._profile, wanted)
        return payload.read(points, self._profile.payload).passages

    def fetch(self, chunk: str, *, with_vectors: bool) -> Point | None:
        """See `handler.core.ports.PassageStore`."""
        from handler.adapters.qdrant import server_chunks  # noqa: PLC0415 - no search needs it

        record = server_chunks.find(self._connection, self._profile, chunk, with_vectors=with_vectors)
        return None if record is None else payload.point(record, self._profile.payload, self._vector(record))

    def describe(self) -> CollectionInfo:
        """See `handler.core.ports.PassageStore`."""
        from handler.adapters.qdrant import collection_info  # noqa: PLC0415 - no search needs it

        info = self._connection.info()
        check_name(self._profile.collection, collection_info.sizes(info))
        model = collection_info.embedding_model(self._connection, self._profile, info)
        return collection_info.described(self._profile.collection, info, self._supported(info), model)

    def _supported(self, info: models.CollectionInfo) -> TextSupport:
        """How the collection can be searched now. Later searches use it, too."""
        if self._profile.search.mode == "dense":
            return TextSupport(None)
        read = info.model_dump(mode="json", exclude_none=True)
        self._support = text_support(self._profile, read, server_version(self._connection.get))
        return self._support

    def _vector(self, point: models.ScoredPoint | models.Record) -> Vector | None:
        name = self._profile.collection.vector
        found = point.vector.get(name) if isinstance(point.vector, dict) else point.vector
        if not isinstance(found, list):
            return None
        numbers = [item for item in found if isinstance(item, float)]
        return tuple(numbers) if len(numbers) == len(found) else None  # a multivector is no vector of ours
