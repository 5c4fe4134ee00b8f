"""From a stored point to a passage. The only place that looks a payload key up."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from handler.core.model import Found, Passage, PointId
from handler.profiles import Payload

Point = tuple[PointId, float, Mapping[str, Any] | None]
"""A point's id, its score and its payload, as a store gave them."""


def read(points: Iterable[Point], keys: Payload) -> Found:
    """Turn points into passages, in the order given.

    A point that cannot be shown as a passage (no text or URL, or one that is not text; a score that is not a number)
    is left out and counted: one bad point must not take the good ones with it.
    """
    passages: list[Passage] = []
    skipped = 0
    for point_id, score, payload in points:
        passage = _passage(point_id, score, payload or {}, keys)
        if passage is None:
            skipped += 1
        else:
            passages.append(passage)
    return Found(passages=tuple(passages), skipped=skipped)


def _passage(point_id: PointId, score: float, payload: Mapping[str, Any], keys: Payload) -> Passage | None:
    text = _first(payload, keys.text)
    url = _first(payload, keys.url)
    if not math.isfinite(score) or not _usable(text) or not _usable(url):
        return None
    title = _first(payload, keys.title)
    return Passage(
        id=point_id,
        score=score,
        text=text,
        url=url,
        title=title if _usable(title) else None,
        index=_whole(_first(payload, keys.index)),
        payload=payload,
    )


def _first(payload: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    """The value under the first key present; null counts as absent."""
    for key in keys:
        value = payload.get(key)
        if value is None and "." in key:
            value = _nested(payload, key)
        if value is not None:
            return value
    return None


def _nested(payload: Mapping[str, Any], path: str) -> Any:
    value: Any = payload
    for part in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def _usable(value: Any) -> bool:
    """Text with something in it that UTF-8 can carry: a lone surrogate would break the answer's encoding."""
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole(value: Any) -> int | None:
    """A position in a document: a whole number that is not negative, or nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) and value >= 0 else None
