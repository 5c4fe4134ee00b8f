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
PREFIXES = (1, 19)
"""The first versions with `scoring` of a text index and with `prefix` of a keyword index. An older one drops the field
(Qdrant, release notes of 1.19 and 1.20)."""
_TYPE_NAMES = {str(kind): name for name, kind in TYPES.items()}  # the engine's enums are not reliable dict keys


def create_index(collection: Collection, body: Mapping[str, Any]) -> int:
    """Index a payload field from the body of `PUT …/index`; returns the operation's number."""
    name, schema = body.get("field_name"), body.get("field_schema")
    if not isinstance(name, str) or schema is None:
        raise format_error("missing field `field_name` or `field_schema`")
    if isinstance(schema, dict):
        unknown = _unknown(collection.version)
        schema = {key: value for key, value in schema.items() if key not in unknown}
    kind = schema.get("type") if isinstance(schema, dict) else schema
    if not isinstance(kind, str) or kind not in TYPES:
        raise format_error(f"unknown variant `{kind}`, expected one of {', '.join(TYPES)}")
    built = TYPES[kind] if isinstance(schema, str) else parse_params(kind, schema)
    with engine_errors():
        operation = edge.UpdateOperation.create_field_index(name, built)
    return collection.update(operation)


def _unknown(version: tuple[int, ...]) -> set[str]:
    """The options of an index that a server of this version does not know."""
    return {option for option, first in (("scoring", SCORING), ("prefix", PREFIXES)) if version < first}


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
        params = {key: value for key, value in params.items() if key not in _unknown(version)}
        schema[field] = {"data_type": kind, "points": info.points, **({"params": params} if params else {})}
    return schema
