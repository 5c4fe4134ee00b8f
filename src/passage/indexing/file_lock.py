"""A lock between processes of one machine."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def file_lock(file: Path, waiting: Callable[[], object]) -> Iterator[None]:
    """Hold the lock of a file; `waiting` is called when another process must release it first."""
    with file.open("w") as opened:  # closing it releases the lock, as the end of a process does
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
