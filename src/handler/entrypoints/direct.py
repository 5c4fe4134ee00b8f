"""Direct invocation and Step Functions: answers a bare question, or a list of them, with the contract's body."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from handler.bootstrap.container import Container
from handler.config.providers import TEXTS_PER_CALL
from handler.core.errors import InvalidRequest
from handler.entrypoints.limits import LAMBDA_RESPONSE_BYTES, WIDEST, sent_bytes
from handler.service.answering import Answered, Outcome, Question, answer, deadline, profile_name
from handler.service.failures import failure


def handle(event: Mapping[str, Any], context: Any, services: Container) -> Any:
    """The contract's answer to a question with an optional `profile`.

    Errors are returned, not raised: the contract's body gives the reason, while Lambda's own error would hide it.
    """
    return _answer([event], context, services)[0]


def handle_list(event: Sequence[Any], context: Any, services: Container) -> Any:
    """The answers to up to 96 questions, in order, each with its own error if it has one.

    A longer list is refused as a whole, in the default profile's contract: a partial answer could look complete.
    """
    if len(event) > TEXTS_PER_CALL:
        error = InvalidRequest(f"A list holds up to {TEXTS_PER_CALL} questions; this one has {len(event)}.")
        return json.loads(failure(error, services.served).text)
    return _answer(event, context, services)


def _answer(events: Sequence[Any], context: Any, services: Container) -> list[Any]:
    try:
        outcomes = answer(list(map(_question, events)), services.served, deadline(services.settings, context))
    except Exception as error:  # noqa: BLE001 - the settings cannot be read; Lambda's own error would not say so
        outcomes = [failure(error, services.served) for _ in events]
    return [json.loads(outcome.text) for outcome in _fit(outcomes, services)]


def _fit(outcomes: Sequence[Outcome], services: Container) -> Sequence[Outcome]:
    """The outcomes, shortened until all of them fit into one response."""
    if sum(len(outcome.text) + len(", ") for outcome in outcomes) * WIDEST <= LAMBDA_RESPONSE_BYTES:
        return outcomes  # too short to be measured
    utf8 = services.runtime.writes_utf8
    share = _share([_sent_bytes(outcome.text, utf8=utf8) for outcome in outcomes], LAMBDA_RESPONSE_BYTES)
    return [
        outcome.shorten(lambda answered: _sent_bytes(answered.text, utf8=utf8) <= share)
        if isinstance(outcome, Answered)
        else outcome
        for outcome in outcomes
    ]


def _question(event: Any) -> Question:
    """The question and its profile. An event that is not an object has no fields."""
    fields = dict(event) if isinstance(event, Mapping) else {}
    profile = profile_name(fields.pop("profile", None))
    return Question(lambda _: fields, profile)


def _sent_bytes(text: str, *, utf8: bool) -> int:
    """Bytes of a JSON object within a response, with its separator, as Lambda's runtime writes it."""
    return sent_bytes(json.loads(text), utf8=utf8) + len(", ")


def _share(sizes: Sequence[int], most: int) -> int:
    """The limit for each answer so that all together fit into `most`. Small ones leave more room to large ones."""
    left = most
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return most
