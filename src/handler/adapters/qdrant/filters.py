"""Filters in Qdrant's terms, for both stores: as JSON for its API. Imported when a question or a lookup has one."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from handler.adapters.qdrant.text_search import asked_words
from handler.config.profiles import Profile
from handler.config.validation import WITH_PREFIX
from handler.core.conditions import Condition, Prefix, Range
from handler.core.model import Filters


def as_json(filters: Filters, profile: Profile) -> dict[str, Any]:
    """Filters as JSON for Qdrant's API: of each field's alternatives one must hold.

    Qdrant compares a list of texts or a list of integers, so a mixed list becomes two alternatives.
    """
    must = []
    for field, condition in filters.items():
        kinds: list[Condition] = [condition]
        if isinstance(condition, tuple):
            texts = tuple(value for value in condition if isinstance(value, str))
            numbers = tuple(value for value in condition if isinstance(value, int))
            moments = (value for value in condition if isinstance(value, Range))
            kinds = [*(values for values in (texts, numbers) if values), *moments]
        must.append({"should": [condition_json(key, kind) for key in profile.filters[field] for kind in kinds]})
    return {"must": must}


def condition_json(key: str, condition: Condition) -> dict[str, Any]:
    """One condition as JSON for Qdrant's API (Qdrant, "Filtering")."""
    match condition:
        case Range(gt=gt, gte=gte, lt=lt, lte=lte):
            bounds = {"gt": gt, "gte": gte, "lt": lt, "lte": lte}
            return {"key": key, "range": {name: bound for name, bound in bounds.items() if bound is not None}}
        case Prefix():
            return {"key": key, "match": {"prefix": condition.text}}
        case _:
            return {"key": key, "match": {"any": list(condition)}}


def any_value(pairs: Iterable[tuple[str, str | int]]) -> dict[str, Any]:
    """The filter for points with one of the values, each a payload key and the value it has."""
    return {"should": [{"key": key, "match": {"value": value}} for key, value in pairs]}


def with_word(field: str, word: str) -> dict[str, Any]:
    """The filter for points that have a word of a question."""
    return {"must": [{"key": field, "match": {"text": asked_words(field, word)}}]}


def conditions(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The conditions of a filter, in order: each has a payload key."""
    for one in (*given.get("must", ()), *given.get("should", ())):
        if "key" in one:
            yield one
        else:
            yield from conditions(one)


def has_prefix(given: Mapping[str, Any]) -> bool:
    """Whether a filter matches by prefix."""
    return any("prefix" in one.get("match", ()) for one in conditions(given))


def index_type(condition: Mapping[str, Any]) -> str:
    """The payload index that serves a condition (Qdrant, "Payload index")."""
    if "range" in condition:
        return "datetime" if any(isinstance(bound, str) for bound in condition["range"].values()) else "float"
    if "prefix" in condition["match"]:
        return f"keyword{WITH_PREFIX}"
    return "integer" if all(isinstance(value, int) for value in condition["match"]["any"]) else "keyword"
