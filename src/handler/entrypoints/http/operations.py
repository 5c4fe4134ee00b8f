"""The handlers that answer questions, show profiles, collections and chunks, and say whether the function works."""

from collections.abc import Callable, Mapping, Set
from dataclasses import asdict
from typing import Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import Response

from handler.config import validation
from handler.config.profiles import Profile
from handler.contracts.fields import json_id
from handler.core.deadline import Deadline
from handler.entrypoints.http.call import Call, json_response
from handler.entrypoints.http.headers import LEFT_OUT
from handler.entrypoints.http.status import JSON, failure_response
from handler.entrypoints.limits import text_fits
from handler.service.answering import Answered, Question, answer
from handler.service.failures import failure
from handler.service.services import Served, find_chunk, shown_payload

PLAIN = "text/plain; charset=utf-8"

SHOWN_NAMES, SHOWN_CHARACTERS = 8, 40
"""The most unknown fields that a warning names, and the most characters of one: a name can be any text."""


def post_query(call: Call) -> Response[str]:
    """Answer a question whose fields are a JSON body's."""
    return _answer(call, lambda _: call.body_fields())


def get_query(call: Call) -> Response[str]:
    """Answer a question whose fields are the query string's."""
    return _answer(call, call.url_fields)


def _answer(call: Call, read: Callable[[Profile], Mapping[str, Any]]) -> Response[str]:
    sent: dict[str, Any] = {}

    def fields(served: Profile) -> Mapping[str, Any]:
        sent.update(read(served))
        return sent

    (outcome,) = answer([Question(fields, call.profile)], call.services.served, call.deadline)
    if not isinstance(outcome, Answered):
        return failure_response(outcome)
    unknown = sent.keys() - outcome.served.field_names
    if unknown:
        outcome = outcome.with_warning(f"ignored: {_list_names(unknown)}")
    utf8 = call.services.runtime.writes_utf8
    outcome = outcome.shorten(lambda answered: text_fits(answered.text, call.room, utf8=utf8))
    left_out = outcome.retrieval.left_out
    headers = {LEFT_OUT: str(left_out)} if left_out else {}
    plain = outcome.served.contract.plain
    if plain is not None and _prefers_plain_text(call.headers.get("accept") or ""):
        return Response(200, PLAIN, plain(outcome.body), headers=headers)
    return Response(200, JSON, outcome.text, headers=headers)


def _list_names(names: Set[str]) -> str:
    shown = sorted(name for name in names if name.isidentifier() and len(name) <= SHOWN_CHARACTERS)[:SHOWN_NAMES]
    others = len(names) - len(shown)
    return ", ".join([*shown, *([f"{others} more" if shown else f"{others} unknown"] if others else [])])


def _prefers_plain_text(accept: str) -> bool:
    """Whether an Accept header ranks plain text above JSON (RFC 9110, 12.5.1). Without one, JSON is preferred."""
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        kind, *options = (item.strip() for item in part.split(";"))
        weights[kind] = next((_weight(option) for option in options if option.startswith("q=")), 1.0)
    json_weight = max(weights.get(kind, 0.0) for kind in ("application/json", "application/*", "*/*"))
    return weights.get("text/plain", weights.get("text/*", 0.0)) > json_weight


def _weight(option: str) -> float:
    try:
        return float(option.removeprefix("q="))
    except ValueError:
        return 0.0


def profiles(call: Call) -> Response[str]:
    """All usable profiles, and the name of the default one."""
    described = [
        {
            "name": profile.name,
            "contract": profile.contract,
            "collection": profile.collection.name,
            "dimension": profile.collection.dimension,
            "embedding_model": profile.embedding.model,
            "query": f"/profiles/{profile.name}/query",
        }
        for profile in (served.profile for served in call.services.usable_profiles())
    ]
    return json_response({"default": call.services.served(None).profile.name, "profiles": described})


def collection(call: Call) -> Response[str]:
    """Seed 001's CollectionInfo, with the model that the collection records and its mismatches with the profile."""

    def look(served: Served, until: Deadline) -> dict[str, Any]:
        info = served.retriever.describe(until)
        return {**asdict(info), "problems": [str(each) for each in validation.problems(served.profile, info)]}

    return _look_up(call, look)


def chunk(call: Call) -> Response[str]:
    """One chunk, by its point id or by the chunk id that the profile's contract shows.

    It is seed 001's RetrievalResult for a point fetched by id: the score is that of a whole match.
    """

    def look(served: Served, until: Deadline) -> dict[str, Any]:
        name, with_vectors = unquote(call.parts["id"]), call.flag("with_vectors")
        found, took_ms = find_chunk(served, name, until, with_vectors=with_vectors)
        return {
            "id": json_id(found.id),
            "score": 1.0,
            "payload": shown_payload(served, found),
            "vector": None if found.vector is None else list(found.vector),
            "retrieval_time_ms": took_ms,
        }

    return _look_up(call, look)


def health(_: Call) -> Response[str]:
    """Whether the function runs."""
    return json_response({"status": "ok"})


def ready(call: Call) -> Response[str]:
    """Whether the default profile's collection can be searched."""
    served = call.services.served(None)
    info = call.services.readiness.check(served, call.deadline)
    return json_response({"status": "ready", "profile": served.profile.name, "collection": asdict(info)})


def _look_up(call: Call, look: Callable[[Served, Deadline], dict[str, Any]]) -> Response[str]:
    served = call.services.served(call.profile)
    try:
        return json_response(look(served, call.deadline))
    except Exception as error:  # noqa: BLE001 - so that the error has this profile's contract, not the default one's
        return failure_response(failure(error, call.services.served, served))
