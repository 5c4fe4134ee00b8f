"""A chunk as a point of a profile's collection: its id and its payload, under the keys that profile reads."""

from datetime import UTC, datetime
from typing import Any

from devkit.indexing.chunks import Chunk
from handler.profiles import Profile


def point_id(chunk: Chunk) -> int:
    """The chunk's id as an unsigned integer, as seed 000 has it; 53 bits, all that JavaScript reads exactly."""
    return int(chunk.id[:16], 16) >> 11


def payload(chunk: Chunk, profile: Profile, created_at: int) -> dict[str, Any]:
    """What is stored with a chunk.

    Args:
        created_at: when the chunk was first indexed, seconds since 1970.
    """
    keys = profile.payload
    fields: dict[str, Any] = {keys.text[0]: chunk.text, keys.url[0]: chunk.url}
    for names, value in ((keys.title, chunk.title), (keys.index, chunk.index), (keys.created_at, created_at)):
        if names:
            fields[names[0]] = value
    fields["metadata"] = {
        "headings": list(chunk.headings),
        "word_count": len(chunk.text.split()),
        "content_type": "text/markdown",
        "processed_at": datetime.fromtimestamp(created_at, UTC).isoformat(),
    }
    return fields
