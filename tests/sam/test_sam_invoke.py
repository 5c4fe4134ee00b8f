"""`sam local invoke`, for an event of each kind; once as `make invoke-sam` runs it, a layer to pack and all."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from alike import alike
from conftest import EVENTS, ROOT
from handler.config import profiles
from programs import run
from sam.conftest import Invoke
from tools.runtime import Runtime
from tools.sam_local import TEMPLATE

# One of each event source, and one answer of each contract: a container for each takes half a second.
# The warm container of test_sam_start_lambda.py is asked all events.
ONE_OF_EACH = [
    *sorted(EVENTS.glob("*.json")),
    *(EVENTS / "contracts" / profile / "success.json" for profile in profiles.names()),
]


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda path: path.relative_to(EVENTS).with_suffix("").as_posix())
def test_sam_answer_equals_the_source_answer(invoke: Invoke, source: Runtime, event: Path) -> None:
    asked = json.loads(event.read_text(encoding="utf-8"))
    answer: Any = invoke(event)
    alike(answer, source.invoke(asked))
    if isinstance(answer, dict) and "statusCode" in answer:
        assert answer["statusCode"] < 500, answer["body"]


def test_command_prints_only_the_answer_as_json(several_indexes: Path, source: Runtime) -> None:
    asked = EVENTS / "http-api-query.json"
    places = ("--template", str(ROOT / TEMPLATE), "--index", str(several_indexes))
    command = (sys.executable, "-m", "tools.sam_local", *places, "invoke", asked)
    done = run(*command, cwd=ROOT, env={**os.environ, "COHERE_API_KEY": "", "QDRANT_URL": ""})
    alike(json.loads(done.stdout), source.invoke(json.loads(asked.read_text(encoding="utf-8"))))
