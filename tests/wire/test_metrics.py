"""Metrics of requests on standard output, where CloudWatch reads them."""

from typing import Any

import pytest
from aws_lambda_powertools.metrics import EphemeralMetrics

from handler import telemetry
from handler.adapters.qdrant.server import QdrantServerStore
from handler.service import answering
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, MakeCollection, Output, Start

pytestmark = pytest.mark.usefixtures("warm")

BY_PROFILE = ("service", "profile")
BY_SERVICE = ("service",)


def directives(record: dict[str, Any]) -> dict[tuple[str, ...], dict[str, str]]:
    """A record's metrics and their units, by the dimensions they are counted under."""
    found = {}
    for directive in record["_aws"]["CloudWatchMetrics"]:
        assert directive["Namespace"] == "Passage"
        (dimensions,) = directive["Dimensions"]
        assert dimensions[0] == "service"
        found[tuple(dimensions)] = {metric["Name"]: metric["Unit"] for metric in directive["Metrics"]}
    return found


def declared(record: dict[str, Any]) -> dict[str, str]:
    """A record's metrics by profile, with their units."""
    return directives(record)[BY_PROFILE]


def test_success_is_one_record_of_metrics(start: Start, output: Output) -> None:
    """CloudWatch needs a namespace, and Powertools raises without one."""
    answer = start().ask(k=4)
    (record,) = output.metrics
    assert (record["service"], record["profile"]) == ("passage", "query-response")
    assert declared(record) == {
        "EmbeddingLatency": "Milliseconds",
        "EmbeddingCacheHit": "Count",
        "SearchLatency": "Milliseconds",
        "TotalLatency": "Milliseconds",
        "ResultCount": "Count",
        "TopScore": "None",
    }
    assert directives(record)[BY_SERVICE] == {"TotalLatency": "Milliseconds", "TopScore": "None"}
    assert record["ResultCount"] == [4.0]
    assert record["TopScore"] == [pytest.approx(answer.results[0]["relevance_score"])]
    assert 0 < record["EmbeddingLatency"][0] < record["TotalLatency"][0]
    assert 0 < record["SearchLatency"][0] < record["TotalLatency"][0]


def test_cached_question_counts_a_hit_and_no_embedding_time(start: Start, output: Output) -> None:
    function = start()
    for text in (QUESTION, QUESTION, "What is a twin?"):
        assert function.ask(text).status == 200
    first, again, other = output.metrics
    assert [record["EmbeddingCacheHit"] for record in (first, again, other)] == [[0.0], [1.0], [0.0]]
    assert ["EmbeddingLatency" in declared(record) for record in (first, again, other)] == [True, False, True]
    assert [line["embedding_cached"] for line in output.logs if line["message"] == "retrieved"] == [False, True, False]


def test_vector_question_counts_no_embedding(start: Start, output: Output, make_collection: MakeCollection) -> None:
    """The dashboard takes the number of EmbeddingLatency's samples for the number of paid calls."""
    function = start(
        DEFAULT_PROFILE="vector-search", COLLECTION_NAME=make_collection("small", 4), EMBEDDING_DIMENSION="4"
    )
    assert function.post({"query_vector": [1.0, 0.0, 0.0, 0.0], "top_k": 3}).status == 200
    (record,) = output.metrics
    assert not declared(record).keys() & {"EmbeddingLatency", "EmbeddingCacheHit"}


def test_service_name_is_the_deployments(start: Start, output: Output) -> None:
    assert start(POWERTOOLS_SERVICE_NAME="textbook-search").ask().status == 200
    (record,) = output.metrics
    assert record["service"] == "textbook-search"
    assert {line["service"] for line in output.logs} == {"textbook-search"}


def test_cold_start_is_counted_once_per_container(
    start: Start, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telemetry._State, "cold", True)
    function = start()
    assert [function.ask().status for _ in range(3)] == [200, 200, 200]
    assert [record.get("ColdStart") for record in output.metrics] == [[1.0], None, None]
    assert declared(output.metrics[0])["ColdStart"] == "Count"
    assert [line["cold_start"] for line in output.logs] == [True, False, False]


