"""`GET /profiles/{profile}/chunks/{id}`: by point id or by the payload's chunk id, and never larger than a response."""

import gzip
import json
from base64 import b64decode
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from qdrant_client import QdrantClient, models

from handler.entrypoints.detect import Source
from handler.entrypoints.limits import ALB_RESPONSE_BYTES, LAMBDA_RESPONSE_BYTES
from passage.local.http_event import http_api_event
from tools.doubles import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator
from wire.function import Answer, MakeCollection, Start

VECTOR_SEARCH: dict[str, str | None] = {"DEFAULT_PROFILE": "vector-search", "COLLECTION_NAME": "ids"}
UUID = "0b1f6c52-9d3e-4c1a-8f57-1f2e3d4c5b6a"


def point(identity: int | str, chunk_id: int | str, text: str = "A twin.") -> models.PointStruct:
    payload = {"content": text, "source_url": "https://docs.example/twin", "chunk_id": chunk_id}
    return models.PointStruct(id=identity, vector=[0.5] * 1024, payload=payload)


@pytest.fixture
def ids(make_collection: MakeCollection) -> None:
    make_collection("ids", 1024, points=[point(UUID, 122), point(7, "007"), point(2**63 + 1, "c-1")])


@pytest.mark.parametrize(
    ("asked", "found"), [("122", UUID), ("7", 7), ("007", 7), ("c-1", str(2**63 + 1)), (str(2**63 + 1), str(2**63 + 1))]
)
def test_chunk_is_found_by_integer_or_text_id(asked: str, found: int | str, ids: None, start: Start) -> None:
    answer = start(**VECTOR_SEARCH).get(f"/profiles/vector-search/chunks/{asked}")
    assert (answer.status, answer.json["id"], answer.json["score"]) == (200, found, 1)


@pytest.mark.parametrize(
    "chunk_id", ["guide/start#oil", "what?", "\U0001f4a1 é", "a b&c=d+e", "a//b", "<a>;'\"", "c:\\d"]
)
def test_chunk_id_of_any_characters_is_found_over_each_gateway(
    chunk_id: str, make_collection: MakeCollection, start: Start
) -> None:
    make_collection("ids", 1024, points=[point(UUID, chunk_id)])
    function = start(**VECTOR_SEARCH)
    for path in (f"/profiles/vector-search/chunks/{each}" for each in (chunk_id, quote(chunk_id, safe=""))):
        rest = {"httpMethod": "GET", "path": path, "headers": {}, "body": None, "requestContext": {"stage": "live"}}
        balanced = {**rest, "requestContext": {"elb": {}}}
        for event in (http_api_event("GET", path), rest, balanced):
            answer = Answer.of(function.invoke(event))
            assert (answer.status, answer.json.get("id")) == (200, UUID), path


@pytest.mark.parametrize("asked", ["123", "0122", "1e2", "9" * 30, "9" * 5_000, "-122", "²"])
def test_unknown_id_is_404(asked: str, ids: None, start: Start) -> None:
    assert start(**VECTOR_SEARCH).get(f"/profiles/vector-search/chunks/{asked}").status == 404


def test_edge_index_finds_a_chunk_by_its_integer_id(several_indexes: Path, start: Start) -> None:
    function = start(STORE="qdrant_edge", EDGE_INDEX_PATH=str(several_indexes), QDRANT_URL=None)
    answer = function.get("/profiles/vector-search/chunks/122")
    assert answer.status == 200
    assert answer.json["payload"]["chunk_id"] == 122


def test_search_result_has_ids_from_2_to_the_53_as_text(make_collection: MakeCollection, start: Start) -> None:
    make_collection(
        "ids", 1024, points=[point(identity, 1, f"A twin {identity}.") for identity in (2**53 - 1, 2**53, 2**64 - 1)]
    )
    answer = start(**VECTOR_SEARCH).post({"query_text": "twin"})
    assert {result["id"] for result in answer.json["results"]} == {2**53 - 1, str(2**53), str(2**64 - 1)}


@pytest.mark.parametrize(("kind", "stored"), [("keyword", "122"), ("integer", 122)])
def test_strict_server_with_one_index_serves_both_forms(kind: str, stored: Any, tmp_path: Path, start: Start) -> None:
    """Qdrant Cloud refuses a condition without a payload index. Conditions with an index are sent alone."""
    with qdrant_emulator(tmp_path, strict=True) as server:
        admin = QdrantClient(url=server.url, check_compatibility=False)
        admin.create_collection("ids", models.VectorParams(size=1024, distance=models.Distance.COSINE))
        admin.upsert("ids", [point(UUID, stored)])
        admin.create_payload_index("ids", "chunk_id", models.PayloadSchemaType(kind))
        function = start(**VECTOR_SEARCH, QDRANT_URL=server.url)
        assert function.get("/profiles/vector-search/chunks/122").json["id"] == UUID
        assert function.get("/profiles/vector-search/chunks/c-1").status == 404
        admin.delete_payload_index("ids", "chunk_id")
        refused = function.get("/profiles/vector-search/chunks/122")
        assert (refused.status, refused.json["error"]["code"]) == (400, "INVALID_PARAMETER")
        assert "payload index" in refused.json["error"]["message"]
        admin.close()


