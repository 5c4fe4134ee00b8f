"""Cohere's reranking model on Bedrock: the same answers without a key, and Bedrock's failures as warnings."""

import json
import time
from typing import Any

import pytest

from handler.adapters.account import Account
from handler.adapters.aws import client as aws
from handler.adapters.bedrock import BedrockReranker
from handler.config.providers import PROVIDERS, Access
from handler.core.errors import UpstreamUnavailable
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, Function, Output, Start

MODEL = "cohere.rerank-v3-5:0"
ACCOUNT = Account(PROVIDERS["bedrock"], Access())


@pytest.fixture
def function(start: Start, bedrock: EmulatorServer) -> Function:
    """Embeds with Cohere and reranks with Bedrock: the two settings are independent."""
    return start(RERANK_PROVIDER="bedrock")


def test_the_answer_is_the_one_by_coheres_own_api(function: Function, start: Start, bedrock: EmulatorServer) -> None:
    answer = function.ask()
    assert answer.results == start(RERANK_PROVIDER="cohere").ask().results
    assert "warnings" not in answer.json
    (request,) = bedrock.requests
    assert request.path == f"/model/{MODEL}/invoke"
    sent = request.json()
    assert sent.keys() == {"query", "documents", "api_version"}
    assert (sent["query"], len(sent["documents"]), sent["api_version"]) == (QUESTION, 50, 2)
    assert "/bedrock/aws4_request" in request.headers["authorization"]


SETUP, SLOWER, DOWN = "it is set up wrongly", "the service asked to slow down", "the service is not available"
FAILURES = [
    (403, "AccessDeniedException", SETUP, "CREDENTIALS_REFUSED", 1),
    (400, "ValidationException", SETUP, "REQUEST_REFUSED", 1),
    (429, "ThrottlingException", SLOWER, "UPSTREAM_THROTTLED", 2),
    (503, "ServiceUnavailableException", DOWN, "UPSTREAM_UNAVAILABLE", 2),
]
"""One of each kind; `test_bedrock.py` has every one."""


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure[1])
def test_bedrock_failure_is_a_warning(
    failure: tuple[Any, ...], function: Function, bedrock: EmulatorServer, output: Output, sleeps: list[float]
) -> None:
    status, kind, reason, code, attempts = failure
    body = json.dumps({"__type": kind, "message": "arn:aws:iam::1:role/secretive"})
    bedrock.faults.add(Fault("status", status=status, body=body, times=0))
    answer = function.ask()
    assert (len(answer.results), len(bedrock.requests)) == (3, attempts)
    assert reason in answer.json["warnings"][0]
    assert "secretive" not in answer.text
    (line,) = [line for line in output.logs if line["message"].startswith("not reranked: ")]
    assert line["code"] == code
    assert "reranking service" in line["message"] or "bedrock:InvokeModel" in line["message"]


@pytest.mark.parametrize("fault", [Fault("drop"), Fault("drop", at="response"), Fault("malformed")])
def test_a_broken_answer_is_tried_once_more(
    fault: Fault, function: Function, bedrock: EmulatorServer, sleeps: list[float]
) -> None:
    bedrock.faults.add(fault)
    assert "warnings" not in function.ask().json
    assert len(bedrock.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "x",
        {},
        {"results": None},
        {"results": []},
        {"results": [1, 2]},
        {"results": {"index": 0, "relevance_score": 1}},
        {"results": [{"index": 0}, {"index": 1}]},
        *(
            {"results": [{"index": 0, "relevance_score": 0.5}, {"index": index, "relevance_score": score}]}
            for index, score in [
                (0, 0.5),
                (2, 0.5),
                (-1, 0.5),
                ("1", 0.5),
                (True, 0.5),
                (1.0, 0.5),
                (None, 0.5),
                (1, "0.5"),
                (1, True),
                (1, None),
                (1, float("inf")),
                (1, float("nan")),
            ]
        ),
    ],
    ids=json.dumps,
)
def test_relevances_of_other_documents_are_an_outage(answer: Any, bedrock: EmulatorServer) -> None:
    bedrock.faults.add(Fault("malformed", body=json.dumps(answer)))
    with pytest.raises(UpstreamUnavailable):
        BedrockReranker(ACCOUNT, model=MODEL).rerank("question", ["one", "two"])


def test_relevances_come_in_the_order_of_the_texts(bedrock: EmulatorServer) -> None:
    results = [{"index": 2, "relevance_score": 1}, {"index": 0, "relevance_score": 0.5}]
    results.append({"index": 1, "relevance_score": 0.25})
    bedrock.faults.add(Fault("malformed", body=json.dumps({"results": results})))
    assert BedrockReranker(ACCOUNT, model=MODEL).rerank("question", ["one", "two", "three"]) == [0.5, 0.25, 1.0]


def test_waiting_for_bedrock_ends_with_the_deadline(start: Start, bedrock: EmulatorServer) -> None:
    function = start(RERANK_PROVIDER="bedrock", REQUEST_TIMEOUT_MS="2000")
    function.container.warm()
    assert "warnings" not in function.ask().json
    bedrock.faults.add(Fault("slow", delay_ms=60_000))
    assert "the time ran out" in function.ask().json["warnings"][0]


def test_missing_model_is_named_in_the_log(start: Start, bedrock: EmulatorServer, output: Output) -> None:
    answer = start(RERANK_PROVIDER="bedrock", RERANK_MODEL="cohere.rerank-v9:0").ask()
    assert SETUP in answer.json["warnings"][0]
    (line,) = [line for line in output.logs if line["level"] == "ERROR"]
    assert "RERANK_MODEL" in line["message"]


def test_a_list_is_reranked_by_one_client_from_several_threads(
    function: Function, bedrock: EmulatorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    real = aws.client

    def slowly(service: str, **options: Any) -> Any:
        made.append(service)
        time.sleep(0.05)  # the other threads come meanwhile
        return real(service, **options)

    monkeypatch.setattr(aws, "client", slowly)
    answers = function.invoke([{"text": f"{QUESTION} {number}", "k": 2} for number in range(24)])
    assert not [answer for answer in answers if "warnings" in answer]
    assert len(bedrock.requests) == 24
    assert made == ["bedrock-runtime"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"api_version": 1}, "api_version"),
        ({"api_version": None}, "api_version"),
        ({"documents": []}, "documents"),
        ({"documents": [1]}, "documents"),
        ({"documents": "x"}, "documents"),
        ({"query": ""}, "query"),
        ({"top_n": 0}, "top_n"),
        ({"model": "x"}, "extraneous"),
    ],
)
def test_emulator_refuses_the_same_as_bedrock(change: dict[str, Any], says: str, bedrock: EmulatorServer) -> None:
    body = {"query": "q", "documents": ["one"], "api_version": 2, **change}
    client = aws.client("bedrock-runtime")
    with pytest.raises(client.exceptions.ValidationException, match=says):
        client.invoke_model(modelId=MODEL, body=json.dumps(body))
