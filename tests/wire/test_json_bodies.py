"""JSON over HTTP and in messages: a byte order mark is skipped, and errors name other faults."""

import base64
from urllib.parse import quote

import pytest

from handler.config import profiles
from handler.core.errors import InvalidRequest
from handler.entrypoints.messaging import messages
from passage.local.http_event import http_api_event
from tools.doubles import EmulatorServer
from wire.function import ORIGIN, QUESTION, Start, assert_error, both_gateways

FAULTS = {
    "a number of 5,000 digits": ('{"text": "twin", "k": ' + "9" * 5_000 + "}", "a number of more than 4,300 digits"),
    "10,000 lists": ('{"text": ' + "[" * 10_000 + "]" * 10_000 + "}", "nested too deep"),
    "a missing quote": ('{\n  "text": "twin\n}', "not valid JSON (line 2, column 16)"),
    "NaN": ('{"text": "twin", "k": NaN}', "NaN is not a JSON number"),
    "a list": ('["twin"]', "is JSON, but not an object"),
}
every_fault = pytest.mark.parametrize(("body", "says"), FAULTS.values(), ids=FAULTS.keys())


@both_gateways
@every_fault
def test_faulty_body_is_400_and_names_the_fault(body: str, says: str, start: Start, cohere: EmulatorServer) -> None:
    message = assert_error(start().request("POST", "/query", body=body), 400, "INVALID_INPUT")
    assert says in message
    assert message.startswith("The body ")
    assert cohere.requests == []


@both_gateways
def test_body_with_a_byte_order_mark_is_answered(start: Start) -> None:
    assert start().request("POST", "/query", body=f'\ufeff{{"text": "{QUESTION}", "k": 3}}').results


def base64_event(body: bytes) -> dict[str, object]:
    event = http_api_event("POST", "/query", headers={"origin": ORIGIN})
    return event | {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}


def test_base64_body_with_a_byte_order_mark_is_answered(start: Start) -> None:
    assert start().send(base64_event(f'\ufeff{{"text": "{QUESTION}"}}'.encode())).results


@every_fault
def test_faulty_base64_body_is_400_and_names_the_fault(body: str, says: str, start: Start) -> None:
    assert says in assert_error(start().send(base64_event(body.encode())), 400, "INVALID_INPUT")


@pytest.mark.parametrize(
    ("count", "says"),
    [("9" * 5_000, "a number of more than 4,300 digits"), ("[" * 2_000 + "]" * 2_000, "nested too deep")],
    ids=["5,000 digits", "2,000 lists"],
)
def test_faulty_parameter_is_400_and_names_the_fault(count: str, says: str, start: Start) -> None:
    answer = start().get("/query", f"text=twin&k={quote(count)}")
    assert says in assert_error(answer, 400, "INVALID_INPUT")


def test_parameter_that_is_no_json_stays_text(start: Start) -> None:
    assert "'k' must be a whole number, not text" in assert_error(
        start().get("/query", "text=twin&k=NaN"), 400, "INVALID_INPUT"
    )


@every_fault
def test_faulty_message_names_the_fault(body: str, says: str) -> None:
    error = messages.read(body, "1").error
    assert isinstance(error, InvalidRequest)
    assert str(error).startswith("The message ")
    assert says in str(error)


def test_message_with_a_byte_order_mark_is_read() -> None:
    question = messages.read(f'\ufeff{{"text": "{QUESTION}"}}', "1").question
    assert question is not None
    assert question.read(profiles.load("query-response")) == {"text": QUESTION}
