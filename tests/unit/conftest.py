"""No unit test opens a socket."""

import pytest


@pytest.fixture(autouse=True)
def _no_sockets(socket_disabled: None) -> None:
    """pytest-socket's fixture, for every test in this folder."""
