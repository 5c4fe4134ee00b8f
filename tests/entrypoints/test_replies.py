"""Destinations and contents of replies: queues, topics and buses, as their receivers see them."""

import json
import uuid
from typing import Any

import pytest

from entrypoints.aws import Aws, batch, returned
from handler.adapters.aws import replies
from tools.doubles import Fault
from wire.function import QUESTION, Output, Start
from wire.other_servers import trickling_server

ASKED = {"text": QUESTION, "k": 3, "correlation_id": "page-17"}


def reply_in(message: dict[str, Any]) -> dict[str, Any]:
    """A reply as received: a bus adds its envelope."""
    body: dict[str, Any] = json.loads(message["Body"])
    detail: dict[str, Any] = body.get("detail", body)
    return detail


def without_times(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in ("timestamp", "metadata")}


every_kind = pytest.mark.parametrize("kind", ["queue", "fifo queue", "topic", "fifo topic", "bus"])


@every_kind
def test_a_message_is_answered_where_the_settings_say(kind: str, aws: Aws, start: Start) -> None:
    settings, queue = aws.destination(kind)
    function = start(**settings)
    assert returned(function.invoke(batch([ASKED]))) == []
    (message,) = queue.taken()
    reply = reply_in(message)
    assert reply.keys() == {"reply_id", "correlation_id", "profile", "status", "answer", "results_left_out"}
    assert uuid.UUID(reply["reply_id"])
    assert (reply["correlation_id"], reply["profile"], reply["status"]) == ("page-17", "query-response", "answered")
    assert reply["results_left_out"] == 0
    assert without_times(reply["answer"]) == without_times(function.ask(QUESTION, 3).json)


UNCONFIRMED = [
    (200, "<html>Welcome</html>"),
    (204, ""),
    *((200, body) for body in ("{}", "", "null", "[]", '"sent"', "7")),
]


@pytest.mark.usefixtures("sleeps")
@pytest.mark.parametrize("kind", ["queue", "topic", "bus"])
@pytest.mark.parametrize(("status", "body"), UNCONFIRMED)
def test_answer_that_confirms_nothing_keeps_the_message(
    status: int, body: str, kind: str, aws: Aws, start: Start, output: Output
) -> None:
    """A proxy or a wrong address may answer anything. The message comes again."""
    settings, queue = aws.destination(kind)
    function = start(**settings)
    aws.door.faults.add(Fault("status", status=status, body=body, times=2))
    assert returned(function.invoke(batch([ASKED, ASKED]))) == ["1"]
    assert {line["code"] for line in output.logs if line["level"] == "ERROR"} == {"UPSTREAM_UNAVAILABLE"}
    assert len(queue.taken()) == 1


