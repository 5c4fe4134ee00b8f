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
        from cohere.core.api_error import ApiError  # noqa: PLC0415

        vectors: list[list[float]] = []
        # A client of ours, because the SDK does not close its own.
        with httpx.Client(timeout=TIMEOUT_SECONDS, trust_env=not is_loopback(self._base_url)) as http:
            client = ClientV2(api_key=self._api_key, base_url=self._base_url, httpx_client=http, max_retries=RETRIES)
            size = models.texts_per_call(self._model)
            for start in range(0, len(texts), size):
                batch = list(texts[start : start + size])
                try:
                    vectors.extend(self._embed(client, batch))
                except ApiError as error:
                    raise EmbeddingError(self._refusal(error.status_code or 0, error.body)) from error
                except httpx.HTTPError as error:
                    raise EmbeddingError(f"{self._base_url} could not be reached: {_line(error) or error!r}") from error
                except (ValueError, TypeError, AttributeError) as error:  # an answer the SDK could not take apart
                    raise EmbeddingError(
                        f"{self._base_url} gave an answer that could not be read: {_line(error)}"
                    ) from error
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
                f"EMBEDDING_DIMENSION, or EMBEDDING_MODEL to a model of that dimension{_fitting(self._dimension)}."
            )
        if not all(math.isfinite(number) for vector in found for number in vector):
            raise EmbeddingError(f"{self._model} gave a vector with something in it that is not a number.")
        return found

    def _refusal(self, status: int, body: object) -> str:
        message = body.get("message", body) if isinstance(body, dict) else body
        said = _line(message).replace(self._api_key, "…")
        if status in (401, 403, 498):  # 498: Cohere's "invalid token"
            return f"Cohere refused the key in COHERE_API_KEY (HTTP {status}: {said})."
        if status in (400, 404, 422):
            return (
                f"Cohere refused to embed with the model '{self._model}' (HTTP {status}: {said}). Set EMBEDDING_MODEL "
                f"to another{_fitting(self._dimension)}, and EMBEDDING_DIMENSION to its dimension."
            )
        if status == 429:
            return f"Cohere is limiting requests (HTTP 429: {said}). Run it again later."
        return f"Cohere failed to answer (HTTP {status}: {said}). Run it again."


def _fitting(dimension: int) -> str:
    """Cohere's models of a dimension, in brackets; empty where there is none."""
    names = models.with_dimension("cohere", dimension)
    return f" ({' or '.join(names)} for dimension {dimension})" if names else ""


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
