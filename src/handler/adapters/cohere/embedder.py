"""Cohere's embedding API through the official SDK."""

import base64
import binascii
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from cohere.v2.client import V2Client

from handler.adapters.account import Account
from handler.adapters.cohere.client import FAILURES, client, core_error
from handler.config import models
from handler.config.model_checks import check_dimension, model_refused
from handler.core.model import Vector
from handler.core.ports import TextsAre

INPUT_TYPES: Mapping[TextsAre, str] = {"question": "search_query", "document": "search_document"}


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
        return client(self._account)

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
            refused = model_refused("cohere", self.model, self._dimension)
            raise core_error(error, self._service, refused) from error
        return self._vectors(getattr(response, "embeddings", None))

    def warm(self) -> None:
        """The SDK builds its types at the first answer, here a made-up one."""
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
        same = CohereEmbedder(self._account.made_up(answer), model=self.model, dimension=self._dimension)
        same._embed(["warm-up"])  # not the dimension: callers may send only vectors

    @cached_property
    def _fits(self) -> None:
        """Check once that the model gives vectors of the collection's dimension. Raises DimensionMismatch."""
        check_dimension("cohere", self.model, self._dimension)

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
