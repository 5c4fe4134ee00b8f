"""IDEMPOTENCY_TABLE: a message that is delivered twice is answered once, after any failure in between."""

import json

import pytest

from entrypoints.aws import Aws, Queue, batch, returned
from handler.adapters.aws import replies
from tools.doubles import Fault
from wire.function import Function, Output, Start

GOOD = [{"text": "What is a digital twin?", "k": 1, "correlation_id": name} for name in "abc"]
BAD = {"text": " ", "correlation_id": "bad"}


@pytest.fixture
def table(aws: Aws) -> str:
    return aws.table()


@pytest.fixture
def function(queue: Queue, table: str, start: Start) -> Function:
    return start(REPLY_QUEUE_URL=queue.url, IDEMPOTENCY_TABLE=table)


def names(queue: Queue) -> list[str]:
    return [reply["correlation_id"] for reply in queue.replies()]


def test_a_second_delivery_sends_nothing(function: Function, queue: Queue) -> None:
    event = batch([*GOOD, BAD])
    assert returned(function.invoke(event)) == []
    assert names(queue) == ["a", "b", "c", "bad"]
    assert returned(function.invoke(event)) == []
    assert names(queue) == []


def test_another_container_knows_what_the_first_one_sent(
    function: Function, queue: Queue, table: str, start: Start
) -> None:
    function.invoke(batch(GOOD))
    assert returned(start(REPLY_QUEUE_URL=queue.url, IDEMPOTENCY_TABLE=table).invoke(batch(GOOD))) == []
    assert names(queue) == ["a", "b", "c"]


def test_without_the_table_a_redelivery_sends_the_reply_again(queue: Queue, start: Start) -> None:
    function = start(REPLY_QUEUE_URL=queue.url)
    for _ in range(2):
        function.invoke(batch(GOOD[:1]))
    first, second = queue.replies()
    assert first["reply_id"] == second["reply_id"]


def test_unsent_reply_is_sent_with_the_next_delivery(aws: Aws, function: Function, queue: Queue) -> None:
    aws.door.faults.add(Fault("slow"))  # the note before it
    aws.door.faults.add(Fault("status", status=500, times=2))  # the reply, and boto3's second attempt at it
    assert returned(function.invoke(batch(GOOD))) == ["1"]
    assert names(queue) == ["b", "c"]
    assert returned(function.invoke(batch(GOOD))) == []
    assert names(queue) == ["a"]


def test_a_reply_that_was_sent_but_not_noted_is_not_sent_again(aws: Aws, function: Function, queue: Queue) -> None:
    """The message does not return to the queue, so the missing record does no harm."""
    aws.door.faults.add(Fault("slow", times=2))
    aws.door.faults.add(Fault("status", status=500))
    assert returned(function.invoke(batch(GOOD[:1]))) == []
    assert names(queue) == ["a"]


def test_only_the_failed_destination_gets_the_reply_again(aws: Aws, queue: Queue, table: str, start: Start) -> None:
    arn, other = aws.topic()
    function = start(REPLY_QUEUE_URL=queue.url, REPLY_TOPIC_ARN=arn, IDEMPOTENCY_TABLE=table)
    aws.door.faults.add(Fault("slow", times=4))  # note, reply and note for the queue, note for the topic
    refusal = "<ErrorResponse><Error><Code>InternalError</Code></Error></ErrorResponse>"
    aws.door.faults.add(Fault("status", status=500, body=refusal, times=2))
    assert returned(function.invoke(batch(GOOD[:1]))) == ["1"]
    assert returned(function.invoke(batch(GOOD[:1]))) == []
    assert (names(queue), names(other)) == (["a"], ["a"])


def test_missing_table_returns_the_messages_and_is_logged(queue: Queue, start: Start, output: Output) -> None:
    function = start(REPLY_QUEUE_URL=queue.url, IDEMPOTENCY_TABLE="nowhere")
    assert returned(function.invoke(batch(GOOD))) == ["1", "2", "3"]
    assert names(queue) == []
    assert {line["code"] for line in output.logs if line["level"] == "ERROR"} == {"CONFIGURATION_ERROR"}


@pytest.mark.parametrize("fault", [Fault("drop"), Fault("status", status=500)], ids=["dropped", "down"])
def test_a_table_that_fails_for_a_while_sends_the_message_back(
    fault: Fault, aws: Aws, function: Function, queue: Queue
) -> None:
    aws.door.faults.add(fault)
    assert returned(function.invoke(batch(GOOD))) == ["1"]
    assert names(queue) == ["b", "c"]


def test_delivery_running_elsewhere_is_returned_until_expired(
    aws: Aws, function: Function, queue: Queue, table: str, output: Output
) -> None:
    """A container that dies while sending must not block the reply for ever."""
    function.invoke(batch(GOOD[:1]))
    (item,) = aws.client("dynamodb").scan(TableName=table)["Items"]
    running = {**item, "status": {"S": "INPROGRESS"}, "in_progress_expiration": {"N": str(10**15)}}
    aws.client("dynamodb").put_item(TableName=table, Item=running)
    assert returned(function.invoke(batch(GOOD[:1]))) == ["1"]
    assert any("IdempotencyAlreadyInProgressError" in str(line.get("detail")) for line in output.logs)
    dead = {**running, "in_progress_expiration": {"N": "1000"}}
    aws.client("dynamodb").put_item(TableName=table, Item=dead)
    assert returned(function.invoke(batch(GOOD[:1]))) == []
    assert names(queue) == ["a", "a"]


def test_record_has_the_time_limit_of_an_attempt(aws: Aws, function: Function, table: str) -> None:
    aws.door.faults.add(Fault("slow"))
    aws.door.faults.add(Fault("status", status=500, times=0))  # not even the note can be taken back
    assert returned(function.invoke(batch(GOOD[:1]))) == ["1"]
    (item,) = aws.client("dynamodb").scan(TableName=table)["Items"]
    assert item["status"]["S"] == "INPROGRESS"
    noted, until = int(item["expiration"]["N"]) - replies.REMEMBERED_SECONDS, int(item["in_progress_expiration"]["N"])
    assert 0 < until / 1000 - noted <= replies.SEND_SECONDS + replies.TABLE_SECONDS + 2


def test_table_has_no_text_of_questions_or_answers(aws: Aws, function: Function, table: str) -> None:
    function.invoke(batch(GOOD))
    items = json.dumps(aws.client("dynamodb").scan(TableName=table)["Items"])
    assert "twin" not in items
