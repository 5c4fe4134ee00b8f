"""One deadline per request. Embedding, search and the wait before a retry all draw on it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

from handler import telemetry
from handler.core.errors import DeadlineExceeded, Upstream, UpstreamError, UpstreamThrottled

T = TypeVar("T")

RETRY_DELAY = 0.1
THROTTLED_DELAY = 1.0
"""Seconds before the second attempt if the upstream gave no time: after a failure, and after it limited requests."""


class Deadline(NamedTuple):
    """A point on the monotonic clock, in seconds."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> "Deadline":
        """The deadline that many seconds from now."""
        return cls(time.monotonic() + seconds)

    def capped(self, seconds: float) -> "Deadline":
        """This deadline, or `seconds` from now if that is sooner."""
        return Deadline(min(self.at, time.monotonic() + seconds))

    def remaining(self) -> float:
        """Seconds left; negative once it has passed."""
        return self.at - time.monotonic()

    def require(self, upstream: Upstream) -> float:
        """Seconds left for a call to `upstream`. Raises DeadlineExceeded if none are."""
        seconds = self.remaining()
        if seconds <= 0:
            raise DeadlineExceeded(f"The request's time ran out before the {upstream} was called.", upstream=upstream)
        return seconds


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)

current: Callable[[], Deadline | None] = _current.get
"""The deadline of the running request; None outside of one."""


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Make `deadline` end every HTTP call inside the block: it reaches the transport below the SDKs."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def at_most(seconds: float) -> Iterator[Deadline]:
    """End every HTTP call inside the block after `seconds`, or with the running deadline if that is sooner."""
    outer = current()
    deadline = outer.capped(seconds) if outer else Deadline.after(seconds)
    with within(deadline):
        yield deadline


def with_one_retry(call: Callable[[], T], deadline: Deadline, upstream: Upstream) -> T:
    """Call `upstream`, and once more after a temporary failure if the deadline leaves room for the wait.

    The SDKs' own retries are off: they could sleep up to a minute each, longer than any gateway waits.

    Raises:
        DeadlineExceeded: no time is left for the first call.
        PassageError: as `call` raises it.
    """
    deadline.require(upstream)
    try:
        return call()
    except UpstreamError as error:
        delay = _delay(error)
        if delay >= deadline.remaining():
            raise
        telemetry.log_retry(upstream, error.code, delay)
    time.sleep(delay)
    return call()


def _delay(error: UpstreamError) -> float:
    """Seconds to wait before the second attempt: the upstream's Retry-After, else a default."""
    if error.retry_after is not None:
        return error.retry_after
    return THROTTLED_DELAY if isinstance(error, UpstreamThrottled) else RETRY_DELAY
