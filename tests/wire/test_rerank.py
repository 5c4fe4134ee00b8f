"""Reranking by Cohere through the official SDK: requests, answers, and the result of every failure."""

import json
from typing import Any, NamedTuple

import pytest
from qdrant_client import models

from entrypoints.aws import Aws
from handler.adapters.account import Account
from handler.adapters.cohere import CohereReranker
from handler.adapters.qdrant.text_search import SPARE
from handler.config.providers import PROVIDERS, Access
from handler.config.settings import Settings
from handler.core.errors import ConfigurationError
from passage.local.environment import LocalContext
from tools.doubles import EmulatorServer, Fault, cohere_emulator
from wire.function import COHERE_KEY, QUESTION, Answer, Function, MakeCollection, Output, Start, asked

PATH = "/v2/rerank"
SIMILAR = "The passages are in the order of the search: reranking failed ({})."


@pytest.fixture
def function(start: Start) -> Function:
    return start(RERANK_PROVIDER="cohere")


@pytest.fixture
def plain(start: Start) -> Answer:
    """The answer of a deployment that does not rerank."""
    return start().ask()


def assert_as_stored(answer: Answer, plain: Answer, reason: str) -> None:
    """Check that the answer is the one without a reranker, with the reason as a warning."""
    assert answer.results == plain.results
    assert answer.json["warnings"] == [SIMILAR.format(reason)]


def test_the_passages_come_by_relevance(function: Function, cohere: EmulatorServer, qdrant: EmulatorServer) -> None:
    answer = function.ask(k=3)
    (request,) = asked(cohere, PATH)
    sent = request.json()
    assert sent.keys() == {"model", "query", "documents"}
    assert (sent["model"], sent["query"], len(sent["documents"])) == ("rerank-v4.0-fast", QUESTION, 50)
    with cohere_emulator() as other:
        reranker = CohereReranker(Account(PROVIDERS["cohere"], Access(other.url)), model="rerank-v4.0-fast")
        relevances = reranker.rerank(QUESTION, sent["documents"])
    best = sorted(range(50), key=lambda position: -relevances[position])[:3]
    assert [result["chunk_text"] for result in answer.results] == [sent["documents"][position] for position in best]
    assert [result["relevance_score"] for result in answer.results] == [relevances[position] for position in best]
    assert answer.json.keys() == {"query", "k", "results", "total_results", "timestamp"}
    (search,) = asked(qdrant, "/points/query")
    assert search.json()["searches"][0]["limit"] == 50 + SPARE


def test_model_and_candidates_are_the_deployments(start: Start, cohere: EmulatorServer) -> None:
    start(RERANK_PROVIDER="cohere", RERANK_MODEL="rerank-multilingual-v3.0", RERANK_CANDIDATES="7").ask(k=9)
    start(RERANK_PROVIDER="cohere", RERANK_CANDIDATES="7").ask(k=2)
    first, second = (request.json() for request in asked(cohere, PATH))
    assert (first["model"], len(first["documents"])) == ("rerank-multilingual-v3.0", 9)
    assert len(second["documents"]) == 7


def test_the_edge_index_gives_candidates_too(start: Start, on_edge: dict[str, str | None], function: Function) -> None:
    there = start(RERANK_PROVIDER="cohere", **on_edge).ask()
    assert there.results == function.ask().results


def test_without_the_setting_no_reranker_is_called(cohere: EmulatorServer, plain: Answer) -> None:
    assert asked(cohere, PATH) == []
    assert "warnings" not in plain.json


def test_warm_up_calls_no_service(function: Function, cohere: EmulatorServer) -> None:
    function.container.warm()
    assert cohere.requests == []
    assert function.ask().results


class Failure(NamedTuple):
    """The service's failures, each with the resulting error."""

    how: dict[str, Any]
    reason: str
    attempts: int
    code: str
    level: str


def configured(status: int, code: str) -> Failure:
    return Failure({"kind": "status", "status": status}, "it is set up wrongly", 1, code, "ERROR")


def throttled(attempts: int, **how: Any) -> Failure:
    fault = {"kind": "status", "status": 429, **how}
    return Failure(fault, "the service asked to slow down", attempts, "UPSTREAM_THROTTLED", "WARNING")


