"""The schemas of a question's options, with the filter fields of a profile, and of the answer's `debug`."""

from typing import Any

from handler.config.payload_keys import Kind
from handler.config.profiles import Profile
from handler.contracts.filter_values import BOUNDS, MOST_VALUES, PREFIX_CHARACTERS
from handler.contracts.options import SHORTHANDS, Options

INTEGER: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
STRING: dict[str, Any] = {"type": "string"}
LONG: dict[str, Any] = {**INTEGER, "minimum": -(2**63), "exclusiveMaximum": 2**63}
TIME: dict[str, Any] = {**STRING, "format": "date-time"}
VALUES: dict[Kind, list[dict[str, Any]]] = {
    "text": [STRING],
    "number": [LONG],
    "time": [TIME],
    "epoch": [TIME, LONG],
    "any": [STRING, LONG],
}
"""The values that a field can hold, by its kind."""
LARGEST = 2**63

REFERENCE = "#/components/schemas/{model}"

DEBUG: dict[str, dict[str, Any]] = {
    "Debug": {
        "type": "object",
        "description": "How an answer came about.",
        "required": ["profile", "collection", "model", "mode", "embedding_cached", "times_ms", "found", "passages"],
        "properties": {
            "profile": STRING,
            "collection": STRING,
            "model": {**STRING, "description": "The model that embedded the question; empty without a vector."},
            "mode": {"enum": ["dense", "hybrid", "words", "titles"]},
            "fusion": {"$ref": REFERENCE.format(model="DebugFusion")},
            "embedding_cached": {"type": ["boolean", "null"], "description": "Null if the question was not embedded."},
            "times_ms": {"type": "object", "additionalProperties": NUMBER, "description": "Milliseconds of each step."},
            "found": {
                "type": "object",
                "additionalProperties": INTEGER,
                "description": "Passages found by each stage.",
            },
            "passages": {
                "type": "array",
                "description": "Those of the answer first, then the other candidates, then what else a stage found.",
                "items": {"$ref": REFERENCE.format(model="DebugPassage")},
            },
        },
    },
    "DebugFusion": {
        "type": "object",
        "description": "Of a hybrid search: the weights of vectors and text, and k.",
        "required": ["weights", "k"],
        "properties": {"weights": {"type": "array", "items": NUMBER}, "k": INTEGER},
    },
    "DebugPassage": {
        "type": "object",
        "required": ["id", "stages"],
        "properties": {
            "id": {"type": ["integer", "string"]},
            "url": {**STRING, "description": "Of a candidate."},
            "dropped": {**STRING, "description": "Why the passage is not in the answer."},
            "stages": {
                "type": "object",
                "description": "By stage: dense, text, fused, rerank, selection.",
                "additionalProperties": {"$ref": REFERENCE.format(model="DebugPlace")},
            },
        },
    },
    "DebugPlace": {
        "type": "object",
        "required": ["rank", "score"],
        "properties": {"rank": {**INTEGER, "minimum": 1}, "score": NUMBER},
    },
}
"""The schemas of the answer's `debug`."""


def option_schemas(profile: Profile) -> dict[str, dict[str, Any]]:
    """The schema of each option that the profile offers, as pydantic writes it."""
    fields: dict[str, dict[str, Any]] = Options.model_json_schema()["properties"]
    absent = {name for name in SHORTHANDS if name not in profile.filters}
    if not profile.payload.keys("index"):
        absent.add("neighbors")
    return {name: field for name, field in fields.items() if name not in absent}


def filters_schema(profile: Profile) -> dict[str, Any]:
    """The filters that a profile declares, each with the conditions that its kind of value can meet."""
    if not profile.filters:
        return {"maxProperties": 0}
    fields = {field: {"anyOf": _conditions(field, profile)} for field in profile.filters}
    return {"properties": fields, "additionalProperties": False}


def _conditions(field: str, profile: Profile) -> list[dict[str, Any]]:
    kinds = {profile.kind(key) for key in profile.filters[field]}
    values = VALUES[next(iter(kinds)) if len(kinds) == 1 else "any"]
    several = {"type": "array", "items": {"anyOf": values}, "minItems": 1, "maxItems": MOST_VALUES}
    schemas: list[dict[str, Any]] = [*values, several]
    if kinds - {"text", "time"}:
        schemas.append(_bounds({**NUMBER, "minimum": -LARGEST, "maximum": LARGEST}))
    if kinds - {"text", "number"}:
        schemas.append(_bounds(TIME))
    if kinds & {"text", "any"}:
        prefix = {**STRING, "minLength": 1, "maxLength": PREFIX_CHARACTERS}
        schemas.append(
            {
                "type": "object",
                "properties": {"prefix": prefix},
                "required": ["prefix"],
                "additionalProperties": False,
            }
        )
    return schemas


def _bounds(bound: dict[str, Any]) -> dict[str, Any]:
    bounds = dict.fromkeys(BOUNDS, bound)
    return {"type": "object", "properties": bounds, "minProperties": 1, "additionalProperties": False}
