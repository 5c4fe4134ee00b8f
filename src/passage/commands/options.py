"""How a command states its options, and the options and the error that several commands share."""

import os
from collections.abc import Callable
from dataclasses import field, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

T = TypeVar("T", bound=Callable[..., object])

DEFAULT_INDEX = Path(".passage/index")
DEFAULT_CACHE = Path(".passage/cache")
API_KEY = "PASSAGE_API_KEY"


class CouldNotRun(click.ClickException):
    """Nothing was checked or measured; the message names the setting."""

    exit_code = 2


def parameter(decorator: Callable[[Any], Any]) -> Any:
    """A field for `takes`, with the decorator that `click.argument` or `click.option` makes."""
    return field(metadata={"decorator": lambda _: decorator})


def option(*names: str, **settings: Any) -> Any:
    """A field for `takes`, with the arguments of `click.option`. The option has the field's name unless it is given."""
    return field(metadata={"decorator": lambda name: click.option(*(names or [f"--{name}"]), **settings)})


def takes(arguments: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the parameters of a dataclass, and call it with a value of the dataclass."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(*before: Any, **given: Any) -> None:
            command(*before, arguments(**given))

        for each in reversed(fields(arguments)):
            call = each.metadata["decorator"](each.name.replace("_", "-"))(call)
        return call

    return decorate


def index_option(help_text: str = "The folder `passage index` wrote to.") -> Callable[[T], T]:
    """`--index`, the folder of an index on this machine."""
    return click.option(
        "--index",
        type=click.Path(file_okay=False, path_type=Path),
        default=DEFAULT_INDEX,
        help=help_text,
    )


def cache_option() -> Callable[[T], T]:
    """`--cache`, the folder that keeps vectors and fetched pages."""
    return click.option(
        "--cache",
        type=click.Path(file_okay=False, path_type=Path),
        default=DEFAULT_CACHE,
        help="The cache of vectors, so that no text is paid for twice, and of pages fetched from a URL.",
    )


def emulate_option() -> Callable[[T], T]:
    """`--emulate`, for vectors of the emulator on a server elsewhere."""
    return click.option(
        "--emulate",
        is_flag=True,
        help="Without a key, use the emulator's vectors with a server on another machine, too. On this one they are.",
    )


def api_key_option() -> Callable[[T], T]:
    """`--api-key-file`. A shell keeps a history of commands, so the key itself is no option."""
    return click.option(
        "--api-key-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help=f"A file with the API's key.  [default: {API_KEY}]",
    )


def read_api_key(file: Path | None) -> str | None:
    """The key of an API, from the file or PASSAGE_API_KEY; None without one.

    Raises:
        click.UsageError: the file cannot be read.
    """
    try:
        return (os.environ.get(API_KEY, "") if file is None else file.read_text(encoding="utf-8")).strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"--api-key-file: {file} cannot be read as text: {error}.") from error
