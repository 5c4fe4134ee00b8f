"""SNS and EventBridge: the result goes to the OnSuccess destination; a temporary failure is raised."""

import copy
import json
from typing import Any

import pytest

from entrypoints.aws import Context
from handler.core.errors import ConfigurationError, PassageError, UpstreamError
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, Function, Start

SOURCES = ["sns-query", "event-bridge-query"]


@pytest.fixture
def function(start: Start) -> Function:
    return start()


def asking(event: Any, fields: Any) -> Any:
    """The sample event with another question, which SNS carries as text."""
    changed = copy.deepcopy(event)
    if "Records" in changed:
        changed["Records"][0]["Sns"]["Message"] = fields if isinstance(fields, str) else json.dumps(fields)
    else:
        changed["detail"] = fields
    return changed


def reply_of(answer: Any) -> dict[str, Any]:
    """The reply. An SNS event can hold several notifications, an EventBridge event holds one."""
    if isinstance(answer, list):
        (answer,) = answer
    assert answer.keys() == {"reply_id", "correlation_id", "profile", "status", "answer", "results_left_out"}
    reply: dict[str, Any] = answer
    return reply


@pytest.mark.parametrize("name", SOURCES)
def test_the_reply_is_returned(name: str, function: Function, load_event: Any) -> None:
    reply = reply_of(function.invoke(load_event(name)))
    assert (reply["status"], reply["profile"], reply["results_left_out"]) == ("answered", "query-response", 0)
    assert reply["answer"]["results"] == function.ask(QUESTION, 3).results


@pytest.mark.parametrize("name", SOURCES)
def test_the_same_event_has_the_same_reply_id(name: str, function: Function, load_event: Any) -> None:
    first, second = (reply_of(function.invoke(load_event(name))) for _ in range(2))
    assert first["reply_id"] == second["reply_id"]


def test_reply_id_is_the_same_direct_or_through_a_queue(function: Function, load_event: Any) -> None:
    event = load_event("event-bridge-query")
    straight = reply_of(function.invoke(event))
    from handler.entrypoints.messaging.messages import read

    assert read(json.dumps(event), "queue-message-id").reply_id == straight["reply_id"]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("fields", [{"text": " "}, {"k": 5}, {"text": "twin", "profile": "nowhere"}])
def test_unanswerable_question_is_refused_without_raising(
    name: str, fields: Any, function: Function, load_event: Any, cohere: EmulatorServer
) -> None:
    reply = reply_of(function.invoke(asking(load_event(name), fields)))
    assert reply["status"] == "refused"
    assert cohere.requests == []


@pytest.mark.parametrize("message", ["twin", "[]", "", "\ud800"])
def test_notification_without_a_json_object_is_refused(message: str, function: Function, load_event: Any) -> None:
    assert reply_of(function.invoke(asking(load_event("sns-query"), message)))["status"] == "refused"


@pytest.mark.parametrize("detail", [{}, {"detail": {"text": "twin"}}, "twin"])
def test_an_event_without_a_question_is_refused(detail: Any, function: Function, load_event: Any) -> None:
    assert reply_of(function.invoke(asking(load_event("event-bridge-query"), detail)))["status"] == "refused"


@pytest.mark.parametrize(("name", "broken"), [("sns-query", "Sns"), ("event-bridge-query", "id")])
def test_incomplete_event_is_refused_without_retry(name: str, broken: str, function: Function, load_event: Any) -> None:
    event = load_event(name)
    del (event["Records"][0] if "Records" in event else event)[broken]
    replies = [reply_of(function.invoke(event, Context(30_000))) for _ in range(2)]
    assert replies[0]["status"] == "refused"
    assert broken in replies[0]["answer"]["error"]
    assert replies[0]["reply_id"] == replies[1]["reply_id"], "Lambda keeps the request's id"


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("which", ["cohere", "qdrant"])
def test_temporary_failure_is_raised_so_that_lambda_retries(
    name: str, which: str, function: Function, load_event: Any, request: pytest.FixtureRequest
) -> None:
    emulator: EmulatorServer = request.getfixturevalue(which)
    emulator.faults.add(Fault("status", status=503, times=0))
    with pytest.raises(UpstreamError):
        function.invoke(load_event(name))
    emulator.faults.clear()
    assert reply_of(function.invoke(load_event(name)))["status"] == "answered"


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("wrong", [{"COHERE_API_KEY": None}, {"COLLECTION_NAME": "nowhere"}])
def test_wrong_setting_is_raised(name: str, wrong: Any, start: Start, load_event: Any) -> None:
    with pytest.raises(ConfigurationError):
        start(**wrong).invoke(load_event(name))


@pytest.mark.parametrize("name", SOURCES)
def test_too_little_time_is_raised_without_a_call(
    name: str, function: Function, load_event: Any, cohere: EmulatorServer
) -> None:
    with pytest.raises(PassageError):
        function.invoke(load_event(name), Context(300))
    assert cohere.requests == []


def test_several_notifications_share_one_call_in_order(
    function: Function, load_event: Any, cohere: EmulatorServer
) -> None:
    event = load_event("sns-query")
    for number in range(2):
        record = copy.deepcopy(event["Records"][0])
        record["Sns"] |= {
            "MessageId": f"n{number}",
            "Message": json.dumps({"text": " " * number + "twin" * (1 - number)}),
        }
        event["Records"].append(record)
    answer = function.invoke(event)
    assert [reply["status"] for reply in answer] == ["answered", "answered", "refused"]
    assert len(cohere.requests) == 1
