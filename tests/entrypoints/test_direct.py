"""Direct invocation: one question or a list. Answers come in order, each with its own error."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.aws import Context
from entrypoints.conftest import Large
from handler.entrypoints.direct import _share
from handler.entrypoints.http.gateways import LAMBDA_RESPONSE_BYTES
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, Function, Start, asked


@pytest.fixture
def function(start: Start) -> Function:
    return start()


def without_times(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in ("timestamp", "metadata")}


def test_a_list_is_answered_in_order_each_by_its_profile(function: Function, load_event: Any) -> None:
    event = load_event("direct-batch")
    first, chunks, wrong, context = function.invoke(event)
    assert (first["query"], first["k"], len(first["results"])) == (event[0]["text"], 3, 3)
    assert (chunks["query"], chunks["metadata"]["total_results"]) == (event[1]["query_text"], 2)
    assert wrong["code"] == "INVALID_INPUT"
    assert (context["query"], context["count"], context["context"]["chunk_count"]) == (event[3]["text"], 3, 3)


def test_each_answer_is_the_one_a_single_question_gets(function: Function, load_event: Any) -> None:
    event = load_event("direct-batch")
    for together, question in zip(function.invoke(event), event, strict=True):
        alone = function.invoke(question)
        assert without_times(together) == without_times(alone)


def test_a_single_answer_is_the_one_over_http(function: Function, load_event: Any) -> None:
    answer = function.invoke(load_event("direct-query"))
    assert without_times(answer) == without_times(function.post(load_event("direct-query")).json)


def test_a_workflows_other_fields_are_ignored(function: Function, load_event: Any) -> None:
    answer = function.invoke(load_event("step-functions-query"))
    assert without_times(answer) == without_times(function.ask(QUESTION, 3).json)


@pytest.mark.parametrize("number", [1, 2, 96])
def test_a_list_costs_one_embedding_call_and_one_search(
    number: int, function: Function, cohere: EmulatorServer, qdrant: EmulatorServer
) -> None:
    texts = [f"question {number} about robots" for number in range(number)]
    answers = function.invoke([{"text": text, "k": 1} for text in texts])
    assert [answer["query"] for answer in answers] == texts
    (embedding,) = cohere.requests
    assert embedding.json()["texts"] == texts
    (search,) = asked(qdrant, "/points/")
    assert len(search.json()["searches"]) == 3 * number


def test_more_than_96_are_refused_as_a_whole(function: Function, cohere: EmulatorServer) -> None:
    answer = function.invoke([{"text": "twin"}] * 97)
    assert answer["code"] == "INVALID_INPUT"
    assert "96" in answer["error"]
    assert "97" in answer["error"]
    assert cohere.requests == []


def test_invalid_questions_of_a_list_do_not_affect_others(function: Function, cohere: EmulatorServer) -> None:
    wrong: list[Any] = [5, None, "text", [], {}, {"text": " "}, {"k": 5}, {"text": "twin", "profile": "nowhere"}]
    wrong += [{"text": "twin", "profile": 5}, {"text": "\ud800"}, {"text": "twin", "profile": {}}]
    answers = function.invoke([*wrong, {"text": "twin", "k": 1}])
    assert [answer.get("code") for answer in answers] == ["INVALID_INPUT"] * len(wrong) + [None]
    assert len(cohere.requests) == 1
    cohere.requests.clear()
    assert all("code" in answer for answer in function.invoke([*wrong, {"text": ""}]))
    assert cohere.requests == []


def test_an_error_is_in_the_contract_of_its_question(function: Function) -> None:
    context, chunks, default = function.invoke(
        [{"text": " ", "profile": "context"}, {"query_text": " ", "profile": "chunks"}, {"text": " "}]
    )
    assert context["code"] == "EMPTY_QUERY"
    assert chunks["error"]["code"] == "INVALID_QUERY"
    assert default["code"] == "INVALID_INPUT"


def test_outage_of_one_store_does_not_affect_other_profiles(function: Function, qdrant: EmulatorServer) -> None:
    qdrant.faults.add(Fault("status", status=503, path="/collections/textbook_chunks/", times=0))
    answers = function.invoke([{"text": "twin"}, {"text": "twin", "profile": "context"}, {"text": "robot"}])
    assert [answer.get("code") for answer in answers] == [None, "CONNECTION_ERROR", None]


def test_an_outage_is_answered_and_not_raised(function: Function, cohere: EmulatorServer) -> None:
    """A workflow can branch on the body's code; Lambda's own error would hide it."""
    cohere.faults.add(Fault("status", status=503, times=0))
    assert function.invoke({"text": "twin"})["code"] == "SERVICE_UNAVAILABLE"
    assert [answer["code"] for answer in function.invoke([{"text": "twin"}] * 2)] == ["SERVICE_UNAVAILABLE"] * 2


def test_a_wrong_setting_is_answered_for_each(start: Start) -> None:
    answers = start(COHERE_API_KEY=None).invoke([{"text": "twin"}, {"text": " "}])
    assert [answer["code"] for answer in answers] == ["INTERNAL_ERROR"] * 2
    assert all("COHERE_API_KEY" in answer["error"] for answer in answers)


def test_too_little_time_is_answered_for_each_without_a_call(function: Function, cohere: EmulatorServer) -> None:
    answers = function.invoke([{"text": "twin"}, {"text": " "}], Context(100))
    assert [answer["code"] for answer in answers] == ["SERVICE_UNAVAILABLE", "INVALID_INPUT"]
    assert cohere.requests == []


@pytest.mark.parametrize("letter", ["a", "机", "\u0001"], ids=["ascii", "wide", "control"])
def test_an_answer_too_large_for_lambda_is_shortened(letter: str, start: Start, large: Large) -> None:
    text = letter * (100_000 if letter == "a" else 15_000)
    function = start(COLLECTION_NAME=large([text] * 80))
    answer = function.invoke({"text": "twin", "k": 80})
    shown = len(answer["results"])
    assert 0 < shown == answer["total_results"] < 80
    assert len(json.dumps(answer)) <= LAMBDA_RESPONSE_BYTES < len(json.dumps(answer)) * (shown + 1) / shown
    best = function.invoke({"text": "twin", "k": 8})["results"]
    assert answer["results"][: len(best)] == best[:shown], "the last ones went"


def test_largest_answers_of_a_too_large_list_are_shortened(start: Start, large: Large) -> None:
    """Space that small answers leave goes to large ones."""
    function = start(COLLECTION_NAME=large(["a" * 100_000] * 60))
    counts = [1, 60, 2, 60, 1]
    answers = function.invoke([{"text": "twin", "k": count} for count in counts])
    assert len(json.dumps(answers)) <= LAMBDA_RESPONSE_BYTES
    shown = [len(answer["results"]) for answer in answers]
    assert shown[0::2] == [1, 2, 1]
    assert 27 <= shown[1] == shown[3] < 60
    assert len(json.dumps(answers)) > LAMBDA_RESPONSE_BYTES - 250_000, "room is not wasted"


def test_a_list_that_fits_is_not_shortened_however_uneven(start: Start, large: Large) -> None:
    function = start(COLLECTION_NAME=large(["a" * 100_000] * 50))
    answers = function.invoke([{"text": "twin", "k": 50}, *[{"text": " "}] * 95])
    assert len(answers[0]["results"]) == 50


@given(st.lists(st.integers(2, 5_000_000), min_size=1, max_size=96), st.integers(96, 6_291_556))
def test_shares_are_as_large_as_the_room_allows(sizes: list[int], most: int) -> None:
    share = _share(sizes, most)
    used = sum(min(size, share) for size in sizes)
    assert used <= most
    if sum(sizes) <= most:
        assert share >= max(sizes)
    else:
        assert used > most - len(sizes)
