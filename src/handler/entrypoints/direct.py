"""Direct invocation and Step Functions: a bare question in, the contract's body out; or a list of them, in order."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from handler.core.errors import InvalidRequest
from handler.entrypoints.http.gateways import LAMBDA_RESPONSE_BYTES
from handler.service.answering import Answered, Services, as_object, failure
from handler.service.batch import TEXTS_PER_CALL, Outcome, Question, answer_all, profile_name


def handle(event: Mapping[str, Any], context: Any, services: Services) -> dict[str, Any]:
    """The contract's answer to a question of one of its profile's forms, with an optional `profile`.

    An error is answered, not raised: the contract's body says what is wrong, Lambda's own only that something was.
    """
    return _answered([event], context, services)[0]


def handle_list(event: Sequence[Any], context: Any, services: Services) -> Any:
    """The answers to up to 96 questions, in order, each with its own error if it has one.

    More are refused as a whole, in the default profile's contract: half an answer would pass for a whole one.
    """
    if len(event) > TEXTS_PER_CALL:
        error = InvalidRequest(f"A list holds up to {TEXTS_PER_CALL} questions; this one has {len(event)}.")
        return as_object(failure(error, services).body)
    return _answered(event, context, services)


def _answered(events: Sequence[Any], context: Any, services: Services) -> list[dict[str, Any]]:
    try:
        deadline = services.deadline(context, None)
        outcomes = answer_all([_question(event) for event in events], services, deadline)
        return _bodies(outcomes)
    except Exception as error:  # noqa: BLE001 - the last stop before Lambda's own error
        return [as_object(failure(error, services).body) for _ in events]


def _question(event: Any) -> Question:
    """A question and the profile beside it; what is not even an object has no field at all."""
    if not isinstance(event, Mapping):
        return Question(fields={})
    fields = {key: value for key, value in event.items() if key != "profile"}
    return Question(fields=fields, profile=profile_name(event.get("profile")))


def _bodies(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """The contracts' bodies, together no larger than Lambda sends: the largest are shortened."""
    bodies = [as_object(outcome.body) for outcome in outcomes]
    share = _share([_size(body) for body in bodies], LAMBDA_RESPONSE_BYTES)
    return [
        as_object(outcome.shortened(lambda answered: _size(as_object(answered.body)) <= share).body)
        if isinstance(outcome, Answered) and _size(body) > share
        else body
        for outcome, body in zip(outcomes, bodies, strict=True)
    ]


def _size(body: Mapping[str, Any]) -> int:
    """Bytes of a body as Lambda's runtime writes it, with what separates it from the next one."""
    return len(json.dumps(body)) + len(", ")


def _share(sizes: Sequence[int], most: int) -> int:
    """The most that each may have for all of them to have `most`: what the small ones leave is the large ones'."""
    left = most
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return most
