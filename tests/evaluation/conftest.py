"""Shared by the tests of evaluation: the function over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import served_index


@pytest.fixture(scope="module")
def api_url(several_indexes: Path) -> Iterator[str]:
    """The function with an index for every profile."""
    with served_index(several_indexes) as url:
        yield url
