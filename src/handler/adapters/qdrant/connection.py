"""One collection on a Qdrant server: its requests through the official client, the answers, and the errors."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, StrictInt, StrictStr
from pydantic_core import to_json
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.api_client import ApiClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from handler import telemetry
from handler.adapters.errors import Service
from handler.adapters.transport import LONGEST_RUN_SECONDS, for_client
from handler.core.errors import CollectionNotFound, ConfigurationError, PassageError

SERVICE = Service("store", "vector store", "QDRANT_API_KEY", "QDRANT_URL")

COLLECTION = "/collections/{collection_name}"
"""The path of a collection's metadata, and the beginning of every request about its points."""

JSON = {"Content-Type": "application/json"}
GRPC_PORT = 6334
THIS_MACHINE = ("127.0.0.1", "::1", "localhost")

VERSION_SECONDS = 3.0
"""Seconds for the server's version after a 404, within the request's deadline."""

LEAST_VERSION = (1, 10)
"""The first version with `/points/query` (Qdrant, release notes of 1.10)."""

T = TypeVar("T")


class Answer(BaseModel, Generic[T], defer_build=True):
    """What Passage reads of an answer (Qdrant, API reference). Other fields are ignored.

    `defer_build` here and in `metadata`: the validator is built with the first answer, not at each cold start.
    """

    result: T


class StoredPoint(BaseModel, defer_build=True):
    """A stored point. `vector` is a list, or a mapping by name, as the server sent it."""

    id: StrictInt | StrictStr
    payload: dict[str, Any] | None = None
    vector: Any = None


class ScoredPoint(StoredPoint, defer_build=True):
    """A point that a search found."""

    score: float


class Points(BaseModel, defer_build=True):
    """The points of one search."""

    points: list[ScoredPoint]


