"""An event's source is found by its shape, and a shape that is none is refused by name."""

from typing import Any

import pytest

from conftest import EVENTS
from handler.core.errors import InvalidRequest
from handler.sources.detect import Source, detect

PREFIXES = {"http-api": Source.HTTP_API, "rest-api": Source.REST_API, "direct": Source.DIRECT}


@pytest.mark.parametrize("name", sorted(path.stem for path in EVENTS.glob("*.json")))
def test_every_sample_event_is_found_to_be_what_its_name_says(name: str, load_event: Any) -> None:
    expected = next(source for prefix, source in PREFIXES.items() if name.startswith(prefix))
    assert detect(load_event(name)) is expected


@pytest.mark.parametrize(
    "event",
    [
        {},
        [],
        None,
        "text",
        7,
        {"Records": []},
        {"Records": [{"eventSource": "aws:s3"}], "text": "question"},
        {"detail-type": "x", "detail": {}},
        {"requestContext": {"elb": {}}, "httpMethod": "GET", "path": "/query"},
        {"requestContext": None},
        {"requestContext": {"http": None}},
        {"httpMethod": "GET"},
        {"warmup": True},
    ],
)
def test_an_unknown_shape_is_refused_with_the_known_ones_named(event: object) -> None:
    with pytest.raises(InvalidRequest, match=r"no known shape.*HTTP API.*REST API.*bare question"):
        detect(event)


@pytest.mark.parametrize("key", ["text", "query", "question", "query_text", "query_vector", "profile"])
def test_a_bare_question_is_a_direct_invocation_whatever_its_value(key: str) -> None:
    assert detect({key: None}) is Source.DIRECT