@pytest.mark.usefixtures("sleeps")
def test_answer_that_trickles_in_keeps_the_message(
    aws: Aws, start: Start, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every byte starts the wait for the next one anew: only a deadline ends it."""
    monkeypatch.setattr(replies, "ATTEMPT_SECONDS", 0.2)
    settings, queue = aws.destination("queue")
    with trickling_server() as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", url)
        assert returned(start(**settings).invoke(batch([ASKED]))) == ["1"]
    assert any("Timeout" in str(line.get("detail")) for line in output.logs)
    assert queue.taken() == []


@pytest.mark.parametrize("kind", ["queue", "fifo queue", "topic"])
def test_a_receiver_can_filter_by_attributes(kind: str, aws: Aws, start: Start) -> None:
    settings, queue = aws.destination(kind)
    start(**settings).invoke(batch([ASKED, {"text": " ", "profile": "chunks"}]))
    answered, refused = queue.taken()
    for message in (answered, refused):
        reply = reply_in(message)
        sent = {name: attribute["StringValue"] for name, attribute in message["MessageAttributes"].items()}
        assert sent == {name: reply[name] for name in ("reply_id", "correlation_id", "profile", "status")}
    assert refused["MessageAttributes"]["status"]["StringValue"] == "refused"
    assert refused["MessageAttributes"]["correlation_id"]["StringValue"] == "2"


def test_a_bus_rule_can_filter_by_source_and_kind(aws: Aws, start: Start) -> None:
    name, queue = aws.bus()
    start(REPLY_BUS_NAME=name).invoke(batch([ASKED]))
    (message,) = queue.taken()
    event = json.loads(message["Body"])
    assert (event["source"], event["detail-type"]) == ("passage", "Passage Reply")


def test_every_destination_that_is_set_gets_the_reply(aws: Aws, start: Start) -> None:
    places = [aws.destination(kind) for kind in ("queue", "topic", "bus")]
    settings = {name: value for names, _ in places for name, value in names.items()}
    assert returned(start(**settings).invoke(batch([ASKED]))) == []
    replies = [reply_in(queue.taken()[0]) for _, queue in places]
    assert replies[0] == replies[1] == replies[2]


@pytest.mark.parametrize("sent", [17, 1.5, 1e300, "17", "page 17/ü", "x" * 256])
def test_the_senders_correlation_id_comes_back(sent: float | str, aws: Aws, start: Start) -> None:
    queue = aws.queue()
    start(REPLY_QUEUE_URL=queue.url).invoke(batch([{"text": "twin", "correlation_id": sent}]))
    assert [reply["correlation_id"] for reply in queue.replies()] == [str(sent)]


@pytest.mark.parametrize("sent", [None, "", ...])
def test_missing_correlation_id_gives_the_message_id(sent: Any, aws: Aws, start: Start) -> None:
    queue = aws.queue()
    fields = {"text": "twin"} if sent is ... else {"text": "twin", "correlation_id": sent}
    start(REPLY_QUEUE_URL=queue.url).invoke(batch([fields], first=41))
    (reply,) = queue.replies()
    assert (reply["correlation_id"], reply["status"]) == ("41", "answered")


@pytest.mark.parametrize("sent", [True, [1], {"a": 1}, "a\nb", "\ud800", "\uffff", "x" * 257, "x" * 300_000])
def test_a_correlation_id_that_no_attribute_can_carry_is_refused(sent: Any, aws: Aws, start: Start) -> None:
    queue = aws.queue()
    assert returned(start(REPLY_QUEUE_URL=queue.url).invoke(batch([{"text": "twin", "correlation_id": sent}]))) == []
    (reply,) = queue.replies()
    assert (reply["correlation_id"], reply["status"]) == ("1", "refused")
    assert "correlation_id" in reply["answer"]["error"]


@pytest.mark.parametrize(
    "name",
    ["sqs-standard", "sqs-fifo", "sqs-sns-wrapped", "sqs-sns-raw", "sqs-event-bridge"],
)
def test_a_message_that_comes_again_has_the_same_reply_id(name: str, load_event: Any, aws: Aws, start: Start) -> None:
    queue = aws.queue()
    function, event = start(REPLY_QUEUE_URL=queue.url), load_event(name)
    seen = []
    for _ in range(2):
        assert returned(function.invoke(event)) == []
        seen.append([reply["reply_id"] for reply in queue.replies()])
        for record in event["Records"]:
            record["attributes"]["ApproximateReceiveCount"] = "2"
            record["receiptHandle"] = "another"
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == len(event["Records"])


def test_a_topic_that_delivers_twice_is_answered_once(load_event: Any, aws: Aws, start: Start) -> None:
    """SNS may put one notification into a queue as two messages."""
    queue = aws.queue()
    event = load_event("sqs-sns-wrapped")
    event["Records"].append({**event["Records"][0], "messageId": "00000000-0000-4000-8000-000000000002"})
    assert returned(start(REPLY_QUEUE_URL=queue.url).invoke(event)) == []
    assert len(queue.replies()) == 1


def test_messages_that_claim_one_id_are_all_answered(aws: Aws, start: Start) -> None:
    """An envelope may have an invalid id. Other messages must still get their replies."""
    queue = aws.queue()
    bodies = [{"Type": "Notification", "MessageId": "same", "Message": json.dumps({"text": text})} for text in "ab"]
    start(REPLY_QUEUE_URL=queue.url).invoke(batch(bodies))
    assert len({reply["reply_id"] for reply in queue.replies()}) == 2


@pytest.mark.parametrize(
    "extra",
    [
        {"reply_to": "{other}", "reply_queue_url": "{other}", "REPLY_QUEUE_URL": "{other}", "ReplyTo": "{other}"},
        {"settings": {"reply_queue_url": "{other}"}, "destination": {"queue": "{other}"}, "QueueUrl": "{other}"},
    ],
)
def test_reply_to_in_a_message_is_ignored(extra: dict[str, Any], aws: Aws, start: Start) -> None:
    queue, other = aws.queue(), aws.queue()
    named = json.loads(json.dumps(extra).replace("{other}", other.url))
    event = batch([{"text": "twin", **named}])
    event["Records"][0]["messageAttributes"] = {"reply_to": {"stringValue": other.url, "dataType": "String"}}
    start(REPLY_QUEUE_URL=queue.url).invoke(event)
    assert len(queue.replies()) == 1
    assert other.replies() == []


def test_a_fifo_destination_keeps_the_groups_of_the_source(aws: Aws, start: Start) -> None:
    queue = aws.queue(fifo=True)
    bodies = [{"text": "twin", "correlation_id": str(number)} for number in range(6)]
    start(REPLY_QUEUE_URL=queue.url).invoke(batch(bodies, ["a", "b", "a", "b", "c", "a"]))
    messages = queue.taken()
    groups: dict[str, list[str]] = {}
    for message in messages:
        groups.setdefault(message["Attributes"]["MessageGroupId"], []).append(reply_in(message)["correlation_id"])
        assert message["Attributes"]["MessageDeduplicationId"] == reply_in(message)["reply_id"]
    assert groups == {"a": ["0", "2", "5"], "b": ["1", "3"], "c": ["4"]}


def test_fifo_destination_gets_a_standard_queues_replies(aws: Aws, start: Start) -> None:
    queue = aws.queue(fifo=True)
    event = batch([{"text": "twin", "correlation_id": "ü 1"}, {"text": "robot"}])
    event["Records"][0]["attributes"]["MessageGroupId"] = "fair share"  # a standard queue may have groups as well
    assert returned(start(REPLY_QUEUE_URL=queue.url).invoke(event)) == []
    messages = queue.taken()
    assert {message["Attributes"]["MessageGroupId"] for message in messages} == {
        reply_in(message)["reply_id"] for message in messages
    }


def test_characters_that_sqs_refuses_are_escaped(aws: Aws, start: Start) -> None:
    """U+FFFE and U+FFFF are valid in UTF-8 and JSON, but SQS refuses them."""
    queue = aws.queue()
    text = "a twin \uffff \ufffe \u0000 \U0001f600"
    assert returned(start(REPLY_QUEUE_URL=queue.url).invoke(batch([{"text": text}]))) == []
    (message,) = queue.taken()
    assert not {"\uffff", "\ufffe", "\u0000"} & set(message["Body"])
    assert json.loads(message["Body"])["answer"]["query"] == text


def test_question_over_http_loads_no_aws_sdk(aws: Aws, start: Start) -> None:
    """The sinks are built at the first message."""
    function = start(REPLY_QUEUE_URL=aws.queue().url)
    aws.door.requests.clear()
    assert function.ask().status == 200
    assert "_reply_sinks" not in vars(function.container)
    assert aws.door.requests == []


def test_reply_read_as_a_question_is_returned_unanswered(aws: Aws, start: Start, output: Output) -> None:
    """Replies are sent to the queue that questions are read from."""
    queue = aws.queue()
    function = start(REPLY_QUEUE_URL=queue.url)
    function.invoke(batch([ASKED, "{"]))
    replies = queue.replies()
    wrapped = {"detail-type": "Passage Reply", "source": "passage", "detail": replies[0]}
    assert returned(function.invoke(batch([*replies, wrapped]))) == ["1", "2", "3"]
    assert queue.replies() == []
    assert "replies are sent where questions are read" in output.text
