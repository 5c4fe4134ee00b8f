"""A server with prepared answers."""

from collections.abc import Iterator

import pytest

from clients.scripted import Script, scripted


@pytest.fixture
def script() -> Iterator[Script]:
    """A server with prepared answers: an empty object, unless the test says otherwise.

    Each test has its own, because the request of a test that gave it up may arrive during the next one.
    """
    with scripted() as script:
        yield script
