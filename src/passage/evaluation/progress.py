"""Shows a run's progress on stderr: a bar on a terminal, elsewhere a line at the start and for each wait."""

import os
import sys
from types import TracebackType
from typing import Any, Self

import click


class Progress:
    """The progress of asking `total` questions. Use it as a context manager: it ends its bar."""

    def __init__(self, total: int, done: int = 0) -> None:
        from tqdm import tqdm  # noqa: PLC0415 - other commands do not need it

        quiet = bool(os.environ.get("CI")) or not sys.stderr.isatty()
        self._bar: Any = None if quiet else tqdm(total=total, initial=done, unit=" questions", file=sys.stderr)
        if quiet:
            self.say(f"Asking {total - done} questions …")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def answered(self) -> None:
        """One more question has its answer or error."""
        if self._bar is not None:
            self._bar.update()

    def waiting(self, why: str, seconds: float) -> None:
        """A question will be sent again."""
        self.say(f"{why} Trying again in {seconds:g} s …")

    def say(self, line: str) -> None:
        """Print a line, above the bar where there is one."""
        if self._bar is None:
            click.echo(line, err=True)
        else:
            self._bar.write(line, file=sys.stderr)
