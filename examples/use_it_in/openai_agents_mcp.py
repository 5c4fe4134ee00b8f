"""Passage as tools of an openai-agents agent, by MCP. Needs OPENAI_API_KEY: python openai_agents_mcp.py URL QUESTION"""

import asyncio
import sys

from agents import Agent, Runner
from agents.mcp import MCPServerStreamableHttp


async def ask(url: str, question: str) -> str:
    async with MCPServerStreamableHttp({"url": f"{url}/mcp"}, name="documentation", cache_tools_list=True) as passage:
        instructions = "Answer from the documentation alone. Name the URLs of the passages that you used."
        agent = Agent("Docs", instructions=instructions, mcp_servers=[passage])
        return str((await Runner.run(agent, question)).final_output)


if __name__ == "__main__":
    print(asyncio.run(ask(sys.argv[1], sys.argv[2])))
