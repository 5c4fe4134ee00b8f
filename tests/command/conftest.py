"""Shared by the tests of the command."""

from collections.abc import Iterator

import pytest

from command.passage_command import Passage, forked


@pytest.fixture(scope="session")
def passage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Passage]:
    with forked(tmp_path_factory.mktemp("passage")) as run:
        yield run
