"""The optional step after the search: the candidates in order of relevance, or else as the store had them.

Nothing that goes wrong here fails an answer: the passages are there already, in an order that was good enough for
every answer before there was a reranker.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from handler.core import deadline as deadlines
from handler.core.deadline import Deadline
from handler.core.errors import (
    ConfigurationError,
    DeadlineExceeded,
    PassageError,
    RequestRefused,
    UpstreamThrottled,
    UpstreamUnavailable,
)
from handler.core.model import Passage, Search
from handler.core.ports import Reranker
from handler.core.retry import with_one_retry

MARGIN = 0.1
"""Seconds of the request's time that stay for the answer itself: a step that may fail must not take all there is."""

LEAST = 0.1
"""Seconds below which no call is begun: it could not end in time, and would be paid for."""

AT_ONCE = 8
"""How many of a batch's questions are reranked at a time: no API takes several, and the connection pool keeps ten."""


@dataclass(frozen=True)
class Reranked:
    """Passages, best first, and what became of the step.

    Attributes:
        took_ms: milliseconds; None when no call was made.
        failure: why the passages are in the store's order after all; None when they are not, or needed no other.
    """

    passages: tuple[Passage, ...]
    took_ms: float | None = None
    failure: Exception | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a caller is told of the failure: never an upstream's words."""
        if self.failure is None:
            return ()
        return (f"The passages are in order of similarity: reranking failed ({_reason(self.failure)}).",)


@dataclass(frozen=True)
class Reranking:
    """The step as a deployment configures it.

    Attributes:
        candidates: of how many passages the best are to be found.
        seconds: the longest that one question's reranking takes, retry and all.
    """

    reranker: Reranker
    candidates: int
    seconds: float = math.inf

    def widened(self, search: Search) -> Search:
        """The search that finds the candidates."""
        return replace(search, top_k=max(search.top_k, self.candidates))

    def reordered(self, question: str, passages: tuple[Passage, ...], deadline: Deadline) -> Reranked:
        """All of `passages`, best first by relevance, which becomes their score; equals keep their order.

        Raises nothing.
        """
        if len(passages) < 2:  # there is nothing to order, and a call costs as much as for a hundred
            return Reranked(passages)
        step = Deadline(deadline.at - MARGIN).capped(self.seconds)
        if step.remaining() < LEAST:
            late = DeadlineExceeded("Too little of the request's time was left for reranking.", upstream="reranking")
            return Reranked(passages, failure=late)
        started = time.perf_counter()
        failure: Exception | None = None
        try:
            with deadlines.running(step):
                texts = [passage.text for passage in passages]
                relevances = with_one_retry(lambda: self.reranker.rerank(question, texts), step, "reranking")
            scored = [replace(passage, score=score) for passage, score in zip(passages, relevances, strict=True)]
            passages = tuple(sorted(scored, key=lambda passage: passage.score, reverse=True))
        except Exception as error:  # noqa: BLE001 - an optional step fails no answer, whatever it trips over
            failure = error
        return Reranked(passages, (time.perf_counter() - started) * 1000, failure)

    def reordered_many(
        self, asked: Sequence[tuple[str, tuple[Passage, ...]]], deadline: Deadline
    ) -> Sequence[Reranked]:
        """The same for several questions with the passages of each, a few at a time; each has its own outcome.

        A service that limits us, is down, or refuses our key does so for every question of the batch, and was tried
        twice by then: those that were not begun keep the store's order, without a call. A refused request may be one
        question's own, and stops no other.
        """
        if len(asked) < 2:
            return [self.reordered(question, passages, deadline) for question, passages in asked]
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only a batch needs it

        stopped: list[PassageError] = []

        def one(question: str, passages: tuple[Passage, ...]) -> Reranked:
            if stopped and len(passages) > 1:
                return Reranked(passages, failure=stopped[0])
            outcome = self.reordered(question, passages, deadline)  # sets the deadline that runs in this thread
            if isinstance(outcome.failure, PassageError) and not isinstance(outcome.failure, RequestRefused):
                stopped.append(outcome.failure)
            return outcome

        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="rerank") as pool:
            return list(pool.map(one, *zip(*asked, strict=True)))


def _reason(failure: Exception) -> str:
    match failure:
        case UpstreamThrottled():
            return "the service asked to slow down"
        case UpstreamUnavailable():
            return "the service is not available"
        case DeadlineExceeded():
            return "the time ran out"
        case ConfigurationError():
            return "it is set up wrongly"
        case _:
            return "something unexpected happened"
