"""Requests to the embedding service, and the validation of its answers."""

import base64
import json
import struct
from typing import Any

import pytest

from passage.emulators.cohere.requests import DENIED
from passage.emulators.embedding import embed
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, Start, assert_error

pytestmark = pytest.mark.usefixtures("dense")

V3 = {"EMBEDDING_MODEL": "embed-multilingual-v3.0", "EMBEDDING_DIMENSION": "1024"}


def embedding_answer(embeddings: Any) -> str:
    return json.dumps({"id": "1", "embeddings": embeddings, "texts": ["a"], "response_type": "embeddings_by_type"})


def packed(numbers: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def test_question_is_embedded_as_a_search_query(cohere: EmulatorServer, start: Start) -> None:
    assert start().ask().status == 200
    (request,) = cohere.requests
    assert request.path == "/v2/embed"
    assert request.json() == {
        "texts": [QUESTION],
        "model": "embed-v5.0-fast",
        "input_type": "search_query",
        "embedding_types": ["base64"],
        "output_dimension": 768,
    }


def test_question_is_embedded_stripped_and_repeated_as_sent(cohere: EmulatorServer, start: Start) -> None:
    answer = start().ask(f"  {QUESTION}\n")
    assert cohere.requests[0].json()["texts"] == [QUESTION]
    assert answer.json["query"] == f"  {QUESTION}\n"


UNUSABLE: dict[str, Any] = {
    "no types": {},
    "null": None,
    "int8 only": {"int8": [[1] * 768]},
    "plain floats of the first API": [[0.5] * 768],
    "no vector": {"base64": []},
    "an empty vector": {"base64": [""]},
    "one vector too many": {"base64": [packed([0.5] * 768)] * 2},
    "no base64": {"base64": ["!!!"]},
    "half a number": {"base64": [base64.b64encode(b"\0" * 3071).decode()]},
    "a number": {"base64": [5]},
    "NaN": {"base64": [packed([float("nan")] + [0.5] * 767)]},
    "Infinity": {"base64": [packed([float("-inf")] + [0.5] * 767)]},
    "all zeros": {"base64": [packed([0.0] * 768)]},
    "a square too long for 32 bits": {"base64": [packed([1e30] * 768)]},
    "floats, null for a number": {"float": [[None] * 768]},
    "floats, too long for 32 bits": {"float": [[1e39] * 768]},
    "floats, too short for 32 bits": {"float": [[1e-30] * 768]},
}


@pytest.mark.parametrize("embeddings", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_answer_without_exactly_one_finite_vector_is_503(
    embeddings: Any, cohere: EmulatorServer, qdrant: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("malformed", body=embedding_answer(embeddings), times=0))
    assert_error(start().ask(), 503, "SERVICE_UNAVAILABLE")
    assert (len(cohere.requests), len(qdrant.requests)) == (2, 0)


@pytest.mark.parametrize(
    ("embeddings", "settings", "given"),
    [({"float": [[0.5] * 384]}, {}, "384"), ({"base64": [packed([0.5] * 384)]}, V3, "384")],
)
def test_vector_of_another_dimension_is_a_configuration_error(
    embeddings: Any, settings: dict[str, str], given: str, cohere: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    """The dimension would be the same in a second attempt, so there is none."""
    cohere.faults.add(Fault("malformed", body=embedding_answer(embeddings), times=0))
    assert given in assert_error(start(**settings).ask(), 500, "INTERNAL_ERROR")
    assert len(cohere.requests) == 1


def test_base64_vector_reaches_the_store_exactly(
    cohere: EmulatorServer, qdrant: EmulatorServer, start: Start, make_collection: Any
) -> None:
    make_collection("v3", 1024)
    assert start(**V3, COLLECTION_NAME="v3").ask().status == 200
    assert cohere.requests[0].json()["embedding_types"] == ["base64"]
    assert qdrant.requests[0].json()["query"] == pytest.approx(embed([QUESTION], 1024)[0], rel=1e-7)


def test_denied_word_refuses_that_question_alone(cohere: EmulatorServer, start: Start) -> None:
    """Cohere's 498 means a word of the text, not the key, and does not say in which text it is."""
    function = start(EMBEDDING_CACHE_SIZE="0")
    message = assert_error(function.ask(f"What is {DENIED}?"), 400, "INVALID_INPUT")
    assert "does not accept a word" in message
    assert "KEY" not in message
    assert len(cohere.requests) == 1
    texts = ["twin", "robot", f"a {DENIED}", "arm", "sensor"]
    answers = function.invoke([{"text": text} for text in texts])
    assert ["error" in answer for answer in answers] == [DENIED in text for text in texts]
