"""The function in Lambda's own loop: the Runtime Interface Emulator, the real runtime client, its own process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from conftest import EVERY_PROFILE, ROOT
from tools.doubles import EmulatorServer, cohere_emulator
from tools.runtime import Runtime

Start = Callable[..., Runtime]


@pytest.fixture(scope="module")
def cohere() -> Iterator[EmulatorServer]:
    with cohere_emulator() as emulator:
        yield emulator


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory, cohere: EmulatorServer) -> Iterator[Start]:
    """Starts a container with an embedding emulator and the given variables."""
    with ExitStack() as running:

        def begin(**environment: str) -> Runtime:
            log = tmp_path_factory.mktemp("runtime") / "log"
            variables = {"COHERE_API_KEY": "test-key-41c7", "COHERE_BASE_URL": cohere.url, "PROFILES": EVERY_PROFILE}
            variables |= environment
            return running.enter_context(Runtime(environment=variables, code=(ROOT / "src",), log=log))

        yield begin


@pytest.fixture(scope="module")
def edge(start: Start, textbook_index: Path) -> Runtime:
    """A container with the textbook's Edge index."""
    return start(STORE="qdrant_edge", EDGE_INDEX_PATH=str(textbook_index))
