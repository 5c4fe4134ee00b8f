"""Parts of an HTTP event that Passage does not use may have any shape: the question is answered all the same."""

import copy
import json
from typing import Any

import pytest
from hypothesis import example, given

from conftest import EVENTS
from handler.entrypoints.detect import detect
from handler.entrypoints.http import handler as http
from unit.asking import CONTAINER
from unit.strategies import anything, bounded

SAMPLES = {name: json.loads((EVENTS / f"{name}.json").read_bytes()) for name in ("rest-api-query", "http-api-query")}
every_sample = pytest.mark.parametrize("name", SAMPLES)


def status(event: dict[str, Any]) -> int:
    CONTAINER.hits, CONTAINER.embedding_failure, CONTAINER.store_failure = [], None, None
    CONTAINER.served.cache_clear()
    answer: int = http.handle(event, None, CONTAINER, detect(event))["statusCode"]
    return answer


@every_sample
@pytest.mark.parametrize("part", ["identity", "accountId", "apiId", "time", "timeEpoch", "domainPrefix", "requestId"])
@given(value=anything)
@example(value={"sourceIp": "\ud800"})
@bounded
def test_unused_part_of_the_context_may_be_anything(name: str, part: str, value: Any) -> None:
    event = copy.deepcopy(SAMPLES[name])
    event["requestContext"][part] = value
    assert status(event) == 200


@pytest.mark.parametrize(
    "headers", [{"Accept": None}, {"Accept": 5}, {"Accept": ["a", None]}, {"Accept": [["a"]]}, {"Accept": [5]}, [], 5]
)
def test_odd_multi_value_headers_are_answered_as_json(headers: Any) -> None:
    event = copy.deepcopy(SAMPLES["rest-api-query"]) | {"multiValueHeaders": headers}
    assert status(event) in (200, 400)


@pytest.mark.parametrize(("stage", "path"), [("dev", "/dev/query"), ("dev", "/query"), ("$default", "/query")])
def test_http_api_payload_1_works_with_and_without_stage(stage: str, path: str) -> None:
    event = copy.deepcopy(SAMPLES["rest-api-query"]) | {"version": "1.0", "path": path}
    event["requestContext"]["stage"] = stage
    assert status(event) == 200
