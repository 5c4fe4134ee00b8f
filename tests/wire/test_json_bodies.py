"""JSON over HTTP and in messages: a byte order mark is skipped, and errors name other faults."""

from urllib.parse import quote

import pytest

from handler.core.errors import InvalidRequest
from handler.entrypoints.messaging import messages
from tools.doubles import EmulatorServer
from wire.function import QUESTION, Start, assert_error, both_gateways

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


@pytest.mark.parametrize(
    ("count", "says"),
    [("9" * 5_000, "a number of more than 4,300 digits"), ("[" * 2_000 + "]" * 2_000, "nested too deep")],
    ids=["5,000 digits", "2,000 lists"],
)
def test_faulty_parameter_is_400_and_names_the_fault(count: str, says: str, start: Start) -> None:
    answer = start().get("/query", f"text=twin&k={quote(count)}")
    assert says in assert_error(answer, 400, "INVALID_INPUT")


@every_fault
def test_faulty_message_names_the_fault(body: str, says: str) -> None:
    error = messages.read(body, "1").question
    assert isinstance(error, InvalidRequest)
    assert str(error).startswith("The message ")
    assert says in str(error)
