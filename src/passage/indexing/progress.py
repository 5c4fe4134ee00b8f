"""Shows a run on stderr: on a terminal a bar with rate and time left, elsewhere one line for each step."""

import sys
from collections.abc import Callable
from typing import Any, Self

import click

from passage.indexing.plan import Plan


class Progress:
    """A `passage.indexing.run.Watch` for people. Use it as a context manager: it ends its bars.

    Args:
        quiet: show no bars, as in CI, where logs keep every state of a bar.
        waits_for: the place that another run may be writing to, for the message.
    """

    def __init__(self, *, quiet: bool, waits_for: str) -> None:
        self._quiet = quiet or not sys.stderr.isatty()
        self._waits_for = waits_for
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end_bar()

    def show_plan(self, plan: Plan) -> None:
        for line in plan.lines():
            self.say(line)

    def embedding(self, texts: int) -> Callable[[int], None]:
        return self._step("Embedding", texts, "texts")

    def writing(self, points: int) -> Callable[[int], None]:
        return self._step("Writing", points, "points")

    def waiting(self, place: str = "") -> None:
        self.say(f"Another run is writing to {place or self._waits_for}: waiting for it to end …")

    def retrying(self, why: str, seconds: float) -> None:
        """A request to the embedding service failed and is sent again."""
        self.say(f"{why} Trying again in {seconds:g} s …")

    def finish(self, plan: Plan, seconds: float) -> None:
        """The run is over."""
        self._end_bar()
        if plan.action != "nothing":
            self.say(f"Done: {plan.texts:,} embedded, {plan.to_write:,} written, {seconds:.1f} s")

    def say(self, line: str) -> None:
        """Print a line, above the bar where there is one."""
        if self._bar is None:
            say(line)
        else:
            self._bar.write(line, file=sys.stderr)

    def _step(self, verb: str, total: int, unit: str) -> Callable[[int], None]:
        self._end_bar()
        if self._quiet:
            say(f"{verb} {total:,} {unit} …")
            return lambda _: None
        from tqdm import tqdm  # noqa: PLC0415 - for a terminal alone

        bar = self._bar = tqdm(total=total, desc=verb, unit=f" {unit}", file=sys.stderr)

        def advance(more: int) -> None:
            bar.update(more)

        return advance

    def _end_bar(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def say(line: str) -> None:
    """Print a line of progress."""
    click.echo(line, err=True)
