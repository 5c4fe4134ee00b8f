"""What the core needs of the world."""

from collections.abc import Sequence
from typing import Protocol

from handler.core.model import CollectionInfo, Found, Point, Reply, Search, Vector


class Embedder(Protocol):
    """Turns questions into vectors."""

    @property
    def model(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed questions (not documents).

        Args:
            texts: at most 96 non-blank texts.

        Returns:
            One vector of shape `(dimension,)` for each text, in order.

        Raises:
            UpstreamError: the service failed for a passing reason.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the key or the model was refused, or the model's dimension is not the profile's.
        """
        ...

    def warm(self) -> None:
        """Build what the first call would have to; no request is made."""
        ...


class PassageStore(Protocol):
    """Finds the passages nearest to a vector."""

    @property
    def collection(self) -> str: ...

    def search(self, vector: Vector, search: Search) -> Found:
        """The passages nearest to `vector` of shape `(dimension,)`, best first, at most `search.top_k`.

        Raises:
            UpstreamError: the store failed for a passing reason.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the collection is missing or shaped differently, or the key was refused.
        """
        ...

    def search_many(self, searches: Sequence[tuple[Vector, Search]]) -> list[Found]:
        """Several searches in one request: what `search` gives for each, in order.

        Raises:
            The same as `search`, for all of them together.
        """
        ...

    def fetch(self, chunk: str, *, with_vectors: bool) -> Point | None:
        """The point with that id, or the one whose payload has it as its chunk id; None when there is neither.

        Raises:
            The same as `search`.
        """
        ...

    def describe(self) -> CollectionInfo:
        """The collection's own account of itself. Whether it suits the profile is for the caller to check.

        Raises:
            The same as `search`.
        """
        ...

    def warm(self) -> None:
        """Build what the first search would have to; no request is made."""
        ...


class Reranker(Protocol):
    """Says how well texts answer a question, by reading both."""

    @property
    def model(self) -> str: ...

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """How relevant each text is to the question.

        Args:
            question: not blank.
            texts: 1 to 1,000, none blank.

        Returns:
            One relevance for each text, in the texts' order; finite, of 0…1 as the models give it.

        Raises:
            UpstreamError: the service failed for a passing reason.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the key or the model was refused.
        """
        ...

    def warm(self) -> None:
        """Build what the first call would have to; no request is made."""
        ...


class ReplySink(Protocol):
    """A configured place that replies go to."""

    @property
    def seconds(self) -> float:
        """The longest `send` takes before it gives up."""
        ...

    def send(self, reply: Reply, *, group: str | None) -> None:
        """Send one reply.

        Args:
            group: the FIFO group of the message it answers, None for a standard queue's; a FIFO destination keeps it.

        Raises:
            UpstreamError: it could not be sent for a passing reason.
            ConfigurationError: the destination does not exist, or may not be written to.
        """
        ...
