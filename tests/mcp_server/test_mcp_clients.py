"""MCP's own client against the endpoint, as a modern and as a legacy client, over HTTP and over stdio."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client

from command.passage_command import PASSAGE, clean_environment

QUESTION = "What is a digital twin?"
VERSIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
both_modes = pytest.mark.parametrize("mode", VERSIONS)


def asked(server: Any, mode: str, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(server, mode=mode, read_timeout_seconds=30) as client:
            return await use(client)

    return asyncio.run(run())


async def every_tool(client: Client) -> dict[str, Any]:
    """Use each tool once. The client checks structured results by the tools' schemas."""
    listed = await client.list_tools()
    found = await client.call_tool("search", {"query": QUESTION})
    first = json.loads(found.content[0].text)["results"][0]["id"]
    return {
        "version": client.protocol_version,
        "server": client.server_info.name,
        "tools": [tool.name for tool in listed.tools],
        "search": found.structured_content,
        **(await readings(client, first, found.structured_content["results"][0]["url"])),
        "search_docs": (await client.call_tool("search_docs", {"question": QUESTION, "top_k": 2})).structured_content,
        "pages": (await client.read_resource((await client.list_resources()).resources[0].uri)).contents[0].text,
        "get_chunk": (await client.call_tool("get_chunk", {"id": first})).structured_content,
        "failed": await client.call_tool("fetch", {"id": "nothing"}),
    }


async def readings(client: Client, first: str, url: str) -> dict[str, Any]:
    async def read(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        found = (await client.call_tool(tool, arguments)).structured_content
        assert found is not None
        return found

    fetched = await read("fetch", {"id": first})
    beside = fetched["metadata"].get("next") or fetched["metadata"]["previous"]
    return {
        "fetch": fetched,
        "next": await read("fetch", {"id": beside}),
        "get_page": await read("get_page", {"url": url}),
        "part": await read("get_page", {"url": url, "max_length": 200}),
    }


def check(used: dict[str, Any], mode: str) -> None:
    first = used["search"]["results"][0]
    assert (used["version"], used["server"]) == (VERSIONS[mode], "passage")
    assert used["tools"] == ["search", "fetch", "search_docs", "get_page", "get_chunk"]
    assert len(used["search_docs"]["results"]) == 2
    assert used["search_docs"]["results"][0]["url"] == first["url"]
    assert used["get_chunk"]["payload"]["text"] == used["search_docs"]["results"][0]["text"]
    for read in ("fetch", "next", "get_page"):
        assert used["get_chunk"]["payload"]["text"].strip() in used["get_page"]["text"]
        assert used[read]["text"].strip() in used["get_page"]["text"]
    assert used["next"]["metadata"]["previous"]
    assert used["get_page"]["text"].startswith(used["part"]["text"])
    assert (len(used["part"]["text"]), used["part"]["metadata"]["next_start_index"]) == (200, "200")
    pages = used["pages"].splitlines()
    assert (len(pages), f"- <{used['get_page']['url']}>" in pages) == (57, True)
    assert used["failed"].is_error
    assert "no such chunk" in used["failed"].content[0].text


@both_modes
def test_client_uses_every_tool_over_http(mode: str, url: str) -> None:
    check(asked(f"{url}/mcp", mode, every_tool), mode)


def test_client_uses_every_tool_over_stdio(textbook_index: Path) -> None:
    """As a modern client. A legacy one is in test_mcp_stdio.py."""
    arguments = ["mcp", "--index", str(textbook_index)]
    server = StdioServerParameters(command=PASSAGE, args=arguments, env=clean_environment())
    check(asked(server, "auto", every_tool), "auto")
