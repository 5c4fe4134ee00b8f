"""A container in Lambda's own loop that reranks, and each kind of answer that the reranker may give."""

import json
from pathlib import Path
from typing import Any

import pytest

from entrypoints.aws import CREDENTIALS
from passage.local.http_event import http_api_event
from runtime.conftest import Start
from tools.bedrock.emulator import bedrock_emulator
from tools.doubles import EmulatorServer, Fault
from tools.runtime import Runtime

ASK = http_api_event("POST", "/query", body=b'{"text": "What is a digital twin?", "k": 3}')


def found(runtime: Runtime) -> Any:
    answer: dict[str, Any] = runtime.invoke(ASK)
    assert answer["statusCode"] == 200, answer["body"]
    for words in ("warm-up failed", "No module named"):
        assert words not in runtime.log(), runtime.log()[-3000:]
    return json.loads(answer["body"])


@pytest.fixture(scope="module")
def reranking(start: Start, textbook_index: Path) -> Runtime:
    return start(STORE="qdrant_edge", EDGE_INDEX_PATH=str(textbook_index), RERANK_PROVIDER="cohere")


def test_reranked_answer_after_init(reranking: Runtime, edge: Runtime) -> None:
    answer, plain = found(reranking), found(edge)
    assert "warnings" not in answer
    scores = [result["relevance_score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert scores != [result["relevance_score"] for result in plain["results"]]
    before_the_first_event = reranking.log().split("INIT RTDONE")[0]
    assert '"level"' not in before_the_first_event


def test_reranker_failure_is_a_warning(reranking: Runtime, edge: Runtime, cohere: EmulatorServer) -> None:
    plain = found(edge)["results"]
    found(reranking)
    for fault, reason in (
        (Fault("status", status=429, retry_after=60, path="rerank"), "slow down"),
        (Fault("status", status=503, times=2, path="rerank"), "not available"),
        (Fault("status", status=401, path="rerank"), "set up wrongly"),
        (Fault("status", status=404, path="rerank"), "set up wrongly"),
        (Fault("drop", times=2, path="rerank"), "not available"),
        (Fault("malformed", times=2, path="rerank"), "not available"),
        (Fault("malformed", body="{}", times=2, path="rerank"), "not available"),
        (Fault("drop", path="rerank"), None),
    ):
        cohere.faults.clear()
        cohere.faults.add(fault)
        answer = found(reranking)
        assert len(answer["results"]) == 3
        if reason is None:
            assert "warnings" not in answer
        else:
            assert reason in answer["warnings"][0], fault
            assert answer["results"] == plain


def test_questions_of_a_list_are_reranked_in_parallel(reranking: Runtime, cohere: EmulatorServer) -> None:
    cohere.requests.clear()
    answers = reranking.invoke([{"text": f"What is twin {number}?", "k": 2} for number in range(24)])
    assert not [answer for answer in answers if "warnings" in answer]
    assert len([request for request in cohere.requests if "rerank" in request.path]) == 24


def test_bedrock_reranks_after_init(start: Start, textbook_index: Path, reranking: Runtime) -> None:
    with bedrock_emulator() as bedrock:
        runtime = start(
            STORE="qdrant_edge",
            EDGE_INDEX_PATH=str(textbook_index),
            RERANK_PROVIDER="bedrock",
            AWS_ENDPOINT_URL_BEDROCK_RUNTIME=bedrock.url,
            **CREDENTIALS,
        )
        answer = found(runtime)
        assert "warnings" not in answer
        assert answer["results"] == found(reranking)["results"]
        bedrock.faults.add(Fault("status", status=403, path="rerank"))
        assert "set up wrongly" in found(runtime)["warnings"][0]
