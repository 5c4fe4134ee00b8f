"""`passage profile`: a profile's file for a collection that exists."""

import os
from contextlib import closing
from pathlib import Path

import click

from handler.contracts import registry
from handler.core.errors import PassageError
from passage.commands.options import cache_option
from passage.indexing import noise
from passage.indexing.cache_filler import EmbeddingError
from passage.indexing.embedding import document_embedder
from passage.indexing.progress import Progress, say
from passage.indexing.run import CachedEmbedder
from passage.indexing.server import identify
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.draft import Draft, draft, noise_section
from passage.indexing.target import TargetError
from passage.indexing.vector_cache import VectorCache


@click.command("profile")
@click.option("--from-qdrant", "collection", required=True, metavar="COLLECTION", help="A collection at QDRANT_URL.")
@click.option("--contract", default="query_response", help="The shape of question and answer.")
@click.option("--identify-model", is_flag=True, help="Embed one stored text with each model that fits, and compare.")
@cache_option()
def profile(collection: str, contract: str, cache: Path, *, identify_model: bool) -> None:
    """Print a draft of the profile for a collection: payload keys, vector, dimension, distance and model.

    With the embedding provider's key, the collection is asked 96 questions that no documentation answers. The draft
    then has [noise], and answers can say how well each passage fits. --identify-model is as many calls more as models
    give vectors of the collection's dimension; what they cost is said first.

    Save it as src/handler/config/profiles/NAME.toml and set DEFAULT_PROFILE to NAME.
    """
    if contract not in registry.NAMES:
        raise click.UsageError(f"--contract takes one of {', '.join(registry.NAMES)}.")
    try:
        with closing(ServerConnection.from_env(os.environ, note=say)) as connection:
            drafted = draft(connection, collection, contract)
            if identify_model:
                drafted = draft(connection, collection, contract, _identify_model(connection, drafted))
            measured = _noise(connection, drafted, cache)
    except (PassageError, EmbeddingError, TargetError) as error:
        raise click.ClickException(str(error)) from error
    for remark in drafted.remarks:
        say(f"Look at: {remark}.")
    click.echo(drafted.toml + measured, nl=False)


def _identify_model(connection: ServerConnection, drafted: Draft) -> str | None:
    """The model that made the vectors, None where that is not clear; a message says what was found."""
    found = identify.cosines(connection, drafted.profile, os.environ, say)
    for name, cosine in found.items():
        say(f"{name}: its vector of a stored text has the cosine {cosine:.2f} with the stored vector.")
    model = identify.identified(found)
    say(f"The vectors are those of {model}." if model else "None of these models clearly made the vectors.")
    return model


def _noise(connection: ServerConnection, drafted: Draft, cache: Path) -> str:
    """The draft's [noise]; empty where its questions cannot be embedded, and a message says why."""
    quiet = bool(os.environ.get("CI"))
    try:
        embedder = document_embedder(drafted.profile, os.environ).for_questions(drafted.profile.embedding.model)
        with closing(embedder), VectorCache(cache) as vectors, Progress(quiet=quiet, waits_for=str(cache)) as watch:
            asking = CachedEmbedder(embedder, vectors, embedder.texts_per_minute)
            missing = asking.cost(asking.missing(noise.texts(asking.kind)))
            if missing.texts:
                say(missing.line("question"))
            return noise_section(connection, drafted.profile, asking, watch)
    except (PassageError, EmbeddingError) as error:
        say(f"Without [noise], answers cannot say how well a passage fits. {error}")
        return ""
