"""The function in Lambda's runtime: every sample event, the cold start, and errors."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import EVENTS
from entrypoints import aws
from entrypoints.aws import Aws, Queue
from textbook import copy_index
from tools.qdrant.emulator import qdrant_emulator
from tools.runtime import Runtime

EXPECTED = {
    "alb-multi-value-query": 200,
    "alb-query": 200,
    "alb-query-get": 200,
    "function-url-query": 200,
    "http-api-blank": 400,
    "http-api-chunk": 200,
    "http-api-collection": 200,
    "http-api-health": 200,
    "http-api-mcp-call": 200,
    "http-api-preflight": 204,
    "http-api-profile-query": 200,
    "http-api-query": 200,
    "http-api-query-get": 200,
    "http-api-ready": 200,
    "http-api-unknown-chunk": 404,
    "http-api-unknown-path": 404,
    "rest-api-health": 200,
    "rest-api-mcp-initialize": 200,
    "rest-api-query": 200,
    "rest-api-query-get": 200,
    "direct-invalid-k": "INVALID_INPUT",
    "agent-core-query": None,
    "direct-query": None,
    "step-functions-query": None,
}
"""An event's HTTP status, or for a direct invocation its error code."""

REPLIES = {
    "event-bridge-query": ["answered"],
    "pipes-query": ["answered", "answered", "refused"],
    "sns-query": ["answered"],
    "sqs-event-bridge": ["answered"],
    "sqs-fifo": ["answered", "answered", "answered"],
    "sqs-sns-raw": ["answered"],
    "sqs-sns-wrapped": ["answered"],
    "sqs-standard": ["answered", "answered", "refused"],
}
"""The status of each reply to a message."""

AGENTS = ("bedrock-agent-function", "bedrock-agent-path")

ORIGIN = "http://localhost:3000"


def headers(answer: dict[str, Any]) -> dict[str, str]:
    """A response's headers, in either of the two formats."""
    if "multiValueHeaders" in answer:
        return {name: values[0] for name, values in answer["multiValueHeaders"].items()}
    return dict(answer["headers"])


def test_every_sample_event_has_its_expected_answer_here() -> None:
    assert {*EXPECTED, *REPLIES, *AGENTS, "direct-batch", "heartbeat"} == {path.stem for path in EVENTS.glob("*.json")}


def test_heartbeat_finds_a_passage(edge: Runtime, load_event: Any) -> None:
    answer = edge.invoke(load_event("heartbeat"))
    assert answer["status"] == "ok"
    assert answer["result_count"] > 0


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_sample_event_is_answered(edge: Runtime, load_event: Any, name: str) -> None:
    answer, expected = edge.invoke(load_event(name)), EXPECTED[name]
    if not name.startswith(("agent-core", "direct", "step-functions")):
        assert answer["statusCode"] == expected
        assert headers(answer)["Access-Control-Allow-Origin"] == ORIGIN
        assert headers(answer)["Vary"] == "Origin"
        if expected == 204:
            return
        assert headers(answer)["Content-Type"] == "application/json"
        answer = json.loads(answer["body"])
    if name.endswith(("query", "query-get")) and "unknown" not in name:
        assert answer["total_results"] == len(answer["results"]) == answer["k"]
        assert all(result["chunk_text"] and result["url"].startswith("https://") for result in answer["results"])
    if isinstance(expected, str) or expected in (400, 404):
        assert answer["code"] == "INVALID_INPUT"


@pytest.mark.parametrize("name", AGENTS)
def test_every_sample_call_of_an_agent_is_answered(edge: Runtime, load_event: Any, name: str) -> None:
    answer, event = edge.invoke(load_event(name)), load_event(name)
    assert answer["messageVersion"] == "1.0"
    assert answer["response"]["actionGroup"] == event["actionGroup"]
    assert answer["sessionAttributes"] == event["sessionAttributes"]


