"""Clients of MCP that others wrote: each connects, lists the tools, calls one, and reads an error."""

import json
import os
from pathlib import Path

import pytest

from conftest import ROOT
from programs import NODE, run

HERE = Path(__file__).parent / "conformance"
PYTHON = ROOT / ".venv-generators" / "bin" / "python"
CLIENTS = {
    "mcp": (PYTHON, HERE / "ask_mcp.py"),
    "fastmcp": (PYTHON, HERE / "ask_mcp.py"),
    "typescript-sdk": (NODE, HERE / "ask_mcp.mjs"),
    "mcp-remote": (NODE, HERE / "ask_mcp.mjs"),
    "ai-sdk": (NODE, HERE / "ask_mcp.mjs"),
}


@pytest.mark.parametrize("client", CLIENTS)
def test_client_connects_lists_calls_and_reads_an_error(client: str, url: str, tmp_path: Path) -> None:
    env = {**os.environ, "MCP_REMOTE_CONFIG_DIR": str(tmp_path)}
    found = json.loads(run(*CLIENTS[client], client, f"{url}/mcp", env=env, timeout=120).stdout)
    assert found["tools"] == ["search", "fetch", "search_docs", "get_page", "get_chunk"]
    assert found["answer"].startswith("## 1. What Is a Digital Twin")
    assert found["error"] == "There is no such chunk in the collection."
