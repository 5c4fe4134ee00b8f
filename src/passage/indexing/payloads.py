"""A chunk as a point of a profile's collection: its id and its payload, in the profile's own keys."""

import hashlib
import json
import uuid
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from handler.config.payload_keys import RANKED_KEY, TITLES_KEY, ChunkField, Payload, ranked_key
from handler.config.profiles import Profile
from handler.core import words
from handler.core.words import indexed_words
from passage.indexing.chunks import Chunk

KeyPath = tuple[str, ...]
"""The keys that lead to a value, from the outermost object inwards."""

FIRST: Mapping[str, ChunkField] = {
    "text": "text",
    "url": "url",
    "page": "page_url",
    "title": "title",
    "chapter": "chapter",
    "section": "section",
    "headings": "headings",
    "index": "position",
    "chunk_id": "sha256",
    "tokens": "tokens",
    "created_at": "epoch",
    "model": "model",
}
"""The chunk fields for the first key of each meaning, for a profile without `written_payload`."""

TITLES: tuple[ChunkField, ...] = ("title", "headings")
"""The fields that every profile's payload has, as far as the profile can read them."""


def point_id(chunk: Chunk) -> int:
    """The chunk's id as an unsigned integer, as seed 000 has it; 53 bits, all that JavaScript reads exactly."""
    return int(chunk.id[:16], 16) >> 11


def payload(
    chunk: Chunk, number: int, profile: Profile, created_at: int, ranked: Collection[str] = ()
) -> dict[str, Any]:
    """A chunk's payload. Absent fields are left out: a page outside any folder has no chapter.

    Args:
        number: its place among the site's chunks, from 1.
        created_at: when it was first indexed, seconds since 1970.
        ranked: the keys with a text index. The text is also stored under the one of the chunk's language, in words.
    """
    parts = _parts(chunk, number, profile, created_at)

    def fill(keys: Mapping[str, ChunkField | dict[str, ChunkField]]) -> dict[str, Any]:
        filled = {key: fill(part) if isinstance(part, dict) else parts[part] for key, part in keys.items()}
        return {key: value for key, value in filled.items() if value not in ("", {})}

    keys = layout(profile)
    texts = [RANKED_KEY] if any(part == "text" for _, part in _paths(keys)) else []
    titles = {TITLES_KEY: indexed_words("\n".join(chunk.begins))} if texts and chunk.begins else {}
    texts += [key for key in [ranked_key(chunk.language)] if key in ranked]
    return {**fill(keys), **dict.fromkeys(texts, indexed_words(chunk.ranked_text)), **titles}


def basis(profile: Profile) -> bytes:
    """What payloads are made of beside their chunks, to hash: this code, that of their words, the keys, the model."""
    code = b"".join(Path(str(file)).read_bytes() for file in (__file__, words.__file__))
    return code + json.dumps([layout(profile), _model(profile)], sort_keys=True).encode()


def layout(profile: Profile) -> Mapping[str, ChunkField | dict[str, ChunkField]]:
    """The payload's keys, nested ones included, each with its chunk field.

    Title and headings are stored even if the profile's `written_payload` has neither: answers show them.
    """
    keys = dict(profile.written_payload) or _layout(profile.payload)
    stored = {part for _, part in _paths(keys)}
    for field in TITLES:
        free = (path.key for path in profile.payload.paths[field] if not path.inner and path.key not in keys)
        key = None if field in stored else next(free, None)
        if key is not None:
            keys[key] = field
    return keys


def paths(profile: Profile) -> Iterator[tuple[KeyPath, ChunkField]]:
    """The path of each of the payload's values, with its chunk field."""
    yield from _paths(layout(profile))


def _paths(keys: Mapping[str, ChunkField | dict[str, ChunkField]]) -> Iterator[tuple[KeyPath, ChunkField]]:
    for key, part in keys.items():
        if isinstance(part, dict):
            yield from (((key, inner), field) for inner, field in part.items())
        else:
            yield (key,), part


def _layout(payload: Payload) -> dict[str, ChunkField | dict[str, ChunkField]]:
    named: dict[str, tuple[str, ...]] = {meaning: getattr(payload, meaning) for meaning in FIRST}
    return {keys[0]: FIRST[meaning] for meaning, keys in named.items() if keys}


def _parts(chunk: Chunk, number: int, profile: Profile, created_at: int) -> dict[ChunkField, Any]:
    return {
        "text": chunk.text,
        "url": chunk.url,
        "title": chunk.title,
        "chapter": chunk.path.split("/")[0] if "/" in chunk.path else "",
        "section": chunk.headings[-1],
        "headings": list(chunk.headings),
        "position": chunk.index,
        "total": chunk.total,
        "number": number,
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{chunk.url}#{chunk.id}")),
        "sha256": hashlib.sha256((chunk.url + chunk.text).encode()).hexdigest(),
        "tokens": chunk.tokens,
        "anchor": chunk.url.partition("#")[2],
        "page_url": chunk.url.partition("#")[0],
        "language": chunk.language,
        "version": chunk.version,
        "words": len(chunk.text.split()),
        "content_type": "text/markdown",
        "model": _model(profile),
        "epoch": created_at,
        "iso": datetime.fromtimestamp(created_at, UTC).isoformat().replace("+00:00", "Z"),
    }


def _model(profile: Profile) -> str:
    return profile.embedding.for_texts if profile.search.has_vectors else ""
