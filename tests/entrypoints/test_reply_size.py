"""A reply fits into the 256 KB of SQS, SNS and EventBridge, including attributes."""

import json

import pytest

from entrypoints.aws import Aws, batch, returned
from entrypoints.conftest import Large
from wire.function import Start

LIMIT = 262_144


@pytest.mark.parametrize("letter", ["a", "ü", "机", "\U0001f600", '"', "\u0001", "\uffff"])
@pytest.mark.parametrize("kind", ["queue", "topic", "bus"])
def test_a_reply_too_large_is_shortened_and_says_by_how_much(
    kind: str, letter: str, aws: Aws, start: Start, large: Large
) -> None:
    text = letter * 2_000
    written = len(json.dumps(text, ensure_ascii=False).encode())
    settings, queue = aws.destination(kind)
    function = start(COLLECTION_NAME=large([text] * 100), **settings)
    asked = {"text": "twin", "k": 100, "correlation_id": "ü" * 256}
    assert returned(function.invoke(batch([asked, {"text": "twin", "k": 1}]))) == []
    messages = queue.taken()
    if kind == "bus":
        replies = [json.loads(message["Body"])["detail"] for message in messages]
    else:
        replies = [json.loads(message["Body"]) for message in messages]
        size = len(messages[0]["Body"].encode()) + sum(
            len(f"{name}{each['DataType']}{each['StringValue']}".encode())
            for name, each in messages[0]["MessageAttributes"].items()
        )
        assert size <= LIMIT
    shown = replies[0]["answer"]["results"]
    assert replies[0]["results_left_out"] == 100 - len(shown)
    assert replies[0]["answer"]["total_results"] == len(shown)
    assert all(result["chunk_text"] == text for result in shown)
    if 100 * written > LIMIT and letter != "\uffff":
        assert 0 < len(shown) < 100
        assert (len(shown) + 1) * (written + 200) > LIMIT - 3_000, "UTF-8's bytes are what counts, not JSON's escapes"
    if 110 * written < LIMIT and letter != "\uffff":
        assert len(shown) == 100
    assert (len(replies[1]["answer"]["results"]), replies[1]["results_left_out"]) == (1, 0)


def test_a_passage_that_is_too_large_by_itself_is_left_out(aws: Aws, start: Start, large: Large) -> None:
    queue = aws.queue()
    function = start(COLLECTION_NAME=large(["a" * 300_000]), REPLY_QUEUE_URL=queue.url)
    assert returned(function.invoke(batch([{"text": "twin"}]))) == []
    (reply,) = queue.replies()
    assert (reply["status"], reply["answer"]["results"], reply["results_left_out"]) == ("answered", [], 1)


def test_the_longest_question_comes_back_whole(aws: Aws, start: Start) -> None:
    queue = aws.queue()
    text = "\U0001f600" * 10_000
    assert returned(start(REPLY_QUEUE_URL=queue.url).invoke(batch([{"text": text, "k": 1}]))) == []
    (reply,) = queue.replies()
    assert reply["answer"]["query"] == text
