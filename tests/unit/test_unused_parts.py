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


PARTS = ("identity", "accountId", "apiId", "time", "timeEpoch", "domainPrefix", "requestId", "authorizer")


@pytest.mark.parametrize(
    ("name", "path"), [("http-api-query", "http/sourceIp"), *((name, part) for name in SAMPLES for part in PARTS)]
)
@given(value=anything)
@example(value={"sourceIp": "\ud800"})
@example(value="203.0.113.7\ud800")
@example(value={"lambda": {"tenant": {"id": 5}}, "jwt": {"claims": {"cognito:groups": ["a"]}, "scopes": ["read", 5]}})
@bounded
def test_unused_part_of_the_context_may_be_anything(name: str, path: str, value: Any) -> None:
    event = copy.deepcopy(SAMPLES[name])
    *outer, part = path.split("/")
    place = event["requestContext"]
    for each in outer:
        place = place[each]
    place[part] = value
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
