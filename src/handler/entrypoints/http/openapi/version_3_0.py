"""The OpenAPI document as version 3.0.3, for generators of Go and Java clients and for Bedrock, which read no 3.1."""

from typing import Any

VERSION = "3.0.3"

CONDITION = (
    "A condition is a value, a list of values, an object with bounds (`gt`, `gte`, `lt`, `lte`), or one with `prefix`."
)


def as_3_0(document: dict[str, Any]) -> dict[str, Any]:
    """The document in the words of 3.0: `nullable` in place of null.

    A schema with several types, as an id, becomes one of any type: 3.0 has no lists of types, and generators write code
    that does not compile for alternatives. A profile's filters become a map whose description names the fields.
    """
    document_3_0: dict[str, Any] = {**_rewrite(document), "openapi": VERSION}
    schemas = document_3_0["components"]["schemas"]
    for name, schema in schemas.items():
        if name.endswith("Filters") and "properties" in schema:
            words = f"By field ({', '.join(schema['properties'])}), its condition. {CONDITION}"
            schemas[name] = {"type": "object", "description": words, "additionalProperties": True}
    used = _find_references(document_3_0["paths"], schemas, set())
    document_3_0["components"]["schemas"] = {name: schema for name, schema in schemas.items() if name in used}
    return document_3_0


def _rewrite(value: Any) -> Any:
    if isinstance(value, list):
        return [_rewrite(item) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$ref"), str):
        return {"$ref": value["$ref"]}  # 3.0 ignores what is beside it
    if isinstance(value.get("type"), list) or isinstance(value.get("anyOf"), list):
        return _one_type(value)
    return {key: _rewrite(item) for key, item in value.items() if key != "contains"}


def _one_type(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that has a list of types, or alternatives."""
    options = schema.get("anyOf") or [{"type": kind} for kind in schema["type"]]
    kept = [option for option in options if option != {"type": "null"}]
    if len(kept) > 1:
        return {"description": schema["description"]} if "description" in schema else {}
    rest = {key: item for key, item in schema.items() if key not in ("type", "anyOf")}
    if "enum" in rest:
        rest["enum"] = [value for value in rest["enum"] if value is not None]
    only: dict[str, Any] = _rewrite({**kept[0], **rest})
    return {**only, "nullable": True} if "type" in only else only


def _find_references(value: Any, schemas: dict[str, Any], found: set[str]) -> set[str]:
    """The names of the schemas that `value` refers to, with those that they refer to."""
    if isinstance(value, dict):
        name = str(value.get("$ref", "")).rpartition("/")[2]
        if name in schemas and name not in found:
            found.add(name)
            _find_references(schemas[name], schemas, found)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _find_references(inner, schemas, found)
    return found
