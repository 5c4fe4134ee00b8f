"""The API's OpenAPI 3.1 document: every route, with schemas for each profile's questions and answers."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from handler.config import profiles
from handler.config.profiles import Profile
from handler.contracts import registry
from handler.contracts.base import Contract
from handler.contracts.fields import to_json
from handler.core.errors import ConfigurationError, InvalidRequest, NotFound
from handler.core.model import Passage, Retrieval, Timings
from handler.entrypoints.http.call import ANY_ERROR, Route
from handler.entrypoints.http.headers import API_VERSION, ERROR_CODE, LEFT_OUT
from handler.entrypoints.http.openapi.schemas import COMMON, STRING, component, components, feedback_schema, ref

VERSION = "3.1.0"

DEFAULT, SERVICE = "default profile", "service"
"""Tags of the operations that do not name a profile in their path."""

STATUSES = {
    400: "The request is wrong; the error says what is allowed.",
    404: "There is no such path, profile, collection or chunk.",
    413: "The chunk is too large for a response.",
    429: "A service behind the API is limiting requests; Retry-After says when to come back.",
    500: "The deployment's configuration is wrong, or an unexpected error occurred.",
    503: "A service behind the API is down; Retry-After says when to come back.",
    504: "The request's time ran out.",
}
FEWER = {"description": "Results dropped to fit the response limit.", "schema": {"type": "integer"}}

TEXT = "A digital twin is a virtual representation of a physical asset, kept in step with it by data."
URL = "https://example.com/docs/digital-twin"
QUESTION = "What is a digital twin?"
ASKED_AT = datetime(2026, 1, 15, 10, 30, tzinfo=UTC)

FEEDBACK = {"url": URL, "helpful": True, "chunk_id": "123456789_0", "question": QUESTION}

QUESTIONS: dict[str, dict[str, Any]] = {
    "query_response": {"text": QUESTION, "k": 5},
    "vector_search": {"query_text": QUESTION, "top_k": 5, "filters": {"source_url": URL}},
    "context": {"text": QUESTION, "k": 5},
    "ranked": {"text": QUESTION, "query_id": "q_1", "top_k": 5},
    "chunks": {"query_text": QUESTION, "top_k": 5, "threshold": 0.3, "include_metadata": True},
}

PASSAGE = Passage(
    id=123456789,
    score=0.72,
    text=TEXT,
    url=URL,
    title=QUESTION,
    index=0,
    chapter="digital-twins",
    section="Definition",
    headings=(QUESTION, "Definition"),
    tokens=22,
    created_at=ASKED_AT,
    payload={"content": TEXT, "source_url": URL, "chunk_index": 0},
)


def describe_api(
    routes: tuple[Route, ...], default: str, find: Callable[[str], Profile], *, raw_chunks: bool, access: str
) -> dict[str, Any]:
    """The whole document, of `routes.document`. A route under /profiles is described once for each usable profile."""
    asked, usable = find(default), _usable_profiles(find)
    schemes = COMMON["securitySchemes"]  # an open deployment has none
    schemas: dict[str, Any] = {"Feedback": feedback_schema()}
    for profile in usable.values():
        schemas |= components(profile)
    paths: dict[str, Any] = defaultdict(dict)
    for route in (route for route in routes if route.summary):
        for name, profile in usable.items() if "{profile}" in route.path else [("", asked)]:
            path = route.path.replace("{profile}", name)
            paths[path][route.method.lower()] = _operation(route, name, profile, raw_chunks=raw_chunks)
    return {
        "openapi": VERSION,
        "info": {
            "title": "Passage",
            "version": API_VERSION,
            "description": "Finds the passages of a documentation site that answer a question. "
            "Agents ask the same service by MCP, with POST /mcp or /profiles/{profile}/mcp.",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        # Relative to this document's URL, so that a stage or base path applies to all paths.
        "servers": [{"url": "."}],
        "security": [{access: []}] if access in schemes else [],
        "tags": [{"name": tag} for tag in dict.fromkeys((DEFAULT, *usable, SERVICE))],
        "paths": dict(sorted(paths.items())),
        "components": {
            "headers": COMMON["headers"],
            "schemas": dict(sorted(schemas.items())),
            **({"securitySchemes": {access: schemes[access]}} if access in schemes else {}),
        },
    }


def _usable_profiles(find: Callable[[str], Profile]) -> dict[str, Profile]:
    """The valid profiles that are served, by name."""
    usable = {}
    for name in profiles.names():
        with suppress(ConfigurationError, NotFound):
            usable[name] = find(name)
    return usable


CHUNK_ID = {"name": "id", "in": "path", "required": True, "schema": {**STRING, "minLength": 1}}
WITH_VECTORS = {"name": "with_vectors", "in": "query", "schema": {"type": "boolean", "default": False}}


def _operation(route: Route, name: str, profile: Profile, *, raw_chunks: bool) -> dict[str, Any]:
    """One operation.

    Args:
        name: the profile's in the path; "" where the path has none.
        profile: the one that is asked. Errors have the shape of its contract.
    """
    own = route.handler.__name__.replace("_", "-")
    of = name or ("default" if route.answer == "Response" else "")
    return {
        "operationId": f"{of}-{own}" if of else own,
        "tags": [name or (DEFAULT if route.errors == ANY_ERROR else SERVICE)],
        "summary": route.summary.format(profile=profile.name),
        **_request(route, profile, raw_chunks=raw_chunks),
        "responses": {**_success(route, profile), **_errors(route, profile)},
    }


def _request(route: Route, profile: Profile, *, raw_chunks: bool) -> dict[str, Any]:
    """An operation's parameters or body."""
    if "{id}" in route.path:
        return {"parameters": [CHUNK_ID, WITH_VECTORS] if raw_chunks or registry.find(profile).raw else [CHUNK_ID]}
    if route.request:
        example = FEEDBACK if route.request == "Feedback" else _question(registry.find(profile), profile)
        content = {"application/json": {"schema": _schema(route.request, profile), "example": example}}
        return {"requestBody": {"required": True, "content": content}}
    return {"parameters": _parameters(profile)} if route.answer == "Response" else {}


