"""Searches without a vector: those that a question or its profile asks for, and those because embedding failed.

Imported when there is one.
"""

from collections.abc import Sequence
from dataclasses import replace

from handler.core.deadline import Deadline, within
from handler.core.embedding import EmbeddedQuestion, QuestionEmbedder, needs_vector, skip_embedding
from handler.core.errors import InvalidRequest, PassageError
from handler.core.model import Retrieval, RetrievalRequest
from handler.core.rerank import reason

NO_SCORES = "The scores are 0: a search by words or titles has no similarities."


def check(request: RetrievalRequest) -> None:
    """Raise InvalidRequest if a question is a vector or wants a minimum similarity: it needs a search by vector."""
    if request.vector is not None:
        raise InvalidRequest("A search by words or titles needs text: send the question instead of a vector.")
    if request.score_threshold:
        raise InvalidRequest(
            "A minimum score needs similarities, and a search by words or titles has none: leave the minimum out."
        )


def by_words(request: RetrievalRequest) -> RetrievalRequest:
    """The question as one that is searched by words, unless it has a vector or says how it is searched."""
    return replace(request, search=replace(request.search, by="words")) if needs_vector(request) else request


def embed(
    embedder: QuestionEmbedder, requests: Sequence[RetrievalRequest], deadline: Deadline, seconds: float
) -> list[EmbeddedQuestion]:
    """The questions with their vectors, or by words where embedding fails or takes more than `seconds`, retry included.

    Half of the time left stays for the search. Raises InvalidRequest if the service does not accept one of the texts.
    """
    step = deadline.capped(min(seconds, deadline.remaining() / 2))
    try:
        with within(step):
            return embedder.embed(requests, step)
    except InvalidRequest:
        raise
    except PassageError as error:
        failure = error
    return [skip_embedding(by_words(each), failure if needs_vector(each) else None) for each in requests]


def explain(answers: Sequence[Retrieval | PassageError]) -> list[Retrieval | PassageError]:
    """The answers. Those without a vector have warnings that say why, and why their scores are 0."""
    return [
        _explain(answer) if isinstance(answer, Retrieval) and answer.request.search.by else answer for answer in answers
    ]


def _explain(answer: Retrieval) -> Retrieval:
    warnings = answer.warnings
    if answer.embedding_failure is not None:
        why = reason(answer.embedding_failure)
        warnings += (f"The passages were found by words alone, because the question could not be embedded ({why}).",)
        if answer.request.score_threshold:
            warnings += ("The minimum score was not applied: there are no similarities.",)
    if answer.passages and (answer.timings.rerank_ms is None or answer.rerank_failure is not None):
        warnings += (NO_SCORES,)
    return replace(answer, warnings=warnings)
