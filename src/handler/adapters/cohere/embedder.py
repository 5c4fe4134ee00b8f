"""Cohere's embedding API through the official SDK."""

import base64
import binascii
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx
from cohere.core.api_error import ApiError
from cohere.core.client_wrapper import SyncClientWrapper
from cohere.v2.client import V2Client

from handler.adapters import vectors
from handler.adapters.errors import Service
from handler.adapters.transport import UNLIMITED, lent, made_up
from handler.config import models
from handler.config.model_checks import check_dimension
from handler.core.errors import PassageError, RequestRefused
from handler.core.model import Vector

SERVICE = Service("embedding", "embedding service", "COHERE_API_KEY")


@dataclass(frozen=True)
class Account:
    """Whom Cohere is asked for, and how; the embedder and the reranker have one together.

    Attributes:
        auth: puts the key into each request instead of `api_key`, where it can change.
        transport: None for the container's own connections.
    """

    api_key: str = field(repr=False)
    base_url: str
    auth: httpx.Auth | None = None
    transport: httpx.BaseTransport | None = None

    def client(self) -> V2Client:
        """The SDK's client of the API's version 2.

        `cohere.ClientV2` is this class with version 1 mixed in; importing that costs as much again as all of this
        module.
        """
        return V2Client(
            client_wrapper=SyncClientWrapper(
                token=self.api_key,
                base_url=self.base_url,
                httpx_client=httpx.Client(transport=self.transport or lent(), auth=self.auth, timeout=UNLIMITED),
                max_retries=0,  # retries are the core's
            )
        )

    def made_up(self, answer: object) -> "Account":
        """The same account with a service that is not called and always gives `answer`."""
        return Account("warm-up", self.base_url, transport=made_up(answer))


FAILURES = (ApiError, httpx.HTTPError, ValueError, TypeError, AttributeError, RecursionError)
"""What a call of the SDK raises; the last four where it could not take an answer apart."""


def failed(error: Exception, service: Service, refused: str) -> PassageError:
    """The core's error for one of `FAILURES`.

    Args:
        refused: what to say when Cohere finds something wrong with a request so plain that it can only be the model.
    """
    if not isinstance(error, ApiError):
        return service.from_transport(error)
    status = error.status_code or 0
    known = service.from_status(status, error.headers or {}, error.body)
    if isinstance(known, RequestRefused) and status in (400, 404, 422):
        return RequestRefused(refused, upstream=service.upstream, detail=known.detail)
    return known


class CohereEmbedder:
    """Embeds questions with one model.

    Args:
        dimension: what the model's vectors must have to be compared with the collection's.
    """

    def __init__(self, account: Account, *, model: str, dimension: int) -> None:
        self._account = account
        self._model = model
        self._dimension = dimension

    @property
    def model(self) -> str:
        return self._model

    @cached_property
    def _client(self) -> V2Client:
        return self._account.client()

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `handler.core.ports.Embedder`."""
        check_dimension("cohere", self._model, self._dimension)
        try:
            response = self._client.embed(
                texts=list(texts),
                model=self._model,
                input_type="search_query",  # documents have search_document; mixing the two is silent and worse
                embedding_types=["base64"],  # spares the SDK a walk over every number
                output_dimension=self._output_dimension,
                request_options={"max_retries": 0},
            )
        except FAILURES as error:
            raise failed(error, SERVICE, vectors.model_refused("cohere", self._model, self._dimension)) from error
        return self._vectors(getattr(response, "embeddings", None), len(texts))

    def warm(self) -> None:
        """See `handler.core.ports.Embedder`. The SDK builds its types at the first answer, so it is given one here."""
        _ = self._client
        encoded = base64.b64encode(struct.pack(f"<{self._dimension}f", *[0.5] * self._dimension)).decode()
        meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}}
        answer = {
            "id": "",
            "embeddings": {"base64": [encoded]},
            "texts": [""],
            "meta": meta,
            "response_type": "embeddings_by_type",
        }
        same = CohereEmbedder(self._account.made_up(answer), model=self._model, dimension=self._dimension)
        same.embed(["warm-up"])

    @property
    def _output_dimension(self) -> Any:
        # `...` is the SDK's own mark for "not sent".
        return self._dimension if models.takes_dimension(self._model) else ...

    def _vectors(self, embeddings: Any, expected: int) -> list[Vector]:
        """The vectors of an answer, each `(dimension,)`; never fewer than asked for, empty, or not a number."""
        found = getattr(embeddings, "base64", None) or getattr(embeddings, "float_", None)
        if not isinstance(found, list) or len(found) != expected or not all(found):
            raise SERVICE.unavailable("gave no embedding", f"asked for {expected} as base64")
        try:
            numbers = [_decoded(item) if isinstance(item, str) else [float(value) for value in item] for item in found]
        except (binascii.Error, struct.error, ValueError, TypeError) as error:
            raise SERVICE.from_transport(error) from error
        return vectors.checked(numbers, SERVICE, self._model, self._dimension)


def _decoded(encoded: str) -> Vector:
    """Little-endian 32-bit floats, base64 encoded (Cohere's embed reference), as `(dimension,)`."""
    raw = base64.b64decode(encoded, validate=True)
    return struct.unpack(f"<{len(raw) // 4}f", raw)
