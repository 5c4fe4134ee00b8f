"""A batch from a queue: every message is answered once or returns to the queue."""

import json
from typing import Any

import pytest

from entrypoints.aws import Aws, Context, Queue, batch, returned
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, Function, Output, Start, asked

TEXTS = [f"question number {number} about robots" for number in range(10)]
GOOD = [{"text": text, "k": 1, "correlation_id": str(number)} for number, text in enumerate(TEXTS)]

POISON = {
    "not JSON": "What is a digital twin?",
    "cut-off JSON": '{"text": "What is',
    "nothing": "",
    "not UTF-8": "\ud800",
    "a list": [{"text": "twin"}],
    "a number": "5",
    "null": "null",
    "JSON within JSON": json.dumps(json.dumps({"text": "twin"})) + " ",
    "no question": {"k": 5},
    "a blank question": {"text": " \n"},
    "a wrong count": {"text": "twin", "k": 1000},
    "a wrong kind": {"text": {"twin": 1}},
    "two names for one field": {"text": "twin", "query": "twin"},
    "an unknown profile": {"text": "twin", "profile": "nowhere"},
    "a path for a profile": {"text": "twin", "profile": "../../etc/passwd"},
    "a profile that is no text": {"text": "twin", "profile": {"name": ["chunks"]}},
    "half a surrogate pair": '{"text": "\\ud800 twin"}',
    "half a surrogate pair in a name": '{"text": "twin", "\\ud800": 1, "profile": "\\udfff"}',
    "a megabyte": {"text": "twin " * 200_000},
    "a megabyte that is no JSON": "twin " * 200_000,
    "deep nesting": '{"text": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "deep nesting in a profile": '{"text": "twin", "profile": ' + '{"a":' * 700 + "1" + "}" * 700 + "}",
    "many envelopes": '{"detail-type": "x", "detail": ' * 700 + '{"text": "twin"}' + "}" * 700,
    "an envelope round nothing": {"Type": "Notification", "MessageId": "m", "Message": "twin"},
    "an event round text": {"detail-type": "x", "source": "y", "detail": "twin"},
    "a collection of someone else's": {"query_text": "twin", "profile": "vector-search", "collection_name": "x"},
}


@pytest.fixture
def function(queue: Queue, start: Start) -> Function:
    return start(REPLY_QUEUE_URL=queue.url)


@pytest.mark.parametrize("kind", POISON)
def test_unanswerable_message_is_refused_once_and_not_returned(
    kind: str, function: Function, queue: Queue, cohere: EmulatorServer, qdrant: EmulatorServer
) -> None:
    assert returned(function.invoke(batch([POISON[kind]]))) == []
    (reply,) = queue.replies()
    assert (reply["status"], reply["correlation_id"]) == (
        "refused",
        "m" if kind == "an envelope round nothing" else "1",
    )
    assert "code" in json.dumps(reply["answer"])
    assert len(json.dumps(reply)) < 10_000
    assert cohere.requests == qdrant.requests == []


@pytest.mark.parametrize("identity", ["", "a\nb", "x" * 300_000, {"a": 1}, None, "\ud800"])
def test_envelope_id_unfit_for_an_attribute_gives_the_message_id(
    identity: object, function: Function, queue: Queue
) -> None:
    inside = json.dumps({"text": "twin"})
    bodies = [
        {"Type": "Notification", "MessageId": identity, "Message": inside},
        {"detail-type": "x", "id": identity, "detail": {"text": "twin"}},
    ]
    assert returned(function.invoke(batch(bodies))) == []
    assert [(reply["status"], reply["correlation_id"]) for reply in queue.replies()] == [
        ("answered", "1"),
        ("answered", "2"),
    ]


def test_batch_shares_one_embedding_call_and_one_search(
    function: Function, queue: Queue, cohere: EmulatorServer, qdrant: EmulatorServer
) -> None:
    assert returned(function.invoke(batch(GOOD))) == []
    assert len(queue.replies()) == 10
    (embedding,) = cohere.requests
    assert embedding.json()["texts"] == TEXTS
    (search,) = asked(qdrant, "/points/")
    assert search.path.endswith("/points/query/batch")
    assert len(search.json()["searches"]) == 3 * 10


def test_records_for_different_profiles_share_calls_within_each(
    function: Function, queue: Queue, cohere: EmulatorServer, qdrant: EmulatorServer
) -> None:
    bodies = [
        {"text": f"question {number}", "k": 3, "profile": "context" if number % 2 else "query-response"}
        for number in range(6)
    ]
    assert returned(function.invoke(batch(bodies))) == []
    assert [reply["profile"] for reply in queue.replies()].count("context") == 3
    assert (len(cohere.requests), len(asked(qdrant, "/points/"))) == (2, 2)


def test_an_answer_is_the_one_a_single_question_gets(function: Function, queue: Queue) -> None:
    function.invoke(batch(GOOD))
    replies = queue.replies()
    assert len(replies) == len(GOOD)
    for reply in replies:
        single = function.ask(reply["answer"]["query"], 1).results
        shared = reply["answer"]["results"]
        assert [result.pop("relevance_score") for result in shared] == pytest.approx(
            [result.pop("relevance_score") for result in single], abs=1e-5
        )
        assert shared == single


@pytest.mark.parametrize("which", ["cohere", "qdrant"])
@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", status=503, times=0),
        Fault("status", status=429, retry_after=60, times=0),
        Fault("drop", times=0),
        Fault("malformed", times=0),
    ],
    ids=["down", "throttled", "dropped", "unreadable"],
)
def test_temporary_failure_returns_messages_unanswered(
    which: str, fault: Fault, function: Function, queue: Queue, request: pytest.FixtureRequest
) -> None:
    emulator: EmulatorServer = request.getfixturevalue(which)
    emulator.faults.add(fault)
    bodies = [GOOD[0], POISON["not JSON"], GOOD[1]]
    assert returned(function.invoke(batch(bodies))) == ["1", "3"]
    assert [reply["status"] for reply in queue.replies()] == ["refused"]
    emulator.faults.clear()
    assert returned(function.invoke(batch([GOOD[0], GOOD[1]]))) == []
    assert len(queue.replies()) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"COLLECTION_NAME": "nowhere"},
        {"COHERE_API_KEY": "another-key"},
        {"COHERE_API_KEY": None},
        {"DEFAULT_PROFILE": "nowhere"},
        {"EMBEDDING_DIMENSION": "1024", "EMBEDDING_MODEL": "embed-english-v3.0"},
        {"QDRANT_URL": "127.0.0.1"},
    ],
)
def test_wrong_setting_returns_messages_to_the_queue(wrong: dict[str, str | None], queue: Queue, start: Start) -> None:
    assert returned(start(REPLY_QUEUE_URL=queue.url, **wrong).invoke(batch(GOOD[:2]))) == ["1", "2"]
    assert queue.replies() == []


