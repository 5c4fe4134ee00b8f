"""`passage mcp`: serves MCP on stdin and stdout, for coding assistants."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from passage import api, mcp_stdio
from passage.commands.options import API_KEY, index_option, read_api_key
from passage.local.function import function, keep_stdout_clean, silence_log


@click.command("mcp")
@index_option()
@click.option("--profile", help="Ask this profile.  [default: the default one]")
@click.option("--url", metavar="URL", help=f"Ask the deployment at this address. {API_KEY} holds its key, if any.")
def mcp(index: Path, profile: str | None, url: str | None) -> None:
    """Serve MCP on stdin and stdout, for coding assistants."""
    silence_log()
    path = mcp_stdio.path(profile)
    with keep_stdout_clean() as write, ExitStack() as stack:
        reached: api.Api
        if url is None:
            reached = api.in_process(stack.enter_context(function(index)))
        else:
            reached = stack.enter_context(api.over_http(url.rstrip("/").removesuffix(path), read_api_key(None)))
        mcp_stdio.serve(sys.stdin.buffer, reached, path, write)
