"""One collection on a Qdrant server: its requests through the official client, and the errors they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic_core import to_json
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.api_client import ApiClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from handler import telemetry
from handler.adapters.errors import Service
from handler.adapters.qdrant import not_found
from handler.adapters.qdrant.answers import ScoredPoint, Searched, SearchedEach
from handler.adapters.transport import LONGEST_RUN_SECONDS, for_client
from handler.core.errors import CollectionNotFound, PassageError

SERVICE = Service("store", "vector store", "QDRANT_API_KEY", "QDRANT_URL")

GRPC_PORT = 6334
THIS_MACHINE = ("127.0.0.1", "::1", "localhost")

T = TypeVar("T")


class Connection:
    """One collection on a server. Every failure of the client becomes an error of the core.

    Args:
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
    def client(self) -> ApiClient:
        """The HTTP client below `QdrantClient`, without its models, inference, gRPC and local mode (decision 15)."""
        parts = urlsplit(self._url)
        if self._service.has_key and parts.scheme == "http" and parts.hostname not in THIS_MACHINE:
            telemetry.logger.warning(f"{self._service.url_variable} is http: the key is sent unencrypted.")
        return ApiClient(
            self._url,
            headers={} if self._api_key is None else {"api-key": self._api_key},
            timeout=LONGEST_RUN_SECONDS,
            transport=self._transport or for_client(),
            auth=self._auth,
        )

    def query(self, request: Mapping[str, Any]) -> Sequence[ScoredPoint]:
        """The points that one request finds (Qdrant, API reference, "Query points").

        Raises:
            PassageError: see `call`.
        """
        return self.post("/points/query", request, Searched).result.points

    def query_batch(self, requests: Sequence[Mapping[str, Any]]) -> list[Sequence[ScoredPoint]]:
        """The points that each request finds. See `query`."""
        if len(requests) == 1:
            return [self.query(requests[0])]
        results = self.post("/points/query/batch", {"searches": requests}, SearchedEach).result
        if len(results) != len(requests):
            raise self._service.unavailable("returned an unreadable answer", f"{len(results)} answers")
        return [each.points for each in results]

    def get(self, path: str, **parameters: str) -> Mapping[str, Any]:
        """The answer to `GET path` as JSON."""
        return self.call(
            lambda: self.client.request(type_=dict[str, Any], method="GET", url=path, path_params=parameters)
        )

    def post(self, path: str, body: Mapping[str, Any], answer: type[T]) -> T:
        """The answer to a request about the collection, which changes nothing.

        Args:
            path: below the collection.
            answer: the class to read the answer into.

        Raises:
            PassageError: see `call`.
        """
        return self.call(
            lambda: self.client.request(
                type_=answer,
                method="POST",
                url="/collections/{collection_name}" + path,
                path_params={"collection_name": self.collection},
                headers={"Content-Type": "application/json"},
                content=to_json(body),
            )
        )

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
        return not_found.explain(known, self._service, self._url, self._transport or for_client())

    def _transport_failed(self, error: Exception) -> PassageError:
        if urlsplit(self._url).port == GRPC_PORT and isinstance(error, httpx.RemoteProtocolError):
            what = f"has its gRPC port in {self._service.url_variable}: set its REST port, usually 6333"
            return self._service.misconfigured(what, repr(error))
        return self._service.from_transport(error)