def test_no_destination_returns_all_and_names_settings(start: Start, output: Output, cohere: EmulatorServer) -> None:
    assert returned(start().invoke(batch([*GOOD[:2], POISON["not JSON"]]))) == ["1", "2", "3"]
    assert cohere.requests == []
    (line,) = [line for line in output.logs if line["level"] == "ERROR"]
    for name in ("REPLY_QUEUE_URL", "REPLY_TOPIC_ARN", "REPLY_BUS_NAME"):
        assert name in line["message"]


def test_the_log_names_the_messages_that_come_again(function: Function, cohere: EmulatorServer, output: Output) -> None:
    cohere.faults.add(Fault("status", status=503, times=0))
    function.invoke(batch([GOOD[0], POISON["not JSON"], GOOD[1]]))
    (line,) = [line for line in output.logs if line["message"] == "messages returned to the queue"]
    assert (line["returned"], line["received"], line["message_ids"]) == (2, 3, ["1", "3"])


@pytest.mark.parametrize("kind", ["queue", "topic", "bus"])
def test_missing_destination_returns_the_messages(kind: str, aws: Aws, start: Start, output: Output) -> None:
    settings = {
        "queue": {"REPLY_QUEUE_URL": f"{aws.door.url}/123456789012/nowhere"},
        "topic": {"REPLY_TOPIC_ARN": "arn:aws:sns:eu-central-1:123456789012:nowhere"},
        "bus": {"REPLY_BUS_NAME": "nowhere"},
    }[kind]
    if kind == "bus":  # moto's buses are there as soon as they are named
        body = {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "ResourceNotFoundException", "ErrorMessage": "none"}]}
        aws.door.faults.add(Fault("status", status=200, body=json.dumps(body), times=0))
    assert returned(start(**settings).invoke(batch(GOOD[:2]))) == ["1", "2"]
    errors = [line for line in output.logs if line["level"] == "ERROR"]
    assert {line["code"] for line in errors} == {"CONFIGURATION_ERROR"}
    assert all("nowhere" in line["detail"] for line in errors)
    assert all("destination exists" in line["message"] for line in errors)


