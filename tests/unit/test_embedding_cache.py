"""The embedding cache: it returns the same vectors as a call, and never exceeds its size."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from handler.core.deadline import Deadline
from handler.core.embedding import EmbeddingCache, normalise
from handler.core.model import RetrievalRequest, Search, SearchResult, Vector
from handler.core.retrieve import Retriever
from unit.pipelines import BareStore, pipeline

TEXTS = st.text(min_size=1).filter(str.strip)
FEW_TEXTS = st.sampled_from(["a", "b", "c", " a ", "a\u2003", "B", "e\u0301", "\u00e9", "a b", "a \n b"])


class Counting:
    """Returns a different vector for each text, and records the requested texts."""

    model = "counting"

    def __init__(self, bias: float = 0.0) -> None:
        self.asked: list[str] = []
        self._bias = bias

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> tuple[float, float]:
        number = int.from_bytes(text.encode("utf-8", "surrogatepass")[:6], "big") / 7
        return number + self._bias, len(text) / 3

    def warm(self) -> None: ...


class Telling(BareStore):
    """A store that records the vectors of its searches."""

    def __init__(self) -> None:
        self.vectors: list[Vector] = []

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        self.vectors += [tuple(vector) for vector, _ in searches]
        return [SearchResult(()) for _ in searches]


def ask(retriever: Retriever, texts: Sequence[str]) -> list[bool | None]:
    """Ask all in one batch. Returns which were cached."""
    requests = [RetrievalRequest(text=text, search=Search(top_k=1)) for text in texts]
    answers = retriever.retrieve(requests, Deadline.after(60))
    return [answer.embedding_cached for answer in answers if not isinstance(answer, Exception)]


@given(st.lists(st.lists(FEW_TEXTS, min_size=1, max_size=5), max_size=20), st.integers(0, 4))
def test_search_uses_the_questions_vector_with_any_cache(invocations: list[list[str]], size: int) -> None:
    embedder, store, cache = Counting(), Telling(), EmbeddingCache(size)
    retriever = pipeline(embedder, store, cache=cache)
    for texts in invocations:
        store.vectors.clear()
        embedder.asked.clear()
        cached = ask(retriever, texts)
        assert store.vectors == [embedder.vector(normalise(text)) for text in texts]
        assert cached.count(False) == len(embedder.asked) == len(set(embedder.asked)), "each is paid for once"
        assert len(cache) <= size


@given(st.lists(FEW_TEXTS, min_size=1))
def test_cache_within_its_size_embeds_no_text_twice(texts: list[str]) -> None:
    embedder = Counting()
    retriever = pipeline(embedder, Telling(), cache=EmbeddingCache(10))
    for text in texts:
        ask(retriever, [text])
    assert embedder.asked == list(dict.fromkeys(map(normalise, texts)))


@given(st.lists(TEXTS, min_size=3, max_size=8, unique_by=normalise))
def test_least_recently_used_question_is_evicted(texts: list[str]) -> None:
    embedder = Counting()
    retriever = pipeline(embedder, Telling(), cache=EmbeddingCache(len(texts) - 1))
    first, *rest = texts
    for text in (first, *rest[:-1], first, rest[-1], first):
        ask(retriever, [text])
    assert embedder.asked.count(normalise(first)) == 1, "asked again before it was pushed out, it is the newest"


@given(TEXTS)
def test_models_do_not_share_cached_embeddings(text: str) -> None:
    cache, one, other = EmbeddingCache(10), Counting(), Counting(bias=1.0)
    for embedder, space in ((one, "cohere v3 1024"), (other, "cohere v4 1024")):
        store = Telling()
        assert ask(pipeline(embedder, store, cache=cache, space=space), [text]) == [False]
        assert store.vectors == [embedder.vector(normalise(text))]


@given(TEXTS)
def test_normalised_text_is_stable(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once.casefold() == normalise(text.strip()).casefold()
    assert once


def test_case_distinguishes_questions_but_white_space_not() -> None:
    assert normalise("What  is\tROS\n2? ") == "What is ROS 2?"
    assert normalise("us") != normalise("US")
