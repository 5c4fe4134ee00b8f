"""Connects, lists, calls and fails with one client of MCP: python ask_mcp.py CLIENT URL. Prints what it got as JSON."""

import asyncio
import json
import sys
from typing import Any

QUESTION = {"question": "What is a digital twin?", "top_k": 1, "search": None}
MISSING = {"id": "nothing"}


def text(result: Any) -> str:
    return str(result.content[0].text)


async def mcp(url: str) -> dict[str, Any]:
    from mcp.client.client import Client

    async with Client(url) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        answer, failed = await client.call_tool("search_docs", QUESTION), await client.call_tool("fetch", MISSING)
        assert failed.is_error
        return {"tools": tools, "answer": text(answer), "error": text(failed)}


async def fastmcp(url: str) -> dict[str, Any]:
    from fastmcp import Client

    async with Client(url) as client:
        tools = [tool.name for tool in await client.list_tools()]
        answer = await client.call_tool("search_docs", QUESTION)
        failed = await client.call_tool("fetch", MISSING, raise_on_error=False)
        assert failed.is_error
        return {"tools": tools, "answer": text(answer), "error": text(failed)}


CLIENTS = {"mcp": mcp, "fastmcp": fastmcp}

sys.stdout.write(json.dumps(asyncio.run(CLIENTS[sys.argv[1]](sys.argv[2]))))
