"""`passage invoke`: prints the function's answer to an event."""

import json
import sys
from pathlib import Path

import click

from passage.commands.options import index_option
from passage.local.environment import LocalContext
from passage.local.function import function, keep_stdout_clean


@click.command("invoke")
@index_option()
@click.argument("event", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
def invoke(index: Path, event: Path) -> None:
    """Print the function's answer to EVENT, a JSON file (or - for stdin), as JSON on stdout."""
    try:
        loaded = json.loads(sys.stdin.read() if str(event) == "-" else event.read_text(encoding="utf-8"))
    except ValueError as error:
        raise click.ClickException(f"{event} is not JSON: {error}") from error
    except RecursionError:
        raise click.ClickException(f"{event} is nested too deeply to be read.") from None
    with keep_stdout_clean() as write, function(index) as handler:
        answer = handler(loaded, LocalContext())
        write(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")
