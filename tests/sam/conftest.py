"""The built function in SAM's containers, and beside it the same function in the plain runtime, asked the same.

What is right and wrong about an answer the other tests say; these say that the artefact, in a container that is like
Lambda's, gives the answer that the source gives.
"""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from sam.forked import Invoke, forked
from tools.docker_bridge import reachable_address
from tools.runtime import Runtime, free_port
from tools.sam_local import APIS, HOST_NAME, TEMPLATE, SamLocal, sam_local

HERE = Path(__file__).parent
AT_ONCE = 6
"""Each spends most of its time in waiting for Docker and for the function's log."""
START_SECONDS = 120


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """These tests need Docker, so they run only if named, as by `make test-sam`."""
    asked = [Path(argument.split("::")[0]).resolve() for argument in config.args]
    return None if any(path == HERE or HERE in path.parents for path in asked) else True


@pytest.fixture(scope="session")
def local(several_indexes: Path) -> Iterator[SamLocal]:
    """The built function, and emulators that hold the index."""
    with sam_local({}, ROOT / TEMPLATE, several_indexes) as running:
        yield running


@pytest.fixture(scope="session")
def source(local: SamLocal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """The function's source in the plain runtime, with the variables that SAM's containers get."""
    given = json.loads(local.variables.read_text(encoding="utf-8"))["Parameters"]
    address = reachable_address()
    environment = {name: value.replace(HOST_NAME, address) for name, value in given.items()}
    log = tmp_path_factory.mktemp("runtime") / "log"
    with Runtime(environment=environment, code=(ROOT / "src",), log=log) as runtime:
        yield runtime


@pytest.fixture(scope="session")
def invoke(request: pytest.FixtureRequest, local: SamLocal) -> Iterator[Invoke]:
    """The output of `sam local invoke` for an event's file. All start at the first request and run in parallel."""
    chosen = [
        item.callspec.params.get("event")
        for item in request.session.items
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
    ]
    with forked(local) as invoke, ThreadPoolExecutor(AT_ONCE) as pool:
        running: dict[Path, Future[Any]] = {event: pool.submit(invoke, event) for event in chosen if event}
        yield lambda event: running[event].result()
        pool.shutdown(cancel_futures=True)  # nobody asks for them any more when a run ends early


@pytest.fixture(scope="session", params=sorted(APIS))
def api(
    request: pytest.FixtureRequest, several_indexes: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL at which `sam local start-api` answers, once as each kind of API."""
    log = tmp_path_factory.mktemp("start-api") / "log"
    with (
        sam_local({}, ROOT / TEMPLATE, several_indexes, api=request.param) as local,
        serving(local, "start-api", log) as url,
    ):
        yield url


@contextmanager
def serving(local: SamLocal, name: str, log: Path) -> Iterator[str]:
    """The URL at which one of SAM's local servers answers."""
    port = free_port()
    command = local.command(name, "--port", str(port), "--warm-containers", "EAGER")
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output, cwd=ROOT, env=local.environment()) as process,
    ):
        try:
            _wait_for(name, port, process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _wait_for(name: str, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"{name} does not answer:\n{log.read_text(encoding='utf-8', errors='replace')}")
