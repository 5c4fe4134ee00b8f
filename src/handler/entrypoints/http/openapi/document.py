"""The API's OpenAPI 3.1 document: every route, with schemas for each profile's questions and answers."""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any

from handler.config import profiles
from handler.config.profiles import Profile
from handler.contracts import registry
from handler.contracts.base import Contract
from handler.contracts.options import SHORTHANDS
from handler.core.errors import ConfigurationError
from handler.entrypoints.http.openapi.examples import ANSWERS, FEEDBACK, QUESTIONS
from handler.entrypoints.http.openapi.schemas import (
    FIXED,
    STRING,
    component,
    components,
    feedback_schema,
    ref,
)
from handler.entrypoints.http.paths import API_VERSION, LEFT_OUT

VERSION = "3.1.0"

DEFAULT, SERVICE = "default profile", "service"
"""Tags of the operations that do not name a profile in their path."""

PAGE = {"text/html": {"schema": STRING}}

STATUSES = {
    400: "The request is wrong; the error says what is allowed.",
    404: "There is no such path, profile, collection or chunk.",
    413: "The chunk is too large for a response.",
    429: "A service behind the API is limiting requests; Retry-After says when to come back.",
    500: "The deployment's configuration is wrong, or an unexpected error occurred.",
    503: "A service behind the API is down; Retry-After says when to come back.",
    504: "The request's time ran out.",
}
QUESTION_STATUSES = tuple(status for status in STATUSES if status != 413)
"""A question's answer is shortened until it fits."""

RETRY_AFTER = {"description": "Seconds to wait.", "required": True, "schema": {"type": "integer", "minimum": 1}}
HEADERS = {429: {"Retry-After": RETRY_AFTER}, 503: {"Retry-After": RETRY_AFTER}}
FEWER = {"description": "Results dropped to fit the response limit.", "schema": {"type": "integer"}}


