"""`passage rollback`: serve the previous collection again."""

import os
from contextlib import closing

import click

from handler.config import profiles
from handler.config.settings import CollectionSettings
from handler.core.errors import PassageError
from passage.indexing.progress import say
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.releases import Releases
from passage.indexing.target import TargetError


@click.command("rollback")
@click.option("--profile", help="The collection's profile.  [default: DEFAULT_PROFILE]")
@click.option("--to-collection", metavar="NAME", help="The collection to serve.  [default: the previous one]")
@click.option("--list", "listed", is_flag=True, help="List the collections on the server and stop.")
def rollback(profile: str | None, to_collection: str | None, listed: bool) -> None:
    """Serve an earlier collection of the server at QDRANT_URL, at once."""
    try:
        settings = CollectionSettings.from_env(os.environ)
        chosen = profiles.load_with_settings(profile or settings.default_profile, settings)
        with closing(ServerConnection.from_env(os.environ, note=say)) as connection:
            releases = Releases(connection, chosen.collection.name)
            if listed:
                for line in releases.describe():
                    click.echo(line)
                return
            release = releases.roll_back(to_collection)
            say(f"Questions for '{releases.alias}' are answered from '{release.name}' now.")
    except (PassageError, TargetError) as error:
        raise click.ClickException(str(error)) from error
