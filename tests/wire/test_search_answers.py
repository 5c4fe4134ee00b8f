"""Which of a store's points become results, in what order, and with what score."""

import json
from typing import Any

import pytest
from qdrant_client import models

from passage.emulators.embedding import embed
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, MakeCollection, Output, Start

pytestmark = pytest.mark.usefixtures("dense")

GOOD: dict[str, Any] = {"text_content": "A twin.", "source_url": "https://example.org/twin", "chunk_index": 4}


def search_answer(*points: dict[str, Any]) -> str:
    return json.dumps({"result": {"points": [{"version": 0, **point} for point in points]}, "status": "ok", "time": 0})


def scored(identity: int, score: float) -> dict[str, Any]:
    return {"id": identity, "score": score, "payload": GOOD | {"text_content": f"Twin {identity}."}}


def test_out_of_range_scores_are_clipped_and_keep_their_order(qdrant: EmulatorServer, start: Start) -> None:
    answer = search_answer(scored(1, 1.0000001), scored(2, 1.0), scored(3, 0.5), scored(4, -0.2), scored(5, -1.0))
    qdrant.faults.add(Fault("malformed", body=answer))
    results = start().ask(k=5).results
    assert [result["relevance_score"] for result in results] == [1.0, 1.0, 0.5, 0.0, 0.0]
    assert [result["chunk_id"] for result in results] == ["1_4", "2_4", "3_4", "4_4", "5_4"]


def test_nan_score_never_reaches_json_or_metrics(qdrant: EmulatorServer, start: Start, output: Output) -> None:
    """The point is skipped and counted."""
    qdrant.faults.add(Fault("malformed", body=search_answer(scored(1, float("nan")), scored(2, 0.5))))
    results = start().ask().results
    assert [result["chunk_id"] for result in results] == ["2_4"]
    (record,) = output.metrics
    assert record["TopScore"] == [0.5]
    assert record["SkippedPoints"] == [1.0]
    assert "NaN" not in output.text
    assert "Infinity" not in output.text


@pytest.mark.parametrize("payload", [None, GOOD | {"text_content": " \n"}, GOOD | {"source_url": 7}])
def test_invalid_point_is_skipped_and_counted(
    payload: Any, start: Start, make_collection: MakeCollection, output: Output
) -> None:
    """One bad point does not affect the good ones."""
    (vector,) = embed([QUESTION], 768)
    payloads = {1: GOOD, 2: payload, 3: GOOD | {"text_content": "Another twin."}}
    points = [models.PointStruct(id=identity, vector=vector, payload=each) for identity, each in payloads.items()]
    make_collection("odd", points=points)
    answer = start(COLLECTION_NAME="odd").ask()
    assert sorted(result["chunk_id"] for result in answer.results) == ["1_4", "3_4"]
    assert answer.json["total_results"] == 2
    (record,) = output.metrics
    assert record["SkippedPoints"] == [1.0]
    assert output.logs[-1]["skipped"] == 1


def test_store_is_asked_for_the_read_keys_and_no_vectors(qdrant: EmulatorServer, start: Start) -> None:
    assert start().ask(k=3).status == 200
    (request,) = qdrant.requests
    asked = request.json()
    assert asked["limit"] == 3
    assert asked["with_vector"] is False
    assert {"text_content", "source_url", "chunk_index"} <= set(asked["with_payload"])
