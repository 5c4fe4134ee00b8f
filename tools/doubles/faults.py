"""Faults that an emulated service simulates on request, to test a client's error handling."""

import threading
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["status", "drop", "slow", "malformed"]
Stage = Literal["request", "response"]

KINDS: tuple[str, ...] = get_args(Kind)
STAGES: tuple[str, ...] = get_args(Stage)

CUT_OFF_JSON = '{"id": "0", "result'


@dataclass(frozen=True)
class Fault:
    """One fault and the requests it hits.

    Attributes:
        kind: "status" answers with `status` (and `body`, when given, in place of the service's own error body);
            "drop" closes the connection; "slow" waits `delay_ms` and then answers normally;
            "malformed" answers 200 with a JSON content type and `body` (cut-off JSON when none is given).
        retry_after: seconds, sent as Retry-After with kind "status".
        delay_ms: milliseconds to wait first, for any kind.
        at: when a "drop" happens: before any byte of the answer, or after the headers and half of the body.
        times: how many requests it hits; 0 means all until the plan is cleared.
        path: hits only request paths that contain this.
    """

    kind: Kind
    status: int = 503
    retry_after: float | None = None
    delay_ms: float = 0
    body: str | None = None
    at: Stage = "request"
    times: int = 1
    path: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind is one of {', '.join(KINDS)}; got {self.kind!r}")
        if self.at not in STAGES:
            raise ValueError(f"at is one of {', '.join(STAGES)}; got {self.at!r}")
        if not 200 <= self.status <= 599:
            raise ValueError(f"status is an HTTP status from 200 to 599; got {self.status}")
        if self.times < 0:
            raise ValueError(f"times is 0 (until cleared) or more; got {self.times}")
        for name, value in (("delay_ms", self.delay_ms), ("retry_after", self.retry_after or 0)):
            if not 0 <= value <= 3_600_000:  # also refuses NaN
                raise ValueError(f"{name} is a number from 0 to 3600000; got {value}")


class FaultPlan:
    """The pending faults. Tests add faults in their thread while the server takes them in another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: list[tuple[Fault, int]] = []  # with the number of hits left; 0 is "no end"

    def add(self, fault: Fault) -> None:
        """Add a fault at the end of the queue."""
        with self._lock:
            self._pending.append((fault, fault.times))

    def clear(self) -> None:
        """Remove every fault."""
        with self._lock:
            self._pending.clear()

    def take(self, path: str) -> Fault | None:
        """Take the first fault, in the order added, that hits this request path. This uses one of its hits."""
        with self._lock:
            for position, (fault, left) in enumerate(self._pending):
                if fault.path not in path:
                    continue
                if left == 1:
                    del self._pending[position]
                elif left > 1:
                    self._pending[position] = (fault, left - 1)
                return fault
        return None
