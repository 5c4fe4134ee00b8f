"""Which profiles `GET /profiles` and MCP's tools list: those with an index, where a folder says so."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handler.bootstrap.container import Container
from handler.config import profiles
from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from passage.local.http_event import http_api_event

NAMES = profiles.names()
DEFAULT = "query-response"


def listed(environ: Mapping[str, str]) -> list[str]:
    """The profiles of both lists, which must be equal. A request to a service would be a socket, so an error."""
    container = Container({"COHERE_API_KEY": "key", **environ})

    def ask(event: Mapping[str, Any]) -> Any:
        return json.loads(http.handle(event, None, container, Source.HTTP_API)["body"])

    by_api = ask(http_api_event("GET", "/profiles"))
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
    tools = ask(http_api_event("POST", "/mcp", body=body))["result"]["tools"]
    (by_mcp,) = {
        tuple(tool["inputSchema"]["properties"]["profile"]["enum"])
        for tool in tools
        if "profile" in tool["inputSchema"]["properties"]
    }
    names = [profile["name"] for profile in by_api["profiles"]]
    assert [*names, None] == list(by_mcp)
    assert by_api["default"] == DEFAULT
    return names


@pytest.mark.parametrize("indexed", [(), (DEFAULT,), ("chunks", "ranked"), NAMES], ids=len)
def test_folder_of_indexes_says_which_profiles_are_listed(tmp_path: Path, indexed: list[str]) -> None:
    for name in (*indexed, "of-no-profile"):
        (tmp_path / name).mkdir()
    environ = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(tmp_path)}
    assert listed({**environ, "PROFILES": ",".join(NAMES)}) == sorted({*indexed, DEFAULT})
    assert listed(environ) == [DEFAULT]


@pytest.mark.parametrize(
    "store",
    [
        {"QDRANT_URL": "http://127.0.0.1:1"},
        {"QDRANT_URL": "http://127.0.0.1:1", "EDGE_INDEX_PATH": "/nowhere"},
        {"STORE": "qdrant_edge", "EDGE_INDEX_URI": "s3://bucket/indexes"},
    ],
    ids=["server", "server-and-unused-folder", "published"],
)
def test_store_that_needs_a_request_lists_each_served_profile(store: dict[str, str]) -> None:
    assert listed(store) == [DEFAULT]
    assert listed({**store, "PROFILES": "ranked, context"}) == ["context", DEFAULT, "ranked"]
