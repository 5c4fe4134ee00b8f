"""`sam local start-lambda`: every event in events/, one after the other in one container."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from alike import alike
from conftest import EVENTS
from sam.conftest import serving
from tools.runtime import Runtime
from tools.sam_local import FUNCTION, SamLocal


@pytest.fixture(scope="module")
def endpoint(local: SamLocal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of the emulated Lambda service."""
    log = tmp_path_factory.mktemp("start-lambda") / "log"
    with serving(local, "start-lambda", log) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.mark.parametrize(
    "asked",  # not "event": the `invoke` fixture begins those (conftest.py)
    sorted(EVENTS.rglob("*.json")),
    ids=lambda path: path.relative_to(EVENTS).with_suffix("").as_posix(),
)
def test_sam_answer_equals_the_source_answer(endpoint: httpx.Client, source: Runtime, asked: Path) -> None:
    event = json.loads(asked.read_text(encoding="utf-8"))
    response = endpoint.post(f"/2015-03-31/functions/{FUNCTION}/invocations", json=event)
    assert response.status_code == 200, response.text
    answer = response.json()
    alike(answer, source.invoke(event))
    if isinstance(answer, dict) and "statusCode" in answer:
        assert answer["statusCode"] < 500, answer["body"]
