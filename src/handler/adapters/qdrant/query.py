"""Thresholds and point ids in Qdrant's terms, for both stores."""

import struct
import uuid

from handler.core.model import PointId

MAX_POINT_ID = 2**64 - 1

MAX_PAYLOAD_INTEGER = 2**63 - 1


def threshold(least: float | None) -> float | None:
    """The `score_threshold` for Qdrant, slightly below `least`, so that a score of exactly `least` is still found.

    Qdrant compares strictly and in 32 bits; the contracts say "minimum". None for None and for 0, which mean no limit.
    """
    if not least:
        return None
    single = struct.unpack("<f", struct.pack("<f", least))[0]
    (bits,) = struct.unpack("<I", struct.pack("<f", single))
    if bits == 0:  # too small for 32 bits: any score above 0
        return 0.0
    return float(struct.unpack("<f", struct.pack("<I", bits - 1))[0])


def identity(value: object) -> PointId:
    """A point's id as both SDKs give it: an integer, or a UUID as an object or as text."""
    return value if isinstance(value, int) else str(value)


def chunk_id_values(chunk: str) -> list[str | int]:
    """The values that a payload may hold for a chunk id: the text itself and, for digits, the integer."""
    number = int(chunk) if chunk.isascii() and chunk.isdigit() and len(chunk) <= len(str(MAX_PAYLOAD_INTEGER)) else None
    exact = number is not None and str(number) == chunk and number <= MAX_PAYLOAD_INTEGER
    return [chunk, number] if number is not None and exact else [chunk]


def point_id(chunk: str) -> PointId | None:
    """`chunk` as a point's id, an unsigned integer or a UUID; None when it is neither."""
    if chunk.isascii() and chunk.isdigit():
        number = int(chunk) if len(chunk) <= len(str(MAX_POINT_ID)) else MAX_POINT_ID + 1  # int() has a limit of digits
        return number if number <= MAX_POINT_ID else None
    try:
        return str(uuid.UUID(chunk))
    except ValueError:
        return None
