"""The `passage` command. It prints results on stdout, progress and logs on stderr."""

import atexit
import gc
from importlib import import_module

import click

COMMANDS = {
    "index": "Index a site, once for each profile.",
    "evaluate": "Ask the questions of a suite and measure the answers.",
    "serve": "Serve the API on 127.0.0.1, and a demo page.",
    "invoke": "Print the function's answer to an event.",
    "mcp": "Serve MCP on stdin and stdout, for coding assistants.",
    "doctor": "Check a deployment or this machine.",
    "profile": "Print a draft of the profile for a collection.",
    "rollback": "Serve an earlier collection of the server again.",
}
"""Each is the function of its name, in its module of `passage.commands`."""


class _Commands(click.Group):
    """Imports only the module of the command that is run: together they load the SDKs of all services."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        command = getattr(import_module(f"passage.commands.{name}"), name) if name in COMMANDS else None
        gc.freeze()  # what is imported stays, so no collection looks at it again
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


atexit.register(gc.freeze)  # the system takes all memory back at once: the collections at an exit take 50 ms


@click.group(cls=_Commands, context_settings={"show_default": True})
@click.version_option(package_name="passage", message="%(prog)s %(version)s")
def main() -> None:
    """A retrieval API for documentation sites, on your own machine.

    Without COHERE_API_KEY and QDRANT_URL, emulators replace the services: no account, no key, no network.
    """
