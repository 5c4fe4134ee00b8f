"""`sam local start-lambda`: a question by each contract, one after the other in one container."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from alike import alike
from conftest import EVENTS
from handler.config import profiles
from passage.local.runtime import Runtime
from passage.local.sam_local import FUNCTION, SamLocal
from sam.conftest import serving


@pytest.fixture(scope="module")
def endpoint(local: SamLocal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of the emulated Lambda service."""
    log = tmp_path_factory.mktemp("start-lambda") / "log"
    with serving(local, "start-lambda", log) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.mark.parametrize(
    "asked",  # not "event": those are begun by `sam local invoke`, all of them (conftest.py)
    [EVENTS / "contracts" / profile / "success.json" for profile in profiles.names()],
    ids=lambda path: path.parent.name,
)
def test_sam_answer_equals_the_source_answer(endpoint: httpx.Client, source: Runtime, asked: Path) -> None:
    event = json.loads(asked.read_text(encoding="utf-8"))
    response = endpoint.post(f"/2015-03-31/functions/{FUNCTION}/invocations", json=event)
    assert response.status_code == 200, response.text
    alike(response.json(), source.invoke(event))