def test_no_results_leave_out_the_top_score_metric(
    start: Start, make_collection: MakeCollection, output: Output
) -> None:
    """A NaN would break the whole record."""
    assert start(COLLECTION_NAME=make_collection("empty")).ask().results == []
    (record,) = output.metrics
    assert "TopScore" not in declared(record)
    assert record["ResultCount"] == [0.0]


def test_figure_that_is_not_a_number_is_left_out_of_its_record(output: Output) -> None:
    telemetry.log_retrieval("query-response", {}, {"TopScore": float("nan"), "ResultCount": 1.0})
    (record,) = output.metrics
    assert declared(record) == {"ResultCount": "Count"}


FAILURES: dict[str, tuple[dict[str, str | None], dict[str, Any], str, str]] = {
    "blank": ({}, {"text": " "}, "BLANK_TEXT", "Caller"),
    "bad k": ({}, {"text": QUESTION, "k": 0}, "INVALID_REQUEST", "Caller"),
    "no collection": ({"COLLECTION_NAME": "absent"}, {"text": QUESTION}, "COLLECTION_NOT_FOUND", "Ours"),
    "dimension": ({"EMBEDDING_DIMENSION": "384"}, {"text": QUESTION}, "DIMENSION_MISMATCH", "Ours"),
    "vector name": ({"VECTOR_NAME": "dense"}, {"text": QUESTION}, "VECTOR_NAME_MISMATCH", "Ours"),
    "key": ({"COHERE_API_KEY": "not-the-key"}, {"text": QUESTION}, "CREDENTIALS_REFUSED", "Ours"),
    "model": ({"EMBEDDING_MODEL": "embed-retired-v1.0"}, {"text": QUESTION}, "REQUEST_REFUSED", "Ours"),
    "settings": ({"STORE": "postgres"}, {"text": QUESTION}, "CONFIGURATION_ERROR", "Ours"),
}


@pytest.mark.parametrize(("settings", "fields", "code", "blame"), FAILURES.values(), ids=FAILURES.keys())
def test_failure_is_counted_by_code_and_by_blame(
    settings: dict[str, str | None], fields: dict[str, Any], code: str, blame: str, start: Start, output: Output
) -> None:
    assert start(**settings).post(fields).status != 200
    (record,) = output.metrics
    assert directives(record) == {
        BY_PROFILE: {f"Error.{code}": "Count"},
        BY_SERVICE: {f"Failed.{blame}": "Count"},
    }
    assert record[f"Error.{code}"] == record[f"Failed.{blame}"] == [1.0]
    assert record["service"]
    assert record["profile"] == ("unknown" if code == "CONFIGURATION_ERROR" else "query-response")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault("status", status=429, times=0), "UPSTREAM_THROTTLED"),
        (Fault("status", status=503, times=0), "UPSTREAM_UNAVAILABLE"),
    ],
)
def test_upstream_failure_is_counted_once_although_tried_twice(
    fault: Fault, code: str, cohere: EmulatorServer, start: Start, output: Output, sleeps: list[float]
) -> None:
    cohere.faults.add(fault)
    start().ask()
    (record,) = output.metrics
    assert record[f"Error.{code}"] == record["Failed.Upstream"] == [1.0]
    assert output.logs[0]["message"] == "retrying"


@pytest.mark.parametrize(("where", "name"), [(QdrantServerStore, "search"), (answering, "_render")])
def test_unexpected_exception_is_counted_as_an_internal_error(
    where: object, name: str, start: Start, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(where, name, broken)
    assert start().ask().status == 500
    (record,) = output.metrics
    assert record["Error.INTERNAL_ERROR"] == record["Failed.Ours"] == [1.0]


def test_failed_telemetry_does_not_fail_the_answer(
    start: Start, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:

    def broken(*_: object, **__: object) -> None:
        raise ValueError("no namespace")

    monkeypatch.setattr(EphemeralMetrics, "flush_metrics", broken)
    function = start()
    assert len(function.ask().results) == 3
    assert function.post({"text": ""}).status == 400
    assert output.metrics == []
    assert "metrics were not written" in [line["message"] for line in output.logs]
