"""Embeds documents, as `search_document`; the function embeds questions, as `search_query`."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import httpx

from handler.config import models
from handler.config.model_checks import model_refused
from handler.core.embedding import validate_vectors
from handler.core.errors import PassageError, UpstreamError, UpstreamThrottled
from passage.local.provider import is_loopback, provider

if TYPE_CHECKING:
    from cohere import ClientV2

    from handler.config.profiles import Profile

TIMEOUT_SECONDS = 60.0
DETAIL_CHARACTERS = 300


class EmbeddingError(Exception):
    """The texts could not be embedded. The message is one line and says what to do."""


class TemporaryFailure(EmbeddingError):
    """The service may answer the same request later.

    Args:
        throttled: it reported too many requests.
        retry_after: the seconds that it asked to wait; None where it named none.
    """

    def __init__(self, message: str, *, throttled: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.throttled = throttled
        self.retry_after = retry_after


class DocumentEmbedder:
    """Embeds texts with one of Cohere's models into vectors of shape `(dimension,)`. Threads may share it."""

    def __init__(self, *, api_key: str, base_url: str, model: str, dimension: int) -> None:
        self._api_key = api_key
        self.base_url = base_url
        self.model = model
        self.dimension = dimension

    @property
    def provider(self) -> str:
        """The provider of these vectors; see `passage.local.provider`."""
        return provider(self.base_url)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in order, with one request.

        Raises:
            TemporaryFailure: the service could not be reached, was busy or failed.
            EmbeddingError: the service refused the request, or its answer has the wrong form.
        """
        from handler.adapters.cohere.account import FAILURES  # noqa: PLC0415 - see `_client`

        try:
            return self._embed(list(texts))
        except FAILURES as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Close the connections; the SDK does not close its own."""
        if "_http" in self.__dict__:
            self._http.close()

    @cached_property
    def _http(self) -> httpx.Client:
        return httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=not is_loopback(self.base_url))

    @cached_property
    def _client(self) -> "ClientV2":
        from cohere import ClientV2  # noqa: PLC0415 - takes a second; a run without new texts skips it

        return ClientV2(api_key=self._api_key, base_url=self.base_url, httpx_client=self._http, max_retries=0)

    def _embed(self, batch: list[str]) -> list[list[float]]:
        response = self._client.embed(
            texts=batch,
            model=self.model,
            input_type="search_document",
            embedding_types=["float"],
            # `...` is the SDK's own mark for "not sent".
            output_dimension=self.dimension if models.takes_dimension(self.model) else ...,  # type: ignore[arg-type]
        )
        found = response.embeddings.float_ or []
        if len(found) != len(batch) or any(len(vector) != self.dimension for vector in found):
            sizes = sorted({len(vector) for vector in found}) or "no vectors"
            raise EmbeddingError(
                f"{self.model} gave {sizes} for {len(batch)} texts; the profile's dimension is {self.dimension}: set "
                "EMBEDDING_DIMENSION, or EMBEDDING_MODEL to a model of that dimension."
            )
        if not all(math.isfinite(number) for vector in found for number in vector):
            raise EmbeddingError(f"{self.model} gave a vector with a value that is not a number.")
        return found

    def _failure(self, error: Exception) -> EmbeddingError:
        """The function's error for an SDK error, with the service's message and without the key."""
        from handler.adapters.cohere.account import core_error  # noqa: PLC0415 - as the SDK
        from handler.adapters.cohere.embedder import SERVICE  # noqa: PLC0415

        refused = model_refused("cohere", self.model, self.dimension)
        return _embedding_error(core_error(error, SERVICE, refused), self._api_key)


class BedrockDocumentEmbedder:
    """Embeds texts with Cohere's models on Amazon Bedrock, by the function's adapter."""

    provider = "bedrock"
    base_url = ""

    def __init__(self, *, model: str, dimension: int) -> None:
        self.model = model
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `DocumentEmbedder`."""
        try:
            return list(map(list, validate_vectors(self._embedder.embed(texts), self.model, self.dimension)))
        except PassageError as error:
            raise _embedding_error(error) from error

    def close(self) -> None:
        """See `DocumentEmbedder`; the function's adapter shares one pool of connections a process."""

    @cached_property
    def _embedder(self) -> Any:
        from handler.adapters.bedrock.embedder import BedrockEmbedder  # noqa: PLC0415 - loads boto3

        return BedrockEmbedder(model=self.model, dimension=self.dimension, texts_are="search_document")


Embedder = DocumentEmbedder | BedrockDocumentEmbedder


def document_embedder(
    profile: "Profile", environ: Mapping[str, str], warn: Callable[[str], None] = lambda _: None
) -> Embedder:
    """The embedder of a profile's texts, with the profile's document model.

    Args:
        warn: is called with a sentence for each model that is deprecated or unknown.

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


def _embedding_error(error: PassageError, key: str = "") -> EmbeddingError:
    """The function's error in one line, with the service's message. The key is removed."""
    detail = _line(error.detail or "")
    message = f"{error} ({detail.replace(key, '…') if key else detail})"
    if error.blame != "upstream":
        return EmbeddingError(message)
    wait = error.retry_after if isinstance(error, UpstreamError) else None  # a timeout names no wait
    return TemporaryFailure(message, throttled=isinstance(error, UpstreamThrottled), retry_after=wait)


def _line(message: object) -> str:
    """An upstream's message on one line, shortened for people."""
    text = " ".join(str(message).split())
    return text if len(text) <= DETAIL_CHARACTERS else f"{text[:DETAIL_CHARACTERS]}…"
