"""The pipeline: embed the questions, search the store, rerank, order the passages. One deadline, one retry a call."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, NamedTuple

from handler.core import errors
from handler.core.deadline import Deadline, with_one_retry, within
from handler.core.embedding import EmbeddedQuestion, QuestionEmbedder, needs_vector
from handler.core.errors import PassageError
from handler.core.model import (
    CollectionInfo,
    Noise,
    Order,
    Passage,
    PointId,
    Retrieval,
    RetrievalRequest,
    Search,
    SearchMode,
    SearchResult,
    Timings,
    Vector,
)
from handler.core.ports import PassageStore
from handler.core.rerank import Reranking, is_reranked

NO_NOISE = (
    "How well a passage fits is not known: the index has no values of questions that it does not answer. Run `passage "
    "index` again; for a collection that something else filled, add the [noise] that `passage profile` drafts."
)


class Retriever(NamedTuple):
    """One profile's pipeline. A single question is a list of one.

    Attributes:
        reranking: None where the deployment has no reranker.
        displayable, order: as in the profile's `Contract`.
        mode: how the store is searched, unless the question says it.
        embedding_seconds: after how many seconds a question is answered by words instead, as it is where its embedding
            fails. None where that is the question's error.
        candidates: how many passages to choose from where an option may drop some.
        usual_top_k: how many passages a question asks for unless the caller says it.
    """

    embedder: QuestionEmbedder
    store: PassageStore
    reranking: Reranking | None = None
    displayable: Callable[[Passage], bool] | None = None
    mode: SearchMode = "dense"
    embedding_seconds: float | None = None
    order: Order = "relevance"
    candidates: int = 50
    usual_top_k: int = 5

    def warm(self) -> None:
        """Build what the first question would have to; no request is made."""
        self.embedder.embedder.warm()
        self.store.warm()
        if self.reranking is not None:
            self.reranking.reranker.warm()

    def retrieve(self, requests: Sequence[RetrievalRequest], deadline: Deadline) -> list[Retrieval | PassageError]:
        """Answer questions with one embedding call and one search request; each has its own answer or error.

        Args:
            requests: at most 96, the most texts an embedding call takes (Cohere, embed reference).
        """
        asked_at, started = datetime.now(UTC), time.perf_counter()
        if self.mode == "words":
            from handler.core import without_vector  # noqa: PLC0415 - most profiles have vectors

            requests = [without_vector.by_words(request) for request in requests]
        try:
            with within(deadline):
                if any(map(needs_vector, requests)):
                    with_one_retry(self.store.prepare, deadline, "store")
                prepared_at = time.perf_counter()
                questions = self._embed(requests, deadline)
                embedded_at = time.perf_counter()
                noise = None
                if any(_needs_noise(question.request) for question in questions):
                    noise = with_one_retry(self.store.noise, deadline, "store")
                results = self._results(questions, noise, deadline)
                searched_at = time.perf_counter()
        except errors.InvalidRequest as error:
            if len(requests) == 1:
                return [error]
            half = len(requests) // 2  # the service refuses a text of the batch, and does not say which
            return [*self.retrieve(requests[:half], deadline), *self.retrieve(requests[half:], deadline)]
        except PassageError as error:
            return [error] * len(requests)
        searching = searched_at - embedded_at + prepared_at - started
        timings = Timings((embedded_at - prepared_at) * 1000, searching * 1000)
        answers = [
            result if isinstance(result, PassageError) else self._retrieval(question, result, noise, timings, asked_at)
            for question, result in zip(questions, results, strict=True)
        ]
        if self.reranking is not None:
            answers = self.reranking.rerank(answers, deadline)
        if any(question.request.search.by for question in questions):
            from handler.core import without_vector  # noqa: PLC0415 - most questions have a vector

            answers = without_vector.explain(answers)
        if any(request.selection is not None or request.search.explain or request.fit for request in requests):
            from handler.core.option_steps import apply_options  # noqa: PLC0415 - only questions with options need it

            answers = apply_options(answers, self.store, self.order, deadline)
        else:
            answers = [answer if isinstance(answer, PassageError) else self._best(answer) for answer in answers]
        total_ms = (time.perf_counter() - started) * 1000
        return [
            answer if isinstance(answer, PassageError) else answer.with_times(total_ms=total_ms) for answer in answers
        ]

    def _embed(self, requests: Sequence[RetrievalRequest], deadline: Deadline) -> list[EmbeddedQuestion]:
        if self.embedding_seconds is None:
            return self.embedder.embed(requests, deadline)
        from handler.core import without_vector  # noqa: PLC0415 - a setting that is off by default

        return without_vector.embed(self.embedder, requests, deadline, self.embedding_seconds)

    def _search(self, question: EmbeddedQuestion, noise: Noise | None) -> Search:
        """The search for a question's candidates."""
        request = question.request
        search, least = request.search, request.score_threshold
        if search.by is not None or self.mode == "hybrid":
            search = replace(search, text=question.text)
        if least == "noise":
            least = noise.p90 if noise else None
        if least is not None:
            search = replace(search, score_threshold=least)
        reranked = self.reranking is not None and is_reranked(request, question.failure)
        if request.selection is not None:
            from handler.core.selection import pool  # noqa: PLC0415 - only questions with options need it

            search = pool(search, request.selection, self.candidates, reranked=reranked)
        if self.reranking is not None and reranked:
            search = replace(search, top_k=max(search.top_k, self.reranking.candidates))
        return search

    def _retrieval(
        self,
        question: EmbeddedQuestion,
        result: SearchResult,
        noise: Noise | None,
        timings: Timings,
        asked_at: datetime,
    ) -> Retrieval:
        """One question's answer, still with all its candidates."""
        warnings, model = result.warnings, "" if question.request.search.by else self.embedder.embedder.model
        if result.other_model is not None and needs_vector(question.request):
            warnings += (
                f"The collection was embedded with '{result.other_model}' and the question with '{model}', whose "
                "vectors are not comparable: these may be the wrong passages.",
            )
        if noise is None and _needs_noise(question.request):
            warnings += (NO_NOISE,)
        return Retrieval(
            request=question.request,
            embedding_cached=question.cached,
            embedding_failure=question.failure,
            passages=result.passages,
            skipped=result.skipped,
            timings=timings,
            collection=self.store.collection,
            model=model,
            asked_at=asked_at,
            warnings=warnings,
            noise=noise,
            stages=result.stages,
            balance=result.balance,
        )

    def _results(
        self, questions: Sequence[EmbeddedQuestion], noise: Noise | None, deadline: Deadline
    ) -> Sequence[SearchResult | PassageError]:
        """Each question's result, or the error of whoever has to act on it."""
        searches = [(question.vector, self._search(question, noise)) for question in questions]
        results: list[SearchResult | PassageError] = []
        short: list[int] = []
        for number, result in enumerate(self._find(searches, deadline)):
            if isinstance(result, SearchResult):
                ordered = self._order_passages(result)
                repeated = len(result.passages) + result.skipped - len(ordered.passages) - ordered.skipped
                full = len(result.passages) + result.skipped >= searches[number][1].top_k
                if repeated and full and len(ordered.passages) < questions[number].request.search.top_k:
                    short.append(number)
                results.append(ordered)
            elif isinstance(result, errors.RequestRefused | errors.NoTextIndex):
                results.append(self._assign_blame(result, questions[number], deadline))
            else:
                results.append(result)
        if short:  # the next passages take the places of the repeated ones
            again = [searches[number] for number in short]
            deeper = [(vector, replace(search, top_k=2 * search.top_k + self.candidates)) for vector, search in again]
            for number, result in zip(short, self._find(deeper, deadline), strict=True):
                if isinstance(result, SearchResult):
                    results[number] = self._order_passages(result)
        return results

    def _assign_blame(
        self, error: errors.RequestRefused | errors.NoTextIndex, question: EmbeddedQuestion, deadline: Deadline
    ) -> PassageError:
        """The caller's error if the store answers the same question without what the caller chose, else the operator's.

        So a new limit of a store needs no rule here.
        """
        request = question.request
        if isinstance(error, errors.NoTextIndex):
            if question.failure is not None:
                return question.failure
            configured = self.mode == "words" and request.search.by == "words"
            return error if configured else errors.ChoiceRefused.of(error)
        top_k = min(request.search.top_k, self.usual_top_k)
        search = replace(request.search, filters={}, top_k=top_k, explain=False)
        plain = replace(request, search=search, score_threshold=None, selection=None)
        if plain == request:
            return error
        again = (question.vector, self._search(question._replace(request=plain), None))
        return error if isinstance(self._find([again], deadline)[0], PassageError) else errors.ChoiceRefused.of(error)

    def _find(
        self, searches: Sequence[tuple[Vector, Search]], deadline: Deadline
    ) -> Sequence[SearchResult | PassageError]:
        try:
            return with_one_retry(lambda: self.store.search(searches), deadline, "store")
        except PassageError as error:
            if len(searches) == 1 or not isinstance(error, errors.ConfigurationError | errors.InvalidRequest):
                return [error] * len(searches)
        # One bad search makes the store refuse the whole batch. Sent alone, only the bad one fails.
        return [self._find([search], deadline)[0] for search in searches]

    def _order_passages(self, result: SearchResult) -> SearchResult:
        """Displayable passages, best first, each once. Dense results are sorted by score here.

        Two points with one text in one section are one passage: a site that was indexed again under new ids.
        """
        unique: dict[PointId, Passage] = {}
        hidden, warnings = 0, result.warnings
        for passage in result.passages:
            if self.displayable is not None and not self.displayable(passage):
                hidden += 1
            else:
                unique.setdefault(passage.id, passage)
        passages = list(unique.values())
        if passages and passages[0].fused is None:  # a fused list is in the order of its fused scores
            passages.sort(key=attrgetter("score"), reverse=True)
        distinct: dict[Any, Passage] = {}
        for passage in passages:
            distinct.setdefault((passage.url, passage.headings, passage.text), passage)
        if hidden:
            found = len(result.passages)
            warnings += (
                f"{hidden} of {found} passages found were left out: their URL is not an http or https address.",
            )
        return replace(result, passages=tuple(distinct.values()), skipped=result.skipped + hidden, warnings=warnings)

    def _best(self, answer: Retrieval) -> Retrieval:
        """The answer with its best passages. The order `score` changes their order, but not which ones they are."""
        request = answer.request
        best = answer.passages[: request.search.top_k]
        if best and best[0].fused is not None and (request.order or self.order) == "score":
            best = tuple(sorted(best, key=attrgetter("score"), reverse=True))
        return replace(answer, passages=best)

    def fetch(self, chunk: str, deadline: Deadline, *, with_vectors: bool) -> tuple[Passage, float]:
        """One stored point by its id or its chunk id, with its whole payload, and how many milliseconds that took.

        Raises:
            NotFound: there is none that an answer could show.
            ChoiceRefused: the store cannot look up ids of this kind.
            PassageError: as the store raises it, after one retry.
        """
        started = time.perf_counter()
        try:
            with within(deadline):
                passage = with_one_retry(lambda: self.store.fetch(chunk, with_vectors=with_vectors), deadline, "store")
        except errors.RequestRefused as error:
            raise errors.ChoiceRefused.of(error) from error
        if passage is None or not (self.displayable is None or self.displayable(passage)):
            raise errors.NotFound("There is no such chunk in the collection.")
        return passage, (time.perf_counter() - started) * 1000

    def describe(self, deadline: Deadline) -> CollectionInfo:
        """The collection's metadata, after one retry where that can help."""
        with within(deadline):
            return with_one_retry(self.store.describe, deadline, "store")


def _needs_noise(request: RetrievalRequest) -> bool:
    """Whether a question is compared with the index's noise. A search without a vector has no similarities."""
    return (request.fit or request.score_threshold == "noise") and request.search.by is None
