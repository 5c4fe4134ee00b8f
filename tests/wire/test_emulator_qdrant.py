"""What the Qdrant emulator must share with a real server, asked by the real client: its statuses and messages."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from tools.doubles import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator

TOWARDS_1 = [1.0, 0.0, 0.0, 0.0]
POINTS = [
    models.PointStruct(
        id=1, vector=TOWARDS_1, payload={"url": "/a", "n": 1, "meta": {"lang": "en"}, "text": "an engine"}
    ),
    models.PointStruct(id=2, vector=[0.6, 0.8, 0.0, 0.0], payload={"url": "/b", "n": 2, "tags": ["x", "y"]}),
    models.PointStruct(id=3, vector=[0.0, 0.0, 0.0, 1.0], payload={"url": "/c", "text": "the engines run"}),
]
COSINE = models.VectorParams(size=4, distance=models.Distance.COSINE)

Ask = Callable[[QdrantClient], Any]


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[EmulatorServer]:
    with qdrant_emulator(tmp_path, **getattr(request, "param", {})) as running:
        yield running


@pytest.fixture
def client(server: EmulatorServer) -> Iterator[QdrantClient]:
    client = QdrantClient(url=server.url, check_compatibility=False, timeout=5)
    client.create_collection("docs", COSINE)
    client.upsert("docs", POINTS)
    yield client
    client.close()


def error_of(caught: pytest.ExceptionInfo[UnexpectedResponse]) -> str:
    return str(json.loads(caught.value.content)["status"]["error"])


def ids(client: QdrantClient, **options: Any) -> list[object]:
    return [point.id for point in client.query_points("docs", TOWARDS_1, **options).points]


def field(key: str, **condition: Any) -> models.FieldCondition:
    return models.FieldCondition(key=key, **condition)


def alias(name: str, collection: str) -> models.CreateAliasOperation:
    return models.CreateAliasOperation(
        create_alias=models.CreateAlias(alias_name=name, collection_name=collection),
    )


# --- answers


def test_server_compares_scores_strictly_and_pages_by_offset(client: QdrantClient) -> None:
    assert ids(client) == [1, 2, 3]
    assert [ids(client, score_threshold=score) for score in (1.0, 0.99, 0.0)] == [[], [1], [1, 2]]
    assert ids(client, offset=1, limit=1) == [2]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"must": [field("url", match=models.MatchValue(value="/a"))]}, [1]),
        ({"must": [field("meta.lang", match=models.MatchValue(value="en"))]}, [1]),
        ({"must": [field("tags", match=models.MatchAny(any=["y", "z"]))]}, [2]),
        ({"must": [field("url", match=models.MatchAny(any=[]))]}, []),
        ({"must": [field("url", match=models.MatchExcept(**{"except": ["/a"]}))]}, [2, 3]),
        ({"must": [field("n", range=models.Range(gte=1, lt=2))]}, [1]),
        ({"must": [models.IsEmptyCondition(is_empty=models.PayloadField(key="n"))]}, [3]),
        ({"must_not": [models.HasIdCondition(has_id=[2, 3])]}, [1]),
        ({"should": [field("n", range=models.Range(gt=1)), field("url", match=models.MatchValue(value="/c"))]}, [2, 3]),
    ],
)
def test_filter_keeps_its_points(client: QdrantClient, conditions: dict[str, Any], expected: list[object]) -> None:
    assert ids(client, query_filter=models.Filter(**conditions)) == expected


def test_text_query_needs_its_index(client: QdrantClient) -> None:
    asked = {"query": models.TextQuery(text="run engine"), "using": "text"}
    with pytest.raises(UnexpectedResponse) as caught:
        client.query_points("docs", **asked)
    assert (caught.value.status_code, "requires a text index on field text" in error_of(caught)) == (400, True)
    stemmer = models.SnowballParams(type=models.Snowball.SNOWBALL, language=models.SnowballLanguage.ENGLISH)
    index = models.TextIndexParams(type=models.TextIndexType.TEXT, stemmer=stemmer, scoring=True)
    client.create_payload_index("docs", "text", index)
    assert [point.id for point in client.query_points("docs", **asked).points] == [3, 1]
    params = client.get_collection("docs").payload_schema["text"].params
    assert isinstance(params, models.TextIndexParams)
    assert (params.scoring, params.stemmer) == (True, stemmer)


def test_collection_options_are_kept_and_shown(client: QdrantClient) -> None:
    int8 = models.ScalarQuantization(scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8))
    vectors = models.VectorParams(size=2, distance=models.Distance.COSINE, on_disk=True)
    client.create_collection("big", vectors, quantization_config=int8, metadata={"state": "building", "digest": "a"})
    client.update_collection("big", metadata={"state": "ready"})
    config = client.get_collection("big").config
    assert (config.params.vectors, config.quantization_config) == (vectors, int8)
    assert config.metadata == {"state": "ready", "digest": "a"}, "an update changes the keys that it names"


def test_moved_alias_is_its_new_collection(client: QdrantClient) -> None:
    client.create_collection("empty", COSINE)
    client.update_collection_aliases([alias("site", "docs")])
    delete = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name="site"))
    assert client.count("site").count == 3
    client.update_collection_aliases([delete, alias("site", "empty")])
    assert client.count("site").count == 0
    with pytest.raises(UnexpectedResponse):
        client.update_collection_aliases([delete, alias("site", "nope")])
    assert client.get_aliases().aliases == [], "actions before a refused one stay"
    client.update_collection_aliases([alias("site", "empty")])
    client.delete_collection("empty")
    assert client.get_aliases().aliases == []


# --- refusals


@pytest.mark.parametrize(
    ("ask", "status", "message"),
    [
        (lambda c: c.query_points("nope", TOWARDS_1), 404, "Not found: Collection `nope` doesn't exist!"),
        (lambda c: c.get_collection("nope"), 404, "Not found: Collection `nope` doesn't exist!"),
        (lambda c: c.create_collection("docs", COSINE), 409, "Wrong input: Collection `docs` already exists!"),
        (lambda c: c.query_points("docs", [1.0] * 768), 400, "Vector dimension error: expected dim: 4, got 768"),
        (lambda c: c.query_points("docs", TOWARDS_1, using="x"), 400, "Wrong input: Not existing vector name error: x"),
        (lambda c: c.query_points("docs", TOWARDS_1, limit=0), 422, "value 0 invalid, must be 1 or larger"),
        (
            lambda c: c.upsert(
                "docs", [POINTS[0].model_copy(update={"id": 9}), models.PointStruct(id=8, vector=[1.0])]
            ),
            *(400, "expected dim: 4, got 1"),
        ),
        (
            lambda c: c.upsert("docs", [models.PointStruct(id="doc_001", vector=TOWARDS_1)]),
            *(400, "value doc_001 is not a valid point ID, valid values are either an unsigned integer or a UUID"),
        ),
        (lambda c: c.update_collection_aliases([alias("docs", "docs")]), 409, ""),
        (lambda c: c.update_collection_aliases([alias("new", "nope")]), 404, ""),
    ],
)
def test_refusal_has_its_status_and_message(client: QdrantClient, ask: Ask, status: int, message: str) -> None:
    with pytest.raises(UnexpectedResponse) as caught:
        ask(client)
    assert caught.value.status_code == status
    assert message in error_of(caught)
    assert client.count("docs").count == 3, "a refused write stores nothing"
    assert client.get_aliases().aliases == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "/collections/new", {"vectors": {"size": 0, "distance": "Dot"}}, 400),
        ("PUT", "/collections/new", {"vectors": {}}, 200),
        ("POST", "/collections/docs/points/query", {"query": {"recommend": {}}}, 422),
        ("POST", "/collections/docs/points/query", {"query": TOWARDS_1, "filter": {"must": [{}]}}, 422),
        ("PUT", "/collections/docs/points", {"batch": {"ids": [5], "vectors": []}}, 422),
        ("POST", "/collections/docs/points/query", {"query": TOWARDS_1, "lookup_from": {"collection": "nope"}}, 200),
    ],
)
def test_odd_request_has_the_servers_status(
    server: EmulatorServer, client: QdrantClient, method: str, path: str, body: object, status: int
) -> None:
    reply = httpx.request(method, server.url + path, json=body)
    assert reply.status_code == status, reply.text
    if status == 422:
        assert reply.json()["status"]["error"].startswith("Validation error in JSON body: [")


@pytest.mark.parametrize("server", [{"strict": True}], indirect=True)
def test_strict_mode_wants_an_index_of_the_right_type(client: QdrantClient) -> None:
    by_url = models.Filter(must=[field("source_url", match=models.MatchValue(value="/a"))])
    for kind in (None, models.PayloadSchemaType.INTEGER):
        if kind:
            client.create_payload_index("docs", "source_url", kind)
        with pytest.raises(UnexpectedResponse) as caught:
            ids(client, query_filter=by_url)
        assert error_of(caught).startswith(
            'Bad request: Index required but not found for "source_url" of one of the following types: [keyword]'
        )
    client.delete_payload_index("docs", "source_url")
    client.create_payload_index("docs", "source_url", models.PayloadSchemaType.KEYWORD)
    assert ids(client, query_filter=by_url) == []
    assert ids(client, query_filter=models.Filter(must=[models.HasIdCondition(has_id=[1])])) == [1], "needs none"


@pytest.mark.parametrize("server", [{"api_key": "right"}], indirect=True)
def test_keys_and_version(server: EmulatorServer) -> None:
    for headers, status, text in (
        ({}, 401, "Must provide an API key or an Authorization bearer token"),
        ({"api-key": "wrong"}, 401, "Invalid API key or JWT"),
        ({"Authorization": "Bearer right"}, 200, '"status"'),
    ):
        reply = httpx.get(server.url + "/collections", headers=headers)
        assert reply.status_code == status
        assert text in reply.text
    assert httpx.get(server.url + "/").json()["version"] == "1.20.0"
    assert httpx.get(server.url + "/readyz").status_code == 200
