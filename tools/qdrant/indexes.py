"""Payload indexes: creates, drops and describes them. The engine stores them with the shard."""

from __future__ import annotations  # the bindings' type names exist in their stubs only

from collections.abc import Mapping
from typing import Any

import qdrant_edge as edge

from tools.qdrant.collections import Collection
from tools.qdrant.errors import engine_errors, format_error
from tools.qdrant.index_params import params_json, parse_params

TYPES: Mapping[str, edge.PayloadSchemaType] = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "float": edge.PayloadSchemaType.Float,
    "geo": edge.PayloadSchemaType.Geo,
    "text": edge.PayloadSchemaType.Text,
    "bool": edge.PayloadSchemaType.Bool,
    "datetime": edge.PayloadSchemaType.Datetime,
    "uuid": edge.PayloadSchemaType.Uuid,
}
SCORING = (1, 20)
"""The first version with `scoring`. An older one drops the field (Qdrant, release notes of 1.20)."""
_TYPE_NAMES = {str(kind): name for name, kind in TYPES.items()}  # the engine's enums are not reliable dict keys


def create_index(collection: Collection, body: Mapping[str, Any]) -> int:
    """Index a payload field from the body of `PUT …/index`; returns the operation's number."""
    name, schema = body.get("field_name"), body.get("field_schema")
    if not isinstance(name, str) or schema is None:
        raise format_error("missing field `field_name` or `field_schema`")
    if isinstance(schema, dict) and collection.version < SCORING:
        schema = {key: value for key, value in schema.items() if key != "scoring"}
    kind = schema.get("type") if isinstance(schema, dict) else schema
    if not isinstance(kind, str) or kind not in TYPES:
        raise format_error(f"unknown variant `{kind}`, expected one of {', '.join(TYPES)}")
    built = TYPES[kind] if isinstance(schema, str) else parse_params(kind, schema)
    with engine_errors():
        operation = edge.UpdateOperation.create_field_index(name, built)
    return collection.update(operation)


def delete_index(collection: Collection, name: str) -> int:
    """Drop the index of a payload field; returns the operation's number."""
    with engine_errors():
        operation = edge.UpdateOperation.delete_field_index(name)
    return collection.update(operation)


def payload_schema(shard: edge.EdgeShard, version: tuple[int, ...]) -> dict[str, dict[str, object]]:
    """The indexed payload fields, as collection info of a server of this version lists them."""
    schema: dict[str, dict[str, object]] = {}
    for field, info in sorted(shard.info().payload_schema.items()):
        kind = _TYPE_NAMES[str(info.data_type)]
        params = {} if info.params is None else params_json(kind, info.params)
        if version < SCORING:
            params.pop("scoring", None)
        schema[field] = {"data_type": kind, "points": info.points, **({"params": params} if params else {})}
    return schema
