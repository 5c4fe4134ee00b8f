"""A Qdrant server or Qdrant Cloud, through the official client over REST."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

import httpx
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from handler.adapters import payload
from handler.adapters.collection import check_model, check_vectors
from handler.adapters.failures import Service
from handler.adapters.transport import shared as shared_transport
from handler.core.errors import CollectionNotFound, PassageError, RequestRefused
from handler.core.model import CollectionInfo, Found, Vector
from handler.profiles import Profile

SERVICE = Service("store", "vector store", "QDRANT_API_KEY")

T = TypeVar("T")


class QdrantServerStore:
    """One collection of a server, asked as one profile says.

    Args:
        url: with an explicit port; the client takes a URL without one to mean 6333.
    """

    def __init__(
        self, *, url: str, api_key: str | None, profile: Profile, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._transport = transport
        self._url = url
        self._api_key = api_key
        self._profile = profile

    @property
    def collection(self) -> str:
        return self._profile.collection.name

    @cached_property
    def _client(self) -> QdrantClient:
        return QdrantClient(
            url=self._url,
            api_key=self._api_key,
            check_compatibility=False,  # it would start a thread that makes a request
            prefer_grpc=False,
            transport=self._transport or shared_transport(),
        )

    def search(self, vector: Vector, top_k: int) -> Found:
        """See `handler.core.ports.PassageStore`."""
        expected = self._profile.collection

        def ask() -> Found:
            answer = self._client.query_points(
                expected.name,
                query=list(vector),
                using=expected.vector or None,
                limit=top_k,
                with_payload=self._profile.payload.keys(),
                with_vectors=False,
            )
            return payload.read(
                ((_id(point.id), point.score, point.payload) for point in answer.points), self._profile.payload
            )

        try:
            return self._call(ask)
        except RequestRefused:
            # A bad request says only in prose what was wrong with it. The collection itself says it in figures.
            self._checked()
            raise

    def describe(self) -> CollectionInfo:
        """See `handler.core.ports.PassageStore`."""
        info = self._checked()
        check_model(self._profile.embedding, info)
        return info

    def warm(self) -> None:
        """See `handler.core.ports.PassageStore`. The client builds its types at the first search, so it makes one."""
        _ = self._client
        point = {"id": 0, "version": 0, "score": 0.5, "payload": {}}
        answer = {"result": {"points": [point]}, "status": "ok", "time": 0}
        QdrantServerStore(
            url=self._url,
            api_key=None,
            profile=self._profile,
            transport=httpx.MockTransport(lambda _: httpx.Response(200, json=answer)),
        ).search([0.5] * self._profile.collection.dimension, 1)

    def _checked(self) -> CollectionInfo:
        expected = self._profile.collection
        info = self._call(lambda: self._client.get_collection(expected.name))
        vectors = _named(info.config.params.vectors)
        check_vectors(expected, {name: params.size for name, params in vectors.items()})
        metadata = info.config.metadata or {}
        model = metadata.get("embedding_model")
        return CollectionInfo(
            name=expected.name,
            vector_size=expected.dimension,
            distance_metric=str(vectors[expected.vector].distance.value),
            points_count=info.points_count or 0,
            indexed_vectors_count=info.indexed_vectors_count or 0,
            status=str(info.status.value),
            embedding_model=model if isinstance(model, str) else None,
        )

    def _call(self, call: Callable[[], T]) -> T:
        """Run one request, its failure as the core's error."""
        try:
            return call()
        except QdrantException as error:  # the client's own class for a 429 that carries a Retry-After header
            wait = getattr(error, "retry_after_s", None)
            raise SERVICE.from_status(429, {} if wait is None else {"retry-after": str(wait)}, str(error)) from error
        except UnexpectedResponse as error:
            raise self._refused(error) from error
        except ResponseHandlingException as error:
            source = error.source if isinstance(error.source, Exception) else error
            raise SERVICE.from_transport(source) from error
        except (httpx.HTTPError, AssertionError, ValueError, TypeError, AttributeError) as error:
            raise SERVICE.from_transport(error) from error  # an answer the client could not take apart

    def _refused(self, error: UnexpectedResponse) -> PassageError:
        if error.status_code == 404:
            return CollectionNotFound(
                f"The vector store has no collection '{self.collection}': set COLLECTION_NAME, or index the site.",
                detail=f"HTTP 404: {error.content[:300]!r}",
            )
        return SERVICE.from_status(error.status_code or 0, error.headers, error.content)


def _named(vectors: Any) -> Mapping[str, Any]:
    """A collection's vectors by name; the unnamed one under the empty name."""
    if vectors is None:
        return {}
    return vectors if isinstance(vectors, dict) else {"": vectors}


def _id(value: Any) -> int | str:
    return value if isinstance(value, int) else str(value)
