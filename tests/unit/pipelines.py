"""The pipeline with fakes at its ports: how tests build one and ask it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from handler.core.deadline import Deadline
from handler.core.embedding import EmbeddingCache, QuestionEmbedder
from handler.core.model import CollectionInfo, Passage, Retrieval, RetrievalRequest, SearchResult, Vector
from handler.core.ports import Embedder, PassageStore
from handler.core.retrieve import Retriever


def pipeline(
    embedder: Embedder,
    store: PassageStore,
    *,
    dimension: int = 2,
    cache: EmbeddingCache | None = None,
    space: str = "",
    **parts: Any,
) -> Retriever:
    """A retriever; without `cache` it caches no embedding."""
    return Retriever(
        QuestionEmbedder(embedder, dimension, EmbeddingCache(0) if cache is None else cache, space), store, **parts
    )


def retrieve(retriever: Retriever, request: RetrievalRequest, deadline: Deadline) -> Retrieval:
    """The answer to one question; its error is raised."""
    (answer,) = retriever.retrieve([request], deadline)
    if isinstance(answer, Exception):
        raise answer
    return answer


@dataclass
class FakeEmbedder:
    """Gives every text the same vector, and records the texts."""

    model: str = "model"
    texts: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.texts.extend(texts)
        return [[1.0, 0.0] for _ in texts]

    def warm(self) -> None: ...


class BareStore:
    """What a store does besides `search`: nothing. Fakes for one test add the rest."""

    collection = "collection"

    def prepare(self) -> None: ...

    def neighbors(self, wanted: Sequence[tuple[Passage, int]]) -> SearchResult:
        return SearchResult(())

    def fetch(self, chunk: str, *, with_vectors: bool) -> Passage | None:
        return None

    def describe(self) -> CollectionInfo:
        raise NotImplementedError

    def warm(self) -> None: ...
