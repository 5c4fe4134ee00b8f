"""The `passage` command. What it prints on stdout is its result; progress and logs go to stderr."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from devkit.local import LocalContext, cohere_environment, function_environment

DEFAULT_INDEX = Path(".passage/index")

index_option = click.option(
    "--index",
    "index",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_INDEX,
    show_default=True,
    help="The folder `passage index` wrote to.",
)


@click.group()
def main() -> None:
    """A retrieval API for documentation sites, on your own machine.

    Without COHERE_API_KEY and QDRANT_URL, stand-ins take the services' places: no account, no key, no network.
    """


@main.command()
@click.argument("site", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=DEFAULT_INDEX, show_default=True)
@click.option("--profile", default="query-response", show_default=True, help="Whose payload and model to index for.")
@click.option("--site-url", help="Where the site is published; otherwise the site_url of its mkdocs.yml.")
def index(site: Path, out: Path, profile: str, site_url: str | None) -> None:
    """Index the Markdown of SITE for the Edge store."""
    # Imported here for the sake of the other commands: the Cohere SDK alone takes a second to load.
    from devkit.indexing.embedding import DocumentEmbedder, EmbeddingError  # noqa: PLC0415
    from devkit.indexing.run import Outcome, index_site  # noqa: PLC0415
    from devkit.indexing.site import SiteError, find_site  # noqa: PLC0415
    from handler import profiles  # noqa: PLC0415
    from handler.core.errors import PassageError  # noqa: PLC0415

    with cohere_environment(os.environ) as environ, _progress() as progress:
        try:
            chosen = profiles.load(profile)

            def embedder() -> DocumentEmbedder:
                return DocumentEmbedder(
                    api_key=environ["COHERE_API_KEY"],
                    base_url=environ.get("COHERE_BASE_URL", "https://api.cohere.com"),
                    model=chosen.embedding.model,
                    dimension=chosen.collection.dimension,
                )

            outcome: Outcome = index_site(find_site(site, site_url), chosen, out, embedder, progress)
        except (SiteError, PassageError, EmbeddingError) as error:
            raise click.ClickException(str(error)) from error
    summary = f"{outcome.pages} pages, {outcome.chunks} chunks in {out}/{profile}"
    if outcome.changed:
        click.echo(f"{summary}: {outcome.embedded} embedded, {outcome.removed} removed", err=True)
    else:
        click.echo(f"{summary}: nothing changed", err=True)


@main.command()
@index_option
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True)
def serve(index: Path, port: int) -> None:
    """Serve the API on 127.0.0.1."""
    from devkit.serve import serve as run  # noqa: PLC0415 - see `index`

    click.echo("Starting the function …", err=True)
    with (
        _stdout_kept_clean() as result,
        function_environment(os.environ, index) as environ,
        _function(environ) as handler,
    ):
        url = f"http://127.0.0.1:{port}"

        def ready() -> None:
            click.echo(f"Passage answers on {url} (Ctrl-C stops it). Try:\n", err=True)
            question = '{"text": "What is a digital twin?", "k": 3}'
            result(f"curl -s {url}/query -H 'Content-Type: application/json' -d '{question}'\n")
            click.echo("", err=True)

        try:
            run(handler, port, ready)
        except OSError as error:
            raise click.ClickException(
                f"Port {port} cannot be used ({error.strerror}): choose another (--port, or PORT=… with make)."
            ) from error
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)


@main.command()
@index_option
@click.argument("event", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
def invoke(index: Path, event: Path) -> None:
    """Print the function's answer to EVENT, a JSON file (or - for stdin), as JSON on stdout."""
    try:
        loaded = json.loads(sys.stdin.read() if str(event) == "-" else event.read_text(encoding="utf-8"))
    except ValueError as error:
        raise click.ClickException(f"{event} is not JSON: {error}") from error
    with _stdout_kept_clean() as result, function_environment(os.environ, index) as environ:
        with _function(environ) as handler:
            answer = handler(loaded, LocalContext())
        result(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def _function(environ: dict[str, str]) -> Iterator[Callable[[Any, Any], Any]]:
    """The function, in this process, in its own environment and ready for its first question."""
    os.environ.update(environ)
    from handler import app  # noqa: PLC0415 - it reads its environment when it is first used
    from handler.core.errors import PassageError  # noqa: PLC0415

    try:
        app.services.warm()
    except PassageError as error:
        click.echo(f"Warning: {error}", err=True)  # the function answers so, too
    yield app.lambda_handler


@contextmanager
def _stdout_kept_clean() -> Iterator[Callable[[str], None]]:
    """Send whatever anyone prints to stderr, the function's logs and metrics included; gives what writes to stdout."""
    sys.stdout.flush()
    stdout = os.dup(1)
    os.dup2(2, 1)
    try:
        yield lambda text: _write(stdout, text)
    finally:
        sys.stdout.flush()
        os.dup2(stdout, 1)
        os.close(stdout)


def _write(descriptor: int, text: str) -> None:
    with os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as stream:
        stream.write(text)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], Callable[[int], None]]]:
    """Shows how far embedding has come: a bar on a terminal, a line a batch elsewhere."""

    def begin(count: int, total: int) -> Callable[[int], None]:
        done = 0
        click.echo(f"Embedding {count} of {total} chunks", err=True)

        def advance(more: int) -> None:
            nonlocal done
            done += more
            ending = "\r" if sys.stderr.isatty() and done < count else "\n"
            click.echo(f"  {done:>{len(str(count))}}/{count}{ending}", err=True, nl=False)

        return advance

    yield begin
