"""Shared by the tests of MCP."""

import pytest

from mcp_server.mcp_calls import Endpoint


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()
