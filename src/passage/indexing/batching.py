"""Splits a stream into batches."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of at most `size`. `itertools.batched` needs Python 3.12."""
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
