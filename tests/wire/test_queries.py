"""Questions that are answered: every way of putting one, and what the answer holds."""

from datetime import datetime

import pytest

from handler.adapters.qdrant.text_search import SPARE
from tools.doubles import EmulatorServer
from wire.function import (
    QUESTION,
    Start,
    asked,
    assert_error,
    assert_for_browser,
    both_gateways,
)


@both_gateways
def test_answer_has_the_contracts_shape_and_the_seeds_guarantees(start: Start) -> None:
    answer = start().ask(k=10)
    assert_for_browser(answer)
    body = answer.json
    assert body.keys() == {"query", "k", "results", "total_results", "timestamp"}
    assert (body["query"], body["k"]) == (QUESTION, 10)
    assert datetime.strptime(body["timestamp"], "%Y-%m-%dT%H:%M:%SZ")
    results = body["results"]
    assert body["total_results"] == len(results) == 10
    assert all(result.keys() == {"chunk_text", "url", "chunk_id", "relevance_score"} for result in results)
    scores = [result["relevance_score"] for result in results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert len({result["chunk_id"] for result in results}) == 10
    assert "digital-twins" in results[0]["url"]


@both_gateways
@pytest.mark.parametrize("path", ["/query", "/profiles/query-response/query"])
def test_every_way_of_asking_gives_the_same_results(path: str, start: Start) -> None:
    function = start()
    results = function.ask().results
    query = "text=What+is+a+digital+twin%3F&k=3"
    assert function.post({"text": QUESTION, "k": 3}, path).results == results
    assert function.get(path, query).results == results
    assert function.get(path, query.replace("text", "question").replace("k=3", "top_k=3")).results == results
    assert function.invoke({"text": QUESTION, "k": 3})["results"] == results
    assert function.invoke({"query": QUESTION, "top_k": 3, "profile": "query-response"})["results"] == results


@both_gateways
@pytest.mark.parametrize("text", ["text", "query", "question"])
@pytest.mark.parametrize("count", ["k", "top_k"])
def test_aliases_are_accepted(text: str, count: str, start: Start) -> None:
    answer = start().post({text: QUESTION, count: 2})
    assert answer.json["query"] == QUESTION
    assert len(answer.results) == answer.json["k"] == 2


@pytest.mark.parametrize("k", [1, 99, 100])
def test_k_within_limits_is_passed_to_the_store(k: int, qdrant: EmulatorServer, start: Start) -> None:
    answer = start().ask(k=k)
    assert answer.json["k"] == len(answer.results) == k
    (search,) = asked(qdrant, "/points/query")
    assert {one["limit"] for one in search.json()["searches"]} == {max(30, k + SPARE)}


def test_k_as_text_is_400_in_json_and_a_number_in_a_url(start: Start) -> None:
    function = start()
    assert_error(function.post({"text": QUESTION, "k": "5"}), 400, "INVALID_INPUT")
    assert len(function.get("/query", "text=twin&k=5").results) == 5
    # JSON has one kind of number, and JSON Schema calls 5.0 an integer.
    assert len(function.post({"text": QUESTION, "k": 5.0}).results) == 5
    assert_error(function.get("/query", "text=twin&k=null"), 400, "INVALID_INPUT")


@pytest.mark.parametrize("text", ["7", "true", "null", "[]", '"quoted"'])
def test_question_in_a_query_string_is_never_taken_for_json(text: str, start: Start) -> None:
    answer = start().get("/query", f"text={text}&k=1")
    assert answer.json["query"] == text


@both_gateways
@pytest.mark.parametrize(
    "text",
    [
        *("\u4ec0\u4e48\u662f\u6570\u5b57\u5b6a\u751f\uff1f", "\u30c7\u30b8\u30bf\u30eb\u30c4\u30a4\u30f3"),
        *("\U0001f916", "\U0001f469\u200d\U0001f52c and twins", "\u0645\u0627 \u0647\u0648", "e\u0301", "a\0b"),
        *("a\u2028b", "<script>alert(1)</script>", "'; DROP TABLE twins; --", "{{7*7}}", "\\u0041", "%s%n"),
        "\ufefftwin",
    ],
)
def test_text_of_any_script_is_embedded_and_answered_as_sent(text: str, cohere: EmulatorServer, start: Start) -> None:
    """Emoji and CJK work. White space and composed letters are normalised before embedding."""
    answer = start().ask(text)
    assert len(answer.results) == 3
    assert answer.json["query"] == text
    assert cohere.requests[0].json()["texts"] == [{"e\u0301": "\u00e9", "a\u2028b": "a b"}.get(text, text)]


@both_gateways
def test_surrogate_pair_escaped_in_json_is_one_character(start: Start) -> None:
    answer = start().request("POST", "/query", body='{"text": "\\ud83e\\udd16"}')
    assert answer.json["query"] == "\U0001f916"


def test_two_requests_reuse_the_containers_clients(start: Start) -> None:
    function = start()
    profile = function.container.served(None).profile
    assert function.ask().status == 200
    retriever = function.container.retriever(profile)
    assert function.ask().status == 200
    assert function.container.retriever(profile) is retriever


def test_default_profiles_override_applies_on_its_own_path(start: Start) -> None:
    function = start(COLLECTION_NAME="absent")
    for path in ("/query", "/profiles/query-response/query"):
        assert "'absent'" in assert_error(function.post({"text": QUESTION}, path), 500, "INTERNAL_ERROR")
