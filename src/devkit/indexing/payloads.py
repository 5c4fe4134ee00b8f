"""A chunk as a point of a profile's collection: its id and its payload, under the keys that profile reads."""

import hashlib
from datetime import UTC, datetime
from typing import Any

from devkit.indexing.chunks import Chunk
from handler.profiles import Profile

CHARACTERS_PER_TOKEN = 4
"""About what English prose has."""


def point_id(chunk: Chunk) -> int:
    """The chunk's id as an unsigned integer, as seed 000 has it; 53 bits, all that JavaScript reads exactly."""
    return int(chunk.id[:16], 16) >> 11


def payload(chunk: Chunk, profile: Profile, created_at: int) -> dict[str, Any]:
    """What is stored with a chunk: each of its parts under the first key the profile names for it.

    Args:
        created_at: when the chunk was first indexed, seconds since 1970.
    """
    folder = chunk.path.split("/")[0] if "/" in chunk.path else ""
    words = len(chunk.text.split())
    parts: dict[str, Any] = {
        "text": chunk.text,
        "url": chunk.url,
        "title": chunk.title,
        "chapter": folder,
        "section": chunk.headings[-1],
        "headings": list(chunk.headings),
        "index": chunk.index,
        "chunk_id": hashlib.sha256((chunk.url + chunk.text).encode()).hexdigest(),
        "tokens": max(1, len(chunk.text) // CHARACTERS_PER_TOKEN),
        "created_at": created_at,
        "model": profile.embedding.model,
    }
    fields: dict[str, Any] = {}
    for meaning, value in parts.items():
        keys = getattr(profile.payload, meaning)
        if keys:
            fields[keys[0]] = value
    fields["metadata"] = {
        "word_count": words,
        "content_type": "text/markdown",
        "processed_at": datetime.fromtimestamp(created_at, UTC).isoformat(),
    }
    return fields