def down(**how: Any) -> Failure:
    return Failure(how, "the service is not available", 2, "UPSTREAM_UNAVAILABLE", "WARNING")


DENIED_WORD = "the service does not accept a word of the question or of a passage"
FAILURES = {
    **{str(status): configured(status, "REQUEST_REFUSED") for status in (400, 404, 422)},
    **{str(status): configured(status, "CREDENTIALS_REFUSED") for status in (401, 403)},
    "402": configured(402, "REQUEST_REFUSED"),
    "498": Failure({"kind": "status", "status": 498}, DENIED_WORD, 1, "INVALID_REQUEST", "ERROR"),
    "429": throttled(2),
    "429 for a minute": throttled(1, retry_after=60),
    "500": down(kind="status", status=500),
    "502": down(kind="status", status=502, body="<html>Bad gateway</html>"),
    "503": down(kind="status", status=503),
    "dropped before the answer": down(kind="drop"),
    "dropped in mid-answer": down(kind="drop", at="response"),
    "cut-off JSON": down(kind="malformed"),
    "no JSON": down(kind="malformed", body="busy"),
    "nothing": down(kind="malformed", body=""),
    "null": down(kind="malformed", body="null"),
    "a list": down(kind="malformed", body="[]"),
    "another object": down(kind="malformed", body="{}"),
    "no results": down(kind="malformed", body='{"results": []}'),
    "results of another kind": down(kind="malformed", body='{"results": [1, null, "x"]}'),
    "results that are none": down(kind="malformed", body='{"results": "x"}'),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES.keys())
def test_failed_reranking_is_a_warning_and_a_log_line(
    failure: Failure, start: Start, cohere: EmulatorServer, sleeps: list[float], output: Output
) -> None:
    plain = start().ask()
    cohere.faults.add(Fault(**failure.how, times=0, path=PATH))
    function = start(RERANK_PROVIDER="cohere")
    answer = function.post({"text": QUESTION, "k": 3}, context=LocalContext(aws_request_id="request-1"))
    assert_as_stored(answer, plain, failure.reason)
    assert len(asked(cohere, PATH)) == failure.attempts
    (line,) = [line for line in output.logs if line["message"].startswith("not reranked: ")]
    assert (line["code"], line["level"], line["profile"]) == (failure.code, failure.level, "query-response")
    assert line["request_id"] == "request-1"
    assert "exception" not in line
    assert output.metrics[-1]["RerankFailed"] == [1.0]
    assert not [name for record in output.metrics for name in record if name.startswith("Error.")]


ANSWERS = {
    "one too few": [(0, 0.5)],
    "one too many": [(0, 0.5), (1, 0.5), (2, 0.5)],
    "one twice": [(0, 0.5), (0, 0.5)],
    "one that was not sent": [(0, 0.5), (2, 0.5)],
    "a place before the first": [(0, 0.5), (-1, 0.5)],
    "no place": [(0, 0.5), (None, 0.5)],
    "infinite": [(0, 0.5), (1, float("inf"))],
    "no number": [(0, 0.5), (1, float("nan"))],
    "text": [(0, 0.5), (1, "much")],
    "nothing": [(0, 0.5), (1, None)],
}


def answer_of(results: list[tuple[Any, Any]]) -> str:
    return json.dumps({"results": [{"index": index, "relevance_score": score} for index, score in results]})


@pytest.mark.parametrize("results", ANSWERS.values(), ids=ANSWERS.keys())
def test_relevances_of_other_documents_are_an_outage(
    results: list[tuple[Any, Any]], start: Start, cohere: EmulatorServer, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("malformed", body=answer_of(results), times=0, path=PATH))
    answer = start(RERANK_PROVIDER="cohere", RERANK_CANDIDATES="2").ask(k=2)
    assert_as_stored(answer, start().ask(k=2), "the service is not available")


