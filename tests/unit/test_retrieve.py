"""The pipeline with fakes at its ports: one retry each, within one deadline, and passages in order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from handler.core.deadline import Deadline
from handler.core.errors import (
    CollectionNotFound,
    DeadlineExceeded,
    PassageError,
    UpstreamThrottled,
    UpstreamUnavailable,
)
from handler.core.model import CollectionInfo, Passage, Point, RetrievalRequest, Search, SearchResult, Vector
from unit.pipelines import pipeline, retrieve

REQUEST = RetrievalRequest(text="  What is a digital twin? ", search=Search(top_k=2))
DOWN = UpstreamUnavailable("down", upstream="store")


def passage(identity: int, score: float) -> Passage:
    return Passage(id=identity, score=score, text="text", url="url")


@dataclass
class FakeEmbedder:
    failures: list[PassageError] = field(default_factory=list)
    model: str = "model"
    texts: list[str] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.texts.extend(texts)
        if self.failures:
            raise self.failures.pop(0)
        return [[1.0, 0.0]]

    def warm(self) -> None: ...


@dataclass
class FakeStore:
    found: SearchResult = field(default_factory=lambda: SearchResult((passage(1, 0.9), passage(2, 0.8))))
    failures: list[PassageError] = field(default_factory=list)
    collection: str = "collection"
    searches: int = 0

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        self.searches += 1
        if self.failures:
            raise self.failures.pop(0)
        return [self.found for _ in searches]

    def fetch(self, chunk: str, *, with_vectors: bool) -> Point | None:
        return None

    def describe(self) -> CollectionInfo:
        raise NotImplementedError

    def warm(self) -> None: ...


def test_question_is_stripped_before_embedding() -> None:
    embedder = FakeEmbedder()
    retrieval = retrieve(pipeline(embedder, FakeStore()), REQUEST, Deadline.after(5))
    assert embedder.texts == ["What is a digital twin?"]
    assert retrieval.request is REQUEST
    assert (retrieval.model, retrieval.collection) == ("model", "collection")


def test_passages_are_best_first_unique_and_at_most_the_limit() -> None:
    found = SearchResult((passage(3, 0.1), passage(1, 0.9), passage(1, 0.9), passage(2, 0.5)), skipped=4)
    retrieval = retrieve(pipeline(FakeEmbedder(), FakeStore(found)), REQUEST, Deadline.after(5))
    assert [item.id for item in retrieval.passages] == [1, 2]
    assert retrieval.skipped == 4


@pytest.mark.parametrize("failure", [DOWN, UpstreamThrottled("busy", upstream="store", retry_after=0.01)])
def test_temporary_failure_is_retried_once(failure: PassageError) -> None:
    store = FakeStore(failures=[failure])
    assert retrieve(pipeline(FakeEmbedder(), store), REQUEST, Deadline.after(5)).passages
    assert store.searches == 2


def test_two_embedding_failures_raise_after_one_retry() -> None:
    embedder = FakeEmbedder(failures=[DOWN, DOWN, DOWN])
    with pytest.raises(UpstreamUnavailable):
        retrieve(pipeline(embedder, FakeStore()), REQUEST, Deadline.after(5))
    assert len(embedder.texts) == 2


@pytest.mark.parametrize("failure", [CollectionNotFound("none"), DeadlineExceeded("late")])
def test_permanent_failure_is_not_retried(failure: PassageError) -> None:
    store = FakeStore(failures=[failure])
    with pytest.raises(type(failure)):
        retrieve(pipeline(FakeEmbedder(), store), REQUEST, Deadline.after(5))
    assert store.searches == 1


def test_no_retry_when_the_wait_would_outlast_the_deadline() -> None:
    store = FakeStore(failures=[UpstreamThrottled("busy", upstream="store", retry_after=60)])
    with pytest.raises(UpstreamThrottled):
        retrieve(pipeline(FakeEmbedder(), store), REQUEST, Deadline.after(5))
    assert store.searches == 1
