"""Fills the vector cache: sends batches of texts in parallel and retries temporary failures."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from handler.core.model import Vector
from passage.indexing import room
from passage.indexing.pacing import Pace, wait_before
from passage.indexing.vector_cache import VectorCache

Texts = Mapping[bytes, str]
"""Texts by their keys in the cache."""

CONCURRENT = 4
ATTEMPTS, FIRST_ATTEMPTS = 7, 3
"""Attempts for a batch. Before the service's first answer there are fewer, because its address may be wrong."""

TOKENS_PER_CALL = 64_000
"""The most tokens of a batch. It bounds the size of a request and the cost of sending it again."""


class EmbeddingError(Exception):
    """The texts could not be embedded. The message is one line and says what to do."""


class TextRefused(EmbeddingError):
    """The service does not accept one of the texts, and does not say which."""


class TemporaryFailure(EmbeddingError):
    """The service may answer the same request later.

    Args:
        throttled: it reported too many requests.
        retry_after: the seconds that it asked to wait; None where it named none.
    """

    def __init__(self, message: str, *, throttled: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.throttled = throttled
        self.retry_after = retry_after


class BatchEmbedder(Protocol):
    """Embeds one batch; may be called from several threads."""

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]: ...


@dataclass(frozen=True, slots=True)
class Text:
    """A text to embed. `tokens` is an estimate."""

    key: bytes
    text: str
    tokens: int


def batches(texts: Iterable[Text], most: int) -> Iterator[Texts]:
    """The texts in batches of at most `most` texts and `TOKENS_PER_CALL` tokens; each key once in a batch."""
    batch: dict[bytes, str] = {}
    tokens = 0
    for one in texts:
        if batch and (len(batch) == most or tokens + one.tokens > TOKENS_PER_CALL):
            yield batch
            batch, tokens = {}, 0
        batch[one.key] = one.text
        tokens += one.tokens
    if batch:
        yield batch


class Filler:
    """Embeds texts that have no vector in the cache.

    Args:
        retrying: is called with the error and the seconds until the next attempt.

    Attributes:
        refused: the keys of texts that the service does not accept.
    """

    def __init__(
        self,
        embedder: BatchEmbedder,
        cache: VectorCache,
        *,
        texts_per_minute: int | None = None,
        retrying: Callable[[str, float], object] = lambda *_: None,
    ) -> None:
        self._embedder = embedder
        self._cache = cache
        self._stopped = threading.Event()
        self._pace = Pace(texts_per_minute, sleep=self._stopped.wait)
        self._retrying = retrying
        self._answered = False
        self.refused: set[bytes] = set()

    def stop(self) -> None:
        """Stop sending. Answers to requests under way are still kept, because they are paid for."""
        self._stopped.set()

    def fill(self, work: Iterable[Texts]) -> Iterator[int]:
        """Put a vector for each accepted text into the cache; yields the number of texts of each finished batch.

        Raises:
            EmbeddingError: a batch failed permanently, or the cache's disk is full. Vectors of other batches are kept.
        """
        running: set[Future[int]] = set()
        with ThreadPoolExecutor(CONCURRENT, thread_name_prefix="embedding") as pool:
            try:
                for batch in work:
                    if len(running) >= CONCURRENT:
                        done, running = wait(running, return_when=FIRST_COMPLETED)
                        yield from (one.result() for one in done)
                    if self._stopped.is_set():
                        break
                    running.add(pool.submit(self._fill_one, batch))
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (one.result() for one in done)
            except BaseException:
                self.stop()
                raise

    def _fill_one(self, batch: Texts) -> int:
        # Another run may have embedded some of them since the caller looked.
        absent = self._cache.missing(batch)
        texts = {key: text for key, text in batch.items() if key in absent}
        if texts:
            folder = self._cache.folder
            if fault := room.lacking(folder, 0):  # a batch's vectors are smaller than the margin
                raise EmbeddingError(f"The vectors cannot be kept in {folder}: {fault}. No more was paid for.")
            vectors = dict(zip(texts, self._embed_accepted(list(texts.values())), strict=True))
            self.refused.update(key for key, vector in vectors.items() if vector is None)
            self._cache.put({key: vector for key, vector in vectors.items() if vector is not None})
        return len(batch)

    def _embed_accepted(self, texts: list[str]) -> list[Vector | None]:
        """A vector for each text; None for one that the service does not accept, found by halving the batch."""
        try:
            return list(self._embed(texts))
        except TextRefused:
            if len(texts) == 1:
                return [None]
        half = len(texts) // 2
        return self._embed_accepted(texts[:half]) + self._embed_accepted(texts[half:])

    def _embed(self, texts: list[str]) -> Sequence[Vector]:
        for attempt in count(1):
            if not self._pace.wait_for(len(texts)):
                raise EmbeddingError("The run was stopped.")
            try:
                vectors = self._embedder.embed(texts)
            except TemporaryFailure as failure:
                most = ATTEMPTS if self._answered or failure.throttled else FIRST_ATTEMPTS
                if attempt >= most or self._stopped.is_set():
                    raise
                seconds = wait_before(attempt, throttled=failure.throttled, asked=failure.retry_after)
                self._pace.hold(seconds)
                self._retrying(str(failure), seconds)
            else:
                self._answered = True
                return vectors
        raise AssertionError  # the loop ends by return or raise
