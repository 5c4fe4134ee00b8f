"""Several questions at once: those of one collection share embedding calls and searches; each has its own answer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from handler.config.profiles import Profile
from handler.core.deadline import Deadline
from handler.core.errors import PassageError
from handler.service.answering import Answered, Failure, Prepared, Services, failure, finish, prepare

TEXTS_PER_CALL = 96
"""The most texts an embedding call takes (Cohere, embed reference)."""

Outcome = Answered | Failure


@dataclass(frozen=True)
class Question:
    """A question as it came: its fields, and the profile it names (None for the default one)."""

    fields: Mapping[str, Any]
    profile: str | None = None


def profile_name(value: object) -> str | None:
    """The name beside a question; what is no text names no profile there is."""
    return value if value is None or isinstance(value, str) else ""


def answer_all(questions: Sequence[Question], services: Services, deadline: Deadline) -> list[Outcome]:
    """Each question's answer or failure, in order."""
    started = perf_counter()
    outcomes: dict[int, Outcome] = {}
    groups: dict[tuple[str, str], list[tuple[int, Prepared]]] = defaultdict(list)
    for position, question in enumerate(questions):
        profile: Profile | None = None
        try:
            profile = services.profile(question.profile)
            prepared = prepare(question.fields, profile, services)
        except Exception as error:  # noqa: BLE001 - one question's failure is no other's
            outcomes[position] = failure(error, services, profile, question.fields, started)
            continue
        groups[prepared.served.name, prepared.served.collection.name].append((position, prepared))
    for group in groups.values():
        for start in range(0, len(group), TEXTS_PER_CALL):
            outcomes.update(
                _answer_group(group[start : start + TEXTS_PER_CALL], questions, services, deadline, started)
            )
    return [outcomes[position] for position in range(len(questions))]


def _answer_group(
    group: Sequence[tuple[int, Prepared]],
    questions: Sequence[Question],
    services: Services,
    deadline: Deadline,
    started: float,
) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of questions that share a collection, by their positions."""
    try:
        retriever = services.retriever(group[0][1].served)
        found = list(retriever.retrieve_many([prepared.request for _, prepared in group], deadline))
    except Exception as error:  # noqa: BLE001 - see `answer_all`
        for position, prepared in group:
            yield position, failure(error, services, prepared.profile, questions[position].fields, started)
        return
    for (position, prepared), each in zip(group, found, strict=True):
        try:
            if isinstance(each, PassageError):
                raise each
            yield position, finish(prepared, each, services)
        except Exception as error:  # noqa: BLE001 - see `answer_all`
            yield position, failure(error, services, prepared.profile, questions[position].fields, started)