REFUSALS = {
    "denied": (403, "AccessDeniedException", "CONFIGURATION_ERROR"),
    "throttled": (400, "ThrottlingException", "UPSTREAM_THROTTLED"),
    "down": (503, "ServiceUnavailable", "UPSTREAM_UNAVAILABLE"),
}


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("kind", ["queue", "topic", "bus"])
def test_a_destination_that_refuses_sends_the_messages_back(
    kind: str, refusal: str, aws: Aws, start: Start, output: Output
) -> None:
    status, code, expected = REFUSALS[refusal]
    settings, queue = aws.destination(kind)
    body = json.dumps({"__type": f"com.amazonaws.sqs#{code}" if kind == "queue" else code, "message": "no"})
    if kind == "topic":
        body = f"<ErrorResponse><Error><Code>{code}</Code></Error></ErrorResponse>"
    aws.door.faults.add(Fault("status", status=status, body=body, times=0))
    assert returned(start(**settings).invoke(batch([GOOD[0], POISON["not JSON"]]))) == ["1", "2"]
    assert queue.replies() == []
    assert {line["code"] for line in output.logs if line["level"] == "ERROR"} == {expected}


def test_dropped_connection_to_a_destination_is_retried(aws: Aws, function: Function, queue: Queue) -> None:
    aws.door.faults.add(Fault("drop"))
    assert returned(function.invoke(batch(GOOD[:1]))) == []
    assert len(queue.replies()) == 1


def test_an_entry_that_a_bus_refuses_sends_its_message_back(aws: Aws, start: Start) -> None:
    name, queue = aws.bus()
    body = {"FailedEntryCount": 1, "Entries": [{"ErrorCode": "InternalFailure", "ErrorMessage": "again"}]}
    aws.door.faults.add(Fault("status", status=200, body=json.dumps(body), times=2))
    assert returned(start(REPLY_BUS_NAME=name).invoke(batch(GOOD[:2]))) == ["1"]
    assert len(queue.replies()) == 1


@pytest.mark.parametrize("answered", range(4))
def test_destination_outage_mid_batch_returns_the_unanswered(
    answered: int, aws: Aws, function: Function, queue: Queue
) -> None:
    aws.door.faults.add(Fault("slow", times=answered)) if answered else None
    aws.door.faults.add(Fault("status", status=500, times=0))
    assert returned(function.invoke(batch(GOOD[:4]))) == [str(number) for number in range(answered + 1, 5)]
    assert [reply["correlation_id"] for reply in queue.replies()] == [str(number) for number in range(answered)]
    aws.door.faults.clear()
    assert returned(function.invoke(batch(GOOD[answered:4], first=answered + 1))) == []
    assert len(queue.replies()) == 4 - answered


