"""The `passage` command. It prints results on stdout, progress and logs on stderr."""

import click

from passage.commands.doctor import doctor
from passage.commands.evaluate import evaluate
from passage.commands.index import index
from passage.commands.invoke import invoke
from passage.commands.mcp import mcp
from passage.commands.profile import profile
from passage.commands.rollback import rollback
from passage.commands.serve import serve


@click.group(context_settings={"show_default": True})
@click.version_option(package_name="passage", message="%(prog)s %(version)s")
def main() -> None:
    """A retrieval API for documentation sites, on your own machine.

    Without COHERE_API_KEY and QDRANT_URL, emulators replace the services: no account, no key, no network.
    """


for command in (index, rollback, profile, doctor, evaluate, mcp, serve, invoke):
    main.add_command(command)
