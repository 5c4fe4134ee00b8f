"""The key of an API: the option that names its file, and the variable that holds it otherwise."""

import os
from pathlib import Path

import click

VARIABLE = "PASSAGE_API_KEY"

option = click.option(
    "--api-key-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"A file with the API's key.  [default: {VARIABLE}]",
)
"""Names a file: a shell keeps a history of commands, so the key itself is no option."""


def read(file: Path | None) -> str | None:
    """The key of the file or of the environment; None without one.

    Raises:
        click.UsageError: the file cannot be read.
    """
    try:
        return (os.environ.get(VARIABLE, "") if file is None else file.read_text(encoding="utf-8")).strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--api-key-file: {file} cannot be read as text: {error}.") from error
