"""The optional step after the search: sort the candidates by relevance.

A failure here never fails an answer: the passages then keep the store's order, as without a reranker.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from handler.core.deadline import Deadline, running, with_one_retry
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

MARGIN = 0.1
"""Seconds of the request's time reserved for the answer: an optional step must not use all of it."""

LEAST = 0.1
"""With fewer seconds left, no call is made: it would not end in time, but would be billed."""

CONCURRENT = 8
"""How many of a batch's questions are reranked at a time: no API takes several, and the connection pool keeps ten."""


@dataclass(frozen=True)
class Reranked:
    """Passages, best first, and how the step went.

    Attributes:
        took_ms: milliseconds; None when no call was made.
        failure: why the passages kept the store's order; None when the step succeeded or was not needed.
        warnings: the same for the caller, without the upstream's message.
    """

    passages: tuple[Passage, ...]
    took_ms: float | None = None
    failure: Exception | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reranking:
    """The step as a deployment configures it.

    Attributes:
        candidates: how many passages are fetched to find the best among them.
        seconds: the longest that one question's reranking takes, retry included.
    """

    reranker: Reranker
    candidates: int
    seconds: float = math.inf

    def with_candidates(self, search: Search) -> Search:
        """The search that finds the candidates."""
        return replace(search, top_k=max(search.top_k, self.candidates))

    def rerank(self, question: str, passages: tuple[Passage, ...], deadline: Deadline) -> Reranked:
        """All of `passages`, sorted by relevance, which becomes their score; equals keep their order.

        Raises nothing.
        """
        if len(passages) < 2:  # nothing to sort, and a call costs as much as for a hundred
            return Reranked(passages)
        step = Deadline(deadline.at - MARGIN).capped(self.seconds)
        if step.remaining() < LEAST:
            late = DeadlineExceeded("Too little of the request's time was left for reranking.", upstream="reranking")
            return _failed(passages, late)
        started = time.perf_counter()
        try:
            with running(step):
                texts = [passage.text for passage in passages]
                relevances = with_one_retry(lambda: self.reranker.rerank(question, texts), step, "reranking")
            scored = [replace(passage, score=score) for passage, score in zip(passages, relevances, strict=True)]
        except Exception as error:  # noqa: BLE001 - an optional step never fails an answer
            return _failed(passages, error, (time.perf_counter() - started) * 1000)
        best_first = tuple(sorted(scored, key=attrgetter("score"), reverse=True))
        return Reranked(best_first, (time.perf_counter() - started) * 1000)

    def rerank_many(self, asked: Sequence[tuple[str, tuple[Passage, ...]]], deadline: Deadline) -> Sequence[Reranked]:
        """Rerank several questions' passages, a few at a time; each has its own outcome.

        A service that throttles, is down or refuses the key does so for every question. Once that is known, the
        remaining questions keep the store's order without a call. A refused request may concern one question only.
        """
        if len(asked) < 2:
            return [self.rerank(question, passages, deadline) for question, passages in asked]
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only a batch needs it

        stopped: list[PassageError] = []

        def one(question: str, passages: tuple[Passage, ...]) -> Reranked:
            if stopped and len(passages) > 1:
                return _failed(passages, stopped[0])
            outcome = self.rerank(question, passages, deadline)  # sets the deadline of this thread
            if isinstance(outcome.failure, PassageError) and not isinstance(outcome.failure, RequestRefused):
                stopped.append(outcome.failure)
            return outcome

        with ThreadPoolExecutor(CONCURRENT, thread_name_prefix="rerank") as pool:
            return list(pool.map(one, *zip(*asked, strict=True)))


def _failed(passages: tuple[Passage, ...], failure: Exception, took_ms: float | None = None) -> Reranked:
    warning = f"The passages are in the order of the search: reranking failed ({_reason(failure)})."
    return Reranked(passages, took_ms, failure, (warning,))


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
