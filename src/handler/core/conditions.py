"""The conditions of a filter besides plain values. Imported when a question has one."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Bounds of a payload value: numbers, or times as ISO 8601 text with a zone. None for no bound."""

    gt: float | str | None = None
    gte: float | str | None = None
    lt: float | str | None = None
    lte: float | str | None = None


@dataclass(frozen=True)
class Prefix:
    """The beginning of a text value; case matters."""

    text: str


Condition = tuple[str | int | Range, ...] | Range | Prefix
"""What a payload value must be: one of several values, within bounds, or text with a certain beginning. A moment is a
range of one time, because stores compare times by ranges only."""
