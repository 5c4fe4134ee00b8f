"""`passage index`: makes an index of a site, a collection or another index."""

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from handler.config import profiles
from handler.config.profiles import Profile
from handler.config.providers import PROVIDERS
from handler.config.settings import CollectionSettings
from handler.core.errors import PassageError
from passage.commands.options import DEFAULT_INDEX, cache_option, emulate_option, option, parameter, takes
from passage.indexing.cache_filler import EmbeddingError
from passage.indexing.progress import Progress, say
from passage.indexing.run import CachedEmbedder, IndexOptions, index_site
from passage.indexing.target import Target, TargetError
from passage.indexing.vector_cache import VectorCache
from passage.local.environment import LocalError, require_real_vectors, with_emulator
from passage.sites.model import SiteError
from passage.sites.result_cache import ResultCache
from passage.sites.source import SiteOptions, open_source
from passage.sites.web.limits import FetchLimits
from passage.sites.workers import Workers

if TYPE_CHECKING:
    from passage.indexing.server.connection import ServerConnection

STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""


@dataclass(frozen=True, slots=True)
class IndexArguments:
    """The arguments of the command line."""

    source: str | None = parameter(click.argument("source", required=False))
    to: str = option(
        type=click.Choice(["edge", "qdrant"]),
        default="edge",
        help="Write a folder (edge), or a collection of the server at QDRANT_URL (qdrant).",
    )
    out: Path = option(
        type=click.Path(file_okay=False, path_type=Path),
        default=DEFAULT_INDEX,
        help="The folder for the index, with a folder for each profile.",
    )
    profiles: tuple[str, ...] = option(
        "--profile",
        "profiles",
        multiple=True,
        help="The profile to index for: its model and payload. Repeatable.  [default: DEFAULT_PROFILE]",
    )
    all_profiles: bool = option(is_flag=True, help="Index for every profile.")
    site_url: str | None = option(help="Where the site is published.  [default: from its pages or configuration]")
    content_selector: str | None = option(metavar="CSS", help="The main content of a built site's pages.")
    language: str | None = option(help="Only pages in this language.  [default: all]")
    version: str | None = option(help="Only pages of this version.  [default: the current one]")
    language_of_site: str | None = option(metavar="TAG", help="The language of pages that state none.")
    strict: bool = option(is_flag=True, help="Fail when a page cannot be read, instead of leaving it out.")
    report: Path | None = option(
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="List the text that is left out, a line each: page, rule, text.",
    )
    publish: str | None = option(
        metavar="s3://BUCKET/FOLDER",
        help="Also upload the index. Set EDGE_INDEX_URI of the deployed function to the same URI.",
    )
    from_qdrant: str | None = option(
        metavar="COLLECTION", help="Make an Edge index of a collection at QDRANT_URL, vectors included."
    )
    from_edge: Path | None = option(
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        metavar="FOLDER",
        help="Fill a collection from an index that `passage index` wrote to FOLDER.",
    )
    cache: Path = parameter(cache_option())
    texts_per_minute: int | None = option(
        type=click.IntRange(min=1),
        help="The most texts to embed a minute.  [default: the provider's published limit, 2000 with Cohere]",
    )
    max_pages: int = option(type=click.IntRange(min=1), default=5_000, help="Of a site at a URL.")
    max_bytes: int = option(type=click.IntRange(min=1), default=500_000_000, help="Of a site at a URL.")
    max_minutes: float = option(
        type=click.FloatRange(min=0, min_open=True), default=60.0, help="The most minutes for fetching a site at a URL."
    )
    rate: float = option(
        type=click.FloatRange(min=0, min_open=True, max=100),
        default=5.0,
        help="Requests a second to a site at a URL. A longer Crawl-delay in its robots.txt has priority.",
    )
    keep: int = option(
        type=click.IntRange(min=0),
        default=1,
        help="How many earlier collections stay on the server for `passage rollback`.",
    )
    dry_run: bool = option(is_flag=True, help="Print the plan and stop.")
    rebuild: bool = option(is_flag=True, help="Write the whole index, even if little changed.")
    words: bool = option(
        is_flag=True, help="Write no vectors: nothing is embedded, and questions are searched by words alone."
    )
    emulate: bool = parameter(emulate_option())

    def check(self) -> None:
        """Raise click.UsageError for conflicting arguments."""
        sources = [source for source in (self.source, self.from_qdrant, self.from_edge) if source is not None]
        if len(sources) != 1:
            raise click.UsageError("Give one of SOURCE, --from-qdrant COLLECTION and --from-edge FOLDER.")
        if self.profiles and self.all_profiles:
            raise click.UsageError("Give --profile or --all-profiles, not both.")
        if self.publish and self.to != "edge":
            raise click.UsageError("--publish uploads an Edge index: leave out --to qdrant.")
        if self.from_qdrant and self.to == "qdrant":
            raise click.UsageError("--from-qdrant makes an Edge index: leave out --to qdrant.")
        if self.words and self.source is None:
            raise click.UsageError("--words indexes a SOURCE: a copy has the vectors of what is copied.")
        if self.from_edge and self.to != "qdrant":
            raise click.UsageError("--from-edge fills a collection: give --to qdrant, too.")


