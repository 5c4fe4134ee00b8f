"""Embeds documents, as `search_document`; the function embeds questions, as `search_query`."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import httpx

from handler.config import models
from handler.core.errors import PassageError
from passage.local.environment import is_loopback, provider

if TYPE_CHECKING:
    from cohere import ClientV2

    from handler.config.profiles import Profile

TIMEOUT_SECONDS = 60.0
RETRIES = 4
"""The SDK's own, with its own waits: nobody is waiting for an answer here."""

DETAIL_CHARACTERS = 300


class EmbeddingError(Exception):
    """The texts could not be embedded, in one line that says what to do about it."""


class DocumentEmbedder:
    """Embeds texts with one model into vectors of shape `(dimension,)`."""

    def __init__(self, *, api_key: str, base_url: str, model: str, dimension: int) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._model = model
        self._dimension = dimension

    @property
    def provider(self) -> str:
        """Whose vectors these are; see `passage.local.environment.provider`."""
        return provider(self._base_url)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None]) -> list[list[float]]:
        """One vector for each text, in order; `progress` is told how many more are done.

        Raises:
            EmbeddingError: the service could not be reached, refused, or gave something else than was asked for.
        """
        # Imported here because a run that has nothing to embed need not wait a second for it.
        from cohere import ClientV2  # noqa: PLC0415

        from handler.adapters.cohere.account import FAILURES  # noqa: PLC0415

        vectors: list[list[float]] = []
        # A client of ours, because the SDK does not close its own.
        with httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=not is_loopback(self._base_url)) as http:
            client = ClientV2(api_key=self._api_key, base_url=self._base_url, httpx_client=http, max_retries=RETRIES)
            size = models.texts_per_call(self._model)
            for start in range(0, len(texts), size):
                batch = list(texts[start : start + size])
                try:
                    vectors.extend(self._embed(client, batch))
                except FAILURES as error:
                    raise self._refusal(error) from error
                progress(len(batch))
        return vectors

    def _embed(self, client: "ClientV2", batch: list[str]) -> list[list[float]]:
        response = client.embed(
            texts=batch,
            model=self._model,
            input_type="search_document",
            embedding_types=["float"],
            # `...` is the SDK's own mark for "not sent".
            output_dimension=self._dimension if models.takes_dimension(self._model) else ...,  # type: ignore[arg-type]
        )
        found = response.embeddings.float_ or []
        if len(found) != len(batch) or any(len(vector) != self._dimension for vector in found):
            sizes = sorted({len(vector) for vector in found}) or "no vectors"
            raise EmbeddingError(
                f"{self._model} gave {sizes} for {len(batch)} texts; the profile's dimension is {self._dimension}: set "
                "EMBEDDING_DIMENSION, or EMBEDDING_MODEL to a model of that dimension."
            )
        if not all(math.isfinite(number) for vector in found for number in vector):
            raise EmbeddingError(f"{self._model} gave a vector with something in it that is not a number.")
        return found

    def _refusal(self, error: Exception) -> EmbeddingError:
        """The function's own error for what the SDK raised, with the service's words and without the key."""
        from handler.adapters import vectors  # noqa: PLC0415 - as the SDK
        from handler.adapters.cohere.account import failed  # noqa: PLC0415
        from handler.adapters.cohere.embedder import SERVICE  # noqa: PLC0415

        known = failed(error, SERVICE, vectors.model_refused("cohere", self._model, self._dimension))
        return EmbeddingError(f"{known} ({_line(known.detail or '').replace(self._api_key, '…')})")


def _line(message: object) -> str:
    """An upstream's words on one line, no longer than a person reads."""
    text = " ".join(str(message).split())
    return text if len(text) <= DETAIL_CHARACTERS else f"{text[:DETAIL_CHARACTERS]}…"


class BedrockDocumentEmbedder:
    """The same with Cohere's models on Amazon Bedrock, by the function's own adapter."""

    provider = "bedrock"

    def __init__(self, *, model: str, dimension: int) -> None:
        self._model = model
        self._dimension = dimension

    def embed(self, texts: Sequence[str], progress: Callable[[int], None]) -> list[list[float]]:
        """See `DocumentEmbedder`."""
        from handler.adapters.bedrock.embedder import BedrockEmbedder  # noqa: PLC0415 - loads boto3

        embedder = BedrockEmbedder(model=self._model, dimension=self._dimension, texts_are="search_document")
        vectors: list[list[float]] = []
        size = models.texts_per_call(self._model)
        for start in range(0, len(texts), size):
            batch = texts[start : start + size]
            try:
                vectors.extend(list(vector) for vector in embedder.embed(batch))
            except PassageError as error:
                raise EmbeddingError(f"{error} ({_line(error.detail or '')})") from error
            progress(len(batch))
        return vectors


def document_embedder(
    profile: "Profile", environ: Mapping[str, str], warn: Callable[[str], None] = lambda _: None
) -> DocumentEmbedder | BedrockDocumentEmbedder:
    """The embedder of a profile's texts, with the profile's document model.

    Args:
        warn: is given a sentence about each model that is deprecated or unknown.

    Raises:
        ConfigurationError: one of the profile's models is retired, or does not fit the collection or the other model.
        EmbeddingError: no key is set.
    """
    from handler.config.model_checks import check_models  # noqa: PLC0415 - loads the profiles' models

    for warning in check_models(profile):
        warn(warning)
    model, dimension = profile.embedding.for_texts, profile.collection.dimension
    if profile.embedding.provider == "bedrock":
        return BedrockDocumentEmbedder(model=model, dimension=dimension)
    if "COHERE_API_KEY" not in environ:
        raise EmbeddingError("COHERE_API_KEY is needed to index; COHERE_API_KEY_SECRET is for the function alone.")
    return DocumentEmbedder(
        api_key=environ["COHERE_API_KEY"], base_url=environ["COHERE_BASE_URL"], model=model, dimension=dimension
    )
