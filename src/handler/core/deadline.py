"""One deadline per request. Embedding, search and the wait before a retry all draw on it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from handler.core.errors import DeadlineExceeded, Upstream


@dataclass(frozen=True)
class Deadline:
    """A point on the monotonic clock, in seconds."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        return cls(time.monotonic() + seconds)

    def capped(self, seconds: float) -> "Deadline":
        """This one, or `seconds` from now if that is sooner."""
        return Deadline(min(self.at, time.monotonic() + seconds))

    def remaining(self) -> float:
        """Seconds left; negative once it has passed."""
        return self.at - time.monotonic()

    def require(self, upstream: Upstream) -> float:
        """Seconds left for a call to `upstream`.

        Raises:
            DeadlineExceeded: none are left.
        """
        seconds = self.remaining()
        if seconds <= 0:
            raise DeadlineExceeded(f"The request's time ran out before the {upstream} was asked.", upstream=upstream)
        return seconds


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def running(deadline: Deadline) -> Iterator[None]:
    """Make `deadline` the one that every HTTP call made inside the block keeps to.

    The SDKs own their HTTP clients' call sites, so the deadline reaches the transport beneath them this way.
    """
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Deadline | None:
    return _current.get()
