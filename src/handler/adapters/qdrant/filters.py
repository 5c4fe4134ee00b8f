"""A question's filters in Qdrant's terms, for both stores. Imported when a question has one."""

from collections.abc import Iterator
from typing import Any

from handler.config.profiles import Profile
from handler.config.validation import WITH_PREFIX
from handler.core.conditions import Condition, Prefix, Range
from handler.core.model import Filters


def conditions(filters: Filters, profile: Profile) -> Iterator[list[tuple[str, Condition]]]:
    """For each field, the alternatives, of which one must hold: a payload key and its condition.

    Qdrant compares a list of texts or a list of integers, so a mixed list becomes two alternatives.
    """
    for field, condition in filters.items():
        kinds: list[Condition] = [condition]
        if isinstance(condition, tuple):
            texts = tuple(value for value in condition if isinstance(value, str))
            numbers = tuple(value for value in condition if isinstance(value, int))
            moments = (value for value in condition if isinstance(value, Range))
            kinds = [*(values for values in (texts, numbers) if values), *moments]
        yield [(key, kind) for key in profile.filters[field] for kind in kinds]


def bounds(limits: Range) -> dict[str, float | str]:
    """The bounds that are set, by Qdrant's names."""
    named = {"gt": limits.gt, "gte": limits.gte, "lt": limits.lt, "lte": limits.lte}
    return {name: bound for name, bound in named.items() if bound is not None}


def index_type(condition: Condition) -> str:
    """The payload index that serves a condition (Qdrant, "Payload index")."""
    match condition:
        case Prefix():
            return f"keyword{WITH_PREFIX}"
        case Range():
            return "datetime" if any(isinstance(bound, str) for bound in bounds(condition).values()) else "float"
        case _:
            if any(isinstance(value, Range) for value in condition):
                return "datetime"
            return "integer" if all(isinstance(value, int) for value in condition) else "keyword"


def filtered_keys(filters: Filters, profile: Profile) -> dict[str, str]:
    """The payload keys a search filters by, each with the type of payload index that serves it."""
    return {key: index_type(condition) for either in conditions(filters, profile) for key, condition in either}


def has_prefix(filters: Filters) -> bool:
    """Whether a filter matches by prefix."""
    return any(isinstance(condition, Prefix) for condition in filters.values())


def as_json(filters: Filters, profile: Profile) -> dict[str, Any]:
    """Filters as JSON for Qdrant's API: of each field's alternatives one must hold."""
    must = [
        {"should": [condition_json(key, condition) for key, condition in alternatives]}
        for alternatives in conditions(filters, profile)
    ]
    return {"must": must}


def condition_json(key: str, condition: Condition) -> dict[str, Any]:
    """One condition as JSON for Qdrant's API (Qdrant, "Filtering")."""
    match condition:
        case Range():
            return {"key": key, "range": bounds(condition)}
        case Prefix():
            return {"key": key, "match": {"prefix": condition.text}}
        case _:
            return {"key": key, "match": {"any": condition}}
