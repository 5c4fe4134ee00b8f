"""The schemas of a question's options, of the conditions of its filters, and of the answer's `debug`."""

from typing import Any

from handler.config.payload_keys import Kind
from handler.config.profiles import Profile
from handler.contracts.filter_values import BOUNDS, MOST_VALUES, PREFIX_CHARACTERS
from handler.contracts.options import SHORTHANDS, Options

INTEGER: dict[str, Any] = {"type": "integer"}
NUMBER: dict[str, Any] = {"type": "number"}
STRING: dict[str, Any] = {"type": "string"}
LONG: dict[str, Any] = {**INTEGER, "minimum": -(2**63), "maximum": 2**63 - 1}
TIME: dict[str, Any] = {**STRING, "format": "date-time"}
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
            "mode": {**STRING, "enum": ["dense", "hybrid", "words", "titles"]},
            "balance": {**NUMBER, "description": "Of a hybrid search: how much vectors count against words, 0 to 1."},
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
        "properties": {
            "rank": {**INTEGER, "minimum": 1},
            "score": {**NUMBER, "description": "When fused: balance * vectors + (1 - balance) * words."},
            "vectors": {**NUMBER, "description": "When fused: the similarity on a scale from the lowest, 0, to 1."},
            "words": {**NUMBER, "description": "When fused: the BM25 score as a share of the highest."},
        },
    },
}
"""The schemas of the answer's `debug`."""


def _bounds(bound: dict[str, Any]) -> dict[str, Any]:
    bounds = dict.fromkeys(BOUNDS, bound)
    return {"type": "object", "properties": bounds, "minProperties": 1, "additionalProperties": False}


def _filter(words: str, values: list[dict[str, Any]], *conditions: str) -> dict[str, Any]:
    """A filter's condition: a value, a list of values, or one of the named objects."""
    item = values[0] if len(values) == 1 else {"anyOf": values}
    several = {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_VALUES}
    objects = [{"$ref": REFERENCE.format(model=name)} for name in conditions]
    return {"description": words, "anyOf": [*values, several, *objects]}


PREFIX, NUMBERS, TIMES = "FilterPrefix", "FilterNumbers", "FilterTimes"
FILTERS: dict[str, dict[str, Any]] = {
    PREFIX: {
        "type": "object",
        "description": "Texts that begin so. Case matters.",
        "properties": {"prefix": {**STRING, "minLength": 1, "maxLength": PREFIX_CHARACTERS}},
        "required": ["prefix"],
        "additionalProperties": False,
    },
    NUMBERS: {"description": "Bounds.", **_bounds({**NUMBER, "minimum": -LARGEST, "maximum": LARGEST})},
    TIMES: {"description": "Bounds in time.", **_bounds(TIME)},
    "TextFilter": _filter("A text, a list of texts, or an object with `prefix`.", [STRING], PREFIX),
    "NumberFilter": _filter("A whole number, a list of these, or an object with bounds.", [LONG], NUMBERS),
    "TimeFilter": _filter("A time, a list of times, or an object with bounds.", [TIME], TIMES),
    "EpochFilter": _filter(
        "A time, seconds since 1970, a list of these, or an object with bounds.", [TIME, LONG], NUMBERS, TIMES
    ),
    "AnyFilter": _filter(
        "A text, a whole number, a list of these, or an object with bounds or `prefix`.",
        [STRING, LONG],
        *(NUMBERS, TIMES, PREFIX),
    ),
}
"""The schemas of a filter's condition, one for each kind of value (`Kind`), and of the objects in them."""


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
        return {"type": "object", "maxProperties": 0}
    fields = {
        field: {"$ref": REFERENCE.format(model=f"{_kind(keys, profile).capitalize()}Filter")}
        for field, keys in profile.filters.items()
    }
    return {"type": "object", "properties": fields, "additionalProperties": False}


def _kind(keys: tuple[str, ...], profile: Profile) -> Kind:
    kinds = {profile.kind(key) for key in keys}
    return kinds.pop() if len(kinds) == 1 else "any"
