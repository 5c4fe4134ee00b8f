"""Stored points, their ids and scores; and how they become passages, by the payload keys of a profile."""

import math
import re
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from handler.config import models
from handler.config.payload_keys import NESTED_OBJECTS, RANKED_KEY, Payload, is_ranked, open_object
from handler.config.profiles import Profile
from handler.core.model import LARGEST_WHOLE, Passage, PointId, SearchResult, Stage, Vector
from handler.core.texts import INVISIBLE

MILLISECONDS_FROM = 100_000_000_000
"""An epoch this large is in milliseconds: in seconds it would be the year 5138."""

EPOCH_DIGITS = re.compile(r"[0-9]{9,16}(\.[0-9]+)?")
"""An epoch as text. Eight digits are a date of ISO 8601, as in 20251210."""

MAX_POINT_ID = 2**64 - 1
MAX_PAYLOAD_INTEGER = 2**63 - 1


class Stored(Protocol):
    """A stored point without a score; both SDKs' classes match it."""

    @property
    def id(self) -> Any: ...
    @property
    def payload(self) -> Mapping[str, Any] | None: ...


class Scored(Stored, Protocol):
    """A point in a search result; both SDKs' classes match it."""

    @property
    def score(self) -> float: ...


@dataclass(frozen=True)
class Hit:
    """A payload in the shape of a found point. `fused` is the fused score of a hybrid search."""

    id: int | str
    score: float
    payload: Mapping[str, Any] | None
    vector: Any = None
    fused: float | None = None


def threshold(least: float | None) -> float | None:
    """The `score_threshold` for Qdrant, slightly below `least`, so that a score of exactly `least` is still found.

    Qdrant compares strictly and in 32 bits; the contracts say "minimum". None for None and for 0, which mean no limit.
    """
    if not least:
        return None
    (bits,) = struct.unpack("<I", struct.pack("<f", least))
    if bits == 0:  # too small for 32 bits: any score above 0
        return 0.0
    below = bits - 1 if least > 0 else bits + 1  # the number below a negative one is farther from 0
    return float(struct.unpack("<f", struct.pack("<I", below))[0])


def identity(value: object) -> PointId:
    """A point's id as both SDKs give it: an integer, or a UUID as an object or as text."""
    return value if isinstance(value, int) else str(value)


def point_id(chunk: str) -> PointId | None:
    """`chunk` as a point's id, an unsigned integer or a UUID; None when it is neither."""
    if chunk.isascii() and chunk.isdigit():
        return _whole_number(chunk, MAX_POINT_ID)
    try:
        return str(uuid.UUID(chunk))
    except ValueError:
        return None


def chunk_id_pairs(chunk: str, keys: Payload) -> list[tuple[str, str | int]]:
    """The payload keys that may hold a chunk id, each with the text itself and, for digits, with the integer."""
    number = _whole_number(chunk, MAX_PAYLOAD_INTEGER)
    values: tuple[str | int, ...] = (chunk,) if number is None or str(number) != chunk else (chunk, number)
    return [(key, value) for key in keys.keys("chunk_id") for value in values]


def _whole_number(text: str, most: int) -> int | None:
    """The integer in a text of digits, up to `most`; None for other text."""
    if not text.isascii() or not text.isdigit() or len(text) > len(str(most)):  # int() has a limit of digits
        return None
    return number if (number := int(text)) <= most else None


def without_ranked_text(stored: Mapping[str, Any]) -> Mapping[str, Any]:
    """A payload without the texts that only a search reads."""
    return {key: value for key, value in stored.items() if not is_ranked(key)}


def stages(points_by_stage: Mapping[str, Iterable[Scored]]) -> dict[str, Stage]:
    """What each stage of a search found, best first."""
    return {
        name: tuple((identity(point.id), {"score": point.score}) for point in points)
        for name, points in points_by_stage.items()
    }


def read(points: Iterable[Scored], keys: Payload, vector: Callable[[Any], Vector | None] | None = None) -> SearchResult:
    """Turn points into passages, in the order given.

    A point is skipped and counted when it has no text or URL, or a score that is not a number: one bad point must not
    cost the good ones.

    Args:
        vector: returns a point's vector, shape `(dimension,)`; None when vectors were not requested.
    """
    passages: list[Passage] = []
    skipped = 0
    for point in points:
        stored = point.payload or {}
        passage = _fields(stored, keys, CHUNK_FIELDS) if math.isfinite(point.score) else None
        if passage is None or not passage.keys() >= REQUIRED:
            skipped += 1
            continue
        passages.append(
            Passage(
                id=identity(point.id),
                score=point.score,
                payload=without_ranked_text(stored) if RANKED_KEY in stored else stored,
                vector=None if vector is None else vector(point),
                fused=point.fused if isinstance(point, Hit) else None,
                **passage,
            )
        )
    warnings = (_explain_skipped(skipped, len(passages) + skipped, keys),) if skipped else ()
    return SearchResult(tuple(passages), skipped, warnings)


