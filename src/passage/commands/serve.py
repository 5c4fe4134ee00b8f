"""`passage serve`: serves the API and a demo page on this machine."""

import json
import shlex
from pathlib import Path

import click

from passage.commands.options import emulate_option, index_option
from passage.local.function import function, keep_stdout_clean, silence_log


@click.command("serve")
@index_option()
@click.option("--port", type=click.IntRange(1, 65535), default=3000)
@click.option(
    "--site",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of Markdown whose pages the demo shows.",
)
@emulate_option()
@click.option("--question", "questions", multiple=True, help="A question that the demo suggests; may be repeated.")
@click.option("--json-logs", is_flag=True, help="Print the function's log and metrics instead of a line a question.")
def serve(
    index: Path, port: int, site: Path | None, questions: tuple[str, ...], *, emulate: bool, json_logs: bool
) -> None:
    """Serve the API on 127.0.0.1, and a demo page at `/`."""
    if not json_logs:
        silence_log()
    from passage.local import serve as local  # noqa: PLC0415 - reads what `silence_log` sets
    from passage.local.demo import add_demo, find_book  # noqa: PLC0415 - as above

    book = None if site is None else find_book(site)
    click.echo("Starting the function …", err=True)
    with keep_stdout_clean() as write, function(index, emulate=emulate) as handler:
        from handler import app  # noqa: PLC0415 - it reads its environment, which is set only now

        url = f"http://127.0.0.1:{port}"

        def ready() -> None:
            click.echo(f"Open {url} (Ctrl-C stops it). Or ask in a second terminal:\n", err=True)
            question = questions[0] if questions else "How do I get started?"
            body = json.dumps({"text": question, "k": 3}, ensure_ascii=False)
            write(f"curl -s {url}/query -H 'Content-Type: application/json' -d {shlex.quote(body)}\n")
            click.echo(
                f"\nCoding assistants ask {url}/mcp, as in: claude mcp add --transport http docs {url}/mcp\n", err=True
            )

        answering = local.with_loopback_origins(handler, app.services)
        answering = answering if json_logs else local.log_questions(answering, lambda line: click.echo(line, err=True))
        try:
            local.serve(answering, port, ready, lambda app: add_demo(app, book, questions))
        except OSError as error:
            raise click.ClickException(
                f"Port {port} cannot be used ({error.strerror}): choose another (--port, or PORT=… with make)."
            ) from error
        click.echo("Stopped.", err=True)