def test_equals_keep_the_stores_order_in_any_service_order(start: Start, cohere: EmulatorServer) -> None:
    plain = start(SEARCH_MODE="dense").ask(k=3)
    cohere.faults.add(Fault("malformed", body=answer_of([(2, 0.5), (1, 0.5), (0, 0.5)]), path=PATH))
    answer = start(RERANK_PROVIDER="cohere", RERANK_CANDIDATES="3", SEARCH_MODE="dense").ask(k=3)
    assert [result["chunk_id"] for result in answer.results] == [result["chunk_id"] for result in plain.results]
    assert {result["relevance_score"] for result in answer.results} == {0.5}


@pytest.mark.parametrize(
    "fault",
    [Fault("drop"), Fault("status", status=503), Fault("malformed"), Fault("status", status=429, retry_after=1)],
)
def test_temporary_failure_is_retried_once(
    fault: Fault, function: Function, cohere: EmulatorServer, sleeps: list[float]
) -> None:
    expected = function.ask().results
    cohere.requests.clear()
    cohere.faults.add(Fault(fault.kind, status=fault.status, retry_after=fault.retry_after, path=PATH))
    answer = function.ask()
    assert answer.results == expected
    assert "warnings" not in answer.json
    assert len(asked(cohere, PATH)) == 2


def test_hanging_reranker_ends_at_its_time_limit(
    start: Start, cohere: EmulatorServer, plain: Answer, output: Output
) -> None:
    cohere.faults.add(Fault("slow", delay_ms=60_000, path=PATH))
    answer = start(RERANK_PROVIDER="cohere", RERANK_TIMEOUT_MS="300").ask()
    assert answer.results == plain.results
    assert "the time ran out" in answer.json["warnings"][0]
    assert [line["code"] for line in output.logs if "not reranked" in line["message"]] == ["DEADLINE_EXCEEDED"]


def test_slow_reranker_keeps_the_store_order_with_a_warning(
    start: Start, cohere: EmulatorServer, plain: Answer
) -> None:
    function = start(RERANK_PROVIDER="cohere", REQUEST_TIMEOUT_MS="2000")
    assert "warnings" not in function.ask().json  # and the clients are built
    cohere.faults.add(Fault("slow", delay_ms=60_000, times=0, path=PATH))
    assert_as_stored(function.ask(), plain, "the time ran out")
    answers = function.invoke([{"text": f"twin {number}", "k": 2} for number in range(30)])
    assert {tuple(answer["warnings"]) for answer in answers} == {(SIMILAR.format("the time ran out"),)}
    assert all(len(answer["results"]) == 2 for answer in answers)


def test_figures_of_the_step_are_metrics_and_log_fields(function: Function, output: Output) -> None:
    function.ask()
    (record,) = output.metrics
    assert 0 < record["RerankLatency"][0] < record["TotalLatency"][0]
    assert "RerankFailed" not in record
    (line,) = output.logs
    assert line["rerank_ms"] == pytest.approx(record["RerankLatency"][0], abs=0.06)
    assert line["top_score"] == pytest.approx(record["TopScore"][0], abs=1e-4)


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_key_and_question_echoed_by_the_reranker_are_redacted(
    status: int, function: Function, cohere: EmulatorServer, sleeps: list[float], output: Output
) -> None:
    body = json.dumps({"message": f"Bearer {COHERE_KEY} asked zebra-7731 of {cohere.url}"})
    cohere.faults.add(Fault("status", status=status, body=body, times=0, path=PATH))
    answer = function.ask("zebra-7731")
    for shown in (answer.text.replace('"query":"zebra-7731"', ""), output.text):
        assert COHERE_KEY not in shown
        assert "zebra-7731" not in shown
    assert cohere.url not in answer.text


def test_reranker_exception_is_logged_and_fails_no_answer(
    plain: Answer, function: Function, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object, question: str, __: object) -> None:
        raise RuntimeError(f"{COHERE_KEY} {question}")

    monkeypatch.setattr(CohereReranker, "rerank", broken)
    assert_as_stored(function.ask(), plain, "something unexpected happened")
    (line,) = [line for line in output.logs if line["message"].startswith("not reranked")]
    assert (line["code"], line["level"]) == ("INTERNAL_ERROR", "ERROR")
    assert "test_rerank.py" in line["exception"]
    assert COHERE_KEY not in output.text
    assert QUESTION not in output.text


