"""Requests to the embedding service, and the validation of its answers."""

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from handler.config import profiles
from indexed import embedder_at, index_edge
from passage.emulators.cohere.requests import DENIED
from passage.emulators.embedding import embed
from passage.sites.markdown import find_site
from tools.doubles import EmulatorServer, Fault
from wire.function import COHERE_KEY, QUESTION, Start, assert_error

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


def test_documents_are_embedded_as_search_documents(cohere: EmulatorServer, tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    pages.mkdir()
    (pages / "index.md").write_text("# Twins\n\nA digital twin mirrors a machine.\n", encoding="utf-8")
    profile = profiles.load("query-response")
    embedder = embedder_at(cohere.url, profile, COHERE_KEY)
    index_edge(find_site(pages, "https://example.org"), profile, tmp_path / "index", embedder)
    (request,) = cohere.requests
    assert request.json()["input_type"] == "search_document"


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0", "\u3000\u2003", "\u200b", "\ufeff \u2060"])
def test_blank_text_is_never_embedded(text: str, cohere: EmulatorServer, start: Start) -> None:
    """The service would return a plausible vector for blank text."""
    assert_error(start().ask(text), 400, "INVALID_INPUT")
    assert cohere.requests == []


def test_question_is_embedded_stripped_and_repeated_as_sent(cohere: EmulatorServer, start: Start) -> None:
    answer = start().ask(f"  {QUESTION}\n")
    assert cohere.requests[0].json()["texts"] == [QUESTION]
    assert answer.json["query"] == f"  {QUESTION}\n"


UNUSABLE: dict[str, Any] = {
    "no vector": {"float": []},
    "an empty vector": {"float": [[]]},
    "no types": {},
    "null": None,
    "null floats": {"float": None},
    "int8 only": {"int8": [[1] * 768]},
    "one vector too many": {"float": [[0.5] * 768, [0.5] * 768]},
    "a flat list": {"float": [0.5] * 768},
    "text for a number": {"float": [["half"] * 768]},
    "null for a number": {"float": [[None] * 768]},
    "NaN": {"float": [[float("nan")] + [0.5] * 767]},
    "Infinity": {"float": [[float("inf")] + [0.5] * 767]},
    "all zeros": {"float": [[0.0] * 768]},
    "too long for 32 bits": {"float": [[1e39] * 768]},
    "a square too long for 32 bits": {"float": [[1e30] * 768]},
    "too short for 32 bits": {"float": [[1e-30] * 768]},
    "plain floats of the first API": [[0.5] * 768],
}


@pytest.mark.parametrize("embeddings", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_answer_without_exactly_one_finite_vector_is_503(
    embeddings: Any, cohere: EmulatorServer, qdrant: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("malformed", body=embedding_answer(embeddings), times=0))
    assert_error(start().ask(), 503, "SERVICE_UNAVAILABLE")
    assert (len(cohere.requests), len(qdrant.requests)) == (2, 0)


UNUSABLE_BASE64: dict[str, Any] = {
    "no vector": {"base64": []},
    "an empty vector": {"base64": [""]},
    "int8 only": {"int8": [[1] * 1024]},
    "one vector too many": {"base64": [packed([0.5] * 1024)] * 2},
    "no base64": {"base64": ["!!!"]},
    "half a number": {"base64": [base64.b64encode(b"\0" * 4095).decode()]},
    "a number": {"base64": [5]},
    "NaN": {"base64": [packed([float("nan")] + [0.5] * 1023)]},
    "Infinity": {"base64": [packed([float("-inf")] + [0.5] * 1023)]},
    "all zeros": {"base64": [packed([0.0] * 1024)]},
    "a square too long for 32 bits": {"base64": [packed([1e30] * 1024)]},
}


@pytest.mark.parametrize("embeddings", UNUSABLE_BASE64.values(), ids=UNUSABLE_BASE64.keys())
def test_base64_answer_without_exactly_one_finite_vector_is_503(
    embeddings: Any, cohere: EmulatorServer, qdrant: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    """The same for models whose embeddings are requested as base64."""
    cohere.faults.add(Fault("malformed", body=embedding_answer(embeddings), times=0))
    assert_error(start(**V3).ask(), 503, "SERVICE_UNAVAILABLE")
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


def test_embed_v4_is_asked_for_the_collections_dimension(
    cohere: EmulatorServer, start: Start, make_collection: Any
) -> None:
    make_collection("v4", 512)
    settings = {"EMBEDDING_MODEL": "embed-v4.0", "EMBEDDING_DIMENSION": "512", "COLLECTION_NAME": "v4"}
    assert start(**settings).ask().status == 200
    assert cohere.requests[0].json()["output_dimension"] == 512


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
