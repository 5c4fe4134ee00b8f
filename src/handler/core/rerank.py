"""The optional step after the search: sort the candidates by relevance.

A failure here never fails an answer: the passages then keep the store's order, as without a reranker.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

from handler.core import errors
from handler.core.deadline import Deadline, with_one_retry, within
from handler.core.errors import PassageError
from handler.core.model import Retrieval, RetrievalRequest
from handler.core.ports import Reranker

MARGIN = 0.1
"""Seconds of the request's time reserved for the answer: an optional step must not use all of it."""

LEAST = 0.1
"""With fewer seconds left, no call is made: it would not end in time, but would be billed."""

CONCURRENT = 8
"""How many of a batch's questions are reranked at a time: no API takes several, and the connection pool keeps ten."""


class Reranking(NamedTuple):
    """The step as a deployment configures it.

    Attributes:
        candidates: how many passages are fetched to find the best among them.
        seconds: the longest that one question's reranking takes, retry included.
    """

    reranker: Reranker
    candidates: int
    seconds: float = math.inf

    def _rerank(self, answer: Retrieval, deadline: Deadline) -> Retrieval:
        """An answer with its passages sorted by relevance, which becomes their score; equals keep their order."""
        passages = answer.passages
        if len(passages) < 2:  # nothing to sort, and a call costs as much as for a hundred
            return answer
        step = Deadline(deadline.at - MARGIN).capped(self.seconds)
        if step.remaining() < LEAST:
            message = "Too little of the request's time was left for reranking."
            return _without_reranking(answer, errors.DeadlineExceeded(message, upstream="reranking"))
        started = time.perf_counter()
        try:
            with within(step):
                question, texts = answer.request.text.strip(), [passage.text for passage in passages]
                relevances = with_one_retry(lambda: self.reranker.rerank(question, texts), step, "reranking")
            scored = [
                replace(passage, score=score, cosine=passage.score)
                for passage, score in zip(passages, relevances, strict=True)
            ]
            answer = replace(answer, passages=tuple(sorted(scored, key=attrgetter("score"), reverse=True)))
        except Exception as error:  # noqa: BLE001 - an optional step never fails an answer
            answer = _without_reranking(answer, errors.to_known(error))
        return answer.with_times(rerank_ms=(time.perf_counter() - started) * 1000)

    def rerank(self, answers: Sequence[Retrieval | PassageError], deadline: Deadline) -> list[Retrieval | PassageError]:
        """Rerank the passages of several answers, a few at a time. Raises nothing.

        A service that throttles, is down or refuses the key does so for every question: the remaining answers then keep
        the store's order without a call. A refused request, and an unexpected exception, may concern one question only.
        """
        stopped: list[PassageError] = []

        def rerank_one(answer: Retrieval | PassageError) -> Retrieval | PassageError:
            if isinstance(answer, PassageError) or not is_reranked(answer.request, answer.embedding_failure):
                return answer
            if stopped and len(answer.passages) > 1:
                return _without_reranking(answer, stopped[0])
            answer = self._rerank(answer, deadline)  # sets the deadline of this thread
            failure = answer.rerank_failure
            concerns_one = isinstance(failure, errors.RequestRefused | errors.InvalidRequest | errors.InternalError)
            if failure is not None and not concerns_one:
                stopped.append(failure)
            return answer

        if len(answers) < 2:
            return [rerank_one(answer) for answer in answers]
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only a batch needs it

        with ThreadPoolExecutor(CONCURRENT, thread_name_prefix="rerank") as pool:
            return list(pool.map(rerank_one, answers))


def is_reranked(request: RetrievalRequest, failure: PassageError | None) -> bool:
    """Whether a deployment's reranker reads a question's passages.

    A vector has no words to read, and titles are for every key press. Where embedding failed (`failure`), the reranker
    of the same provider most likely fails, too.
    """
    return request.vector is None and request.search.by != "titles" and failure is None


def _without_reranking(answer: Retrieval, failure: PassageError) -> Retrieval:
    """The answer in the store's order. The caller's warning leaves out the upstream's message."""
    warning = f"The passages are in the order of the search: reranking failed ({reason(failure)})."
    return replace(answer, rerank_failure=failure, warnings=(*answer.warnings, warning))


def reason(failure: PassageError) -> str:
    """Why an optional step failed, in a few words for the caller."""
    match failure:
        case errors.UpstreamThrottled():
            return "the service asked to slow down"
        case errors.UpstreamUnavailable():
            return "the service is not available"
        case errors.DeadlineExceeded():
            return "the time ran out"
        case errors.InvalidRequest():
            return "the service does not accept a word of the question or of a passage"
        case errors.ConfigurationError():
            return "it is set up wrongly"
        case _:
            return "something unexpected happened"
