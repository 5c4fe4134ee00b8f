"""The sample textbook, indexed for every profile, and the function under test."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import ROOT
from contracts.rules import Stored
from contracts.surroundings import KEY, Surroundings
from locking import one_at_a_time
from tools.artefact import Artefact, build, find_python
from tools.doubles import EmulatorServer, cohere_emulator


@pytest.fixture(scope="session")
def embedding() -> Iterator[EmulatorServer]:
    with cohere_emulator(api_key=KEY) as emulator:
        yield emulator


@pytest.fixture(scope="session")
def artefact() -> Artefact | None:
    """With TEST_ARTEFACT=1, the deployed function is tested, otherwise the source."""
    if not os.environ.get("TEST_ARTEFACT"):
        return None
    with one_at_a_time("artefact"):
        return build(ROOT, ROOT / ".passage" / "artefact", find_python() or Path(sys.executable).resolve())


@pytest.fixture(scope="session")
def surroundings(
    embedding: EmulatorServer,
    several_indexes: Path,
    tmp_path_factory: pytest.TempPathFactory,
    artefact: Artefact | None,
) -> Iterator[Surroundings]:
    with ExitStack() as running:
        yield Surroundings(running, embedding, several_indexes, tmp_path_factory, artefact)


@pytest.fixture(scope="session")
def stored(surroundings: Surroundings) -> Stored:
    """The points of each collection."""
    return surroundings.stored()
