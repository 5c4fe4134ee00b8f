"""MCP with real services that fail: the model gets a sentence, the operator a log line and a count."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT
from mcp_server.mcp_calls import QUESTION, Reply, message, said
from programs import run
from tools.doubles import EmulatorServer, Fault
from wire.conftest import cohere, environ, gateway, output, qdrant, start  # noqa: F401 - fixtures
from wire.function import COHERE_KEY, Output, Start

CALLS = {"search": {"query": QUESTION}, "search_docs": {"question": QUESTION}, "fetch": {"id": "1"}}


@pytest.fixture(autouse=True)
def _no_faults(cohere: EmulatorServer, qdrant: EmulatorServer) -> Iterator[None]:  # noqa: F811
    yield
    cohere.faults.clear()
    qdrant.faults.clear()


def called(start: Start, tool: str, **variables: str) -> Reply:  # noqa: F811
    answer = start(**variables).post(message("tools/call", {"name": tool, "arguments": CALLS[tool]}), "/mcp")
    return Reply(answer.status, answer.headers, answer.text)


@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize(
    "fault",
    [Fault("status", status=429, retry_after=60, times=0), Fault("status", status=401, times=0)],
    ids=["429", "401"],
)
def test_failed_store_is_a_sentence(
    tool: str,
    fault: Fault,
    start: Start,  # noqa: F811
    qdrant: EmulatorServer,  # noqa: F811
) -> None:
    qdrant.faults.add(fault)
    reply = called(start, tool)
    assert reply.status == 200
    words = said(reply.result)
    assert words.endswith(".")
    for secret in (COHERE_KEY, qdrant.url, "127.0.0.1", "http"):
        assert secret not in words


def test_call_counts_as_one_question(start: Start, output: Output) -> None:  # noqa: F811
    called(start, "search")
    (line,) = (line for line in output.logs if line["message"] == "retrieved")
    assert (line["profile"], line["result_count"]) == ("query-response", 5)
    assert QUESTION not in output.text
    assert sum("TotalLatency" in record for record in output.metrics) == 1


def test_failed_call_is_counted_by_its_code(
    start: Start,  # noqa: F811
    qdrant: EmulatorServer,  # noqa: F811
    output: Output,  # noqa: F811
) -> None:
    qdrant.faults.add(Fault("status", status=429, retry_after=60, times=0))
    called(start, "search")
    assert sum("Error.UPSTREAM_THROTTLED" in record for record in output.metrics) == 1
    assert QUESTION not in output.text


def test_question_over_http_imports_nothing_of_mcp(textbook_index: Path) -> None:
    """A container that no agent asks does not pay for MCP."""
    script = """
import json, sys
from handler.app import lambda_handler
answer = lambda_handler(json.load(open("events/http-api-query.json")), None)
print(json.dumps([answer["statusCode"], [name for name in sys.modules if ".entrypoints.http.mcp" in name]]))
"""
    variables = {"COHERE_API_KEY": "key", "COHERE_BASE_URL": "http://127.0.0.1:1", "STORE": "qdrant_edge"}
    environment = {**os.environ, **variables, "EDGE_INDEX_PATH": str(textbook_index)}
    done = run(sys.executable, "-c", script, cwd=ROOT, env=environment)
    status, imported = json.loads(done.stdout.splitlines()[-1])
    assert status == 503
    assert imported == []
