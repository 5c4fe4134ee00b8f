"""`sam local invoke`, for every sample event and for some of each contract's."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import EVENTS
from devkit.runtime import Runtime
from handler import profiles
from sam.alike import alike
from sam.conftest import Invoke

SAMPLE = [
    *(EVENTS / "contracts" / profile / "success.json" for profile in profiles.names()),
    EVENTS / "contracts" / "context" / "plain-text.json",
    EVENTS / "contracts" / "query-response" / "body-base64.json",
]


@pytest.mark.parametrize(
    "event",
    [*sorted(EVENTS.glob("*.json")), *SAMPLE],
    ids=lambda path: path.relative_to(EVENTS).with_suffix("").as_posix(),
)
def test_answer_is_the_one_the_source_gives(invoke: Invoke, source: Runtime, event: Path) -> None:
    asked = json.loads(event.read_text(encoding="utf-8"))
    answer: Any = invoke(event)
    alike(answer, source.invoke(asked))
    if isinstance(answer, dict) and "statusCode" in answer:
        assert answer["statusCode"] < 500, answer["body"]