def read_one(record: Stored, keys: Payload, vector: Vector | None) -> Passage | None:
    """The passage of a point that was found by its id, with the score 0; None without text or URL.

    Args:
        vector: shape `(dimension,)`; None where it was not requested.
    """
    hit = Hit(identity(record.id), 0.0, record.payload)
    return next(iter(read([hit], keys, lambda _: vector).passages), None)


def _explain_skipped(skipped: int, total: int, keys: Payload) -> str:
    """Why points were left out, for a person who has to name the right keys in the profile."""
    own = (*keys.text, *keys.url)
    tried = {
        part: [path.key for path in keys.paths[part] if path.key in own or path.outer not in NESTED_OBJECTS]
        for part in ("text", "url")
    }
    inside = f" The same keys are looked for in {', '.join(NESTED_OBJECTS)}." if keys.variants else ""
    return (
        f"{skipped} of {total} points found were left out: they have no valid text, URL or score. Keys tried for the "
        f"text: {', '.join(tried['text'])}; for the URL: {', '.join(tried['url'])}.{inside}"
    )


def other_model(stated: str | None, profile: Profile) -> str | None:
    """The model that a collection says it was embedded with, if its vectors are not comparable with the questions'."""
    return None if stated is None or models.are_comparable(stated, profile.embedding.model) else stated


def embedding_model(payload: Mapping[str, Any] | None, keys: Payload) -> str | None:
    """The model a point says it was embedded with."""
    own = _fields(payload or {}, keys, {"model": _text})
    return None if own is None else own.get("model")


def _fields(
    payload: Mapping[str, Any], keys: Payload, converters: Mapping[str, Callable[[Any], Any]]
) -> dict[str, Any] | None:
    """Each field's value in a payload; None when a required value is invalid.

    A required field uses the first stored value, an optional field the first valid one.

    Args:
        converters: read each field's stored value; they return None for an invalid one.
    """
    values: dict[str, Any] = {}
    for field, convert in converters.items():
        for key, outer, inner in keys.paths[field]:
            value = payload.get(key)  # as `KeyPath.value`: a question reads hundreds of keys, and calls take time
            if value is None and inner:
                value = payload.get(outer)
                for part in inner:
                    if value is None:
                        break
                    value = (value if isinstance(value, dict) else open_object(value)).get(part)
            if value is None:  # absent, or stored as null
                continue
            converted = convert(value)
            if converted is not None:
                values[field] = converted
                break
            if field in REQUIRED:
                return None
    return values


def _text(value: Any) -> str | None:
    """Text that is not blank and that UTF-8 can carry: a lone surrogate would break the answer's encoding."""
    if not isinstance(value, str) or not value.strip(INVISIBLE):
        return None
    try:
        value.isascii() or value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _texts(value: Any) -> tuple[str, ...] | None:
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(text for item in items if (text := _text(item))) or None


def _identity(value: Any) -> str | None:
    """A chunk's id as text; some live collections store integers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(value)


def _whole(value: Any) -> int | None:
    """A whole number that is not negative: a position, a count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # The first comparison is false for NaN and infinity, which have no integer.
    return int(value) if 0 <= value <= LARGEST_WHOLE and value == int(value) else None


def _moment(value: Any) -> datetime | None:
    """A time stored as an epoch (seconds or milliseconds, a number or its digits) or as ISO 8601 text.

    UTC unless it says otherwise.
    """
    try:
        if isinstance(value, str) and EPOCH_DIGITS.fullmatch(value.strip()):
            value = float(value)
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value.strip())
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) >= MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


CHUNK_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "text": _text,
    "url": _text,
    "title": _text,
    "index": _whole,
    "chapter": _text,
    "section": _text,
    "headings": _texts,
    "chunk_id": _identity,
    "tokens": _whole,
    "created_at": _moment,
}
"""A passage's fields and the function that reads each one's stored value; it returns None for an invalid value."""

REQUIRED = frozenset({"text", "url"})
