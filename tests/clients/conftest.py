"""The API as `passage serve` runs it, and a server with prepared answers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.scripted import Script, scripted
from serving import served_index


@pytest.fixture(scope="session")
def api(several_indexes: Path) -> Iterator[str]:
    """The URL of the API, with every profile."""
    with served_index(several_indexes) as url:
        yield url


@pytest.fixture
def script() -> Iterator[Script]:
    """A server with prepared answers: an empty object, unless the test says otherwise.

    Each test has its own, because the request of a test that gave it up may arrive during the next one.
    """
    with scripted() as script:
        yield script