@click.command("index")
@takes(IndexArguments)
def index(args: IndexArguments) -> None:
    """Index SOURCE, once for each profile.

    SOURCE is the folder that a site's generator wrote (Docusaurus, MkDocs, Zensical, VitePress, Starlight, Sphinx,
    mdBook, Hugo, Jekyll or another), a folder of MkDocs' sources or of plain Markdown, the URL of a site or its
    sitemap, or a corpus in BEIR's layout (a folder with corpus.jsonl, or that file).

    EMBEDDING_MODEL, EMBEDDING_DOCUMENT_MODEL, EMBEDDING_DIMENSION, COLLECTION_NAME and VECTOR_NAME apply to the default
    profile, as they do to the function.
    """
    args.check()
    try:
        with _stoppable():
            _run(args)
    except KeyboardInterrupt:
        say("Stopped. Run it again: it completes the index, and pays for no text twice.")
        raise SystemExit(STOPPED) from None
    except (SiteError, PassageError, EmbeddingError, LocalError, TargetError) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"The index cannot be written: {error}") from error
    except sqlite3.Error as error:
        raise click.ClickException(
            f"The cache in {args.cache}, or the database in the folder for temporary files, failed: {error}. If "
            "there is room in both, delete the cache's vectors.sqlite: all texts are then embedded again."
        ) from error


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let SIGTERM end the run as Ctrl-C does: answers on their way are kept, half an index is removed."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(args: IndexArguments) -> None:
    chosen = _profiles(args)
    source = click.get_current_context().get_parameter_source("to")
    if os.environ.get("QDRANT_URL") and source is ParameterSource.DEFAULT and not args.from_qdrant:
        say(f"QDRANT_URL is set, and --to is not: the index is written to the folder {args.out}.")
    with ExitStack() as stack:
        uses_server = args.to == "qdrant" or args.from_qdrant
        connection = stack.enter_context(closing(_server())) if uses_server else None
        watch = stack.enter_context(Progress(quiet=bool(os.environ.get("CI")), waits_for=str(args.out)))
        targets = [(profile, _target(args, profile, connection, watch)) for profile in chosen]
        if args.source is None:
            for profile, target in targets:
                _copy(args, profile, target, connection, watch)
        else:
            _index(args, args.source, targets, watch, stack.enter_context(Workers(ResultCache(args.cache))))
    if args.publish and not args.dry_run:
        for profile in chosen:
            _publish(args.publish, args.out / profile.name)


