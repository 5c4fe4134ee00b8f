"""Paces requests to an embedding service by its limit a minute and the waits that it asks for."""

import threading
import time
from collections import deque
from collections.abc import Callable

MINUTE = 60.0
FIRST_WAIT, THROTTLED_WAIT, LONGEST_WAIT = 1.0, 10.0, 60.0


class Pace:
    """Shared by the threads that send texts. Times are in seconds of `clock`.

    Args:
        texts_per_minute: the account's limit; None where there is no limit.
        sleep: waits; gives True when the wait was interrupted and sending must stop.
    """

    def __init__(
        self,
        texts_per_minute: int | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], bool],
    ) -> None:
        self._limit = texts_per_minute
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._sent: deque[tuple[float, int]] = deque()
        self._not_before = 0.0

    def wait_for(self, texts: int) -> bool:
        """Wait until this many texts may be sent; False when sending must stop."""
        while (wait := self._take(texts)) > 0:
            if self._sleep(wait):
                return False
        return True

    def hold(self, seconds: float) -> None:
        """Pause sending, because the service reported too many requests."""
        with self._lock:
            self._not_before = max(self._not_before, self._clock() + seconds)

    def _take(self, texts: int) -> float:
        """Seconds until the next check; 0 when the texts may be sent. Then they are counted as sent."""
        with self._lock:
            now = self._clock()
            if now < self._not_before:
                return self._not_before - now
            while self._sent and self._sent[0][0] <= now - MINUTE:
                self._sent.popleft()
            within = sum(count for _, count in self._sent)
            # A batch above the whole limit is sent alone; otherwise it would wait forever.
            if self._limit is not None and self._sent and within + texts > self._limit:
                return self._sent[0][0] + MINUTE - now
            self._sent.append((now, texts))
            return 0.0


def wait_before(attempt: int, *, throttled: bool, asked: float | None) -> float:
    """Seconds before an attempt (the second is 1): the service's wait, or else twice as long each time."""
    first = THROTTLED_WAIT if throttled else FIRST_WAIT
    return min(LONGEST_WAIT, asked if asked is not None else first * 2 ** (attempt - 1))
