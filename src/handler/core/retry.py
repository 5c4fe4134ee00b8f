"""The second attempt after a passing failure: at most one for each call, and only if the wait fits the deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

from handler import telemetry
from handler.core.deadline import Deadline
from handler.core.errors import Upstream, UpstreamError, UpstreamThrottled

T = TypeVar("T")

RETRY_DELAY = 0.1
"""Seconds before the second attempt when the upstream did not name a time."""


def with_one_retry(call: Callable[[], T], deadline: Deadline, upstream: Upstream) -> T:
    """Call, and once more after a passing failure if the deadline leaves room for the wait.

    The SDKs' own retries are off: theirs would sleep up to a minute each, past any gateway's limit.
    """
    deadline.require(upstream)
    try:
        return call()
    except UpstreamError as error:
        delay = _delay(error)
        if delay >= deadline.remaining():
            raise
        telemetry.retrying(error.code, delay)
    time.sleep(delay)
    return call()


def _delay(error: UpstreamError) -> float:
    """Seconds to wait before the second attempt; what the upstream asked for comes first."""
    if error.retry_after is not None:
        return error.retry_after
    return RETRY_DELAY * 10 if isinstance(error, UpstreamThrottled) else RETRY_DELAY
