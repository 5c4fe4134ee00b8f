"""EventBridge Pipes: a bare list of records. Returning from one deletes it, so a failure is named or raised."""

from typing import Any

import pytest

from entrypoints.aws import Aws
from handler.core.errors import InvalidRequest
from tools.doubles import EmulatorServer, Fault
from wire.function import Start


def test_each_record_is_answered_once(start: Start, aws: Aws, load_event: Any) -> None:
    queue = aws.queue()
    assert start(REPLY_QUEUE_URL=queue.url).invoke(load_event("pipes-query")) == {"batchItemFailures": []}
    assert [reply["status"] for reply in queue.replies()] == ["answered", "answered", "refused"]


def test_records_that_failed_for_now_are_named(start: Start, aws: Aws, load_event: Any, cohere: EmulatorServer) -> None:
    cohere.faults.add(Fault("status", status=503, times=0))
    event = load_event("pipes-query")
    answer = start(REPLY_QUEUE_URL=aws.queue().url).invoke(event)
    assert answer == {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in event[:2]]}


def test_pipe_without_a_reply_destination_keeps_its_records(start: Start, load_event: Any) -> None:
    event = load_event("pipes-query")
    answer = start().invoke(event)
    assert [item["itemIdentifier"] for item in answer["batchItemFailures"]] == [each["messageId"] for each in event]


@pytest.mark.parametrize(
    "record",
    [
        *(5, None, {}, {"eventSource": "aws:kinesis", "data": "e30="}, {"eventSource": "aws:sqs"}),
        {"eventSource": "aws:sqs", "messageId": None, "body": "{}"},
    ],
)
def test_record_that_cannot_be_named_is_raised(record: Any, start: Start, load_event: Any) -> None:
    with pytest.raises(InvalidRequest, match="messageId"):
        start().invoke([*load_event("pipes-query"), record])
