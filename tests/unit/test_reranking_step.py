"""The reranking step with fakes at the ports: its calls, its order, and that it never fails an answer."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from handler.core import deadline as deadlines
from handler.core import rerank
from handler.core.deadline import Deadline
from handler.core.errors import (
    CollectionNotFound,
    UpstreamUnavailable,
)
from handler.core.model import Passage, Retrieval, RetrievalRequest, Search, SearchResult, Vector
from handler.core.rerank import Reranking
from handler.core.retrieve import Retriever
from unit.pipelines import BareStore, FakeEmbedder, pipeline, retrieve

REQUEST = RetrievalRequest(text="  What is a digital twin? ", search=Search(top_k=2), score_threshold=0.3)
BY_VECTOR = replace(REQUEST, text="", vector=[1.0, 0.0])
DOWN = UpstreamUnavailable("down", upstream="reranking")


def passage(identity: int, score: float) -> Passage:
    return Passage(id=identity, score=score, text=f"text {identity}", url="url")


@dataclass
class FakeStore(BareStore):
    """Holds `size` passages, each a little further from every question than the one before."""

    size: int = 60
    asked: list[Search] = field(default_factory=list)
    missing: bool = False

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        self.asked += [search for _, search in searches]
        if self.missing:
            raise CollectionNotFound("none", upstream="store")
        held = [passage(number, 1 - number / 100) for number in range(self.size)]
        return [SearchResult(tuple(held[: search.top_k]), skipped=1) for _, search in searches]


@dataclass
class FakeReranker:
    """Scores later texts higher, which reverses the store's order; or fails the given number of times."""

    failures: list[Exception] = field(default_factory=list)
    relevance: Callable[[int, int], float] = lambda position, number: position / number
    model: str = "rerank"
    asked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    remaining: list[float] = field(default_factory=list)
    warmed: int = 0

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((question, tuple(texts)))
        running = deadlines.current()
        assert running is not None, "the transport below an SDK would wait for ever"
        self.remaining.append(running.remaining())
        if self.failures:
            raise self.failures.pop(0)
        return [self.relevance(position, len(texts)) for position in range(len(texts))]

    def warm(self) -> None:
        self.warmed += 1


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def reranker() -> FakeReranker:
    return FakeReranker()


@pytest.fixture
def retriever(store: FakeStore, reranker: FakeReranker) -> Retriever:
    return pipeline(FakeEmbedder(), store, reranking=Reranking(reranker, candidates=50))


def ids(retrieval: Retrieval) -> list[object]:
    return [item.id for item in retrieval.passages]


def test_best_candidates_are_answered_with_relevance_as_score(
    retriever: Retriever, store: FakeStore, reranker: FakeReranker
) -> None:
    retrieval = retrieve(retriever, REQUEST, Deadline.after(5))
    assert ids(retrieval) == [49, 48]
    assert [item.score for item in retrieval.passages] == [0.98, 0.96]
    assert retrieval.warnings == ()
    assert retrieval.rerank_failure is None
    assert retrieval.request is REQUEST, "a contract repeats what was asked for, not how"
    ((question, texts),) = reranker.asked
    assert question == "What is a digital twin?"
    assert texts == tuple(f"text {number}" for number in range(50))
    assert store.asked == [Search(top_k=50, score_threshold=0.3)], "the threshold is of the store's similarity"


def test_undisplayable_passages_are_not_reranked_or_answered(retriever: Retriever, reranker: FakeReranker) -> None:
    picky = retriever._replace(displayable=lambda item: int(item.id) % 10 == 0)
    retrieval = retrieve(picky, REQUEST, Deadline.after(5))
    assert ids(retrieval) == [40, 30]
    assert [texts for _, texts in reranker.asked] == [tuple(f"text {number}" for number in range(0, 50, 10))]
    assert retrieval.skipped == 1 + 45
    (many, _) = picky.retrieve([REQUEST, REQUEST], Deadline.after(5))
    assert isinstance(many, Retrieval)
    assert (ids(many), many.skipped) == ([40, 30], 46)


def test_top_k_above_the_candidates_asks_the_store_for_top_k(retriever: Retriever, store: FakeStore) -> None:
    retrieval = retrieve(retriever, replace(REQUEST, search=Search(top_k=55)), Deadline.after(5))
    assert store.asked[0].top_k == 55
    assert ids(retrieval) == list(range(54, -1, -1))


