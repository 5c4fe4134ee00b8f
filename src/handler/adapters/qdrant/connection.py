"""One collection on a Qdrant server: its requests through the official client, and the errors they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from handler.adapters.qdrant import not_found
from handler.adapters.transport import LONGEST_RUN_SECONDS, for_client
from handler.core.errors import CollectionNotFound, PassageError

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
