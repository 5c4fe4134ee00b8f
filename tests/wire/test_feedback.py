"""POST /feedback: a reader's thumbs up or down is checked, counted and logged."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from handler.config import profiles
from handler.contracts.fields import validate_fields
from handler.core.errors import InvalidRequest
from handler.entrypoints.http.feedback import Feedback
from handler.entrypoints.http.openapi.schemas import feedback_schema
from tools.doubles import EmulatorServer
from wire.function import ORIGIN, Output, Start, assert_error, both_gateways

pytestmark = pytest.mark.usefixtures("warm")

URL = "https://textbook.example/twins/#kinds"
UP = {"url": URL, "helpful": True}


@both_gateways
def test_feedback_is_204_with_cors_and_calls_no_service(
    start: Start, cohere: EmulatorServer, qdrant: EmulatorServer
) -> None:
    answer = start().post(UP, "/feedback")
    assert (answer.status, answer.text) == (204, "")
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["vary"] == "Origin"
    assert cohere.requests == qdrant.requests == []


@pytest.mark.parametrize("helpful", [True, False])
@pytest.mark.parametrize("profile", [None, "ranked"])
def test_feedback_is_counted_by_profile(helpful: bool, profile: str | None, start: Start, output: Output) -> None:
    sent = {"url": URL, "helpful": helpful, "profile": profile, "chunk_id": "17_2", "query_id": "q1"}
    assert start().post(sent, "/feedback").status == 204
    (record,), (line,) = output.metrics, output.logs
    assert record["profile"] == line["profile"] == profile or "query-response"
    assert record["Helpful" if helpful else "NotHelpful"] == [1.0]
    assert ("NotHelpful" if helpful else "Helpful") not in record
    assert {name: line[name] for name in ("message", "helpful", "url", "chunk_id", "query_id")} == {
        "message": "feedback",
        "helpful": helpful,
        "url": URL,
        "chunk_id": "17_2",
        "query_id": "q1",
    }


@pytest.mark.parametrize("logged", ["true", "false"])
def test_readers_words_are_logged_only_with_log_query_text(logged: str, start: Start, output: Output) -> None:
    function = start(LOG_QUERY_TEXT=logged)
    words = {"question": "Is zebra-7731 a twin?", "comment": "no, okapi-4410 is"}
    assert function.post({**UP, **words}, "/feedback").status == 204
    assert function.post({**UP, **words, "profile": "zebra-7731"}, "/feedback").status == 404
    assert function.post({**words, "helpful": True}, "/feedback").status == 400
    for word, field in (("zebra-7731", "query_text"), ("okapi-4410", "comment")):
        assert (word in output.text) == (logged == "true")
        assert (field in output.logs[0]) == (logged == "true")


WRONG: dict[str, tuple[Any, str]] = {
    "no url": ({"helpful": True}, "'url' is required"),
    "no helpful": ({"url": URL}, "'helpful' is required"),
    "script url": ({"url": "javascript:alert(1)", "helpful": True}, "'url' must be the URL of a web page"),
    "long url": ({**UP, "url": URL + "x" * 2_048}, "'url' must have at most 2048 characters"),
    "helpful as text": ({**UP, "helpful": "yes"}, "'helpful' must be true or false, not text"),
    "long comment": ({**UP, "comment": "x" * 1_001}, "'comment' must have at most 1000 characters"),
    "chunk id as list": ({**UP, "chunk_id": [1]}, "'chunk_id' must be text, not a list"),
    "list": ([UP], "not an object"),
}


@both_gateways
@pytest.mark.parametrize(("sent", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_feedback_is_400_and_names_the_field(sent: Any, message: str, start: Start) -> None:
    assert message in assert_error(start().post(sent, "/feedback"), 400, "INVALID_INPUT")


def test_empty_feedback_is_400_with_an_example(start: Start) -> None:
    answer = start().request("POST", "/feedback", body="")
    example = assert_error(answer, 400, "INVALID_INPUT").partition("as in ")[2].rstrip(".")
    validate_fields(json.loads(example), Feedback)


def test_unknown_profile_is_404(start: Start) -> None:
    assert_error(start().post({**UP, "profile": "nowhere"}, "/feedback"), 404, "INVALID_INPUT")


def test_feedback_turned_off_is_404(start: Start, output: Output) -> None:
    answer = start(FEEDBACK="false").post(UP, "/feedback")
    assert assert_error(answer, 404, "INVALID_INPUT") == "This deployment takes no feedback."
    assert [list(record) for record in output.metrics if "Helpful" in record] == []


def test_get_of_feedback_is_405(start: Start) -> None:
    answer = start().get("/feedback")
    assert_error(answer, 405, "INVALID_INPUT")
    assert answer.headers["allow"] == "POST"


def test_every_profile_can_be_named(start: Start) -> None:
    function = start()
    for name in profiles.names():
        assert function.post({**UP, "profile": name, "chunk_id": 5}, "/feedback").status == 204


def test_schema_and_model_agree_on_each_field() -> None:
    values = (None, True, 0, 1, 1.0, -1, 1.5, "", "a", "http://x", "https://", "http://\x7f", "ftp://x", [], {})
    long = tuple("x" * length for length in (100, 101, 200, 201, 1_000, 1_001, 10_000, 10_001))
    for name in Feedback.model_fields:
        for value in (*values, *long, "https://" + "é" * 2_040, "https://" + "é" * 2_041):
            sent = {**UP, name: value}
            assert Draft202012Validator(feedback_schema()).is_valid(sent) == _is_valid(sent), (name, value)


def _is_valid(fields: dict[str, Any]) -> bool:
    try:
        validate_fields(fields, Feedback)
    except InvalidRequest:
        return False
    return True
