"""Packs blocks into passages of similar size."""

import math
from collections.abc import Sequence
from typing import Protocol

PARTED = 4.0
"""The cost of separating a title or an introduction from its text. An empty passage costs 1."""


class Sized(Protocol):
    @property
    def size(self) -> int: ...
    @property
    def leads(self) -> bool: ...


def pack(sizes: Sequence[Sized], limit: int) -> list[tuple[int, int]]:
    """The blocks of each passage, `(first, after last)`. Only a single block may be larger than `limit`.

    The cuts are those whose passages differ least from equal sizes.
    """
    if not sizes:
        return []
    aim = _aim(sum(block.size for block in sizes), limit)
    best = [0.0, *([math.inf] * len(sizes))]
    begins = [0] * (len(sizes) + 1)
    for end in range(1, len(sizes) + 1):
        size = 0
        for begin in range(end - 1, -1, -1):
            size += sizes[begin].size
            if size > limit and begin < end - 1:
                break
            parted = PARTED if end < len(sizes) and sizes[end - 1].leads else 0.0
            cost = best[begin] + ((size - aim) / aim) ** 2 + parted
            if cost < best[end]:
                best[end], begins[end] = cost, begin
    cuts, end = [], len(sizes)
    while end:
        cuts.append((begins[end], end))
        end = begins[end]
    return cuts[::-1]


def _aim(total: int, limit: int) -> float:
    return max(1.0, total / math.ceil(max(1, total) / limit))
