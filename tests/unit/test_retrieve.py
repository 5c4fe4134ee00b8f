"""The pipeline with fakes at its ports: which passages are found, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from handler.core.deadline import Deadline
from handler.core.errors import (
    CollectionNotFound,
)
from handler.core.model import Order, Passage, RetrievalRequest, Search, SearchResult, Vector
from unit.pipelines import BareStore, FakeEmbedder, pipeline, retrieve

REQUEST = RetrievalRequest(text="  What is a digital twin? ", search=Search(top_k=2))


def passage(identity: int, score: float, fused: float | None = None) -> Passage:
    return Passage(id=identity, score=score, text="text", url=f"url{identity}", fused=fused)


FUSED = SearchResult((passage(5, 0.2, 3.1), passage(3, 0.9, 1.5), passage(4, 0.5, 1.0), passage(1, 1.0, 0.5)))
"""A hybrid search's result: in the order of the fused scores, which is not that of the cosines."""


@dataclass
class FakeStore(BareStore):
    found: SearchResult = field(default_factory=lambda: SearchResult((passage(1, 0.9), passage(2, 0.8))))
    searches: int = 0
    texts: list[str] = field(default_factory=list)

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        self.searches += 1
        self.texts = [search.text for _, search in searches]
        return [self.found for _ in searches]


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


@dataclass
class CopyingStore(FakeStore):
    """Has each of four passages several times, and may fail at its second search."""

    copies: int = 3
    fails: bool = False

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        self.searches += 1
        if self.fails and self.searches > 1:
            raise CollectionNotFound("gone", upstream="store")
        points = [
            replace(passage(place, 1 - place / 10), id=10 * place + copy)
            for place in range(4)
            for copy in range(self.copies)
        ]
        return [SearchResult(tuple(points[: search.top_k])) for _, search in searches]


@pytest.mark.parametrize(
    ("copies", "fails", "top_k", "searches", "expected"),
    [
        (3, False, 3, 2, [0, 10, 20]),
        (3, True, 3, 2, [0]),
        (1, False, 3, 1, [0, 10, 20]),
        (3, False, 13, 1, [0, 10, 20, 30]),
    ],
)
def test_repeated_text_is_shown_once_and_the_next_fills_in(
    copies: int, fails: bool, top_k: int, searches: int, expected: list[int]
) -> None:
    store = CopyingStore(copies=copies, fails=fails)
    retrieval = retrieve(
        pipeline(FakeEmbedder(), store), replace(REQUEST, search=Search(top_k=top_k)), Deadline.after(5)
    )
    assert [item.id for item in retrieval.passages] == expected
    assert store.searches == searches


@pytest.mark.parametrize(
    ("default", "asked", "expected"),
    [
        ("relevance", None, [5, 3, 4]),
        ("score", None, [3, 4, 5]),
        ("score", "relevance", [5, 3, 4]),
        ("relevance", "score", [3, 4, 5]),
    ],
)
def test_order_changes_places_but_not_the_chosen_passages(
    default: Order, asked: Order | None, expected: list[int]
) -> None:
    request = replace(REQUEST, search=Search(top_k=3), order=asked)
    retriever = pipeline(FakeEmbedder(), FakeStore(FUSED), order=default)
    retrieval = retrieve(retriever, request, Deadline.after(5))
    assert [item.id for item in retrieval.passages] == expected


@pytest.mark.parametrize(("mode", "text"), [("hybrid", "What is a digital twin?"), ("dense", "")])
def test_only_a_hybrid_search_gets_the_words(mode: str, text: str) -> None:
    store = FakeStore()
    retrieve(pipeline(FakeEmbedder(), store, mode=mode), REQUEST, Deadline.after(5))
    assert store.texts == [text]


def test_stages_reach_the_retrieval() -> None:
    stages = {"dense": ((1, 0.9),), "text": ((5, 12.0),)}
    found = replace(FUSED, stages=stages)
    assert retrieve(pipeline(FakeEmbedder(), FakeStore(found)), REQUEST, Deadline.after(5)).stages == stages
