"""The use case: answers questions from any event source. A single question is a list of one."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

from pydantic import BaseModel

from handler import telemetry
from handler.config.profiles import Profile
from handler.config.providers import TEXTS_PER_CALL
from handler.config.settings import Settings
from handler.contracts.base import OPTIONS, Answer
from handler.contracts.fields import to_json
from handler.core.deadline import Deadline
from handler.core.model import Retrieval, RetrievalRequest
from handler.core.retrieve import Retriever
from handler.service import metrics
from handler.service.failures import Failure, failure, text_forms
from handler.service.services import FindServed, Served

LAMBDA_MARGIN = 0.5
"""Seconds of Lambda's remaining time reserved for sending the answer. A function that Lambda stops sends nothing."""


class Question(NamedTuple):
    """A question from an event.

    Attributes:
        read: returns the caller's fields, given the profile, which may rename them. Raises InvalidRequest.
        profile: the name of the requested profile, None for the default one.
    """

    read: Callable[[Profile], Mapping[str, Any]]
    profile: str | None = None


def profile_name(value: object) -> str | None:
    """The profile that a caller names. A value that is not text becomes "", which no profile has."""
    return value if value is None or isinstance(value, str) else ""


@dataclass(frozen=True)
class Answered:
    """An answer in its contract's shape."""

    served: Served
    retrieval: Retrieval
    body: BaseModel

    @property
    def profile(self) -> str:
        return self.served.profile.name

    @cached_property
    def text(self) -> str:
        """The body as JSON, serialised once."""
        return to_json(self.body)

    def shorten(self, fits: Callable[["Answered"], bool]) -> "Answered":
        """This answer with as many passages as `fits` allows. Passages are dropped from the end and counted."""
        total = len(self.retrieval.passages)
        if total == 0 or fits(self):
            return self
        kept = bisect_left(range(1, total), True, key=lambda count: not fits(self._first(count)))
        telemetry.log_notice(self.profile, "answer too large to be sent whole", {"left_out": total - kept})
        return self._first(kept)

    def with_warning(self, warning: str, **changes: Any) -> "Answered":
        """This answer with one more warning, and with `changes` of its retrieval."""
        retrieval = replace(self.retrieval, warnings=(*self.retrieval.warnings, warning), **changes)
        return replace(self, retrieval=retrieval, body=_render(self.served, retrieval))

    def _first(self, count: int) -> "Answered":
        passages = self.retrieval.passages
        total, cut = len(passages), len(passages) - count
        warning = f"The last {cut} of {total} passages were left out: the answer would be too large for a response."
        if count == 0:
            warning = f"All {total} passages found were left out: the first one alone is too large for a response."
        return self.with_warning(warning, passages=passages[:count], left_out=cut)


Outcome = Answered | Failure


class _Prepared(NamedTuple):
    """A valid question, and the pipeline that answers it."""

    served: Served
    fields: Mapping[str, Any]
    request: RetrievalRequest
    retriever: Retriever


def answer(questions: Sequence[Question], find: FindServed, deadline: Deadline) -> list[Outcome]:
    """Each question's answer or failure, in order. Questions to one collection share embedding calls and searches.

    Raises nothing: a question's failure does not affect the others.
    """
    started = perf_counter()
    prepared = [_prepare(question, find, started) for question in questions]
    outcomes: dict[int, Outcome] = {}
    groups: dict[int, list[tuple[int, _Prepared]]] = defaultdict(list)
    for number, each in enumerate(prepared):
        if isinstance(each, Failure):
            outcomes[number] = each
        else:
            groups[id(each.retriever)].append((number, each))
    valid = [each for each in prepared if isinstance(each, _Prepared)]
    # A call's error may repeat the texts of other questions, too.
    private = [each.request.text for each in valid if not each.served.settings.log_query_text]
    with telemetry.hiding(form for text in private for form in text_forms(text)):
        for group in groups.values():
            for start in range(0, len(group), TEXTS_PER_CALL):
                numbers, questions_of_call = zip(*group[start : start + TEXTS_PER_CALL], strict=True)
                outcomes.update(zip(numbers, _answer_group(questions_of_call, find, deadline, started), strict=True))
    return [outcomes[number] for number in range(len(questions))]


def _prepare(question: Question, find: FindServed, started: float) -> _Prepared | Failure:
    """Read and validate a question. No upstream is called."""
    served: Served | None = None
    fields: Mapping[str, Any] = {}
    try:
        served = find(question.profile)
        fields = question.read(served.profile)
        request = served.contract.parse(fields, served.profile)
        if not OPTIONS.isdisjoint(fields):
            from handler.contracts.options import apply_options  # noqa: PLC0415 - most questions have none

            request = apply_options(
                request, fields, served.contract, served.profile, debug=served.settings.debug_answers
            )
        if request.search.by is not None or served.profile.search.mode == "words":
            from handler.core import without_vector  # noqa: PLC0415 - most questions have a vector

            without_vector.check(request)
        return _Prepared(served, fields, request, served.retriever_for(request.collection))
    except Exception as error:  # noqa: BLE001 - becomes this question's failure
        return failure(error, find, served, fields, started)


def _answer_group(
    questions: Sequence[_Prepared], find: FindServed, deadline: Deadline, started: float
) -> Iterator[Outcome]:
    """Retrieve and render the answers of questions to one collection."""
    retrievals: Sequence[Retrieval | Exception]
    try:
        retrievals = questions[0].retriever.retrieve([question.request for question in questions], deadline)
    except Exception as error:  # noqa: BLE001 - becomes each question's failure
        retrievals = [error] * len(questions)
    for question, retrieval in zip(questions, retrievals, strict=True):
        try:
            if isinstance(retrieval, Exception):
                raise retrieval
            answered = Answered(question.served, retrieval, _render(question.served, retrieval))
            metrics.record(question.served, retrieval)
            yield answered
        except Exception as error:  # noqa: BLE001 - becomes this question's failure
            yield failure(error, find, question.served, question.fields, started)


def _render(served: Served, retrieval: Retrieval) -> Answer:
    """The answer in the contract's shape. Its warnings and what options add are the same in all contracts."""
    body = served.contract.render(retrieval)
    request = retrieval.request
    neighbors = request.selection is not None and request.selection.neighbors
    if request.search.explain or request.titles or request.fit or neighbors:
        from handler.contracts.options import add_option_fields  # noqa: PLC0415 - most answers have none

        body = add_option_fields(body, served.contract, served.profile, retrieval)
    return body.model_copy(update={"warnings": list(retrieval.warnings)}) if retrieval.warnings else body


def deadline(settings: Settings, context: Any, limit: float | None = None) -> Deadline:
    """The deadline of one invocation: the least of the setting, Lambda's remaining time and the gateway's limit.

    Args:
        context: Lambda's; None when there is none.
        limit: seconds after which the API in front gives up.
    """
    seconds = settings.request_timeout_ms / 1000
    if limit is not None:
        seconds = min(seconds, limit)
    if context is not None:
        seconds = min(seconds, context.get_remaining_time_in_millis() / 1000 - LAMBDA_MARGIN)
    return Deadline.after(seconds)
