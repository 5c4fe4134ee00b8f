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


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_nan_score_never_reaches_json_or_metrics(
    score: float, qdrant: EmulatorServer, start: Start, output: Output
) -> None:
    """The point is skipped and counted."""
    qdrant.faults.add(Fault("malformed", body=search_answer(scored(1, score), scored(2, 0.5))))
    results = start().ask().results
    assert [result["chunk_id"] for result in results] == ["2_4"]
    (record,) = output.metrics
    assert record["TopScore"] == [0.5]
    assert record["SkippedPoints"] == [1.0]
    assert "NaN" not in output.text
    assert "Infinity" not in output.text


def test_only_nan_scores_give_no_results_and_no_top_score(qdrant: EmulatorServer, start: Start, output: Output) -> None:
    qdrant.faults.add(Fault("malformed", body=search_answer(scored(1, float("nan")))))
    assert start().ask().results == []
    (record,) = output.metrics
    assert "TopScore" not in record
    assert record["ResultCount"] == [0.0]


def test_results_are_ordered_and_unique_in_any_store_order(qdrant: EmulatorServer, start: Start) -> None:
    answer = search_answer(scored(3, 0.1), scored(1, 0.9), scored(1, 0.9), scored(2, 0.5))
    qdrant.faults.add(Fault("malformed", body=answer))
    results = start().ask(k=5).results
    assert [result["chunk_id"] for result in results] == ["1_4", "2_4", "3_4"]


def test_store_that_gives_more_than_asked_for_is_cut(qdrant: EmulatorServer, start: Start) -> None:
    qdrant.faults.add(Fault("malformed", body=search_answer(*(scored(i, 0.5) for i in range(5)))))
    answer = start().ask(k=3)
    assert answer.json["total_results"] == len(answer.results) == 3


UNUSABLE: dict[str, Any] = {
    "no payload": None,
    "empty payload": {},
    "text null": GOOD | {"text_content": None},
    "text empty": GOOD | {"text_content": ""},
    "text blank": GOOD | {"text_content": " \n"},
    "text a number": GOOD | {"text_content": 7},
    "text a list": GOOD | {"text_content": ["A twin."]},
    "URL a number": GOOD | {"source_url": 7},
    "URL null": GOOD | {"source_url": None},
    "URL an object": GOOD | {"source_url": {"href": "https://example.org"}},
    "no URL": {"text_content": "A twin."},
}


@pytest.mark.parametrize("payload", UNUSABLE.values(), ids=UNUSABLE.keys())
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


VARIANTS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "live keys": ({"content": "text", "url": "/u", "position": 2}, "text", "/u", "7_2"),
    "first key wins": (GOOD | {"content": "no", "url": "/no"}, GOOD["text_content"], GOOD["source_url"], "7_4"),
    "null counts as absent": (GOOD | {"text_content": None, "text": "text"}, "text", GOOD["source_url"], "7_4"),
    "no index": ({"text": "text", "url": "/u"}, "text", "/u", "7_0"),
    "index unusable": (GOOD | {"chunk_index": "4"}, GOOD["text_content"], GOOD["source_url"], "7_0"),
    "index a float": (GOOD | {"chunk_index": 4.0}, GOOD["text_content"], GOOD["source_url"], "7_4"),
    "text kept as it is": (GOOD | {"text_content": " <b>\u00e9\n\U0001f916 "}, " <b>\u00e9\n\U0001f916 ", "", "7_4"),
}


@pytest.mark.parametrize(("payload", "text", "url", "chunk_id"), VARIANTS.values(), ids=VARIANTS.keys())
def test_payload_variants_are_read(
    payload: dict[str, Any], text: str, url: str, chunk_id: str, start: Start, make_collection: MakeCollection
) -> None:
    (vector,) = embed([QUESTION], 768)
    make_collection("variant", points=[models.PointStruct(id=7, vector=vector, payload=payload)])
    (result,) = start(COLLECTION_NAME="variant").ask().results
    assert (result["chunk_text"], result["chunk_id"]) == (text, chunk_id)
    assert result["url"] == (url or GOOD["source_url"])
    assert result["relevance_score"] == pytest.approx(1.0, abs=1e-5)


def test_uuid_points_keep_their_id(start: Start, make_collection: MakeCollection) -> None:
    identity = "0b8d3c7e-6a5f-4e21-9c40-1f2e3d4c5b6a"
    (vector,) = embed([QUESTION], 768)
    make_collection("uuids", points=[models.PointStruct(id=identity, vector=vector, payload=GOOD)])
    (result,) = start(COLLECTION_NAME="uuids").ask().results
    assert result["chunk_id"] == f"{identity}_4"


def test_empty_collection_is_200_without_results(start: Start, make_collection: MakeCollection) -> None:
    make_collection("empty")
    answer = start(COLLECTION_NAME="empty").ask()
    assert answer.results == []
    assert answer.json["total_results"] == 0


def test_store_is_asked_for_the_read_keys_and_no_vectors(qdrant: EmulatorServer, start: Start) -> None:
    assert start().ask(k=3).status == 200
    (request,) = qdrant.requests
    asked = request.json()
    assert asked["limit"] == 3
    assert asked["with_vector"] is False
    assert {"text_content", "source_url", "chunk_index"} <= set(asked["with_payload"])
