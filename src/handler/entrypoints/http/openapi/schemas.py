"""The OpenAPI document's schemas: each profile's question, answer and error, with the profile's own limits."""

import json
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from handler.config.profiles import CountLimit, Profile
from handler.contracts import registry
from handler.contracts.base import Contract
from handler.contracts.options import SHORTHANDS
from handler.core.embedding import SHORTEST
from handler.entrypoints.http.feedback import Feedback
from handler.entrypoints.http.openapi.options import DEBUG, FILTERS, REFERENCE, filters_schema, option_schemas

NOT_BLANK = r"[^\s\u001c-\u001f\u0085]"
"""Matches text that is not blank: a character that is white space neither to ECMAScript nor to Python."""

INTEGER, NUMBER, STRING = {"type": "integer"}, {"type": "number"}, {"type": "string"}
COLLECTION: dict[str, Any] = {
    "type": "object",
    "required": ["name", "vector_size", "distance_metric", "points_count", "indexed_vectors_count", "status"],
    "properties": {
        "name": STRING,
        "vector_size": {**INTEGER, "minimum": 0, "description": "0 without vectors."},
        "distance_metric": {**STRING, "description": "Empty without vectors."},
        "points_count": {**INTEGER, "minimum": 0},
        "indexed_vectors_count": {**INTEGER, "minimum": 0},
        "status": {**STRING, "enum": ["green", "yellow", "red"]},
        "embedding_model": {"type": ["string", "null"]},
        "search": {
            **STRING,
            "enum": ["dense", "hybrid", "words"],
            "description": "By vectors alone, also by words, or by words alone.",
        },
        "notes": {
            "type": "array",
            "items": STRING,
            "description": "Why the collection is not searched as the profile says, and what would change that.",
        },
        "noise": {"anyOf": [{"$ref": REFERENCE.format(model="Noise")}, {"type": "null"}]},
        "problems": {
            "type": "array",
            "items": STRING,
            "description": "Where collection and profile disagree.",
        },
    },
}
PROFILE: dict[str, Any] = {
    "type": "object",
    "required": ["name", "contract", "collection", "dimension", "embedding_model", "query"],
    "properties": {
        "name": STRING,
        "contract": STRING,
        "collection": STRING,
        "dimension": INTEGER,
        "embedding_model": STRING,
        "query": {**STRING, "description": "The path that queries it."},
    },
}
FIXED: dict[str, dict[str, Any]] = {
    "Chunk": {
        "type": "object",
        "required": ["id", "score", "payload", "vector", "retrieval_time_ms"],
        "properties": {
            "id": {"type": ["integer", "string"]},
            "score": {**NUMBER, "description": "1: the id matches."},
            "payload": {"type": "object"},
            "vector": {"type": ["array", "null"], "items": NUMBER},
            "retrieval_time_ms": {**NUMBER, "minimum": 0},
        },
    },
    "CollectionInfo": COLLECTION,
    "Noise": {
        "type": "object",
        "description": "The best similarities of other subjects' questions: the median, and what nine of ten miss.",
        "required": ["p50", "p90"],
        "properties": {"p50": NUMBER, "p90": NUMBER},
    },
    "Description": {"type": "object"},
    "Health": {"type": "object", "required": ["status"], "properties": {"status": {**STRING, "enum": ["ok"]}}},
    "Profile": PROFILE,
    "ProfileList": {
        "type": "object",
        "required": ["default", "profiles"],
        "properties": {
            "default": STRING,
            "profiles": {"type": "array", "items": {"$ref": REFERENCE.format(model="Profile")}},
        },
    },
    "Ready": {
        "type": "object",
        "required": ["status", "profile", "collection"],
        "properties": {
            "status": {**STRING, "enum": ["ready"]},
            "profile": STRING,
            "collection": {"$ref": REFERENCE.format(model="CollectionInfo")},
        },
    },
}
"""The schemas that do not depend on a profile."""


def feedback_schema() -> dict[str, Any]:
    """The JSON Schema of a reader's feedback."""
    schema = Feedback.model_json_schema()
    return {**schema, "properties": {name: _readable(field) for name, field in schema["properties"].items()}}


def component(profile: Profile, kind: str) -> str:
    """The component name of a profile's Request, Response or Error."""
    return "".join(part.capitalize() for part in profile.name.split("-")) + kind


def ref(model: str) -> str:
    """The reference to a component."""
    return REFERENCE.format(model=model)


