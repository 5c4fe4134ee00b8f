"""A shared browser for the tests."""

import pytest

from browser import chromium


@pytest.fixture(scope="session")
def browser() -> str:
    found = chromium.find()
    if found is None:
        pytest.skip("needs Chromium or Chrome: `apt-get install chromium`, or PASSAGE_BROWSER=/path/to/one")
    return found
