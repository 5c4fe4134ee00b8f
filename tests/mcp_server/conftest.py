"""Shared by the tests of MCP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_server.mcp_calls import Endpoint
from passage.local.environment import function_environment
from serving import served


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture(scope="module")
def url(textbook_index: Path) -> Iterator[str]:
    """The function over HTTP, as `passage serve` runs it, with the sample textbook."""
    with function_environment({}, textbook_index) as environ, served(environ) as address:
        # Settings are read at the first request, and only now the port is known.
        environ["ALLOWED_ORIGINS"] = f"{address},{address.replace('127.0.0.1', 'localhost')}"
        yield address
