"""Lamps that burn oil, and the racks that hold them.

Begin with `Lamp`.
"""

from enum import Enum
from typing import Generic, TypeVar

T = TypeVar("T")

LONGEST_WICK: int = 80
"""The longest wick that a lamp takes, in millimetres."""


class Flame(Enum):
    """What flame a lamp burns with."""

    LOW = "low"
    """Burns all night."""
    HIGH = "high"
    """Burns for an hour, for ships close to the rocks."""


class Light:
    """Anything that glows."""

    def reach(self) -> float:
        """Say how far the light is seen, in nautical miles."""
        raise NotImplementedError


class Lamp(Light):
    """A lamp that burns oil.

    Clean the glass before you light it.
    """

    def __init__(self, oil: int) -> None:
        """Fill a new lamp with millilitres of oil."""
        self.oil = oil

    def ignite(self, seconds: int, flame: Flame = Flame.LOW) -> float:
        """Light the lamp after a delay.

        >>> Lamp(250).ignite(3)
        2497.0
        """
        return self.oil * (10.0 if flame is Flame.LOW else 1.0) - seconds

    def reach(self) -> float:
        return 4.0

    @property
    def is_empty(self) -> bool:
        """Whether the oil is used up."""
        return self.oil == 0


class Rack(Generic[T]):
    """A rack for things of one kind."""

    def hang(self, thing: T) -> int:
        """Hang a thing on the rack, and return the number of its hook."""
        return int(thing is not None)


def trim(millimetres: int) -> str:
    """Trim a wick to a length."""
    return f"{millimetres} mm"