def components(profile: Profile) -> dict[str, Any]:
    """A profile's three schemas and the schemas they refer to, with the profile's name as a prefix."""
    contract = registry.find(profile)
    kinds: dict[str, type[BaseModel]] = {
        "Request": contract.request_model,
        "Response": contract.response_model,
        "Error": contract.error_model,
    }
    schemas: dict[str, Any] = {}
    for kind, model in kinds.items():
        mode: Any = "validation"
        _, definitions = models_json_schema([(model, mode)], ref_template=REFERENCE)
        inner = {name: component(profile, f"{kind}{name}") for name in definitions["$defs"] if name != model.__name__}
        inner[model.__name__] = component(profile, kind)
        text = json.dumps(definitions["$defs"])
        for name, own in inner.items():
            text = text.replace(f'"{ref(name)}"', f'"{ref(own)}"')
        schemas |= {inner[name]: {**schema, "title": inner[name]} for name, schema in json.loads(text).items()}
    for schema in schemas.values():
        schema["properties"] = {name: _readable(field) for name, field in schema["properties"].items()}
    request = component(profile, "Request")
    schemas[component(profile, "Filters")] = filters_schema(profile)
    schemas[request] = _limited(schemas[request], contract, profile)
    for name in ("Response", "Error"):  # a contract may have one shape for both
        properties = schemas[component(profile, name)]["properties"]
        if "debug" in properties:
            properties["debug"] = {
                "$ref": ref("Debug"),
                "description": "How the answer came about. Absent unless `debug` asks for it.",
            }
    return schemas | DEBUG | FILTERS


def _limited(schema: dict[str, Any], contract: Contract, profile: Profile) -> dict[str, Any]:
    """A request's schema with the profile's limits: the question's field first, then the count's.

    Each field has one name, and what excludes what is said in words: generators of clients make nothing of `oneOf` and
    `not` beside fields, and send a default under each name that has one.
    """
    text, count = profile.query.text, profile.query.count
    fields: dict[str, Any] = dict(schema["properties"])
    asked = {**fields.pop(contract.text), "minLength": text.min, "maxLength": text.max, "pattern": NOT_BLANK}
    number = _counted(fields.pop(contract.count), count)
    required = [text.names[0] if name == contract.text else name for name in schema.get("required", ())]
    if "query_vector" in fields:
        fields["query_vector"] |= {
            "minItems": profile.collection.dimension,
            "maxItems": profile.collection.dimension,
            # A vector that is all but zero has no direction (`has_direction` in core/embedding.py).
            "contains": {"anyOf": [{"type": "number", "minimum": SHORTEST}, {"type": "number", "maximum": -SHORTEST}]},
        }
    for name, field in option_schemas(profile).items():
        fields.setdefault(name, _readable(field))
    if "threshold" in fields:
        fields["threshold"] = _also(fields["threshold"], "score_threshold")
        del fields["score_threshold"]
    for name in SHORTHANDS:
        if name in fields:
            fields[name]["description"] += f" Send it or `filters.{name}`, not both."
    filters = {"$ref": ref(component(profile, "Filters"))}
    fields["filters"] = {"description": fields["filters"]["description"], "anyOf": [filters, {"type": "null"}]}
    own = {text.names[0]: _also(asked, *text.names[1:]), count.names[0]: _also(number, *count.names[1:])}
    return {
        **{key: value for key, value in schema.items() if key not in ("properties", "required")},
        "properties": {**own, **fields},
        **({"required": required} if required else {}),
    }


def _readable(field: dict[str, Any]) -> dict[str, Any]:
    """A field's schema without pydantic's titles and defaults. An optional field has null in its list of types.

    A default makes generators require the field, in answers and questions. So descriptions state those of questions.
    """
    kept = {key: value for key, value in field.items() if key not in ("title", "default")}
    options = [option for option in kept.get("anyOf", ()) if option.get("type") != "null"]
    if len(options) == 1 and len(kept["anyOf"]) == 2 and "type" in options[0]:
        del kept["anyOf"]
        listed = {"enum": [*options[0]["enum"], None]} if "enum" in options[0] else {}
        return {**options[0], **kept, "type": [options[0]["type"], "null"], **listed}
    return kept


def _counted(field: dict[str, Any], count: CountLimit) -> dict[str, Any]:
    words = f"{field['description']} By default {count.default}."
    if count.outside == "clamp":
        return {**field, "description": f"{words} Outside {count.min} to {count.max}, the nearest limit counts."}
    return {**field, "description": words, "minimum": count.min, "maximum": count.max}


def _also(field: dict[str, Any], *names: str) -> dict[str, Any]:
    """The field's schema, with its other names in words: OpenAPI cannot express aliases."""
    words = f"{field['description']} Also called {' or '.join(f'`{name}`' for name in names)}."
    return {**field, "description": words} if names else field
