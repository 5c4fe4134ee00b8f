"""`passage mcp`: serves MCP on stdin and stdout, for coding assistants."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from passage.commands import api_key
from passage.commands.options import index_option
from passage.local.function import function, stdout_kept_clean


@click.command("mcp")
@index_option()
@click.option("--profile", help="Ask this profile.  [default: the default one]")
@click.option(
    "--url", metavar="URL", help=f"Ask the deployment at this address. {api_key.VARIABLE} holds its key, if any."
)
def mcp(index: Path, profile: str | None, url: str | None) -> None:
    """Serve MCP on stdin and stdout, for coding assistants."""
    from passage.local import stdio  # noqa: PLC0415 - no other command needs it

    path = stdio.path(profile)
    with stdout_kept_clean() as write, ExitStack() as stack:
        if url is None:
            post = stdio.in_process(stack.enter_context(function(index)), path)
        else:
            key = api_key.read(None)
            base = url.rstrip("/").removesuffix(path)
            client = stack.enter_context(stdio.client(base, {"x-api-key": key} if key else {}))
            post = stdio.over_http(client, f"{base}{path}")
        stdio.serve(sys.stdin.buffer, post, write)
