"""Cohere's embedding models on Amazon Bedrock. The function's role is the credential; there is no key."""

from collections.abc import Mapping, Sequence
from typing import Any

from handler.adapters.account import Account
from handler.adapters.bedrock.model import BedrockModel
from handler.config import models
from handler.config.model_checks import check_dimension, model_refused
from handler.core.model import Vector
from handler.core.ports import TextsAre

INPUT_TYPES: Mapping[TextsAre, str] = {"question": "search_query", "document": "search_document"}

V3_CHARACTERS = 2048
"""The longest text that Bedrock accepts for a v3 model, which reads 512 tokens of it."""


class BedrockEmbedder:
    """Embeds with one model: a `handler.core.ports.Embedder`.

    Args:
        model: a model's id, an inference profile's (`eu.cohere.embed-v4:0`) or the ARN of either.
        dimension, texts_are: see `handler.adapters.account.EmbedderClass`.
    """

    def __init__(self, account: Account, *, model: str, dimension: int, texts_are: TextsAre = "question") -> None:
        refused = model_refused("bedrock", model, dimension)
        self.model = model
        self._service = account.service("embedding")
        self._bedrock = BedrockModel(model, service=self._service, refused=refused)
        self._dimension = dimension
        self._texts_are = texts_are

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        check_dimension("bedrock", self.model, self._dimension)
        return self._vectors(self._bedrock.invoke(self._request(texts)))

    def warm(self) -> None:
        self._bedrock.warm()

    def restored(self) -> None:
        """Forget the credentials from before a snapshot: they have expired."""
        self._bedrock.restored()

    def _request(self, texts: Sequence[str]) -> Mapping[str, Any]:
        asked: dict[str, Any] = {"input_type": INPUT_TYPES[self._texts_are], "embedding_types": ["float"]}
        # Cut long texts, as Cohere's own API does. Bedrock would refuse them, and each model names the side to cut.
        if models.takes_dimension(self.model):  # v4 and later
            return {**asked, "texts": list(texts), "truncate": "RIGHT", "output_dimension": self._dimension}
        return {**asked, "texts": [text[:V3_CHARACTERS] for text in texts], "truncate": "END"}

    def _vectors(self, answer: Any) -> list[Vector]:
        vectors = answer.get("embeddings") if isinstance(answer, dict) else None
        if isinstance(vectors, dict):  # by type; some models answer with a plain list
            vectors = vectors.get("float")
        if not isinstance(vectors, list):
            raise self._service.unavailable("returned no embedding", f"model {self.model}")
        try:
            return [[float(value) for value in vector] for vector in vectors]
        except (TypeError, ValueError) as error:
            raise self._service.from_transport(error) from error
