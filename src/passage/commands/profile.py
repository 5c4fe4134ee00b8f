"""`passage profile`: a profile's file for a collection that exists."""

import os
from contextlib import closing

import click

from passage.indexing.progress import say


@click.command("profile")
@click.option("--from-qdrant", "collection", required=True, metavar="COLLECTION", help="A collection at QDRANT_URL.")
@click.option("--contract", default="query_response", show_default=True, help="The shape of question and answer.")
def profile(collection: str, contract: str) -> None:
    """Print a draft of the profile for a collection: payload keys, vector, dimension, distance and model.

    Save it as src/handler/config/profiles/NAME.toml and set DEFAULT_PROFILE to NAME.
    """
    # Imported here for the sake of the other commands.
    from handler.contracts import registry  # noqa: PLC0415
    from handler.core.errors import PassageError  # noqa: PLC0415
    from passage.indexing.server.connection import ServerConnection  # noqa: PLC0415
    from passage.indexing.server.draft import draft  # noqa: PLC0415
    from passage.indexing.target import TargetError  # noqa: PLC0415

    if contract not in registry.NAMES:
        raise click.UsageError(f"--contract takes one of {', '.join(registry.NAMES)}.")
    try:
        with closing(ServerConnection.from_env(os.environ, note=say)) as connection:
            drafted = draft(connection, collection, contract)
    except (PassageError, TargetError) as error:
        raise click.ClickException(str(error)) from error
    for remark in drafted.remarks:
        say(f"Look at: {remark}.")
    click.echo(drafted.toml, nl=False)
