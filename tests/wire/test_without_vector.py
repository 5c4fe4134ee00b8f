"""Searches without a vector: by words or titles, and by words where a question cannot be embedded."""

import json
from pathlib import Path
from typing import Any

import pytest

from handler.core.without_vector import NO_SCORES
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, MakeCollection, Output, Start, asked, assert_error

pytestmark = pytest.mark.needs_qdrant("1.20")

OnEdge = dict[str, str | None]
NO_KEY: dict[str, str | None] = {"COHERE_API_KEY": None, "COHERE_BASE_URL": None}
SCORES = {"query-response": "relevance_score", "vector-search": "score", "context": "score"} | dict.fromkeys(
    ("ranked", "chunks"), "similarity_score"
)


@pytest.fixture(params=["server", "edge"])
def store(request: pytest.FixtureRequest, on_edge: OnEdge) -> OnEdge:
    """The variables of each store."""
    return on_edge if request.param == "edge" else {}


@pytest.mark.parametrize("profile", SCORES)
def test_words_need_no_embedding_in_any_contract(
    profile: str, start: Start, on_edge: OnEdge, several_indexes: Path, cohere: EmulatorServer
) -> None:
    function = start(**(on_edge | {"EDGE_INDEX_PATH": str(several_indexes)}))
    answer = function.post({"question": "Kritzinger twin", "top_k": 3, "search": "words"}, f"/profiles/{profile}/query")
    body = answer.json
    results = body.get("results") or body["chunks"]
    assert answer.status == 200
    assert len(results) == 3
    assert "Kritzinger" in json.dumps(results[0])
    assert {result[SCORES[profile]] for result in results} == {0}
    assert body["warnings"] == [NO_SCORES]
    assert cohere.requests == []


def test_words_answer_alike_over_each_way_in(start: Start, store: OnEdge) -> None:
    """As an option, as the profile's mode without any key, in a query string, an event and a tool of MCP."""
    function, mode = start(**store), start(**store, **NO_KEY, SEARCH_MODE="words")
    fields = {"text": "Kritzinger twin", "k": 3}
    found = function.post({**fields, "search": "words"}).results
    call = {"name": "search_docs", "arguments": {"question": fields["text"], "top_k": 3, "search": "words"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    tool = function.post(message, "/mcp").json["result"]["structuredContent"]
    assert found == mode.post(fields).results
    assert found == function.get("/query", "text=Kritzinger%20twin&k=3&search=words").results
    assert found == function.invoke({**fields, "search": "words"})["results"]
    assert [result["text"] for result in tool["results"]] == [result["chunk_text"] for result in found]
    assert NO_SCORES in tool["warnings"]
    assert mode.get("/ready").json["collection"]["search"] == "words"
    assert function.post({**fields, "search": "words", "filters": {"source_url": "none"}}).results == []


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/query", {"text": QUESTION, "score_threshold": 0.2}),
        ("/profiles/vector-search/query", {"query_vector": [0.5] * 768}),
        ("/profiles/chunks/query", {"query_text": QUESTION, "threshold": 0.2}),
        ("/query", {"text": QUESTION, "search": "vectors"}),
    ],
)
def test_question_that_needs_similarities_is_400(path: str, fields: dict[str, Any], start: Start) -> None:
    answer = start().post({"search": "words", **fields}, path)
    assert answer.status == 400, answer.text


def test_collection_without_a_text_index_has_no_words(start: Start, make_collection: MakeCollection) -> None:
    """The caller's choice is the caller's error; the profile's is the operator's."""
    name = make_collection("plain")
    chosen = start(COLLECTION_NAME=name).post({"text": QUESTION, "search": "words"})
    assert "no text index" in assert_error(chosen, 400, "INVALID_INPUT")
    function = start(COLLECTION_NAME=name, SEARCH_MODE="words", **NO_KEY)
    for answer in (function.ask(), function.get("/ready")):
        assert "no text index" in assert_error(answer, 500, "INTERNAL_ERROR")


@pytest.fixture
def falling_back(start: Start, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts a container whose default profile answers by words where it cannot embed."""
    from handler.config import profiles

    load, loaded = profiles.load, profiles.load("query-response")
    search = loaded.search.model_copy(update={"without_embedding": "words", "embedding_ms": 100})
    changed = loaded.model_copy(update={"search": search})
    monkeypatch.setattr(profiles, "load", lambda name: changed if name == loaded.name else load(name))
    return start


@pytest.mark.parametrize(
    ("fault", "reason", "ours"),
    [
        (Fault("status", times=0), "the service is not available", False),
        (Fault("status", 429, times=0), "the service asked to slow down", False),
        (Fault("slow", delay_ms=500, times=0), "the time ran out", False),
        (Fault("status", 401, times=0), "it is set up wrongly", True),
        (Fault("malformed", times=0), "the service is not available", False),
    ],
)
@pytest.mark.usefixtures("sleeps")
def test_failed_embedding_is_answered_by_words(
    fault: Fault, reason: str, ours: bool, falling_back: Start, cohere: EmulatorServer, output: Output
) -> None:
    function = falling_back(RERANK_PROVIDER="cohere")
    cohere.faults.add(fault)
    answer = function.ask("Kritzinger")
    assert "Kritzinger" in answer.results[0]["chunk_text"]
    assert reason in answer.json["warnings"][0]
    assert answer.json["warnings"][1] == NO_SCORES
    assert asked(cohere, "rerank") == [], "it would most likely fail, too"
    (record,) = [line for line in output.metrics if "AnsweredByWords" in line]
    assert ("Failed.Ours" in record) is ours
    assert [line["level"] for line in output.logs if "answered by words" in line["message"]] == [
        "ERROR" if ours else "WARNING"
    ]


def test_threshold_is_not_applied_where_words_answer(
    falling_back: Start, store: OnEdge, cohere: EmulatorServer, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("status", times=0))
    answer = falling_back(**store).post({"text": "Kritzinger", "score_threshold": 0.9})
    assert answer.results
    assert "minimum score was not applied" in " ".join(answer.json["warnings"])


def test_failed_embedding_without_a_text_index_is_503(
    falling_back: Start, make_collection: MakeCollection, cohere: EmulatorServer, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("status", times=0))
    answer = falling_back(COLLECTION_NAME=make_collection("bare")).ask()
    assert "embedding service" in assert_error(answer, 503, "SERVICE_UNAVAILABLE")
