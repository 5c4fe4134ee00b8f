"""The handlers of /query: a question in the body or in the query string."""

from collections.abc import Callable, Mapping, Set
from typing import Any

from aws_lambda_powertools.event_handler import Response

from handler.config.profiles import Profile
from handler.entrypoints.http.accept import prefers_plain_text
from handler.entrypoints.http.call import Call
from handler.entrypoints.http.headers import LEFT_OUT
from handler.entrypoints.http.request import fields_of_body, fields_of_url
from handler.entrypoints.http.status import JSON, failure_response
from handler.entrypoints.limits import text_fits
from handler.service.answering import Answered, Question, answer

PLAIN = "text/plain; charset=utf-8"

SHOWN_NAMES, SHOWN_CHARACTERS = 8, 40
"""The most unknown fields that a warning names, and the most characters of one: a name can be any text."""


def post_query(call: Call, profile: str | None = None) -> Response[str]:
    """Answer a question whose fields are a JSON body's."""
    return _answer(call, profile, lambda _: fields_of_body(call.event))


def get_query(call: Call, profile: str | None = None) -> Response[str]:
    """Answer a question whose fields are the query string's."""
    return _answer(call, profile, lambda served: fields_of_url(call.event, served))


def _answer(call: Call, profile: str | None, read: Callable[[Profile], Mapping[str, Any]]) -> Response[str]:
    sent: dict[str, Any] = {}

    def fields(served: Profile) -> Mapping[str, Any]:
        sent.update(read(served))
        return sent

    (outcome,) = answer([Question(fields, profile)], call.services.served, call.deadline())
    if not isinstance(outcome, Answered):
        return failure_response(outcome)
    unknown = sent.keys() - outcome.served.field_names
    if unknown:
        outcome = outcome.warned(f"ignored: {_listed(unknown)}")
    utf8 = call.services.runtime.writes_utf8
    outcome = outcome.shorten(lambda answered: text_fits(answered.text, call.room, utf8=utf8))
    left_out = outcome.retrieval.left_out
    headers = {LEFT_OUT: str(left_out)} if left_out else {}
    plain = outcome.served.contract.plain
    if plain is not None and prefers_plain_text(call.headers.get("accept") or ""):
        return Response(200, PLAIN, plain(outcome.body), headers=headers)
    return Response(200, JSON, outcome.text, headers=headers)


def _listed(names: Set[str]) -> str:
    shown = sorted(name for name in names if name.isidentifier() and len(name) <= SHOWN_CHARACTERS)[:SHOWN_NAMES]
    others = len(names) - len(shown)
    return ", ".join([*shown, *([f"{others} more" if shown else f"{others} unknown"] if others else [])])
