"""Functions for `test_workers`, and a program with two processes that work for minutes."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from multiprocessing import parent_process
from pathlib import Path

from passage.sites import workers
from passage.sites.workers import Item, Workers


def shouted(mark: str, word: str) -> bytes:
    return f"{word.upper()}{mark}".encode()


def killed_elsewhere(mark: str, word: str) -> bytes:
    """As `shouted`, but a process of its own dies of it."""
    if parent_process() is not None:
        os.kill(os.getpid(), signal.SIGTERM)
    return shouted(mark, word)


def items_of(*words: str) -> list[Item[str]]:
    """Items that are large enough for other processes."""
    return [Item(word, workers.FEWEST_BYTES, word.encode()) for word in words]


def slow(folder: str, number: int) -> bytes:
    Path(folder, str(number)).touch()
    time.sleep(0.2)
    return b""


def items(count: int) -> Iterator[Item[int]]:
    return (Item(number, workers.FEWEST_BYTES, str(number).encode()) for number in range(count))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Workers(processes=2) as both:
        list(both.run(slow, sys.argv[1], items(1_000)))
