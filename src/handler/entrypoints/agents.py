"""Agents: Bedrock's action groups, by API path or by function, and the tools of AgentCore Gateway."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from handler.bootstrap.container import Container
from handler.config import profiles
from handler.config.profiles import Profile
from handler.contracts.fields import json_safe
from handler.core.errors import NotFound
from handler.entrypoints import direct
from handler.entrypoints.detect import tool_name
from handler.service.answering import Answered, Outcome, Question, answer, deadline, profile_name
from handler.service.failures import failure

ACTION_GROUP_BYTES = 25_000
"""The most that an action group's function may return (Bedrock quotas: 25 KB)."""

ENVELOPE_BYTES = 1_000
"""Room for the response around the answer, besides the session's attributes."""

JSON = "application/json"


def handle_action_group(event: Mapping[str, Any], context: Any, services: Container) -> dict[str, Any]:
    """Answer a Bedrock agent's call of an action group, in the form for its kind; an error is answered, not raised."""
    try:
        (outcome,) = answer([_question(event)], services.served, deadline(services.settings, context))
    except Exception as error:  # noqa: BLE001 - a wrong path, or settings that cannot be read
        outcome = failure(error, services.served)
    if isinstance(outcome, Answered):
        room = ACTION_GROUP_BYTES - ENVELOPE_BYTES - len(json.dumps(_session(event)))
        outcome = outcome.shorten(lambda answered: len(json.dumps(answered.text)) <= room)
    called = _by_path(event, outcome) if isinstance(event.get("apiPath"), str) else _by_function(event, outcome)
    response: dict[str, Any] = json_safe({"messageVersion": "1.0", "response": called, **_session(event)})
    return response


def handle_tool(event: Any, context: Any, services: Container) -> Any:
    """Answer a call of AgentCore Gateway with the contract's body, as a direct invocation.

    A tool named as a profile (with underscores for its hyphens) asks that profile.
    """
    fields = dict(event) if isinstance(event, Mapping) else {}
    name = (tool_name(context) or "").replace("_", "-")
    if name in profiles.names():
        fields["profile"] = name
    return direct.handle(fields, context, services)


def _question(event: Mapping[str, Any]) -> Question:
    """The question of an action group's call.

    Raises:
        NotFound: the path is not one of questions.
    """
    given = dict(_properties(event))
    named = given.pop("profile", None)
    profile = None if named is None else named[1]
    path = event.get("apiPath")
    if isinstance(path, str):
        match path.strip("/").split("/"):
            case ["query"]:
                pass
            case ["profiles", name, "query"]:
                profile = profile if name == "{profile}" else name
            case _:
                raise NotFound("An agent can call the paths /query and /profiles/{profile}/query only.")
    return Question(lambda served: _fields(given, served), profile_name(profile))


def _properties(event: Mapping[str, Any]) -> list[tuple[str, tuple[str, Any]]]:
    """The name, type and value of each parameter and each property of the JSON body. Bedrock sends values as text."""
    body = event.get("requestBody")
    content = body.get("content") if isinstance(body, Mapping) else None
    sent = content.get(JSON) if isinstance(content, Mapping) else None
    holders = (event.get("parameters"), sent.get("properties") if isinstance(sent, Mapping) else None)
    items = [item for holder in holders if isinstance(holder, list) for item in holder if isinstance(item, Mapping)]
    named = [item for item in items if isinstance(item.get("name"), str)]
    return [(item["name"], (str(item.get("type")), item.get("value"))) for item in named]


def _fields(given: Mapping[str, tuple[str, Any]], profile: Profile) -> dict[str, Any]:
    """The parameters as a JSON body would have them. The question and whatever is declared as a string stay text.

    Bedrock has no type for an object, so `filters` is JSON in a string. A version such as 2.1 is text, not a number.
    """
    as_text = {*profile.query.text.names, "language", "version"}

    def is_text(name: str, kind: str) -> bool:
        return name in as_text or (kind == "string" and name != "filters")

    return {
        name: _literal(value) if isinstance(value, str) and not is_text(name, kind) else value
        for name, (kind, value) in given.items()
    }


def _literal(value: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(value)
    return value


def _session(event: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The session's attributes, which go back as they came: texts by name, so anything else is left out."""
    names = ("sessionAttributes", "promptSessionAttributes")
    given = {name: event[name] for name in names if isinstance(event.get(name), Mapping)}
    return {name: {key: text for key, text in held.items() if isinstance(text, str)} for name, held in given.items()}


def _by_path(event: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    from handler.entrypoints.http.status import status  # noqa: PLC0415 - HTTP's table, and Powertools with it

    return {
        "actionGroup": event["actionGroup"],
        "apiPath": event["apiPath"],
        "httpMethod": event["httpMethod"] if isinstance(event.get("httpMethod"), str) else "POST",
        "httpStatusCode": 200 if isinstance(outcome, Answered) else status(outcome.error),
        "responseBody": {JSON: {"body": outcome.text}},
    }


def _by_function(event: Mapping[str, Any], outcome: Outcome) -> dict[str, Any]:
    """A wrong question is for the agent to put better (REPROMPT); any other failure ends its turn (FAILURE)."""
    response: dict[str, Any] = {"responseBody": {"TEXT": {"body": outcome.text}}}
    if not isinstance(outcome, Answered):
        response["responseState"] = "REPROMPT" if outcome.error.blame == "caller" else "FAILURE"
    return {"actionGroup": event["actionGroup"], "function": event["function"], "functionResponse": response}
