"""Lets one of pytest's workers create a resource while the others wait for it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / ".passage"


@contextmanager
def one_at_a_time(what: str) -> Iterator[None]:
    """Hold the lock `what`, which one process of this checkout can have at a time."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{what}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
