"""The heartbeat asks through the whole pipeline, past the cache, and counts in its own metric alone."""

from typing import Any

import pytest

from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, MakeCollection, Output, Start

pytestmark = pytest.mark.usefixtures("warm")

BEAT = {"heartbeat": QUESTION}


def _counted(output: Output) -> list[Any]:
    """The heartbeat's values, of records that have no other metric, by service alone."""
    records = [record for record in output.metrics if "Heartbeat" in record]
    for record in records:
        (directive,) = record["_aws"]["CloudWatchMetrics"]
        assert directive["Dimensions"] == [["service"]]
        assert directive["Metrics"] == [{"Name": "Heartbeat", "Unit": "Count"}]
    return [record["Heartbeat"] for record in records]


def test_each_heartbeat_embeds_and_counts_itself_alone(start: Start, output: Output, cohere: EmulatorServer) -> None:
    function = start()
    function.ask(QUESTION)  # its embedding is cached now
    before = len(cohere.requests)
    assert [function.invoke(BEAT)["status"] for _ in range(3)] == ["ok"] * 3
    assert len(cohere.requests) == before + 3
    assert _counted(output) == [[1.0]] * 3
    assert len(output.metrics) == 1 + 3, "the reader's question has the only other record"
    assert len(function.container.served(None).retriever.embedder.cache) == 1, "the reader's embedding"


def test_failed_heartbeat_counts_zero_and_says_why(start: Start, output: Output, cohere: EmulatorServer) -> None:
    cohere.faults.add(Fault(kind="status", status=503, times=0))
    answer = start().invoke(BEAT)
    assert (answer["status"], answer["code"]) == ("failed", "UPSTREAM_UNAVAILABLE")
    assert _counted(output) == [[0.0]]
    (line,) = [line for line in output.logs if line["message"].startswith("heartbeat: ")]
    assert (line["level"], line["code"]) == ("ERROR", "UPSTREAM_UNAVAILABLE")


def test_heartbeat_that_finds_nothing_has_failed(start: Start, output: Output, make_collection: MakeCollection) -> None:
    answer = start(COLLECTION_NAME=make_collection("nothing")).invoke(BEAT)
    assert (answer["status"], answer["code"]) == ("failed", "CONFIGURATION_ERROR")
    assert "found no passage" in answer["message"]
    assert _counted(output) == [[0.0]]


def test_wrong_settings_fail_the_heartbeat(start: Start, output: Output) -> None:
    assert start(STORE="redis").invoke(BEAT)["code"] == "CONFIGURATION_ERROR"
    assert _counted(output) == [[0.0]]
