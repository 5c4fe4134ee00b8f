"""The cache of vectors, the pace of requests and what fills the cache."""

import sqlite3
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passage.indexing import cache_filler
from passage.indexing.cache_filler import EmbeddingError, Filler, TemporaryFailure, Text, batches
from passage.indexing.pacing import Pace, wait_before
from passage.indexing.vector_cache import VectorCache, VectorKind

KIND = VectorKind("cohere", "embed-v4.0", 4)
OTHERS = [
    VectorKind("emulator", "embed-v4.0", 4),
    VectorKind("cohere", "embed-v4.", 4),
    VectorKind("cohere", "embed-v4.0", 5),
]


def vector_of(text: str) -> list[float]:
    """A vector that no other text has."""
    hashed = KIND.key(text)
    return [float(number) for number in hashed[:8]]


class Recorded:
    """Embeds each text into a different vector; fails for a while if told to."""

    def __init__(self, failures: Sequence[bool] = ()) -> None:
        self.texts: list[str] = []
        self._failures = list(failures)
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        with self._lock:
            if self._failures and self._failures.pop(0):
                raise TemporaryFailure("busy", throttled=True, retry_after=0)
            self.texts += texts
        return [vector_of(text) for text in texts]


def to_embed(texts: Sequence[str]) -> list[Text]:
    return [Text(KIND.key(text), text, len(text)) for text in dict.fromkeys(texts)]


@given(
    texts=st.lists(st.text(min_size=1, max_size=8), max_size=40),
    known=st.lists(st.text(min_size=1, max_size=8), max_size=10),
    per_call=st.integers(1, 7),
    failures=st.lists(st.booleans(), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_each_text_gets_its_own_vector_in_any_order(
    texts: list[str], known: list[str], per_call: int, failures: list[bool]
) -> None:
    """In any order of texts and answers, with any batches, failures and cache content."""
    with tempfile.TemporaryDirectory() as folder, VectorCache(Path(folder)) as cache:
        cache.put({KIND.key(text): vector_of(text) for text in known})
        embedder = Recorded(failures)
        done = sum(Filler(embedder, cache).fill(batches(to_embed(texts), per_call)))
        assert done == len(set(texts))
        assert sorted(embedder.texts) == sorted(set(texts) - set(known))
        found = cache.get(KIND.key(text) for text in texts)
        assert {key: list(vector) for key, vector in found.items()} == {
            KIND.key(text): vector_of(text) for text in texts
        }


@pytest.mark.parametrize("other", OTHERS)
def test_other_kind_of_vector_has_another_key(other: VectorKind) -> None:
    assert other.key("text") != KIND.key("text")


def test_killed_process_leaves_the_batches_it_put(tmp_path: Path) -> None:
    """Another connection sees what `put` returned from; nothing waits for `close`."""
    cache = VectorCache(tmp_path)
    cache.put({KIND.key("one"): [1.0, 2.0]})
    rows = sqlite3.connect(tmp_path / "vectors.sqlite").execute("SELECT COUNT(*) FROM vector").fetchone()
    assert rows == (1,)
    cache.close()


def test_batches_hold_no_more_texts_and_tokens_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_filler, "TOKENS_PER_CALL", 10)
    texts = [Text(bytes([number]), str(number), tokens) for number, tokens in enumerate([6, 4, 1, 1, 1, 50, 2])]
    assert [list(batch.values()) for batch in batches(texts, 3)] == [["0", "1"], ["2", "3", "4"], ["5"], ["6"]]


def test_refused_batch_keeps_vectors_of_other_batches(tmp_path: Path) -> None:
    class Refusing(Recorded):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            if "bad" in texts:
                raise EmbeddingError("refused")
            return super().embed(texts)

    with VectorCache(tmp_path) as cache:
        with pytest.raises(EmbeddingError, match="refused"):
            list(Filler(Refusing(), cache).fill(batches(to_embed(["good", "bad"]), 1)))
        assert cache.missing([KIND.key("good"), KIND.key("bad")]) == {KIND.key("bad")}


def test_stopped_filler_sends_nothing_more(tmp_path: Path) -> None:
    embedder = Recorded()
    with VectorCache(tmp_path) as cache:
        filler = Filler(embedder, cache)
        filler.stop()
        assert list(filler.fill(batches(to_embed(["one"]), 1))) == []
    assert embedder.texts == []


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> bool:
        self.now += seconds
        return False


def test_texts_of_a_minute_stay_within_the_limit() -> None:
    clock = Clock()
    pace = Pace(200, clock=clock, sleep=clock.sleep)
    sent: list[float] = []
    for _ in range(5):
        assert pace.wait_for(96)
        sent.append(clock.now)
    assert sent == [0, 0, 60, 60, 120]


def test_retry_after_holds_every_request() -> None:
    clock = Clock()
    pace = Pace(None, clock=clock, sleep=clock.sleep)
    pace.hold(7)
    assert pace.wait_for(1)
    assert clock.now == 7


def test_waits_grow_unless_the_service_names_one() -> None:
    assert [wait_before(attempt, throttled=False, asked=None) for attempt in (1, 2, 3, 9)] == [1, 2, 4, 60]
    assert wait_before(1, throttled=True, asked=None) == 10
    assert wait_before(3, throttled=True, asked=0.5) == 0.5
