"""A pytest plugin: the tests' Qdrant emulators become proxies to a real server. See `make test-qdrant`.

QDRANT is the path of the server's program, or the URL of a running server, which is emptied.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from tools.doubles import EmulatorServer
from tools.qdrant import emulator
from tools.qdrant.real import Servers, Unavailable, qdrant_proxy

servers = Servers(os.environ["QDRANT"])


class _Skipping(EmulatorServer):
    """A proxy whose test is skipped where the server cannot play what it needs."""

    def __init__(self, proxy: EmulatorServer) -> None:
        self.__dict__ = proxy.__dict__

    def start(self) -> Any:
        try:
            return super().start()
        except Unavailable as reason:
            pytest.skip(str(reason))


def _proxied(storage: Path, **options: Any) -> EmulatorServer:
    try:
        return _Skipping(qdrant_proxy(servers, storage, **options))
    except Unavailable as reason:
        pytest.skip(str(reason))


emulator.qdrant_emulator = _proxied


def pytest_unconfigure() -> None:
    """Close the connections."""
    servers.close()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a newer server, or plays one."""
    if item.get_closest_marker("plays_qdrant"):
        pytest.skip("plays another version of Qdrant")
    for mark in item.iter_markers("needs_qdrant"):
        least = tuple(int(number) for number in mark.args[0].split("."))
        if servers.version() < least:
            pytest.skip(f"needs Qdrant {mark.args[0]}")