def test_outage_mid_batch_returns_the_second_profiles_messages(
    function: Function, queue: Queue, cohere: EmulatorServer
) -> None:
    cohere.faults.add(Fault("slow", times=1))
    cohere.faults.add(Fault("status", status=503, times=0))
    bodies = [GOOD[0], {"text": "twin", "profile": "context"}, GOOD[1], {"query_text": "twin", "profile": "chunks"}]
    assert returned(function.invoke(batch(bodies))) == ["2", "4"]
    assert len(queue.replies()) == 2


def test_failed_search_of_a_batch_does_not_affect_others(
    function: Function, queue: Queue, qdrant: EmulatorServer
) -> None:
    """Questions of a batch that the store refuses are searched one by one, to find the refused one."""
    qdrant.faults.add(Fault("status", status=400, path="/points/query/batch"))
    qdrant.faults.add(Fault("slow", times=1, path="/points/query"))
    qdrant.faults.add(Fault("status", status=400, path="/points/query"))
    assert returned(function.invoke(batch(GOOD[:3]))) == ["2"]
    assert [reply["correlation_id"] for reply in queue.replies()] == ["0", "2"]


@pytest.mark.parametrize("milliseconds", [0, 200, 900, 1_400])
def test_an_almost_spent_deadline_sends_all_back_without_a_call(
    milliseconds: int, function: Function, queue: Queue, cohere: EmulatorServer, output: Output
) -> None:
    event = batch([*GOOD[:2], POISON["not JSON"]])
    assert returned(function.invoke(event, Context(milliseconds))) == ["1", "2", "3"]
    assert queue.replies() == []
    assert cohere.requests == []
    assert "messages returned to the queue" in output.text


def test_slow_service_leaves_time_to_refuse_bad_messages(
    function: Function, queue: Queue, cohere: EmulatorServer
) -> None:
    cohere.faults.add(Fault("slow", delay_ms=5_000, times=0))
    event = batch([GOOD[0], POISON["not JSON"]])
    assert returned(function.invoke(event, Context(4_000))) == ["1"]
    assert [reply["status"] for reply in queue.replies()] == ["refused"]


def test_slow_destination_returns_the_rest_of_the_batch(aws: Aws, function: Function, queue: Queue) -> None:
    """If Lambda stopped the function half way, the whole batch would return, including answered messages."""
    function.invoke(batch(GOOD[:1]))  # the first one makes the clients, which takes a busy machine its time
    queue.replies()
    aws.door.faults.add(Fault("slow", delay_ms=600, times=0))
    came_back = returned(function.invoke(batch(GOOD), Context(5_000)))
    aws.door.faults.clear()
    replies = [reply["correlation_id"] for reply in queue.replies()]
    assert 0 < len(came_back) < 10
    assert sorted([*replies, *(str(int(identity) - 1) for identity in came_back)], key=int) == [
        str(number) for number in range(10)
    ]


def test_fifo_failure_stops_its_group_and_others_go_on(aws: Aws, function: Function, queue: Queue) -> None:
    aws.door.faults.add(Fault("slow", times=2))
    aws.door.faults.add(Fault("status", status=500, times=2))  # the third reply, and boto3's second attempt at it
    groups = ["a", "b", "a", "b", "a", "c"]
    assert returned(function.invoke(batch(GOOD[:6], groups))) == ["3", "5"]
    assert [reply["correlation_id"] for reply in queue.replies()] == ["0", "1", "3", "5"]


def test_fifo_goes_on_after_a_message_that_is_refused(function: Function, queue: Queue) -> None:
    event = batch([GOOD[0], POISON["not JSON"], GOOD[1]], ["a", "a", "a"])
    assert returned(function.invoke(event)) == []
    assert [reply["status"] for reply in queue.replies()] == ["answered", "refused", "answered"]