@pytest.mark.parametrize(
    ("gateway", "size"), [(Source.HTTP_API, 6_300_000), (Source.REST_API, 6_300_000), (Source.ALB, 1_100_000)]
)
def test_chunk_too_large_for_a_response_is_413(size: int, make_collection: MakeCollection, start: Start) -> None:
    make_collection("ids", 1024, points=[point(1, 1, "a" * size)])
    function = start(**VECTOR_SEARCH)
    path = "/profiles/vector-search/chunks/1"
    if size < LAMBDA_RESPONSE_BYTES - 1_000_000:
        event = {"httpMethod": "GET", "path": path, "headers": {}, "body": "", "requestContext": {"elb": {}}}
        answer = Answer.of(function.invoke(event))
    else:
        answer = function.get(path)
    assert answer.status == 413
    assert answer.json["error"]["code"] == "INVALID_PARAMETER"
    assert "too large" in answer.json["error"]["message"]


def page(function: Any, headers: dict[str, str]) -> Any:
    event = {"httpMethod": "GET", "path": "/docs", "headers": headers, "body": "", "requestContext": {"elb": {}}}
    return function.invoke(event)


def test_docs_page_fits_a_load_balancer_compressed(start: Start) -> None:
    function = start()
    response = page(function, {"accept-encoding": "gzip, deflate, br"})
    assert response["statusCode"] == 200
    assert len(json.dumps(response)) <= ALB_RESPONSE_BYTES
    assert response["headers"]["Content-Encoding"] == "gzip"
    assert response["headers"]["Vary"] == "Origin, Accept-Encoding"
    assert response["headers"]["Cache-Control"] == "private, max-age=300"
    assert b"swagger" in gzip.decompress(b64decode(response["body"]))
    plain = page(function, {})
    assert plain["statusCode"] == 413
    assert json.loads(plain["body"])["code"] == "INVALID_INPUT"
    assert not function.invoke({**function_url_docs()})["isBase64Encoded"], "other APIs carry the page as it is"


def function_url_docs() -> dict[str, Any]:
    return {
        "version": "2.0",
        "rawPath": "/docs",
        "headers": {"accept-encoding": "gzip"},
        "requestContext": {"domainName": "a.lambda-url.x", "http": {"method": "GET"}},
    }


HIDDEN = {"owner": "ann@acme.example", "draft": True}
"""Fields of a payload that no profile maps."""


@pytest.mark.parametrize("profile", ["query-response", "context", "ranked", "chunks", "vector-search"])
@pytest.mark.parametrize("setting", [None, "raw"])
def test_chunk_shows_the_fields_that_the_profile_maps(
    profile: str, setting: str | None, start: Start, make_collection: MakeCollection
) -> None:
    payload = {"text": "A twin.", "url": "https://docs.example/twin", "title": "Twins", **HIDDEN}
    make_collection("mixed", 8, points=[models.PointStruct(id=1, vector=[0.5] * 8, payload=payload)])
    function = start(COLLECTION_NAME="mixed", DEFAULT_PROFILE=profile, EMBEDDING_DIMENSION="8", CHUNKS=setting)
    path = f"/profiles/{profile}/chunks/1"
    found, with_vector = function.get(path), function.get(path, "with_vectors=true")
    assert found.status == 200
    assert found.json["vector"] is None
    if profile == "vector-search" or setting == "raw":
        assert found.json["payload"] == payload
        assert len(with_vector.json["vector"]) == 8
    else:
        assert found.json["payload"] == {name: payload[name] for name in ("text", "url", "title")}
        assert with_vector.status == 400
        assert "shows no vectors" in with_vector.text


@pytest.mark.parametrize("path", ["/profiles/ranked/chunks/1", "/profiles/chunks/chunks/2"])
def test_chunk_that_no_answer_would_show_is_404(path: str, start: Start, make_collection: MakeCollection) -> None:
    points = [
        models.PointStruct(id=1, vector=[0.5] * 8, payload={"text": "A draft.", **HIDDEN}),
        models.PointStruct(id=2, vector=[0.5] * 8, payload={"text": "A file.", "url": "file:///home/ann/twin.md"}),
    ]
    make_collection("drafts", 8, points=points)
    function = start(COLLECTION_NAME="drafts", DEFAULT_PROFILE=path.split("/")[2], EMBEDDING_DIMENSION="8")
    assert function.get(path).status == 404


def test_deployment_without_chunks_answers_404(ids: None, start: Start, qdrant: EmulatorServer) -> None:
    answer = start(**VECTOR_SEARCH, CHUNKS="false").get("/profiles/vector-search/chunks/122")
    assert (answer.status, qdrant.requests) == (404, [])
    assert "serves no chunks" in answer.text