def test_candidates_change_only_the_number_of_the_search(retriever: Retriever, store: FakeStore) -> None:
    search = Search(top_k=2, filters={"url": ("x",)}, with_vectors=True, whole_payload=True)
    retrieve(retriever, replace(REQUEST, search=search), Deadline.after(5))
    assert store.asked == [replace(search, top_k=50, score_threshold=0.3)]


def test_vector_question_is_not_reranked_or_widened(
    retriever: Retriever, store: FakeStore, reranker: FakeReranker
) -> None:
    retrieval = retrieve(retriever, BY_VECTOR, Deadline.after(5))
    assert ids(retrieval) == [0, 1]
    assert reranker.asked == []
    assert store.asked == [replace(BY_VECTOR.search, score_threshold=0.3)]
    assert retrieval.timings.rerank_ms is None
    assert retrieval.warnings == ()


@pytest.mark.parametrize("size", [0, 1])
def test_fewer_than_two_passages_cost_no_call(
    size: int, store: FakeStore, retriever: Retriever, reranker: FakeReranker
) -> None:
    store.size = size
    retrieval = retrieve(retriever, REQUEST, Deadline.after(5))
    assert len(retrieval.passages) == size
    assert reranker.asked == []
    assert (retrieval.warnings, retrieval.timings.rerank_ms) == ((), None)


def test_step_gets_the_remaining_time_less_a_margin(retriever: Retriever, reranker: FakeReranker) -> None:
    retrieve(retriever, REQUEST, Deadline.after(60))
    assert reranker.remaining[0] <= 60 - rerank.MARGIN


def test_warming_up_warms_the_reranker(retriever: Retriever, reranker: FakeReranker) -> None:
    retriever.warm()
    assert reranker.warmed == 1


def test_too_little_time_skips_the_reranker_with_a_warning(
    retriever: Retriever, reranker: FakeReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerank, "LEAST", 60.0)
    retrieval = retrieve(retriever, REQUEST, Deadline.after(60))
    assert ids(retrieval) == [0, 1]
    assert "the time ran out" in retrieval.warnings[0]
    assert reranker.asked == []
    assert retrieval.timings.rerank_ms is None


def test_no_time_for_a_retry_keeps_the_store_order(
    retriever: Retriever, reranker: FakeReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No time is left for a second attempt, so there is no wait, either."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    monkeypatch.setattr(deadlines, "RETRY_DELAY", 100.0)
    reranker.failures = [DOWN]
    assert ids(retrieve(retriever, REQUEST, Deadline.after(60))) == [0, 1]
    assert waited == []


def many(retriever: Retriever, requests: Sequence[RetrievalRequest]) -> list[Retrieval]:
    retrievals = []
    for each in retriever.retrieve(requests, Deadline.after(5)):
        assert isinstance(each, Retrieval), each
        retrievals.append(each)
    return retrievals


def question(number: int) -> RetrievalRequest:
    return replace(REQUEST, text=f"question {number}")


def test_each_question_of_a_batch_is_reranked_by_its_own_words(retriever: Retriever, reranker: FakeReranker) -> None:
    requests = [question(number) for number in range(20)]
    answers = many(retriever, [*requests, BY_VECTOR])
    assert [ids(answer) for answer in answers] == [[49, 48]] * 20 + [[0, 1]]
    assert [answer.request for answer in answers] == [*requests, BY_VECTOR]
    assert sorted(asked for asked, _ in reranker.asked) == sorted(request.text for request in requests)
    assert all(answer.timings.rerank_ms is not None for answer in answers[:-1])
    assert answers[-1].timings.rerank_ms is None


def test_parallel_rerank_calls_are_limited(
    retriever: Retriever, reranker: FakeReranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once, running, most = threading.Lock(), [0], [0]
    together = threading.Event()

    def counted(_: str, texts: Sequence[str]) -> list[float]:
        with at_once:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == rerank.CONCURRENT:
                together.set()
        assert together.wait(30), "they run beside each other"
        with at_once:
            running[0] -= 1
        return [0.5] * len(texts)

    monkeypatch.setattr(reranker, "rerank", counted)
    assert len(many(retriever, [question(number) for number in range(3 * rerank.CONCURRENT)])) == 3 * rerank.CONCURRENT
    assert most[0] == rerank.CONCURRENT


def test_failed_search_is_not_reranked(retriever: Retriever, store: FakeStore, reranker: FakeReranker) -> None:
    store.missing = True
    answers = retriever.retrieve([question(1), question(2)], Deadline.after(5))
    assert all(isinstance(answer, CollectionNotFound) for answer in answers)
    assert reranker.asked == []