@dataclass(frozen=True, repr=False)  # it holds the key
class Connection:
    """One collection on a server. Every failure of the client becomes an error of the core.

    Each request may raise UpstreamError and DeadlineExceeded, and ConfigurationError where the key, the collection or
    the request was refused, or the URL is wrong.

    Attributes:
        auth: puts the key into each request instead of `api_key`, where it can change.
        key_variable: the variable that holds the key or names its secret.
        transport: None for the container's own connections.
    """

    collection: str
    url: str
    api_key: str | None = None
    auth: httpx.Auth | None = None
    key_variable: str = SERVICE.key_variable
    transport: httpx.BaseTransport | None = None

    @cached_property
    def _service(self) -> Service:
        has_key = self.api_key is not None or self.auth is not None
        return replace(SERVICE, key_variable=self.key_variable, has_key=has_key)

    @cached_property
    def client(self) -> ApiClient:
        """The HTTP client below `QdrantClient`, without its models, inference, gRPC and local mode (decision 15)."""
        parts = urlsplit(self.url)
        if self._service.has_key and parts.scheme == "http" and parts.hostname not in THIS_MACHINE:
            telemetry.logger.warning(f"{self._service.url_variable} is http: the key is sent unencrypted.")
        return ApiClient(
            self.url,
            headers={} if self.api_key is None else {"api-key": self.api_key},
            timeout=LONGEST_RUN_SECONDS,
            transport=self.transport or for_client(),
            auth=self.auth,
        )

    def query(self, request: Mapping[str, Any]) -> Sequence[ScoredPoint]:
        """The points that one request finds (Qdrant, API reference, "Query points")."""
        return self.post("/points/query", request, Answer[Points]).points

    def query_batch(self, requests: Sequence[Mapping[str, Any]]) -> Sequence[Sequence[ScoredPoint]]:
        """The points that each request finds."""
        if len(requests) == 1:
            return [self.query(requests[0])]
        results = self.post("/points/query/batch", {"searches": requests}, Answer[list[Points]])
        if len(results) != len(requests):
            raise self._service.unavailable("returned an unreadable answer", f"{len(results)} answers")
        return [each.points for each in results]

    def get(self, path: str, answer: type[T]) -> T:
        """The answer to `GET path`."""
        return self._request("GET", path, answer)

    def post(self, path: str, body: Mapping[str, Any], answer: type[Answer[T]]) -> T:
        """The result of a request about the collection, which changes nothing. `path` is below the collection."""
        return self._request("POST", COLLECTION + path, answer, content=to_json(body), headers=JSON).result

    def _request(self, method: str, path: str, answer: type[T], **sent: Any) -> T:
        names = {"collection_name": self.collection}
        try:
            return self.client.request(type_=answer, method=method, url=path, path_params=names, **sent)
        except QdrantException as error:  # the client's own class for a 429 that carries a Retry-After header
            wait = getattr(error, "retry_after_s", None)
            raise self._service.from_status(
                429, {} if wait is None else {"retry-after": str(wait)}, str(error)
            ) from error
        except UnexpectedResponse as error:
            raise self._status_error(error) from error
        except ResponseHandlingException as error:
            source = error.source if isinstance(error.source, Exception) else error
            if isinstance(source, PassageError):  # the key could not be read
                raise source from source.__cause__
            raise self._transport_error(source) from error
        except (httpx.HTTPError, AssertionError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise self._transport_error(error) from error  # the last five: an answer the client could not parse

    def _status_error(self, error: UnexpectedResponse) -> PassageError:
        known = self._service.from_status(error.status_code or 0, error.headers, error.content)
        if error.status_code != 404:
            return known
        if _message(error.content).startswith("Not found: Collection"):
            return CollectionNotFound(
                f"The vector store has no collection '{self.collection}': set COLLECTION_NAME, or index the site.",
                upstream="store",
                detail=known.detail,
            )
        wrong = None if type(known) is ConfigurationError else self._wrong_server()  # a page is no Qdrant's
        return known if wrong is None else self._service.misconfigured(wrong, known.detail or "")

    def _wrong_server(self) -> str | None:
        """Why there is no search at QDRANT_URL: it has a path, another server answers, or Qdrant is too old."""
        variable, path = self._service.url_variable, urlsplit(self.url).path
        if path:
            return f"is not found under the path {path} of {variable}: correct it"
        version = self._answering_version()
        if version is None:
            return f"does not answer at {variable}, but another server does: correct it"
        if version < LEAST_VERSION:
            has, least = (".".join(map(str, numbers)) for numbers in (version, LEAST_VERSION))
            return f"at {variable} is Qdrant {has}: Passage needs {least} or newer"
        return None

    def _answering_version(self) -> tuple[int, int] | None:
        """The version of the server at QDRANT_URL; None when it is no Qdrant, or does not say."""
        timeout = httpx.Timeout(VERSION_SECONDS).as_dict()
        request = httpx.Request("GET", f"{self.url}/", extensions={"timeout": timeout})
        with suppress(httpx.HTTPError, ValueError, RecursionError, TypeError, KeyError):
            response = (self.transport or for_client()).handle_request(request)
            answer = json.loads(response.read())
            return version_of(answer) if "qdrant" in str(answer["title"]) else None
        return None

    def _transport_error(self, error: Exception) -> PassageError:
        if urlsplit(self.url).port == GRPC_PORT and isinstance(error, httpx.RemoteProtocolError):
            what = f"has its gRPC port in {self._service.url_variable}: set its REST port, usually 6333"
            return self._service.misconfigured(what, repr(error))
        return self._service.from_transport(error)


def version_of(answer: Mapping[str, Any]) -> tuple[int, int] | None:
    """Major and minor version in the answer of `GET /`; None if it has none."""
    major, _, rest = str(answer.get("version")).partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None


def _message(body: bytes) -> str:
    """Qdrant's message in an error's body; empty for any other body."""
    with suppress(ValueError, RecursionError, TypeError, KeyError):
        return str(json.loads(body)["status"]["error"])
    return ""