@pytest.fixture(scope="module")
def cloud() -> Iterator[Aws]:
    with aws.cloud() as running:
        yield running


@pytest.fixture(scope="module")
def replies(cloud: Aws) -> Queue:
    return cloud.queue()


@pytest.fixture(scope="module")
def with_queue(start: Any, cloud: Aws, replies: Queue, several_indexes: Path) -> Runtime:
    """A container that sends replies to a queue, for three profiles."""
    store = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(several_indexes)}
    runtime: Runtime = start(**store, **cloud.environ, REPLY_QUEUE_URL=replies.url)
    return runtime


@pytest.mark.parametrize("name", sorted(REPLIES))
def test_every_sample_message_is_answered(with_queue: Runtime, replies: Queue, load_event: Any, name: str) -> None:
    answer = with_queue.invoke(load_event(name))
    if name.startswith(("pipes", "sqs")):
        assert answer == {"batchItemFailures": []}, with_queue.log()[-3000:]
        made = replies.replies()
    else:  # Lambda hands on what is returned
        made = answer if isinstance(answer, list) else [answer]
        assert replies.replies() == []
    assert [reply["status"] for reply in made] == REPLIES[name]
    for reply in made:
        assert reply["profile"] == "query-response"
        if reply["status"] == "answered":
            results = reply["answer"]["results"]
            assert len(results) == reply["answer"]["k"]
            assert all(result["url"].startswith("https://") for result in results)


def test_second_delivery_with_a_table_sends_no_reply(
    start: Any, cloud: Aws, textbook_index: Path, load_event: Any
) -> None:
    queue = cloud.queue()
    store = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(textbook_index)}
    runtime = start(**store, **cloud.environ, REPLY_QUEUE_URL=queue.url, IDEMPOTENCY_TABLE=cloud.table())
    for expected in (3, 0):
        assert runtime.invoke(load_event("sqs-standard")) == {"batchItemFailures": []}, runtime.log()[-3000:]
        assert len(queue.replies()) == expected
    assert "Warning" not in runtime.log()


@pytest.mark.parametrize("event", [{}, [], "text", 5, None, {"Records": []}, {"detail-type": "x", "detail": {}}])
def test_unknown_event_error_lists_the_known_shapes(edge: Runtime, event: Any) -> None:
    answer = edge.invoke(event)
    assert answer["code"] == "INVALID_INPUT"
    assert "no known shape" in answer["error"]


def test_cold_start_logs_nothing(edge: Runtime) -> None:
    edge.invoke({"text": "warm"})
    before_the_first_event = edge.log().split("INIT RTDONE")[0]
    assert '"level"' not in before_the_first_event
    assert edge.init_ms() > 0


def test_no_log_line_holds_the_key_or_a_question(edge: Runtime) -> None:
    edge.invoke({"text": "a rather unusual question 7f3a"})
    assert "test-key-41c7" not in edge.log()
    assert "7f3a" not in edge.log()


@pytest.fixture(scope="module")
def storage(textbook_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Qdrant server that holds the textbook, and an empty collection of another dimension."""
    folder = tmp_path_factory.mktemp("storage")
    copy_index(textbook_index / "query-response" / "shard", folder / "rag_embeddings")
    with qdrant_emulator(folder) as emulator:
        yield emulator


def test_a_server_answers_as_the_in_process_engine_does(
    start: Any, storage: Any, edge: Runtime, load_event: Any
) -> None:
    runtime = start(QDRANT_URL=storage.url)
    event = load_event("http-api-query")
    ours, theirs = (json.loads(each.invoke(event)["body"])["results"] for each in (runtime, edge))
    assert [result["chunk_id"] for result in ours] == [result["chunk_id"] for result in theirs]
    assert [result["relevance_score"] for result in ours] == pytest.approx(
        [result["relevance_score"] for result in theirs], abs=1e-5
    )
    assert "warm-up failed" not in runtime.log()
