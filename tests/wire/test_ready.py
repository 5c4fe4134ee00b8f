"""`/ready`: whether a question would be answered, and answered with the right model."""

import json
from pathlib import Path

import httpx
import pytest
from qdrant_client import models

from handler.entrypoints.detect import Source
from handler.service import services
from tools.doubles import EmulatorServer, Fault
from wire.function import MakeCollection, Start, assert_error, assert_for_browser, both_gateways

MODEL = "embed-v5.0-pro"
"""Embeds the texts, so the index records it; questions are embedded with Fast, of the same vector space."""

POINT = models.PointStruct(
    id=1, vector=[0.5] * 768, payload={"text_content": "A twin.", "source_url": "https://docs.example/twin"}
)


@pytest.mark.needs_qdrant("1.20")
@both_gateways
def test_ready_describes_the_collection(
    gateway: Source, cohere: EmulatorServer, start: Start, make_collection: MakeCollection
) -> None:
    make_collection("described", points=[POINT], metadata={"embedding_model": MODEL})
    answer = start(COLLECTION_NAME="described").get("/ready")
    assert answer.status == 200
    assert_for_browser(answer)
    body = answer.json
    (note,) = body["collection"].pop("notes")
    assert "PUT /collections/described/index" in note
    assert body == {
        "status": "ready",
        "profile": "query-response",
        "collection": {
            "name": "described",
            "vector_size": 768,
            "distance_metric": "Cosine",
            "points_count": 1,
            "indexed_vectors_count": 0,
            "status": "green",
            "embedding_model": MODEL,
            "search": "dense",
            "noise": None,
        },
    }
    assert cohere.requests == [], "a probe costs no embedding"


@pytest.mark.needs_qdrant("1.20")
def test_both_stores_describe_the_same_index(start: Start, on_edge: dict[str, str | None]) -> None:
    server = start().get("/ready").json["collection"]
    edge = start(**on_edge).get("/ready").json["collection"]
    assert server | {"embedding_model": MODEL} == edge, "the server's collection records no model"
    assert server["points_count"] > 100


def test_success_is_cached(qdrant: EmulatorServer, start: Start) -> None:
    function = start()
    first = function.get("/ready")
    qdrant.requests.clear()
    assert [function.get("/ready").json for _ in range(3)] == [first.json] * 3
    assert qdrant.requests == []


def test_cached_success_expires(qdrant: EmulatorServer, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "READY_SECONDS", 0.0)
    function = start()
    assert [function.get("/ready").status for _ in range(2)] == [200, 200]
    qdrant.faults.add(Fault("status", status=500, times=0))
    assert function.get("/ready").status == 503


def test_failure_is_not_cached(qdrant: EmulatorServer, start: Start, sleeps: list[float]) -> None:
    qdrant.faults.add(Fault("status", status=500, times=0))
    function = start()
    assert_error(function.get("/ready"), 503, "SERVICE_UNAVAILABLE")
    qdrant.faults.clear()
    assert function.get("/ready").status == 200


@both_gateways
def test_collection_of_another_dimension_is_not_ready(start: Start, make_collection: MakeCollection) -> None:
    message = assert_error(start(COLLECTION_NAME=make_collection("small", 4)).get("/ready"), 500, "INTERNAL_ERROR")
    assert "dimension 4" in message
    assert "EMBEDDING_DIMENSION" in message


@pytest.mark.parametrize("model", [None, 7])
def test_collection_that_records_no_model_is_ready(
    model: object, start: Start, make_collection: MakeCollection
) -> None:
    make_collection("silent", points=[POINT], metadata={"embedding_model": model, "site": "textbook"})
    assert start(COLLECTION_NAME="silent").get("/ready").json["collection"]["embedding_model"] is None


@both_gateways
def test_empty_collection_is_not_ready(start: Start, make_collection: MakeCollection) -> None:
    message = assert_error(start(COLLECTION_NAME=make_collection("bare")).get("/ready"), 500, "INTERNAL_ERROR")
    assert "is empty" in message
    assert "passage index" in message


@pytest.mark.parametrize(("stored", "told"), [("green", 200), ("yellow", 200), ("grey", 200), ("red", 500)])
def test_red_collection_is_not_ready(stored: str, told: int, qdrant: EmulatorServer, start: Start) -> None:
    with httpx.Client(base_url=qdrant.url) as client:
        described = client.get("/collections/rag_embeddings").json()
    described["result"]["status"] = stored
    described["result"]["config"]["metadata"] = {"embedding_model": MODEL}  # so that no point is asked for it
    qdrant.faults.add(Fault("malformed", body=json.dumps(described), path="/collections/rag_embeddings", times=0))
    answer = start().get("/ready")
    assert answer.status == told
    if told == 200:
        assert answer.json["collection"]["status"] == ("green" if stored == "green" else "yellow")
    else:
        assert "red" in assert_error(answer, 500, "INTERNAL_ERROR")


def test_missing_collection_or_wrong_vector_name_is_not_ready(start: Start) -> None:
    assert "COLLECTION_NAME" in assert_error(start(COLLECTION_NAME="absent").get("/ready"), 500, "INTERNAL_ERROR")
    assert "VECTOR_NAME" in assert_error(start(VECTOR_NAME="dense").get("/ready"), 500, "INTERNAL_ERROR")


def test_connection_dropped_while_frozen_is_retried(qdrant: EmulatorServer, start: Start, sleeps: list[float]) -> None:
    """The error map treats a probe like a question: a dropped connection is retried once."""
    qdrant.faults.add(Fault("drop"))
    assert start().get("/ready").status == 200
    assert [request.path for request in qdrant.requests].count("/collections/rag_embeddings") == 2
    assert sleeps == [0.1]


@pytest.mark.parametrize(
    "body",
    [
        *("null", "[]", "{}", "ok", '{"result": null, "status": "ok", "time": 0}'),
        *('{"result": {}, "status": "ok", "time": 0}', '{"result": {"status": "green"}, "status": "ok", "time": 0}'),
    ],
)
def test_store_answer_of_another_shape_is_503(
    body: str, qdrant: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    qdrant.faults.add(Fault("malformed", body=body, times=0))
    assert_error(start().get("/ready"), 503, "SERVICE_UNAVAILABLE")


def test_edge_store_without_an_index_is_not_ready(start: Start, on_edge: dict[str, str | None], tmp_path: Path) -> None:
    function = start(**(on_edge | {"EDGE_INDEX_PATH": str(tmp_path)}))
    assert "passage index" in assert_error(function.get("/ready"), 500, "INTERNAL_ERROR")
