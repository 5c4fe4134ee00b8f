"""The API's own description, OpenAPI 3.1: every route, each profile's question and answer as schemas of their own."""

import json
from functools import cache
from importlib import resources
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from handler import contracts, profiles
from handler.contracts.base import Contract
from handler.profiles import Profile
from handler.sources.openapi_examples import ANSWERS, QUESTIONS

VERSION = "3.1.0"
REFERENCE = "#/components/schemas/{model}"

STATUSES = {
    400: "The request is wrong; the error says what is allowed.",
    404: "There is no such path, profile, collection or chunk.",
    429: "A service behind the API is limiting requests; Retry-After says when to come back.",
    500: "The deployment is set up wrongly, or something unexpected happened.",
    503: "A service behind the API is down; Retry-After says when to come back.",
    504: "The request's time ran out.",
}

INTEGER, NUMBER, STRING = {"type": "integer"}, {"type": "number"}, {"type": "string"}
COLLECTION: dict[str, Any] = {
    "type": "object",
    "required": ["name", "vector_size", "distance_metric", "points_count", "indexed_vectors_count", "status"],
    "properties": {
        "name": STRING,
        "vector_size": {**INTEGER, "minimum": 1},
        "distance_metric": STRING,
        "points_count": {**INTEGER, "minimum": 0},
        "indexed_vectors_count": {**INTEGER, "minimum": 0},
        "status": STRING,
        "embedding_model": {"type": ["string", "null"]},
        "problems": {"type": "array", "items": STRING, "description": "What makes it unfit for the profile."},
    },
}
READY: dict[str, Any] = {
    "type": "object",
    "required": ["status", "profile", "collection"],
    "properties": {"status": {"const": "ready"}, "profile": STRING, "collection": COLLECTION},
}
CHUNK: dict[str, Any] = {
    "type": "object",
    "required": ["id", "payload", "vector", "retrieval_time_ms"],
    "properties": {
        "id": {"type": ["integer", "string"]},
        "payload": {"type": "object"},
        "vector": {"type": ["array", "null"], "items": NUMBER},
        "retrieval_time_ms": {**NUMBER, "minimum": 0},
    },
}
PROFILES: dict[str, Any] = {
    "type": "object",
    "required": ["default", "profiles"],
    "properties": {
        "default": STRING,
        "profiles": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "contract", "collection", "dimension", "embedding_model", "query"],
                "properties": {
                    "name": STRING,
                    "contract": STRING,
                    "collection": STRING,
                    "dimension": INTEGER,
                    "embedding_model": STRING,
                    "query": STRING,
                },
            },
        },
    },
}


