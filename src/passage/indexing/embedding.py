"""Embeds documents with the function's own adapters, and turns their errors into one line."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

import httpx

from handler.adapters.account import Account
from handler.bootstrap.factories import adapter
from handler.config import models
from handler.config.models import QUESTIONS, check_dimension, check_model
from handler.config.providers import PROVIDERS, Access, Provider
from handler.config.settings import CollectionSettings
from handler.core import deadline
from handler.core.deadline import Deadline
from handler.core.embedding import validate_vectors
from handler.core.errors import ModelMismatch, PassageError, UpstreamError, UpstreamThrottled
from handler.core.model import Vector
from passage.indexing.cache_filler import EmbeddingError, TemporaryFailure, TextRefused
from passage.service_url import client_options, name_embedder

if TYPE_CHECKING:
    from handler.adapters.account import Auth, EmbedderClass
    from handler.config.profiles import Profile
    from handler.core.ports import Embedder, TextsAre

TIMEOUT_SECONDS = 60.0
DETAIL_CHARACTERS = 300

TEXTS = "EMBEDDING_DOCUMENT_MODEL (or the profile's embedding.document_model)"


class DocumentEmbedder:
    """Embeds documents, or questions, with one model into vectors of shape `(dimension,)`. Threads may share it.

    Attributes:
        made_by: who makes the vectors; see `passage.service_url`.
        texts_per_minute: the provider's published limit; None where there is none.
    """

    def __init__(
        self, provider: Provider, access: Access, *, model: str, dimension: int, texts_are: "TextsAre" = "document"
    ) -> None:
        self.made_by = name_embedder(provider, access.url)
        self.texts_per_minute = provider.texts_per_minute if self.made_by == provider.name else None
        self.model = model
        self.dimension = dimension
        self.texts_are = texts_are
        self._key = access.key.get_secret_value() if access.key else ""
        self._provider, self._access = provider, access
        self._account = Account(provider, access, make_client=lambda auth: _client(auth, access.url))
        self._making = Lock()
        self._made: Embedder | None = None

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        """One vector for each text, in order, with one request.

        Raises:
            TemporaryFailure: the service could not be reached, was busy or failed.
            TextRefused: it does not accept one of the texts.
            EmbeddingError: the service refused the request, or its vectors have another dimension.
        """
        try:
            with deadline.within(Deadline.after(TIMEOUT_SECONDS)):
                return validate_vectors(self._adapter().embed(texts), self.model, self.dimension, len(texts))
        except PassageError as error:
            raise self._in_one_line(error) from error

    def for_questions(self, model: str) -> "DocumentEmbedder":
        """The same for questions, which `model` embeds into the same space."""
        return DocumentEmbedder(
            self._provider, self._access, model=model, dimension=self.dimension, texts_are="question"
        )

    def close(self) -> None:
        """Close the connections."""
        self._account.close()

    def _adapter(self) -> "Embedder":
        """The provider's adapter, made once. Its SDK takes a second to import; a run without new texts skips it."""
        with self._making:
            if self._made is None:
                if self._account.url:
                    _ = self._account.http  # made here, so that no two threads make one
                make: EmbedderClass = adapter(self._provider.embedder)
                self._made = make(self._account, model=self.model, dimension=self.dimension, texts_are=self.texts_are)
            return self._made

    def _in_one_line(self, error: PassageError) -> EmbeddingError:
        """The function's error with the service's message. The key is removed."""
        detail = " ".join((error.detail or "").split())
        if self._key:
            detail = detail.replace(self._key, "…")
        if len(detail) > DETAIL_CHARACTERS:
            detail = f"{detail[:DETAIL_CHARACTERS]}…"
        message = f"{error} ({detail})"
        if error.blame == "caller":
            return TextRefused(message)
        if error.blame != "upstream":
            return EmbeddingError(message)
        wait = error.retry_after if isinstance(error, UpstreamError) else None  # a timeout names no wait
        return TemporaryFailure(message, throttled=isinstance(error, UpstreamThrottled), retry_after=wait)


def _client(auth: "Auth | None", url: str) -> httpx.Client:
    """A client that uses the environment's proxies, unlike the function's. A service on this machine needs none."""
    return httpx.Client(auth=auth, timeout=TIMEOUT_SECONDS, **client_options(url))


def document_embedder(
    profile: "Profile", environ: Mapping[str, str], warn: Callable[[str], None] = lambda _: None
) -> DocumentEmbedder:
    """The embedder of a profile's texts, with the profile's document model.

    Args:
        warn: is called with a sentence for each model that is deprecated or unknown.

    Raises:
        ConfigurationError: one of the profile's models is retired, or does not fit the collection or the other model.
        EmbeddingError: no key is set.
    """
    for warning in check_models(profile):
        warn(warning)
    provider = PROVIDERS[profile.embedding.provider]
    access = CollectionSettings.from_env(environ).providers[provider.name]
    if provider.url is not None and access.key is None:
        raise EmbeddingError(
            f"{provider.key_variable} is needed to index; {provider.secret_variable} is for the function alone."
        )
    return DocumentEmbedder(provider, access, model=profile.embedding.for_texts, dimension=profile.collection.dimension)


def check_models(profile: "Profile") -> list[str]:
    """Check the models for texts and for questions, each alone and both together.

    Returns:
        Warnings about deprecated and unknown models.

    Raises:
        ConfigurationError: a model is retired, or another provider's.
        DimensionMismatch: a model does not have the collection's dimension.
        ModelMismatch: the vectors of questions and texts would not be comparable.
    """
    embedding, dimension = profile.embedding, profile.collection.dimension
    variables = {embedding.for_texts: TEXTS, embedding.model: QUESTIONS}  # one entry where one model does both
    warnings = [check_model(embedding.provider, name, dimension, variable) for name, variable in variables.items()]
    for name, variable in variables.items():
        check_dimension(embedding.provider, name, dimension, variable)
    if not models.are_comparable(embedding.for_texts, embedding.model):
        raise ModelMismatch(
            f"Texts would be embedded with '{embedding.for_texts}' and questions with '{embedding.model}', whose "
            f"vectors are not comparable: set {TEXTS} to a model of the same family, or leave it out.",
            upstream="embedding",
        )
    return [warning for warning in warnings if warning is not None]
