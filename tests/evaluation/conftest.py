"""Shared by the tests of evaluation: the function over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from passage.local.environment import function_environment
from serving import served


@pytest.fixture(scope="module")
def api_url(several_indexes: Path) -> Iterator[str]:
    """The function with an index for every profile."""
    with function_environment({}, several_indexes) as environ, served(environ) as url:
        yield url
