"""The function in this process, as `passage serve`, `invoke` and `doctor local` run it."""

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from passage.local.environment import LocalError, function_environment


@contextmanager
def function(index: Path, *, emulate: bool = False) -> Iterator[Callable[[Any, Any], Any]]:
    """The function, in this process with the local environment, ready for its first question.

    Args:
        emulate: see `function_environment`.
    """
    with ExitStack() as stack:
        try:
            os.environ.update(stack.enter_context(function_environment(os.environ, index, emulate=emulate)))
        except LocalError as error:
            raise click.ClickException(str(error)) from error
        from handler import app  # noqa: PLC0415 - it reads its environment at first use
        from handler.core.errors import PassageError  # noqa: PLC0415

        try:
            app.services.warm()
        except PassageError as error:
            click.echo(f"Warning: {error}", err=True)  # questions get this error, too
        yield app.lambda_handler


def silence_log() -> None:
    """Keep the function's log and metrics from hiding a command's own output, unless the environment sets them.

    The function reads the variables when it is imported: call this before `function`.
    """
    os.environ.setdefault("LOG_LEVEL", "CRITICAL")
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")


@contextmanager
def keep_stdout_clean() -> Iterator[Callable[[str], None]]:
    """Redirect all output to stderr, including logs and metrics. Yields a function that writes to stdout."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):  # otherwise output to a file or pipe is buffered until the end
        sys.stdout.reconfigure(line_buffering=True)
    try:
        yield lambda text: _write(stdout, text)
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)


def _write(descriptor: int, text: str) -> None:
    with os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as stream:
        stream.write(text)