def _index(
    args: IndexArguments,
    source: str,
    targets: list[tuple[Profile, Target]],
    watch: Progress,
    workers: Workers,
) -> None:
    asked = (args.site_url, args.content_selector, args.language, args.version, args.strict, args.language_of_site)
    limits = FetchLimits(args.max_pages, args.max_bytes, args.max_minutes, args.rate)
    site = open_source(source, SiteOptions(*asked), args.cache / "sites", limits, workers)
    options = IndexOptions(args.dry_run, args.rebuild, args.report, workers)

    def run(profile: Profile, target: Target, embedder: CachedEmbedder | None) -> None:
        started = time.monotonic()
        plan = index_site(site, profile, target, embedder, watch, options)
        if not args.dry_run:
            watch.finish(plan, time.monotonic() - started)

    for profile, target in targets:
        if not profile.search.has_vectors:
            run(profile, target, None)
    embedded = [each for each in targets if each[0].search.has_vectors]
    if not embedded:
        return
    from passage.indexing.embedding import document_embedder  # noqa: PLC0415 - loads the clients of the services

    with with_emulator(os.environ) as environ, VectorCache(args.cache) as cache:
        for profile, target in embedded:
            if args.to == "qdrant":
                provider = PROVIDERS[profile.embedding.provider]
                otherwise = "leave out --to qdrant for an index on this machine"
                require_real_vectors(provider, os.environ, otherwise, emulate=args.emulate)
            embedder = document_embedder(profile, environ, warn=lambda text: say(f"Warning: {text}"))
            rate = args.texts_per_minute or embedder.texts_per_minute
            asking = embedder.for_questions(profile.embedding.model)
            with closing(embedder), closing(asking):
                run(profile, target, CachedEmbedder(embedder, cache, rate, CachedEmbedder(asking, cache, rate)))


def _copy(
    args: IndexArguments, profile: Profile, target: Target, connection: "ServerConnection | None", watch: Progress
) -> None:
    from passage.indexing import copying  # noqa: PLC0415 - loads the SDK

    with ExitStack() as stack:
        if args.from_qdrant:
            assert connection is not None  # noqa: S101 - see `_run`
            source = copying.server_source(connection, args.from_qdrant, profile)
        else:
            assert args.from_edge is not None  # noqa: S101 - see `Arguments.check`
            source = stack.enter_context(copying.edge_source(args.from_edge, profile))
        watch.say(f"Copy {source.points:,} points from {source.where} to {target.where}")
        if not args.dry_run and not copying.copy(source, profile, target, watch):
            watch.say(f"Nothing to do: {target.where} is up to date.")


def _profiles(args: IndexArguments) -> list[Profile]:
    settings = CollectionSettings.from_env(os.environ)
    names = profiles.names() if args.all_profiles else dict.fromkeys(args.profiles or (settings.default_profile,))
    chosen = [profiles.load_with_settings(name, settings) for name in names]
    if args.words:
        chosen = [
            each.model_copy(update={"search": each.search.model_copy(update={"mode": "words"})}) for each in chosen
        ]
    collections: dict[str, str] = {}
    for profile in chosen if args.to == "qdrant" else ():
        other = collections.setdefault(profile.collection.name, profile.name)
        if other != profile.name:
            raise click.UsageError(
                f"The profiles '{other}' and '{profile.name}' have one collection, '{profile.collection.name}': index "
                "for one of them, or set COLLECTION_NAME for the default profile."
            )
    return chosen


def _server() -> "ServerConnection":
    from passage.indexing.server.connection import ServerConnection  # noqa: PLC0415 - loads the SDK

    return ServerConnection.from_env(os.environ, note=say)


def _target(args: IndexArguments, profile: Profile, connection: "ServerConnection | None", watch: Progress) -> Target:
    if args.to == "edge":
        from passage.indexing.edge_index import EdgeIndex  # noqa: PLC0415 - loads the engine

        return EdgeIndex(args.out, profile)
    from passage.indexing.server.index import ServerIndex  # noqa: PLC0415 - loads the SDK

    assert connection is not None  # noqa: S101 - see `_run`
    return ServerIndex(connection, profile, keep=args.keep, note=watch.say)


def _publish(uri: str, folder: Path) -> None:
    from passage.indexing.publish import PublishError, publish  # noqa: PLC0415 - loads the SDK

    try:
        published = publish(uri, folder)
    except PublishError as error:
        raise click.ClickException(str(error)) from error
    say(f"{published.pointer}: {'published' if published.changed else 'nothing changed'}")
