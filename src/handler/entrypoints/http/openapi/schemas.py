"""The OpenAPI document's schemas: each profile's question, answer and error, with the profile's own limits."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from handler.config.payload_keys import Kind
from handler.config.profiles import CountLimit, Profile
from handler.contracts import registry
from handler.contracts.base import Contract
from handler.contracts.filter_values import BOUNDS, MOST_VALUES, PREFIX_CHARACTERS
from handler.contracts.options import SHORTHANDS, Options
from handler.core.embedding import SHORTEST
from handler.entrypoints.http.feedback import Feedback

REFERENCE = "#/components/schemas/{model}"

NOT_BLANK = r"[^\s\u001c-\u001f\u0085]"
"""Matches text that is not blank: a character that is white space neither to ECMAScript nor to Python."""

COMMON: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("components.json").read_text("utf-8"))
"""The components that are the same for every profile: headers, schemas and security schemes."""

STRING: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number", "minimum": -(2**63), "maximum": 2**63}
LONG: dict[str, Any] = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}
TIME: dict[str, Any] = {**STRING, "format": "date-time"}


def ref(model: str) -> str:
    """The reference to a component."""
    return REFERENCE.format(model=model)


def _bounds(bound: dict[str, Any]) -> dict[str, Any]:
    bounds = dict.fromkeys(BOUNDS, bound)
    return {"type": "object", "properties": bounds, "minProperties": 1, "additionalProperties": False}


def _filter(words: str, values: list[dict[str, Any]], *conditions: str) -> dict[str, Any]:
    """A filter's condition: a value, a list of values, or one of the named objects."""
    item = values[0] if len(values) == 1 else {"anyOf": values}
    several = {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_VALUES}
    objects = [{"$ref": ref(name)} for name in conditions]
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
    NUMBERS: {"description": "Bounds.", **_bounds(NUMBER)},
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


def feedback_schema() -> dict[str, Any]:
    """The JSON Schema of a reader's feedback."""
    schema = Feedback.model_json_schema()
    return {**schema, "properties": {name: _simplify(field) for name, field in schema["properties"].items()}}


def component(profile: Profile, kind: str) -> str:
    """The component name of a profile's Request, Response or Error."""
    return "".join(part.capitalize() for part in profile.name.split("-")) + kind


def components(profile: Profile) -> dict[str, Any]:
    """A profile's three schemas, named after it, and all that they refer to, with the schemas of every profile."""
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
        schema["properties"] = {name: _simplify(field) for name, field in schema["properties"].items()}
    request = component(profile, "Request")
    schemas[component(profile, "Filters")] = _filters_schema(profile)
    schemas[request] = _limit_request(schemas[request], contract, profile)
    for name in ("Response", "Error"):  # a contract may have one shape for both
        properties = schemas[component(profile, name)]["properties"]
        if "debug" in properties:
            properties["debug"] = {
                "$ref": ref("Debug"),
                "description": "How the answer came about. Absent unless `debug` asks for it.",
            }
    return schemas | COMMON["schemas"] | FILTERS


def _limit_request(schema: dict[str, Any], contract: Contract, profile: Profile) -> dict[str, Any]:
    """A request's schema with the profile's limits: the question's field first, then the count's.

    Each field has one name, and what excludes what is said in words: generators of clients make nothing of `oneOf` and
    `not` beside fields, and send a default under each name that has one.
    """
    text, count = profile.query.text, profile.query.count
    fields: dict[str, Any] = dict(schema["properties"])
    asked = {**fields.pop(contract.text), "minLength": text.min, "maxLength": text.max, "pattern": NOT_BLANK}
    number = _limit_count(fields.pop(contract.count), count)
    required = [text.names[0] if name == contract.text else name for name in schema.get("required", ())]
    if "query_vector" in fields:
        fields["query_vector"] |= {
            "minItems": profile.collection.dimension,
            "maxItems": profile.collection.dimension,
            # A vector that is all but zero has no direction (`has_direction` in core/embedding.py).
            "contains": {"anyOf": [{"type": "number", "minimum": SHORTEST}, {"type": "number", "maximum": -SHORTEST}]},
        }
    for name, field in _option_schemas(profile).items():
        fields.setdefault(name, _simplify(field))
    if "threshold" in fields:
        fields["threshold"] = _name_aliases(fields["threshold"], "score_threshold")
        del fields["score_threshold"]
    for name in SHORTHANDS:
        if name in fields:
            fields[name]["description"] += f" Send it or `filters.{name}`, not both."
    filters = {"$ref": ref(component(profile, "Filters"))}
    fields["filters"] = {"description": fields["filters"]["description"], "anyOf": [filters, {"type": "null"}]}
    own = {
        text.names[0]: _name_aliases(asked, *text.names[1:]),
        count.names[0]: _name_aliases(number, *count.names[1:]),
    }
    return {
        **{key: value for key, value in schema.items() if key not in ("properties", "required")},
        "properties": {**own, **fields},
        **({"required": required} if required else {}),
    }


def _simplify(field: dict[str, Any]) -> dict[str, Any]:
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


def _limit_count(field: dict[str, Any], count: CountLimit) -> dict[str, Any]:
    words = f"{field['description']} By default {count.default}."
    if count.outside == "clamp":
        return {**field, "description": f"{words} Outside {count.min} to {count.max}, the nearest limit counts."}
    return {**field, "description": words, "minimum": count.min, "maximum": count.max}


def _name_aliases(field: dict[str, Any], *names: str) -> dict[str, Any]:
    """The field's schema, with its other names in words: OpenAPI cannot express aliases."""
    words = f"{field['description']} Also called {' or '.join(f'`{name}`' for name in names)}."
    return {**field, "description": words} if names else field


def _option_schemas(profile: Profile) -> dict[str, dict[str, Any]]:
    """The schema of each option that the profile offers, as pydantic writes it."""
    fields: dict[str, dict[str, Any]] = Options.model_json_schema()["properties"]
    absent = {name for name in SHORTHANDS if name not in profile.filters}
    if not profile.payload.keys("index"):
        absent.add("neighbors")
    return {name: field for name, field in fields.items() if name not in absent}


def _filters_schema(profile: Profile) -> dict[str, Any]:
    """The filters that a profile declares, each with the conditions that its kind of value can meet."""
    if not profile.filters:
        return {"type": "object", "maxProperties": 0}
    fields = {
        field: {"$ref": ref(f"{_kind(keys, profile).capitalize()}Filter")} for field, keys in profile.filters.items()
    }
    return {"type": "object", "properties": fields, "additionalProperties": False}


def _kind(keys: tuple[str, ...], profile: Profile) -> Kind:
    kinds = {profile.kind(key) for key in keys}
    return kinds.pop() if len(kinds) == 1 else "any"