@pytest.mark.parametrize("while_embedding", [True, False])
def test_a_rotated_key_reaches_the_reranker(while_embedding: bool, aws: Aws, start: Start) -> None:
    """Either call may be the first that gets the refusal of the old key. Both services have one key."""
    old, new, name = "old-key-51b0c2", "new-key-9d3e7f", f"passage/rerank-{while_embedding}"
    client = aws.client("secretsmanager")
    client.create_secret(Name=name, SecretString=old)
    with cohere_emulator(api_key=new if while_embedding else None) as cohere:
        secret = {"COHERE_API_KEY": None, "COHERE_BASE_URL": cohere.url, "COHERE_API_KEY_SECRET": name}
        function = start(RERANK_PROVIDER="cohere", **secret)
        function.container.warm()
        client.put_secret_value(SecretId=name, SecretString=new)
        if not while_embedding:
            cohere.faults.add(Fault("status", status=401, path=PATH))
        assert "warnings" not in function.ask().json
        keys = [request.headers["authorization"].removeprefix("Bearer ") for request in cohere.requests]
        assert keys == ([old, new, new] if while_embedding else [old, old, new])
        assert aws.asked("GetSecretValue") == 2


@pytest.mark.parametrize("provider", ["cohere", "bedrock"])
def test_missing_key_is_a_configuration_error(provider: str, start: Start) -> None:
    bedrock = {"EMBEDDING_PROVIDER": "bedrock", "EMBEDDING_MODEL": "cohere.embed-english-v3"}
    function = start(RERANK_PROVIDER="cohere", COHERE_API_KEY=None, **(bedrock if provider == "bedrock" else {}))
    for answer in (function.ask(), function.get("/ready"), function.post({"text": "twin"}, "/profiles/ranked/query")):
        assert answer.status == 500
        assert "COHERE_API_KEY: required" in answer.text


WRONG = [
    ({"RERANK_PROVIDER": "voyage"}, "RERANK_PROVIDER"),
    ({"RERANK_MODEL": "rerank-v3.5"}, "RERANK_MODEL: needs RERANK_PROVIDER"),
    ({"RERANK_CANDIDATES": "20"}, "RERANK_CANDIDATES: needs RERANK_PROVIDER"),
    ({"RERANK_TIMEOUT_MS": "500"}, "RERANK_TIMEOUT_MS: needs RERANK_PROVIDER"),
    ({"RERANK_PROVIDER": "cohere", "RERANK_TIMEOUT_MS": "0"}, "RERANK_TIMEOUT_MS"),
    ({"RERANK_PROVIDER": "cohere", "RERANK_CANDIDATES": "0"}, "RERANK_CANDIDATES"),
    ({"RERANK_PROVIDER": "cohere", "RERANK_CANDIDATES": "1001"}, "RERANK_CANDIDATES"),
    ({"RERANK_PROVIDER": "cohere", "RERANK_MODEL": "cohere.rerank-v3-5:0"}, "as in rerank-v4.0-fast"),
    ({"RERANK_PROVIDER": "bedrock", "RERANK_MODEL": "rerank-v3.5"}, "as in cohere.rerank-v3-5:0"),
    ({"RERANK_PROVIDER": "bedrock", "RERANK_MODEL": "amazon.rerank-v1:0"}, "as in cohere.rerank-v3-5:0"),
]