@cache
def document(default: str) -> dict[str, Any]:
    """The whole description, for the profiles there are; `default` is the one that /query asks."""
    served, _ = contracts.served()
    schemas: dict[str, Any] = {
        "CollectionInfo": COLLECTION,
        "Chunk": CHUNK,
        "Profiles": PROFILES,
        "Ready": READY,
    }
    paths: dict[str, Any] = {}
    for profile in served:
        schemas.update(_schemas(profile))
        base = f"/profiles/{profile.name}"
        paths[f"{base}/query"] = _query_path(profile, profile.name)
        paths[f"{base}/collection"] = {
            "get": _get("The collection behind the profile.", f"{profile.name}-collection", profile, "CollectionInfo")
        }
        paths[f"{base}/chunks/{{id}}"] = {"get": _chunk_operation(profile)}
    paths["/query"] = _query_path(profiles.load(default), "default")
    ready = _get("Whether the default profile's collection can answer.", "ready", profiles.load(default), "Ready")
    paths["/ready"] = {"get": ready}
    paths["/profiles"] = {"get": _plain_get("The profiles this deployment serves.", {"$ref": _ref("Profiles")})}
    paths["/health"] = {"get": _plain_get("Whether the function runs; asks no other service.", {"type": "object"})}
    return {
        "openapi": VERSION,
        "info": {
            "title": "Passage",
            "version": "0.1.0",
            "summary": "A question in, the passages of the site's own text that answer it out.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def request_schema(profile: Profile) -> dict[str, Any]:
    """What a profile's request may be, as JSON Schema, with the profile's own limits."""
    return _standalone(profile, "Request")


def response_schema(profile: Profile) -> dict[str, Any]:
    """What a profile's answer is, as JSON Schema."""
    return _standalone(profile, "Response")


def error_schema(profile: Profile) -> dict[str, Any]:
    """What a profile's error is, as JSON Schema."""
    return _standalone(profile, "Error")


def _standalone(profile: Profile, kind: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{_name(profile, kind)}", "components": {"schemas": _schemas(profile)}}


def _name(profile: Profile, kind: str) -> str:
    return "".join(part.capitalize() for part in profile.name.split("-")) + kind


def _ref(model: str) -> str:
    return REFERENCE.format(model=model)


def _schemas(profile: Profile) -> dict[str, Any]:
    """A profile's three schemas and what they refer to, under names of its own."""
    contract = contracts.find(profile.contract)
    kinds: dict[str, type[BaseModel]] = {
        "Request": contract.request_model,
        "Response": contract.response_model,
        "Error": contract.error_model,
    }
    schemas: dict[str, Any] = {}
    for kind, model in kinds.items():
        mode: Any = "validation"
        _, definitions = models_json_schema([(model, mode)], ref_template="#/components/schemas/{model}")
        inner = {name: _name(profile, f"{kind}{name}") for name in definitions["$defs"] if name != model.__name__}
        inner[model.__name__] = _name(profile, kind)
        text = json.dumps(definitions["$defs"])
        for name, own in inner.items():
            text = text.replace(f'"{_ref(name)}"', f'"{_ref(own)}"')
        schemas |= {inner[name]: schema for name, schema in json.loads(text).items()}
    schemas[_name(profile, "Request")] = _limited(schemas[_name(profile, "Request")], contract, profile)
    return schemas


def _limited(schema: dict[str, Any], contract: Contract, profile: Profile) -> dict[str, Any]:
    """A request's schema with the profile's limits, and the other names it may use for its fields."""
    properties = dict(schema["properties"])
    text, count = profile.query.text, profile.query.count
    properties[contract.text] = {
        **_without_null(properties[contract.text]),
        "minLength": text.min,
        "maxLength": text.max,
        "pattern": r"\S",
    }
    range_ = {} if count.outside == "clamp" else {"minimum": count.min, "maximum": count.max}
    properties[contract.count] = {**_without_null(properties[contract.count]), **range_, "default": count.default}
    if profile.filters and "filters" in properties:
        properties["filters"] = {**properties["filters"], "propertyNames": {"enum": list(profile.filters)}}
    if "query_vector" in properties:
        size = profile.collection.dimension
        vector = {**_without_null(properties["query_vector"]), "minItems": size, "maxItems": size}
        properties["query_vector"] = vector
    return {**schema, "properties": properties}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A field that may be left out is not published as one that may be null."""
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**options[0], **rest} if len(options) == 1 else schema


def _errors(profile: Profile) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": _ref(_name(profile, "Error"))}}}
    return {str(status): {"description": words, "content": content} for status, words in STATUSES.items()}


def _query_path(profile: Profile, name: str) -> dict[str, Any]:
    contract = contracts.find(profile.contract)
    content: dict[str, Any] = {
        "application/json": {
            "schema": {"$ref": _ref(_name(profile, "Response"))},
            "example": ANSWERS[contract.name],
        }
    }
    if contract.plain is not None:
        content["text/plain"] = {"schema": STRING}
    responses = {"200": {"description": "The passages, best first.", "content": content}, **_errors(profile)}
    schema = _schemas(profile)[_name(profile, "Request")]
    body = {"schema": {"$ref": _ref(_name(profile, "Request"))}, "example": QUESTIONS[contract.name]}
    return {
        "post": {
            "operationId": f"{name}-post-query",
            "summary": f"Ask the profile {profile.name}.",
            "requestBody": {"required": True, "content": {"application/json": body}},
            "responses": responses,
        },
        "get": {
            "operationId": f"{name}-get-query",
            "summary": f"Ask the profile {profile.name} by URL.",
            "parameters": _parameters(schema, contract),
            "responses": responses,
        },
    }


def _parameters(schema: dict[str, Any], contract: Contract) -> list[dict[str, Any]]:
    """A request's fields as query parameters; those that are lists or objects are sent as JSON."""
    found = []
    for name, field in schema["properties"].items():
        simple = "type" in field and field["type"] not in ("array", "object")
        place = {"schema": field} if simple else {"content": {"application/json": {"schema": field}}}
        required = name in schema.get("required", ()) or name == contract.text
        found.append({"name": name, "in": "query", "required": required, **place})
    return found


def _get(summary: str, operation: str, profile: Profile, model: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": _ref(model)}}}
    return {
        "operationId": operation,
        "summary": summary,
        "responses": {"200": {"description": summary, "content": content}, **_errors(profile)},
    }


def _chunk_operation(profile: Profile) -> dict[str, Any]:
    parameters: list[dict[str, Any]] = [
        {"name": "id", "in": "path", "required": True, "schema": {**STRING, "minLength": 1}},
        {"name": "with_vectors", "in": "query", "schema": {"type": "boolean", "default": False}},
    ]
    return {
        **_get("One chunk, by its point's id or its own.", f"{profile.name}-chunk", profile, "Chunk"),
        "parameters": parameters,
    }


def _plain_get(summary: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "summary": summary,
        "responses": {"200": {"description": summary, "content": {"application/json": {"schema": schema}}}},
    }


def page(default: str) -> str:
    """The description as a page to read and try, with the copy of Swagger UI that Powertools carries."""
    from aws_lambda_powertools.event_handler.openapi import swagger_ui  # noqa: PLC0415 - only this page needs it

    files = resources.files(swagger_ui)
    # The document stands inside a script element, which a closing tag in it would end.
    spec = json.dumps(document(default)).replace("</", "<\\/")
    script = (files / "swagger-ui-bundle.min.js").read_text(encoding="utf-8")
    style = (files / "swagger-ui.min.css").read_text(encoding="utf-8")
    return swagger_ui.generate_swagger_html(
        spec=spec, swagger_js=script, swagger_css=style, swagger_base_url="", oauth2_config=None
    )
