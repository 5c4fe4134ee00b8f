"""`sam local start-lambda`: a question by each contract, one after the other in one container."""

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from conftest import EVENTS, ROOT
from devkit.runtime import Runtime
from devkit.sam_local import SamLocal
from handler import profiles
from sam.alike import alike
from sam.conftest import wait_for

FUNCTION = "RetrievalFunction"


@pytest.fixture(scope="module")
def endpoint(local: SamLocal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of the emulated Lambda service."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("start-lambda") / "log"
    command = local.command("start-lambda", "--port", str(port), "--warm-containers", "EAGER")
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output, cwd=ROOT, env=local.environment()) as process,
    ):
        try:
            wait_for(port, process, log)
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                yield client
        finally:
            process.terminate()


@pytest.mark.parametrize(
    "asked",  # not "event": those are begun by `sam local invoke`, all of them (conftest.py)
    [EVENTS / "contracts" / profile / "success.json" for profile in profiles.names()],
    ids=lambda path: path.parent.name,
)
def test_answer_is_the_one_the_source_gives(endpoint: httpx.Client, source: Runtime, asked: Path) -> None:
    event = json.loads(asked.read_text(encoding="utf-8"))
    response = endpoint.post(f"/2015-03-31/functions/{FUNCTION}/invocations", json=event)
    assert response.status_code == 200, response.text
    alike(response.json(), source.invoke(event))
