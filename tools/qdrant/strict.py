"""Strict mode, as on Qdrant Cloud: a filter needs a payload index on every field that it uses."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from passage.emulators.server import ApiError
from tools.qdrant.collections import Collection
from tools.qdrant.filters import CLAUSES
from tools.qdrant.indexes import TYPES, payload_schema

BY_PREFIX = ("keyword (with prefix: true)",)
"""The one index that serves a match by prefix: strict mode wants it from 1.19 on, the first version with that match."""

_TEXT_MATCHES = frozenset({"text", "text_any", "phrase"})


def require_indexes(collection: Collection, body: Mapping[str, Any]) -> None:
    """Refuse a filter on a field without an index, or with an index of a type that does not support it."""
    with collection.engine() as shard:
        schema = payload_schema(shard, collection.version)
    for query in _queries(body):
        for field, types in _fields(query.get("filter")):
            index = schema.get(field, {})
            params = index.get("params")
            if index.get("data_type") in types and types != BY_PREFIX:
                continue
            if types == BY_PREFIX and isinstance(params, Mapping) and params.get("prefix"):
                continue
            raise ApiError(
                400,
                f'Bad request: Index required but not found for "{field}" of one of the following types: '
                f"[{', '.join(sorted(types))}]. Help: Create an index for this key or use a different filter.",
            )


def require_limits(options: Mapping[str, Any], body: Mapping[str, Any]) -> None:
    """Refuse a query that asks for more than the collection's own strict mode allows.

    Args:
        options: `strict_mode_config` as the collection was created or changed with.
    """
    if not options.get("enabled"):
        return
    limits = [query["limit"] for query in _queries(body) if isinstance(query.get("limit"), int)]
    sizes = [[*_sizes(query.get("filter"))] for query in _queries(body)]
    for name, value in (
        ("search_max_batchsize", len(_as_list(body.get("searches")))),
        ("max_query_limit", max(limits, default=0)),
        ("filter_max_conditions", max(map(len, sizes), default=0)),
        ("condition_max_size", max((size for each in sizes for size in each), default=0)),
    ):
        most = options.get(name)
        if most is not None and value > most:
            given = "limit" if name == "max_query_limit" else name
            help_text = f'Reduce the "{given}" parameter to or below {most}.'
            raise ApiError(400, f'Bad request: Limit exceeded {value} > {most} for "{given}". Help: {help_text}')


def _queries(body: object) -> Iterator[Mapping[str, Any]]:
    """A request, and every query in its batch and its prefetches."""
    if isinstance(body, Mapping):
        yield body
        for key in ("searches", "prefetch"):
            for part in _as_list(body.get(key)):
                yield from _queries(part)


def _fields(given: object, prefix: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each field that a filter uses, with the index types that support its condition."""
    if not isinstance(given, Mapping):
        return
    conditions = [one for clause in CLAUSES for one in _as_list(given.get(clause))]
    least = given.get("min_should")
    conditions += _as_list(least.get("conditions")) if isinstance(least, Mapping) else []
    for one in conditions:
        if not isinstance(one, Mapping):
            continue  # the filter's own reader refuses it
        absent, nested = one.get("is_empty") or one.get("is_null"), one.get("nested")
        if "key" in one:
            yield f"{prefix}{one['key']}", _index_types(one)
        elif isinstance(absent, Mapping):
            yield f"{prefix}{absent.get('key')}", tuple(TYPES)
        elif isinstance(nested, Mapping):
            yield from _fields(nested.get("filter"), f"{prefix}{nested.get('key')}[].")
        else:
            yield from _fields(one, prefix)


def _sizes(given: object) -> Iterator[int]:
    """For each condition of a filter, how many values it lists."""
    if isinstance(given, Mapping):
        for one in (one for clause in CLAUSES for one in _as_list(given.get(clause))):
            if isinstance(one, Mapping) and "key" in one:
                match = one.get("match")
                yield len(_as_list(match.get("any", "one"))) if isinstance(match, Mapping) else 1
            else:
                yield from _sizes(one)


def _index_types(condition: Mapping[str, Any]) -> tuple[str, ...]:
    match, bounds = condition.get("match"), condition.get("range")
    if isinstance(match, Mapping) and "prefix" in match:
        return BY_PREFIX
    if isinstance(match, Mapping) and match:
        return ("text",) if _TEXT_MATCHES & match.keys() else _value_types(next(iter(match.values())))
    if isinstance(bounds, Mapping):
        return ("datetime",) if any(isinstance(bound, str) for bound in bounds.values()) else ("float", "integer")
    return tuple(TYPES)


def _value_types(value: object) -> tuple[str, ...]:
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, bool):
        return ("bool",)
    if isinstance(first, int):
        return ("integer",)
    try:
        UUID(str(first))
    except ValueError:
        return ("keyword",)
    return ("keyword", "uuid")


def _as_list(value: object) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
