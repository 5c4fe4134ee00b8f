"""Translates Qdrant's JSON filters into the engine's."""

from __future__ import annotations  # the bindings' type names exist in their stubs only

import re
from collections.abc import Callable, Mapping
from typing import Any

import qdrant_edge as edge

from tools.qdrant.errors import engine_errors, format_error, invalid, unsupported
from tools.qdrant.ids import parse_ids

_BOUNDS = ("gt", "gte", "lt", "lte")
_NO_PATH = re.compile(r"\.\.|\[$")
"""In a payload key that is no path."""

CLAUSES = ("must", "should", "must_not")

_MATCHES: Mapping[str, Callable[[Any], edge.MatchType]] = {
    "value": edge.MatchValue,
    "any": edge.MatchAny,
    "except": edge.MatchExcept,
    "text": edge.MatchText,
    "text_any": edge.MatchTextAny,
    "phrase": edge.MatchPhrase,
    "prefix": edge.MatchPrefix,
    "substring": edge.MatchSubstring,
}


PREFIX = (1, 19)
"""The first version that matches by prefix. An older one refuses the filter."""


def parse_filter(data: object, version: tuple[int, ...] = PREFIX) -> edge.Filter | None:
    """The engine's filter for a JSON filter; None for None. An unsupported condition is a 400 that names it."""
    if data is None:
        return None
    if version < PREFIX and _has_prefix(data):
        raise format_error("data did not match any variant of untagged enum Condition")
    with engine_errors():
        return _filter(data)


def _has_prefix(data: object) -> bool:
    if isinstance(data, list):
        return any(map(_has_prefix, data))
    if not isinstance(data, Mapping):
        return False
    match = data.get("match")
    return (isinstance(match, Mapping) and "prefix" in match) or any(map(_has_prefix, data.values()))


def _filter(data: object) -> edge.Filter:
    given = _present(data, "Filter")
    for name in given:
        if name not in {*CLAUSES, "min_should"}:
            raise format_error(f"unknown field `{name}`, expected one of {', '.join(CLAUSES)}, min_should")
    least = given.get("min_should")
    return edge.Filter(
        must=_conditions(given.get("must")),
        should=_conditions(given.get("should")),
        must_not=_conditions(given.get("must_not")),
        min_should=None if least is None else _min_should(least),
    )


def _min_should(data: object) -> edge.MinShould:
    given = _present(data, "MinShould")
    return edge.MinShould(_conditions(given.get("conditions")) or [], _required(given, "min_count"))


def _conditions(data: object) -> list[edge.ConditionType] | None:
    if data is None:
        return None
    return [_condition(one) for one in (data if isinstance(data, list) else [data])]


def _condition(data: object) -> edge.ConditionType:
    given = _present(data, "Condition")
    if "key" in given:
        return _field_condition(given)
    for name, build in _CONDITIONS.items():
        if list(given) == [name]:
            return build(given[name])
    if given and given.keys() <= {*CLAUSES, "min_should"}:
        return _filter(given)
    if not given:
        raise invalid("condition: it is empty")
    raise unsupported(f"a condition with {', '.join(given)}", (*_FIELD_PARTS, *_CONDITIONS))


def _field_condition(given: Mapping[str, Any]) -> edge.ConditionType:
    parts = {}
    for name, value in given.items():
        if name == "key":
            continue
        if name not in _FIELD_PARTS:
            raise unsupported(f"field condition {name}", _FIELD_PARTS)
        parts[name] = _FIELD_PARTS[name](value)
    if not parts or _NO_PATH.search(str(given["key"])):
        return edge.HasIdCondition(set())  # the server accepts both, and finds nothing by them
    return edge.FieldCondition(given["key"], **parts)


def _match(data: object) -> edge.MatchType:
    given = _present(data, "Match")
    for name, build in _MATCHES.items():
        if list(given) == [name]:
            _refuse_booleans(given[name])
            return build(given[name])
    raise unsupported(f"a match with {', '.join(given) or 'nothing in it'}", _MATCHES)


def _refuse_booleans(value: object) -> None:
    """Refuse booleans: the bindings (0.9) turn True into 1, which matches no boolean."""
    if any(isinstance(one, bool) for one in (value if isinstance(value, list) else [value])):
        raise unsupported("matching booleans", ["matching strings and integers"])


def _range(data: object) -> edge.RangeType:
    given = {name: bound for name, bound in _present(data, "Range").items() if name in _BOUNDS}
    if any(isinstance(bound, str) for bound in given.values()):
        return edge.RangeDateTime(**given)
    return edge.RangeFloat(**given)


def _nested(data: object) -> edge.NestedCondition:
    given = _present(data, "Nested")
    return edge.NestedCondition(_required(given, "key"), _filter(_required(given, "filter")))


def _key(data: object) -> str:
    return str(_required(_present(data, "PayloadField"), "key"))


def _required(given: Mapping[str, Any], name: str) -> Any:
    if name not in given:
        raise format_error(f"missing field `{name}`")
    return given[name]


def _present(data: object, expected: str) -> dict[str, Any]:
    """The fields that are set. Clients send null for the others."""
    if not isinstance(data, Mapping):
        raise format_error(f"invalid type, expected struct {expected}")
    return {name: value for name, value in data.items() if value is not None}


_FIELD_PARTS: Mapping[str, Callable[[Any], Any]] = {
    "match": _match,
    "range": _range,
    "values_count": lambda data: edge.ValuesCount(**_present(data, "ValuesCount")),
    "is_empty": bool,
    "is_null": bool,
}
_CONDITIONS: Mapping[str, Callable[[Any], edge.ConditionType]] = {
    "is_empty": lambda data: edge.IsEmptyCondition(_key(data)),
    "is_null": lambda data: edge.IsNullCondition(_key(data)),
    "has_id": lambda data: edge.HasIdCondition(set(parse_ids(data))),
    "has_vector": edge.HasVectorCondition,
    "nested": _nested,
}