def _success(route: Route, profile: Profile) -> dict[str, Any]:
    if not route.answer:
        return {"204": {"description": "Counted."}}
    if route.answer == "Page":
        return {"200": {"description": route.summary, "content": {"text/html": {"schema": STRING}}}}
    content: dict[str, Any] = {"application/json": {"schema": _schema(route.answer, profile)}}
    if route.answer != "Response":
        return {"200": {"description": route.summary, "content": content}}
    contract = registry.find(profile)
    if example := _answer(contract, profile):
        content["application/json"]["example"] = example
    if contract.plain is not None:
        content["text/plain"] = {"schema": STRING}
    return {"200": {"description": "The passages, best first.", "headers": {LEFT_OUT: FEWER}, "content": content}}


def _errors(route: Route, profile: Profile) -> dict[str, Any]:
    content = {"application/json": {"schema": _schema("Error", profile)}}
    return {
        str(status): {
            "description": STATUSES[status],
            "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in _headers(status)},
            "content": content,
        }
        for status in route.errors
    }


def _headers(status: int) -> tuple[str, ...]:
    return (ERROR_CODE, "Retry-After") if status in (429, 503) else (ERROR_CODE,)


def _schema(kind: str, profile: Profile) -> dict[str, str]:
    """A component's reference: one of the profile's own, or one that all profiles share."""
    return {"$ref": ref(component(profile, kind) if kind in ("Request", "Response", "Error") else kind)}


def _parameters(profile: Profile) -> list[dict[str, Any]]:
    """A request's fields as query parameters; objects are sent as JSON. A vector is too long for a URL."""
    request = components(profile)[component(profile, "Request")]
    parameters = []
    for name, field in request["properties"].items():
        if name == "query_vector":
            continue
        words = {"description": field["description"]}
        schema = {key: value for key, value in _without_null(field).items() if key != "description"}
        place = {"content": {"application/json": {"schema": schema}}} if name == "filters" else {"schema": schema}
        required = name in (profile.query.text.names[0], *request.get("required", ()))
        parameters.append({"name": name, "in": "query", "required": required, **words, **place})
    return parameters


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """The field without its null type: a query string omits a parameter instead."""
    if "anyOf" in field:
        options = [option for option in field["anyOf"] if option.get("type") != "null"]
        return {**field, "anyOf": options} if len(options) > 1 else dict(options[0])
    kind = field["type"]
    listed = {"enum": [value for value in field["enum"] if value is not None]} if "enum" in field else {}
    return {**field, "type": kind[0] if isinstance(kind, list) else kind, **listed}


def _question(contract: Contract, profile: Profile) -> dict[str, Any]:
    """The contract's question, with the profile's names for its text and its number of passages."""
    names = {contract.text: profile.query.text.names[0], contract.count: profile.query.count.names[0]}
    return {names.get(field, field): value for field, value in QUESTIONS[contract.name].items()}


def _answer(contract: Contract, profile: Profile) -> Mapping[str, Any]:
    """The contract's answer with one passage; empty where the profile's limits do not allow the question."""
    asked = {field: value for field, value in _question(contract, profile).items() if field != "filters"}
    try:
        request = contract.parse(asked, profile)
    except InvalidRequest:
        return {}
    retrieval = Retrieval(
        request=request,
        passages=(PASSAGE,),
        skipped=0,
        timings=Timings(embedding_ms=80.1, search_ms=12.5, total_ms=93.0),
        collection=profile.collection.name,
        model=profile.embedding.model,
        asked_at=ASKED_AT,
    )
    body: dict[str, Any] = json.loads(to_json(contract.render(retrieval)))
    return body
