"""The last steps of a question with options: choose the passages, add fits and neighbors, keep what `debug` shows."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from handler.core import errors
from handler.core.deadline import Deadline, with_one_retry, within
from handler.core.errors import PassageError
from handler.core.model import Order, Passage, PointId, Retrieval, SearchResult, Selection, Stage
from handler.core.ports import PassageStore
from handler.core.selection import page_of, select, with_neighbors

NO_POSITION = "No neighbors were added: the passages have no position on their page."
NO_WORDS = "How well a passage fits follows from vectors alone: looking up the question's words failed."
NOT_FOUND = "No neighbors were added: the vector store did not answer in time, or failed."

Answer = Retrieval | PassageError


def apply_options(answers: Sequence[Answer], store: PassageStore, order: Order, deadline: Deadline) -> list[Answer]:
    """The answers, given with all their candidates, as their options want them. `order` is the contract's."""
    chosen = [answer if isinstance(answer, PassageError) else _choose(answer, order, deadline) for answer in answers]
    return _add_neighbors(_add_fits(chosen, store, deadline), store, deadline)


def _choose(answer: Retrieval, order: Order, deadline: Deadline) -> Answer:
    """The answer with the passages that its options choose. In a large batch, this takes seconds."""
    if deadline.remaining() <= 0:
        return errors.DeadlineExceeded("The request's time ran out before its passages were chosen.", upstream="store")
    request = answer.request
    selection, candidates = request.selection or Selection(), answer.passages
    passages, dropped = select(candidates, selection, request.search.top_k, _relevance(answer))
    ordered = bool(selection.diversity) or any(passage.fused is not None for passage in passages)
    if ordered and (request.order or order) == "score":
        passages = tuple(sorted(passages, key=attrgetter("score"), reverse=True))
    if selection.diversity and not request.search.with_vectors:
        passages = tuple(replace(passage, vector=None) for passage in passages)
    changed = replace(answer, passages=passages)
    if not request.search.explain:
        return changed
    stages = dict(answer.stages)
    if _is_reranked(answer):
        stages["rerank"] = _stage(candidates)
    stages["selection"] = _stage(passages)
    return replace(changed, stages=stages, candidates=candidates, dropped=dropped)


def _is_reranked(answer: Retrieval) -> bool:
    return answer.timings.rerank_ms is not None and answer.rerank_failure is None


def _relevance(answer: Retrieval) -> Callable[[Passage], float]:
    """The score that the candidates are ordered by: the reranker's, else the fused one, else the similarity."""
    reranked = _is_reranked(answer)
    return lambda passage: passage.score if reranked or passage.fused is None else passage.fused


def _stage(passages: Sequence[Passage]) -> Stage:
    return tuple((passage.id, {"score": passage.score}) for passage in passages)


def _add_fits(answers: Sequence[Answer], store: PassageStore, deadline: Deadline) -> list[Answer]:
    """The answers with the fits that they ask for. The words of all questions are looked up in one request.

    If that fails, the fits follow from the cosines alone, and a warning says so.
    """
    rated = [one for one in answers if isinstance(one, Retrieval) and _is_rated(one)]
    if not rated:
        return list(answers)
    from handler.core.fit import MOST_OF_BATCH, RARE, fits, words  # noqa: PLC0415 - only questions with this option need it

    holders: Mapping[str, frozenset[PointId]] = {}
    warnings: tuple[str, ...] = ()
    try:
        with within(deadline):
            asked = list(dict.fromkeys(word for one in rated for word in words(one.request.text)))
            holders = with_one_retry(lambda: store.holders(asked[:MOST_OF_BATCH], RARE), deadline, "store")
    except PassageError:
        warnings = (NO_WORDS,)

    def with_fits(answer: Answer) -> Answer:
        if not (isinstance(answer, Retrieval) and answer.noise and _is_rated(answer)):
            return answer
        rated_fits = fits(answer.request.text, answer.passages, answer.noise, holders)
        passages = (replace(each, fit=fit) for each, fit in zip(answer.passages, rated_fits, strict=True))
        return replace(answer, passages=tuple(passages), warnings=(*answer.warnings, *warnings))

    return list(map(with_fits, answers))


def _is_rated(answer: Retrieval) -> bool:
    return answer.request.fit and answer.noise is not None and answer.request.search.by is None


def _add_neighbors(answers: Sequence[Answer], store: PassageStore, deadline: Deadline) -> list[Answer]:
    """The answers with the neighbors that they ask for, found in one request. A temporary failure is a warning."""
    wanted = [
        (passage, reach)
        for answer in answers
        if isinstance(answer, Retrieval) and (reach := _reach(answer))
        for passage in answer.passages
    ]
    if not wanted:
        return list(answers)
    started = time.perf_counter()
    result: SearchResult | PassageError
    try:
        with within(deadline):
            result = with_one_retry(lambda: store.neighbors(wanted), deadline, "store")
    except PassageError as error:
        result = errors.ChoiceRefused.of(error) if isinstance(error, errors.RequestRefused) else error
    took_ms = (time.perf_counter() - started) * 1000
    return [
        answer
        if isinstance(answer, PassageError) or not _reach(answer)
        else _expand(answer.with_times(neighbors_ms=took_ms), result)
        for answer in answers
    ]


def _reach(answer: Retrieval) -> int:
    selection = answer.request.selection
    return selection.neighbors if selection is not None else 0


def _expand(answer: Retrieval, result: SearchResult | PassageError) -> Answer:
    """The answer with its neighbors' texts, or with a warning why it has none."""
    if isinstance(result, errors.ConfigurationError | errors.InvalidRequest):
        return result
    if isinstance(result, PassageError):
        return replace(answer, warnings=(*answer.warnings, NOT_FOUND))
    if answer.passages and all(passage.index is None for passage in answer.passages):
        return replace(answer, warnings=(*answer.warnings, NO_POSITION))
    pages: dict[str, list[Passage]] = defaultdict(list)
    for neighbor in result.passages:
        pages[page_of(neighbor.url)].append(neighbor)
    passages = (with_neighbors(each, pages.get(page_of(each.url), ()), _reach(answer)) for each in answer.passages)
    return replace(answer, passages=tuple(passages), warnings=(*answer.warnings, *result.warnings))
