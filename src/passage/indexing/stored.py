"""Reads back what `payloads.payload` wrote, by the same layout."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from handler.config.payload_keys import RANKED_KEY, TITLES_KEY, ChunkField, is_ranked, ranked_key
from handler.config.profiles import Profile
from passage.indexing import payloads
from passage.indexing.languages import STEMMED
from passage.indexing.payloads import KeyPath


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A stored point. Its payload has no text, because the id identifies the text."""

    id: int
    payload: Mapping[str, Any]


def keys(profile: Profile) -> dict[str, ChunkField]:
    """The payload's keys (with dots into nested objects), each with its chunk field."""
    return {".".join(path): part for path, part in payloads.paths(profile)}


def text_keys(profile: Profile) -> list[str]:
    """The keys that hold the text."""
    return [key for key, part in keys(profile).items() if part == "text"]


def unread_keys(profile: Profile) -> list[str]:
    """The keys of all texts, with titles and without: a point's id identifies them, so they need not be read back."""
    return [*text_keys(profile), RANKED_KEY, TITLES_KEY, *map(ranked_key, STEMMED)]


def without_text(payload: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """The payload without the texts."""
    left_out = {path for path, part in payloads.paths(profile) if part == "text"}
    left_out |= {(key,) for key in payload if is_ranked(key)}

    def kept(values: Mapping[str, Any], above: KeyPath) -> dict[str, Any]:
        return {
            key: kept(value, (*above, key)) if isinstance(value, dict) else value
            for key, value in values.items()
            if (*above, key) not in left_out
        }

    return kept(payload, ())


def number(payload: Mapping[str, Any], profile: Profile) -> int | None:
    """The chunk's number on the site; None where the profile stores none."""
    value = _value(payload, profile, "number")
    return value if isinstance(value, int) else None


def page(payload: Mapping[str, Any], profile: Profile) -> str:
    """The URL of the chunk's page; empty where the profile stores none."""
    return str(_value(payload, profile, "url") or "").partition("#")[0]


def first_indexed(payload: Mapping[str, Any], profile: Profile) -> int | None:
    """When a stored chunk was first indexed, seconds since 1970; None where its profile stores no time."""
    epoch, iso = _value(payload, profile, "epoch"), _value(payload, profile, "iso")
    if isinstance(epoch, int):
        return epoch
    try:
        return int(datetime.fromisoformat(str(iso)).timestamp())
    except ValueError:
        return None


def numbers(vector: Any, name: str) -> list[float]:
    """The numbers `(dimension,)` of a point's vector by its name; empty for a point that was read without it."""
    numbers = vector.get(name) if isinstance(vector, dict) else vector
    return list(numbers or ())


def _value(payload: Mapping[str, Any], profile: Profile, part: ChunkField) -> Any:
    for path, held in payloads.paths(profile):
        if held == part:
            value: Any = payload
            for key in path:
                value = value.get(key) if isinstance(value, Mapping) else None
            return value
    return None
