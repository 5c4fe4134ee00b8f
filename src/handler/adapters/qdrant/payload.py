"""From a stored point to a passage. The only place that looks a payload key up."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from handler.config.profiles import KeyPath, Payload
from handler.core.model import Found, Passage, PointId, Vector

KeyPaths = tuple[KeyPath, ...]

MILLISECONDS_FROM = 100_000_000_000
"""An epoch this large is in milliseconds: in seconds it would be the year 5138."""

LARGEST_WHOLE = 2**53 - 1
"""The largest integer that every reader of JSON takes exactly; no position or count comes near it."""


@dataclass(frozen=True)
class Hit:
    """A point as a store gave it: `vector`, shape `(dimension,)`, when it was asked for."""

    id: PointId
    score: float
    payload: Mapping[str, Any] | None
    vector: Vector | None = None


def read(hits: Iterable[Hit], keys: Payload) -> Found:
    """Turn points into passages, in the order given.

    A point that cannot be shown as a passage (no text or URL, or one that is not text; a score that is not a number)
    is left out and counted: one bad point must not take the good ones with it.
    """
    passages: list[Passage] = []
    skipped = 0
    for hit in hits:
        passage = _passage(hit, keys)
        if passage is None:
            skipped += 1
        else:
            passages.append(passage)
    return Found(passages=tuple(passages), skipped=skipped)


def embedding_model(payload: Mapping[str, Any] | None, keys: Payload) -> str | None:
    """The model a point says it was embedded with."""
    return _text(payload or {}, keys.paths["model"])


def _passage(hit: Hit, keys: Payload) -> Passage | None:
    payload, paths = hit.payload or {}, keys.paths
    text, url = _value(payload, paths["text"]), _value(payload, paths["url"])
    if not math.isfinite(hit.score) or not _usable(text) or not _usable(url):
        return None
    return Passage(
        id=hit.id,
        score=hit.score,
        text=text,
        url=url,
        title=_text(payload, paths["title"]),
        index=_whole(payload, paths["index"]),
        chapter=_text(payload, paths["chapter"]),
        section=_text(payload, paths["section"]),
        headings=_texts(payload, paths["headings"]),
        chunk_id=_identity(payload, paths["chunk_id"]),
        tokens=_whole(payload, paths["tokens"]),
        created_at=_time(payload, paths["created_at"]),
        payload=payload,
        vector=hit.vector,
    )


def _values(payload: Mapping[str, Any], paths: KeyPaths) -> Iterable[Any]:
    """What is stored under keys, in their order; null counts as absent."""
    for key, outer, inner in paths:
        value = payload.get(key)
        if value is None and inner:
            value = payload.get(outer)
            for part in inner:
                value = value.get(part) if isinstance(value, dict) else None
        if value is not None:
            yield value


def _value(payload: Mapping[str, Any], paths: KeyPaths) -> Any:
    """What is stored under the first key present."""
    return next(iter(_values(payload, paths)), None)


def _usable(value: Any) -> bool:
    """Text with something in it that UTF-8 can carry: a lone surrogate would break the answer's encoding."""
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(payload: Mapping[str, Any], paths: KeyPaths) -> str | None:
    """The first value that is text: where a passage goes without, what is not text is as good as absent."""
    for value in _values(payload, paths):
        if _usable(value):
            return str(value)
    return None


def _texts(payload: Mapping[str, Any], paths: KeyPaths) -> tuple[str, ...]:
    for value in _values(payload, paths):
        items = value if isinstance(value, list | tuple) else [value]
        texts = tuple(str(item) for item in items if _usable(item))
        if texts:
            return texts
    return ()


def _identity(payload: Mapping[str, Any], paths: KeyPaths) -> str | None:
    """A chunk's id as text; live collections have integers among them."""
    for value in _values(payload, paths):
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if _usable(value):
            return str(value)
    return None


def _whole(payload: Mapping[str, Any], paths: KeyPaths) -> int | None:
    """The first value that is a whole number and not negative: a position, a count."""
    for value in _values(payload, paths):
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if 0 <= value <= LARGEST_WHOLE and value == int(value):  # the first is false for what is no number
            return int(value)
    return None


def _time(payload: Mapping[str, Any], paths: KeyPaths) -> datetime | None:
    """The first value that is a time."""
    return next((moment for value in _values(payload, paths) if (moment := _moment(value))), None)


def _moment(value: Any) -> datetime | None:
    """A time stored as an epoch (seconds or milliseconds) or as ISO 8601 text; UTC unless it says otherwise."""
    try:
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value.strip())
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) >= MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None