def test_fifo_does_not_answer_past_a_question_that_failed(
    function: Function, queue: Queue, cohere: EmulatorServer
) -> None:
    cohere.faults.add(Fault("slow", times=1))
    cohere.faults.add(Fault("status", status=503, times=0))
    bodies = [GOOD[0], {"text": "twin", "profile": "context"}, GOOD[1], POISON["not JSON"], GOOD[2]]
    assert returned(function.invoke(batch(bodies, ["a", "a", "a", "a", "b"]))) == ["2", "3", "4"]
    assert [reply["correlation_id"] for reply in queue.replies()] == ["0", "2"]


def test_a_standard_queue_has_no_order_to_keep(aws: Aws, function: Function, queue: Queue) -> None:
    aws.door.faults.add(Fault("status", status=500, times=2))
    event = batch(GOOD[:3])
    for record in event["Records"]:
        record["attributes"]["MessageGroupId"] = "fair"
    assert returned(function.invoke(event)) == ["1"]
    assert len(queue.replies()) == 2


def test_record_without_an_id_returns_the_whole_batch(function: Function, output: Output) -> None:
    event = batch(GOOD[:2])
    del event["Records"][1]["messageId"]
    assert len(returned(function.invoke(event))) == 2
    assert "messageId" in output.text


@pytest.mark.parametrize("unused", ["receiptHandle", "attributes", "eventSourceARN", "messageAttributes"])
def test_record_without_an_unused_part_is_answered(unused: str, function: Function, queue: Queue) -> None:
    event = batch(GOOD[:2])
    del event["Records"][1][unused]
    assert returned(function.invoke(event)) == []
    assert [reply["status"] for reply in queue.replies()] == ["answered"] * 2


def test_record_without_a_body_is_refused_alone(function: Function, queue: Queue) -> None:
    event = batch(GOOD[:2])
    del event["Records"][1]["body"]
    assert returned(function.invoke(event)) == []
    assert sorted(reply["status"] for reply in queue.replies()) == ["answered", "refused"]


def test_no_message_is_lost_from_queue_to_queue(
    aws: Aws, function: Function, queue: Queue, cohere: EmulatorServer, qdrant: EmulatorServer
) -> None:
    questions = aws.queue()
    bodies: list[Any] = [*GOOD, *(body for kind, body in POISON.items() if kind != "not UTF-8")]
    for body in bodies:
        text = body if isinstance(body, str) else json.dumps(body)
        if 0 < len(text) < 200_000:
            questions.put(text)
    sent = sum(0 < len(body if isinstance(body, str) else json.dumps(body)) < 200_000 for body in bodies)
    cohere.faults.add(Fault("status", status=503, times=2))
    qdrant.faults.add(Fault("drop", times=2))
    aws.door.faults.add(Fault("slow", times=5))
    aws.door.faults.add(Fault("status", status=500, times=4))
    deliveries = 0
    while (received := questions.deliver(function.invoke)[0]) and deliveries < 50:
        deliveries += 1
        assert received
    replies = queue.replies()
    assert len(replies) == len({reply["reply_id"] for reply in replies}) == sent
    answered = [reply["answer"]["query"] for reply in replies if reply["status"] == "answered"]
    assert sorted(answered) == sorted(TEXTS)


def test_fifo_messages_go_from_queue_to_queue_in_order(aws: Aws, start: Start) -> None:
    questions, replies = aws.queue(fifo=True), aws.queue(fifo=True)
    function = start(REPLY_QUEUE_URL=replies.url)
    for number in range(12):
        questions.put(json.dumps({"text": QUESTION, "k": 1, "correlation_id": number}), group="ab"[number % 2])
    aws.door.faults.add(Fault("slow", times=3))
    aws.door.faults.add(Fault("status", status=500, times=2))
    for _ in range(20):
        questions.deliver(function.invoke)
    order: dict[str, list[int]] = {"a": [], "b": []}
    for message in replies.taken():
        number = int(json.loads(message["Body"])["correlation_id"])
        order[message["Attributes"]["MessageGroupId"]].append(number)
    assert order == {"a": [0, 2, 4, 6, 8, 10], "b": [1, 3, 5, 7, 9, 11]}