@pytest.mark.parametrize(("variables", "says"), WRONG, ids=[says for _, says in WRONG])
def test_a_setting_that_is_wrong_is_named(variables: dict[str, str], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        Settings.from_env({"COHERE_API_KEY": "k", "QDRANT_URL": "http://127.0.0.1:1", **variables})


def test_every_question_of_a_list_is_reranked(function: Function, start: Start, cohere: EmulatorServer) -> None:
    texts = [f"{QUESTION} Number {number}?" for number in range(24)]
    alone = [function.invoke({"text": text, "k": 3})["results"] for text in texts]
    cohere.requests.clear()
    answers = start(RERANK_PROVIDER="cohere").invoke([{"text": text, "k": 3} for text in texts])
    assert [answer["results"] for answer in answers] == alone
    assert sorted(request.json()["query"] for request in asked(cohere, PATH)) == sorted(texts)
    assert len(asked(cohere, "/v2/embed")) == 1


def test_one_questions_refusal_is_its_own_warning_in_a_list(function: Function, cohere: EmulatorServer) -> None:
    cohere.faults.add(Fault("status", status=400, path=PATH))
    answers = function.invoke([{"text": f"twin {number}", "k": 2} for number in range(12)])
    assert [len(answer["results"]) for answer in answers] == [2] * 12
    assert len([answer for answer in answers if "warnings" in answer]) == 1
    assert len(asked(cohere, PATH)) == 12


def test_throttling_reranker_is_not_called_for_a_whole_list(
    function: Function, cohere: EmulatorServer, sleeps: list[float], output: Output
) -> None:
    cohere.faults.add(Fault("status", status=429, times=0, path=PATH))
    answers = function.invoke([{"text": f"twin {number}", "k": 2} for number in range(96)])
    assert {tuple(answer["warnings"]) for answer in answers} == {(SIMILAR.format("the service asked to slow down"),)}
    assert len(asked(cohere, PATH)) <= 16
    assert len([record for record in output.metrics if "RerankFailed" in record]) == 96
    assert len([record for record in output.metrics if "RerankLatency" in record]) <= 8, "of those that were tried"


def test_callers_vector_is_searched_unchanged(
    start: Start, cohere: EmulatorServer, make_collection: MakeCollection, qdrant: EmulatorServer
) -> None:
    function = start(
        RERANK_PROVIDER="cohere",
        DEFAULT_PROFILE="vector-search",
        COLLECTION_NAME=make_collection("small", 4),
        EMBEDDING_DIMENSION="4",
    )
    answer = function.post({"query_vector": [1.0, 0.0, 0.0, 0.0], "top_k": 3})
    assert answer.status == 200, answer.text
    assert qdrant.requests[-1].json()["limit"] == 3
    assert cohere.requests == []


def test_vectors_and_payload_are_each_passages_own(start: Start, cohere: EmulatorServer) -> None:
    variables = {
        "DEFAULT_PROFILE": "vector-search",
        "COLLECTION_NAME": "rag_embeddings",
        "EMBEDDING_MODEL": "embed-v5.0-fast",
        "EMBEDDING_DIMENSION": "768",
    }
    fields = {"query_text": QUESTION, "top_k": 50, "with_vectors": True}
    plain = {result["id"]: result for result in start(**variables).post(fields).results}
    answer = start(RERANK_PROVIDER="cohere", **variables).post({**fields, "top_k": 5})
    assert len(answer.results) == 5
    for result in answer.results:
        assert result["vector"] == plain[result["id"]]["vector"]
        assert result["payload"] == plain[result["id"]]["payload"]


def test_too_large_answer_keeps_the_best_results_and_warnings(
    start: Start, cohere: EmulatorServer, make_collection: MakeCollection
) -> None:
    """The reranker gets more candidates than the answer has results."""
    points = [
        models.PointStruct(
            id=number,
            vector=[1.0, number / 100, *[0.0] * 766],
            payload={"text_content": f"{number} " + "a" * 400_000, "source_url": "https://site.example/"},
        )
        for number in range(30)
    ]
    function = start(RERANK_PROVIDER="cohere", COLLECTION_NAME=make_collection("large", points=points))
    last_first = [(number, (number + 1) / 30) for number in range(30)]
    cohere.faults.add(Fault("malformed", body=answer_of(last_first), path=PATH))
    answer = function.ask(k=20)
    shown = [int(result["chunk_text"].split()[0]) for result in answer.results]
    assert 0 < len(shown) < 20
    assert answer.headers["x-passage-results-left-out"] == str(20 - len(shown))
    (request, *_) = asked(cohere, PATH)
    candidates = [int(text.split()[0]) for text in request.json()["documents"]]
    assert shown == candidates[::-1][: len(shown)]
    cohere.faults.add(Fault("status", status=400, path=PATH))
    refused = function.ask(k=20)
    assert len(refused.results) == len(shown)
    similar, left_out = refused.json["warnings"]
    assert similar == SIMILAR.format("it is set up wrongly")
    assert f"The last {20 - len(shown)} of 20 passages were left out" in left_out
