"""The services that the pipeline calls, as Protocols."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from handler.core.model import CollectionInfo, Noise, Passage, PointId, Search, SearchResult, Vector

TextsAre = Literal["question", "document"]
"""What an embedder embeds."""


class Embedder(Protocol):
    """Turns texts of one kind, questions or documents, into vectors."""

    @property
    def model(self) -> str:
        """The model, by its provider's name for it."""

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of shape `(dimension,)`, one for each text, in order.

        Args:
            texts: at most 96 non-blank questions, or the documents that the model takes in a call.

        Raises:
            InvalidRequest: the service does not accept one of the texts.
            UpstreamError: the service failed temporarily.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the key or the model was refused, or the model's dimension is not the profile's.
        """

    def warm(self) -> None:
        """Build what the first call would have to; no request is made."""


class PassageStore(Protocol):
    """Finds the passages nearest to a vector, and points by id. Each method raises what `search` does, but `warm`."""

    @property
    def collection(self) -> str:
        """The name of the collection that is searched."""

    def prepare(self) -> None:
        """Learn, once a container, that the collection is there, before a text is embedded for it."""

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        """Run searches in one request. A search with words is hybrid where the collection can rank by text.

        Args:
            searches: each a vector of shape `(dimension,)`, unused where `Search.by` is set, and what to look for.

        Returns:
            For each search its best passages, best first, at most `top_k`.

        Raises:
            UpstreamError: the store failed temporarily.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the collection is missing or shaped differently, or the key was refused.
            NoTextIndex: a search has `by` set, and the collection has no index for it.
        """

    def neighbors(self, wanted: Sequence[tuple[Passage, int]]) -> SearchResult:
        """The chunks around passages, found in one request.

        Args:
            wanted: passages that `search` found, each with how many chunks before and after it to find.

        Returns:
            Chunks of the passages' pages, the passages among them, in any order, without meaningful scores. A warning
            says which neighbors the store cannot find.
        """

    def noise(self) -> Noise | None:
        """The noise of the index: the profile's own, else as measured when the index was written; None without it."""

    def holders(self, words: Sequence[str], most: int) -> Mapping[str, frozenset[PointId]]:
        """The points that have each word, found in one request, without words that more than `most` points have.

        Empty where the collection cannot be searched by words.
        """

    def values(self, keys: Sequence[str], most: int) -> Mapping[str, tuple[str, ...]]:
        """The texts that payload keys hold, sorted; without a key of more than `most`, or one that is not counted."""

    def fetch(self, chunk: str, *, with_vectors: bool) -> Passage | None:
        """The point with that id, or the one whose payload has it as its chunk id, with its whole payload and score 0.

        None without either, and for a point without text or URL.
        """

    def describe(self) -> CollectionInfo:
        """The collection's metadata. The caller validates it against the profile."""

    def warm(self) -> None:
        """Build what the first search would have to; no request is made."""


class Reranker(Protocol):
    """Scores how well texts answer a question."""

    @property
    def model(self) -> str:
        """The model, by its provider's name for it."""

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Each text's relevance to the question, in the texts' order; finite, in 0…1 as the models return it.

        Args:
            texts: 1 to 1,000; neither they nor the question are blank.

        Raises:
            UpstreamError: the service failed temporarily.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the key or the model was refused.
        """

    def warm(self) -> None:
        """Build what the first call would have to; no request is made."""
