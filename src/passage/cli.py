"""The `passage` command. It prints results on stdout, progress and logs on stderr."""

import json
import os
import shlex
import sys
from pathlib import Path

import click

from passage.commands.doctor import doctor as doctor_command
from passage.commands.evaluate import evaluate as evaluate_command
from passage.commands.index import index as index_command
from passage.commands.mcp import mcp as mcp_command
from passage.commands.options import index_option
from passage.commands.profile import profile as profile_command
from passage.commands.rollback import rollback as rollback_command
from passage.local.environment import LocalContext
from passage.local.function import function, stdout_kept_clean


@click.group()
def main() -> None:
    """A retrieval API for documentation sites, on your own machine.

    Without COHERE_API_KEY and QDRANT_URL, emulators replace the services: no account, no key, no network.
    """


main.add_command(index_command)
main.add_command(rollback_command)
main.add_command(profile_command)
main.add_command(doctor_command)
main.add_command(evaluate_command)
main.add_command(mcp_command)


@main.command()
@index_option()
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True)
@click.option(
    "--site",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of Markdown whose pages the demo shows.",
)
@click.option("--question", "questions", multiple=True, help="A question that the demo suggests; may be repeated.")
def serve(index: Path, port: int, site: Path | None, questions: tuple[str, ...]) -> None:
    """Serve the API on 127.0.0.1, and a demo page at `/`."""
    from passage.local.demo import add_demo, find_book  # noqa: PLC0415 - see `index`
    from passage.local.serve import serve as run  # noqa: PLC0415 - see `index`

    book = None if site is None else find_book(site)
    os.environ.setdefault("DEBUG_ANSWERS", "true")  # the demo shows how an answer came about
    click.echo("Starting the function …", err=True)
    with stdout_kept_clean() as write, function(index) as handler:
        url = f"http://127.0.0.1:{port}"

        def ready() -> None:
            click.echo(f"Open {url} (Ctrl-C stops it). Or ask in a second terminal:\n", err=True)
            body = json.dumps(
                {"text": questions[0] if questions else "How do I get started?", "k": 3}, ensure_ascii=False
            )
            write(f"curl -s {url}/query -H 'Content-Type: application/json' -d {shlex.quote(body)}\n")
            click.echo(
                f"\nCoding assistants ask {url}/mcp, as in: claude mcp add --transport http docs {url}/mcp\n", err=True
            )

        try:
            run(handler, port, ready, lambda app: add_demo(app, book, questions))
        except OSError as error:
            raise click.ClickException(
                f"Port {port} cannot be used ({error.strerror}): choose another (--port, or PORT=… with make)."
            ) from error
        click.echo("Stopped.", err=True)


@main.command()
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
    with stdout_kept_clean() as write, function(index) as handler:
        answer = handler(loaded, LocalContext())
        write(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")
