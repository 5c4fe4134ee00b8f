"""Cohere's embedding and reranking API through the official SDK."""

import base64
import binascii
import re
import struct
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import httpx
from cohere.core.api_error import ApiError
from cohere.core.client_wrapper import SyncClientWrapper
from cohere.v2.client import V2Client

from handler.adapters.account import INPUT_TYPES, Account, validate_relevances
from handler.adapters.errors import DETAIL_CHARACTERS, Service
from handler.config import models
from handler.core.errors import InvalidRequest, PassageError, RequestRefused
from handler.core.model import Vector
from handler.core.ports import TextsAre

PLACEHOLDER = "in-the-account"
"""The key given to the SDK, which requires one. The account puts the real key into each request."""

TEXT_REFUSED = 498
"""The status for a text with a token of Cohere's deny-list (Cohere, "Errors": 498, invalid token)."""

FAILURES = (ApiError, httpx.HTTPError, ValueError, TypeError, AttributeError, RecursionError)
"""The exceptions of an SDK call. The last four mean that it could not parse an answer."""


def _sdk_client(account: Account) -> V2Client:
    """The SDK's client of the API's version 2.

    `cohere.ClientV2` adds version 1 of the API, and importing that doubles this module's import time.
    """
    return V2Client(
        client_wrapper=SyncClientWrapper(
            token=PLACEHOLDER,
            base_url=account.url,
            httpx_client=account.http,
            max_retries=0,  # retries are the core's
        )
    )


class CohereEmbedder:
    """Embeds with one model: a `handler.core.ports.Embedder`. Threads may share it.

    `handler.adapters.account.EmbedderClass` says what the arguments are.
    """

    def __init__(self, account: Account, *, model: str, dimension: int, texts_are: TextsAre = "question") -> None:
        self._account = account
        self._service = account.service("embedding")
        self.model = model
        self._dimension = dimension
        self._texts_are = texts_are

    @cached_property
    def _client(self) -> V2Client:
        return _sdk_client(self._account)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        _ = self._fits
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        try:
            response = self._client.embed(
                texts=list(texts),
                model=self.model,
                input_type=INPUT_TYPES[self._texts_are],
                embedding_types=["base64"],  # spares the SDK a walk over every number
                output_dimension=self._output_dimension,
                request_options={"max_retries": 0},
            )
        except FAILURES as error:
            refused = models.embedder_refused("cohere", self.model, self._dimension)
            raise _core_error(error, self._service, refused) from error
        return self._vectors(getattr(response, "embeddings", None))

    def warm(self) -> None:
        """The SDK builds its types at the first answer, here a made-up one."""
        _ = self._client
        encoded = base64.b64encode(struct.pack(f"<{self._dimension}f", *[0.5] * self._dimension)).decode()
        answer = {
            "id": "",
            "embeddings": {"base64": [encoded]},
            "texts": [""],
            "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}},
            "response_type": "embeddings_by_type",
        }
        same = CohereEmbedder(self._account.with_made_up_answer(answer), model=self.model, dimension=self._dimension)
        same._embed(["warm-up"])  # not the dimension: callers may send only vectors

    @cached_property
    def _fits(self) -> None:
        """Check once that the model gives vectors of the collection's dimension. Raises DimensionMismatch."""
        models.check_dimension("cohere", self.model, self._dimension)

    @cached_property
    def _output_dimension(self) -> Any:
        # `...` is the SDK's own mark for "not sent".
        return self._dimension if models.takes_dimension(self.model) else ...

    def _vectors(self, embeddings: Any) -> list[Vector]:
        """The vectors of an answer, each `(dimension,)`. The core validates them."""
        encoded = getattr(embeddings, "base64", None) or getattr(embeddings, "float_", None)
        if not isinstance(encoded, list):
            raise self._service.unavailable("returned no embedding", "asked for base64")
        try:
            return [_decode(item) if isinstance(item, str) else [float(value) for value in item] for item in encoded]
        except (binascii.Error, struct.error, ValueError, TypeError) as error:
            raise self._service.from_transport(error) from error


def _decode(encoded: str) -> Vector:
    """Little-endian 32-bit floats, base64 encoded (Cohere's embed reference), as `(dimension,)`."""
    raw = base64.b64decode(encoded, validate=True)
    return struct.unpack(f"<{len(raw) // 4}f", raw)


class CohereReranker:
    """Reranks with one model: a `handler.core.ports.Reranker`."""

    def __init__(self, account: Account, *, model: str) -> None:
        self._account = account
        self._service = account.service("reranking")
        self.model = model

    @cached_property
    def _client(self) -> V2Client:
        return _sdk_client(self._account)

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        try:
            # Without `top_n`, because the core orders equal relevances and cuts the list.
            response = self._client.rerank(
                model=self.model, query=question, documents=list(texts), request_options={"max_retries": 0}
            )
            ranked = [(result.index, result.relevance_score) for result in response.results]
        except FAILURES as error:
            raise _core_error(error, self._service, models.reranker_refused("cohere", self.model)) from error
        return validate_relevances(ranked, self._service, self.model, len(texts))

    def warm(self) -> None:
        """The SDK builds its types at the first answer, here a made-up one."""
        _ = self._client
        answer = {"id": "", "results": [{"index": 0, "relevance_score": 0.5}]}
        CohereReranker(self._account.with_made_up_answer(answer), model=self.model).rerank("warm-up", ["warm-up"])


def _core_error(error: Exception, service: Service, refused: str) -> PassageError:
    """The core's error for one of `FAILURES`.

    Args:
        refused: the message for a refused request. Requests are so simple that only the model can be wrong.
    """
    if not isinstance(error, ApiError):
        return service.from_transport(error)
    status = error.status_code or 0
    if status == TEXT_REFUSED and isinstance(error.body, dict):
        return InvalidRequest(
            f"The {service.name} does not accept a word of the text: ask in other words.",
            upstream=service.upstream,
            detail=f"HTTP {status}: a deny-listed token",
        )
    if status == 429 and re.search(r"/\s*month\b", str(error.body)):
        return RequestRefused(
            f"The trial key in {service.key_variable} has used up its calls of this month: set a production key.",
            upstream=service.upstream,
            detail=f"HTTP {status}: {str(error.body)[:DETAIL_CHARACTERS]}",
        )
    known = service.from_status(status, error.headers or {}, error.body)
    if not isinstance(known, RequestRefused) or status not in (400, 404, 422):
        return known
    if not isinstance(error.body, dict):  # Cohere's own refusals are JSON objects
        return service.answered_by_another(status, known.detail or "")
    return RequestRefused(refused, upstream=service.upstream, detail=known.detail)
