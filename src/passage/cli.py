"""The `passage` command. What it prints on stdout is its result; progress and logs go to stderr."""

import io
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from passage.local.environment import LocalContext, LocalError, cohere_environment, function_environment

if TYPE_CHECKING:
    from passage.indexing.run import Outcome

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
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=DEFAULT_INDEX, show_default=True)
@click.option(
    "--profile",
    "named",
    multiple=True,
    help="Whose model and payload to index for; may be given several times.  [default: DEFAULT_PROFILE]",
)
@click.option("--all-profiles", is_flag=True, help="Index for every profile there is.")
@click.option("--site-url", help="Where the site is published.  [default: what its pages or its mkdocs.yml say]")
@click.option("--content-selector", metavar="CSS", help="The main content of a built site's pages.")
@click.option("--language", help="Only pages in this language.  [default: all]")
@click.option("--version", help="Only pages of this version.  [default: the current one]")
@click.option("--strict", is_flag=True, help="Fail when a page cannot be read, instead of leaving it out.")
@click.option(
    "--publish",
    metavar="s3://BUCKET/FOLDER",
    help="Upload it as well: what EDGE_INDEX_URI of a deployed function says.",
)
def index(  # noqa: PLR0913, PLR0917 - one parameter for each option
    source: Path,
    out: Path,
    named: tuple[str, ...],
    all_profiles: bool,
    site_url: str | None,
    content_selector: str | None,
    language: str | None,
    version: str | None,
    strict: bool,
    publish: str | None,
) -> None:
    """Index SOURCE for the Edge store, once for each profile.

    SOURCE is the folder that a site's generator wrote (Docusaurus, MkDocs, Zensical, VitePress, Starlight, Sphinx,
    mdBook, Hugo, Jekyll or another), or a folder of Markdown.

    EMBEDDING_MODEL, EMBEDDING_DOCUMENT_MODEL, EMBEDDING_DIMENSION, COLLECTION_NAME and VECTOR_NAME apply to the default
    profile, as they do to the function.
    """
    # Imported here for the sake of the other commands.
    from handler.config import profiles  # noqa: PLC0415
    from handler.config.settings import CollectionSettings  # noqa: PLC0415
    from handler.core.errors import PassageError  # noqa: PLC0415
    from passage.indexing.embedding import EmbeddingError, document_embedder  # noqa: PLC0415
    from passage.indexing.run import index_site  # noqa: PLC0415
    from passage.sites.model import SiteError  # noqa: PLC0415
    from passage.sites.source import Options, open_site  # noqa: PLC0415

    if named and all_profiles:
        raise click.UsageError("Give --profile or --all-profiles, not both.")
    try:
        settings = CollectionSettings.from_env(os.environ)
        names = profiles.names() if all_profiles else dict.fromkeys(named or (settings.default_profile,))
        chosen = [profiles.deployed(name, settings) for name in names]
        found = open_site(source, Options(site_url, content_selector, language, version, strict))
        with cohere_environment(os.environ) as environ:
            for profile in chosen:
                embedder = document_embedder(
                    profile, environ, warn=lambda text: click.echo(f"Warning: {text}", err=True)
                )
                outcome = index_site(found, profile, out, embedder, _progress(profile.name), _waiting(out))
                _report(outcome, out / profile.name)
                if publish:
                    _publish(publish, out / profile.name)
    except (SiteError, PassageError, EmbeddingError, LocalError) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"The index cannot be written: {error}") from error


def _publish(uri: str, folder: Path) -> None:
    from passage.indexing.publish import PublishError, publish  # noqa: PLC0415 - see `index`

    try:
        published = publish(uri, folder)
    except PublishError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{published.pointer}: {'published' if published.changed else 'nothing changed'}", err=True)


@main.command()
@index_option
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True)
def serve(index: Path, port: int) -> None:
    """Serve the API on 127.0.0.1."""
    from passage.local.serve import serve as run  # noqa: PLC0415 - see `index`

    click.echo("Starting the function …", err=True)
    with _stdout_kept_clean() as result, _function(index) as handler:
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
    with _stdout_kept_clean() as result, _function(index) as handler:
        answer = handler(loaded, LocalContext())
        result(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")


@contextmanager
def _function(index: Path) -> Iterator[Callable[[Any, Any], Any]]:
    """The function, in this process, in an environment of its own and ready for its first question."""
    with ExitStack() as stack:
        try:
            os.environ.update(stack.enter_context(function_environment(os.environ, index)))
        except LocalError as error:
            raise click.ClickException(str(error)) from error
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
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file's or a pipe's is kept back until the end otherwise
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


def _progress(name: str) -> Callable[[int, int], Callable[[int], None]]:
    """Shows how far embedding has come: a bar on a terminal, a line a batch elsewhere."""

    def begin(count: int, total: int) -> Callable[[int], None]:
        done = 0
        click.echo(f"Embedding {count} of {total} chunks for {name}", err=True)

        def advance(more: int) -> None:
            nonlocal done
            done += more
            ending = "\r" if sys.stderr.isatty() and done < count else "\n"
            click.echo(f"  {done:>{len(str(count))}}/{count}{ending}", err=True, nl=False)

        return advance

    return begin


def _waiting(out: Path) -> Callable[[], None]:
    return lambda: click.echo(f"Another run is writing to {out}: waiting for it to end …", err=True)


def _report(outcome: "Outcome", folder: Path) -> None:
    did = f"{outcome.embedded} embedded, {outcome.removed} removed" if outcome.changed else "nothing changed"
    click.echo(f"{outcome.pages} pages, {outcome.chunks} chunks in {folder}: {did}", err=True)
    reasons = Counter(skip.reason for skip in outcome.skipped if not skip.failed)
    if reasons:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        click.echo(f"{reasons.total()} files left out: {listed}", err=True)
    failed = [skip for skip in outcome.skipped if skip.failed]
    for skip in failed:
        click.echo(f"Warning: {skip.path} {skip.reason}", err=True)
    if failed:
        click.echo(f"{len(failed)} of {outcome.pages + len(failed)} pages could not be read.", err=True)