@cache
def document(default: str, find: Callable[[str], Profile] = profiles.load) -> dict[str, Any]:
    """The whole document, for all profiles.

    Args:
        default: the profile that /query uses.
        find: returns a profile by name, with the deployment's settings applied.
    """
    asked = find(default)
    schemas: dict[str, Any] = {**FIXED, "Feedback": feedback_schema()}
    paths: dict[str, Any] = {
        "/docs": {"get": _get("docs", SERVICE, PAGE, "This description as an HTML page.", asked, [500])},
        "/feedback": {"post": _feedback(asked)},
        "/health": {"get": _get("health", SERVICE, _json("Health"), "Whether the function runs. Calls no service.")},
        "/openapi.json": {"get": _get("openapi", SERVICE, _json("Description"), "This description.", asked, [500])},
        "/profiles": {"get": _get("profiles", SERVICE, _json("Profiles"), "All profiles.", asked, [500])},
        "/query": _query_path(asked, "default", DEFAULT),
        "/ready": {"get": _get("ready", DEFAULT, _json("Ready"), "Whether the collection can be searched.", asked)},
    }
    usable = _usable(find)
    for name, profile in usable.items():
        base = f"/profiles/{name}"
        schemas |= components(profile)
        collection = _get(f"{name}-collection", name, _json("CollectionInfo"), "The collection and its state.", profile)
        chunk = _get(f"{name}-chunk", name, _json("Chunk"), "One chunk, by its point id or chunk id.", profile)
        paths[f"{base}/query"] = _query_path(profile, name, name)
        paths[f"{base}/collection"] = {"get": collection}
        paths[f"{base}/chunks/{{id}}"] = {"get": {**chunk, "parameters": CHUNK_PARAMETERS}}
    return {
        "openapi": VERSION,
        "info": {
            "title": "Passage",
            "version": API_VERSION,
            "summary": "Finds the passages of a documentation site that answer a question.",
            "description": "Agents ask the same service by MCP, with POST /mcp or /profiles/{profile}/mcp.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        # Relative to this document's URL, so that a stage or base path applies to all paths.
        "servers": [{"url": "./"}],
        "tags": [{"name": tag} for tag in dict.fromkeys((DEFAULT, *usable, SERVICE))],
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _usable(find: Callable[[str], Profile]) -> dict[str, Profile]:
    """The valid profiles by name."""
    found = {}
    for name in profiles.names():
        with suppress(ConfigurationError):
            found[name] = find(name)
    return found


CHUNK_PARAMETERS: list[dict[str, Any]] = [
    {"name": "id", "in": "path", "required": True, "schema": {**STRING, "minLength": 1}},
    {"name": "with_vectors", "in": "query", "schema": {"type": "boolean", "default": False}},
]


def _json(model: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": ref(model)}}}


def _get(
    operation: str,
    tag: str,
    content: dict[str, Any],
    summary: str,
    profile: Profile | None = None,
    statuses: Iterable[int] = QUESTION_STATUSES,
) -> dict[str, Any]:
    """An operation. Its errors have the shape of the profile's contract; without a profile it has none."""
    errors = {} if profile is None else _errors(profile, statuses)
    return {
        "operationId": operation,
        "tags": [tag],
        "summary": summary,
        "responses": {"200": {"description": summary, "content": content}, **errors},
    }


def _errors(profile: Profile, statuses: Iterable[int] = QUESTION_STATUSES) -> dict[str, Any]:
    content = _json(component(profile, "Error"))
    return {
        str(status): {
            "description": STATUSES[status],
            **({"headers": HEADERS[status]} if status in HEADERS else {}),
            "content": content,
        }
        for status in statuses
    }


def _feedback(profile: Profile) -> dict[str, Any]:
    summary = "Say whether a passage answered its question."
    body = {"schema": {"$ref": ref("Feedback")}, "example": FEEDBACK}
    return {
        "operationId": "feedback",
        "tags": [SERVICE],
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {"204": {"description": "Counted."}, **_errors(profile, [400, 404, 500])},
    }


def _query_path(profile: Profile, name: str, tag: str) -> dict[str, Any]:
    contract = registry.find(profile)
    request, response = (ref(component(profile, kind)) for kind in ("Request", "Response"))
    answers: dict[str, Any] = {
        "application/json": {"schema": {"$ref": response}, "example": ANSWERS[contract.name]},
        **({} if contract.plain is None else {"text/plain": {"schema": STRING}}),
    }
    answer = {"description": "The passages, best first.", "headers": {LEFT_OUT: FEWER}, "content": answers}
    responses = {"200": answer, **_errors(profile)}
    body = {"schema": {"$ref": request}, "example": _question(profile, contract)}
    return {
        "post": {
            "operationId": f"{name}-post-query",
            "tags": [tag],
            "summary": f"Ask the profile {profile.name}.",
            "requestBody": {"required": True, "content": {"application/json": body}},
            "responses": responses,
        },
        "get": {
            "operationId": f"{name}-get-query",
            "tags": [tag],
            "summary": f"Ask the profile {profile.name} by URL.",
            "parameters": _parameters(profile),
            "responses": responses,
        },
    }


def _question(profile: Profile, contract: Contract) -> dict[str, Any]:
    """The contract's example, with the profile's field names for the question and the count."""
    names = {contract.text: profile.query.text.names[0], contract.count: profile.query.count.names[0]}
    return {names.get(field, field): value for field, value in QUESTIONS[contract.name].items()}


def _parameters(profile: Profile) -> list[dict[str, Any]]:
    """A request's fields as query parameters, each under its first name; objects are sent as JSON.

    OpenAPI cannot express aliases, so the description lists them. A vector is too long for a URL, so it is left out.
    """
    request = components(profile)[component(profile, "Request")]
    text, count = profile.query.text.names, profile.query.count.names
    found = []
    for name, field in request["properties"].items():
        if name in (*text[1:], *count[1:], "query_vector"):
            continue
        if name == "score_threshold" and "threshold" in request["properties"]:
            continue  # another name for it
        schema = _without_null(field)
        if name == "filters" and "properties" in schema:
            # Parameters cannot exclude each other, so a filter that has a shorthand is left out.
            apart = {key: one for key, one in schema["properties"].items() if key not in SHORTHANDS}
            schema = {**schema, "properties": apart}
        place = {"content": {"application/json": {"schema": schema}}} if name == "filters" else {"schema": schema}
        others = [other for names in (text, count) if name == names[0] for other in names[1:]]
        words = {"description": f"Also accepted as {' or '.join(f'`{other}`' for other in others)}."} if others else {}
        required = name == text[0] or name in request.get("required", ())
        found.append({"name": name, "in": "query", "required": required, **words, **place})
    return found


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """The field without its null type: a query string omits a parameter instead."""
    kind = field.get("type")
    if not isinstance(kind, list):
        return field
    listed = {"enum": [value for value in field["enum"] if value is not None]} if "enum" in field else {}
    return {**field, "type": kind[0], **listed}


def page(default: str, find: Callable[[str], Profile] = profiles.load) -> str:
    """The document as an HTML page, with the copy of Swagger UI that ships with Powertools."""
    from aws_lambda_powertools.event_handler.openapi import swagger_ui  # noqa: PLC0415 - only this page needs it

    files = resources.files(swagger_ui)
    # The document is embedded in a script element, and a closing tag within it would end that element.
    spec = json.dumps(document(default, find)).replace("</", "<\\/")
    script = (files / "swagger-ui-bundle.min.js").read_text(encoding="utf-8")
    style = (files / "swagger-ui.min.css").read_text(encoding="utf-8")
    html = swagger_ui.generate_swagger_html(
        spec=spec, swagger_js=script, swagger_css=style, swagger_base_url="", oauth2_config=None
    )
    # Powertools' page would fetch the document from the page's own path.
    return html.replace('currentUrl.pathname + "?format=json"', 'new URL("openapi.json", currentUrl).href')
