"""One container of a function, with its processor time and memory."""

import os
from collections.abc import Mapping
from pathlib import Path

from benchmarks.functions import Function
from tools.runtime import Runtime

_TICKS = os.sysconf("SC_CLK_TCK")


class Container(Runtime):
    """A function under the Runtime Interface Emulator, between its upstreams. INIT runs with the first invocation."""

    def __init__(self, function: Function, upstream: Mapping[str, str], log: Path) -> None:
        asked = upstream if function.asks else {}
        super().__init__(
            function.handler,
            environment={**asked, **function.environment},
            code=function.code,
            python=function.python,
            log=log,
        )

    def cpu_ms(self) -> float:
        """Processor time of the function's own process so far, all its threads, in steps of 10 ms."""
        # The text after the last parenthesis begins with field 3; 14 and 15 are user and system time (proc(5)).
        fields = self._read("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / _TICKS

    def memory_mb(self) -> float:
        """The most the function's own process has had resident."""
        line = next(line for line in self._read("status").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024 / 1e6

    def _read(self, name: str) -> str:
        return (self.process() / name).read_text(encoding="utf-8")
