"""The Qdrant emulator, driven by the real client over real HTTP."""

import json
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import qdrant_edge as edge
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from passage.emulators import EmulatorServer, Fault
from tools.qdrant.emulator import qdrant_emulator

SIZE = 4
AN_UUID = str(uuid.UUID(int=7))
PAYLOADS: dict[int | str, dict[str, Any]] = {
    1: {"url": "/a", "n": 1, "meta": {"lang": "en"}, "text": "install the tool", "at": "2024-05-01T00:00:00Z"},
    2: {"url": "/b", "n": 2, "meta": {"lang": "de"}, "text": "configure the tool", "nothing": None},
    AN_UUID: {"url": "/c", "tags": ["x", "y"], "ok": True},
}
VECTORS: dict[int | str, list[float]] = {
    1: [1.0, 0.0, 0.0, 0.0],
    2: [0.6, 0.8, 0.0, 0.0],
    AN_UUID: [0.0, 0.0, 0.0, 1.0],
}
TOWARDS_1 = [1.0, 0.0, 0.0, 0.0]

Connect = Callable[..., QdrantClient]

http = httpx.Client()  # one for all: making a client takes longer than most of these requests


@pytest.fixture(scope="module", autouse=True)
def _close_http() -> Iterator[None]:
    yield
    http.close()


@pytest.fixture
def connect() -> Iterator[Connect]:
    opened: list[QdrantClient] = []

    def make(server: EmulatorServer, **options: Any) -> QdrantClient:
        opened.append(QdrantClient(url=server.url, check_compatibility=False, timeout=5, **options))
        return opened[-1]

    yield make
    for client in opened:
        client.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmulatorServer]:
    with qdrant_emulator(tmp_path / "storage") as running:
        yield running


@pytest.fixture(scope="module", params=[False, True], ids=["lenient", "strict"])
def shelf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorServer]:
    """A filled server for the tests that leave it as it is."""
    with qdrant_emulator(tmp_path_factory.mktemp("shelf"), strict=request.param) as running:
        client = QdrantClient(url=running.url, check_compatibility=False, timeout=5)
        fill(client)
        client.close()
        yield running


@pytest.fixture
def client(server: EmulatorServer, connect: Connect) -> QdrantClient:
    client = connect(server)
    fill(client)
    return client


def fill(client: QdrantClient) -> None:
    client.create_collection("docs", models.VectorParams(size=SIZE, distance=models.Distance.COSINE))
    points = [models.PointStruct(id=key, vector=VECTORS[key], payload=PAYLOADS[key]) for key in VECTORS]
    client.upsert("docs", points)


def error_of(caught: pytest.ExceptionInfo[UnexpectedResponse]) -> str:
    return str(json.loads(caught.value.content)["status"]["error"])


def ids(client: QdrantClient, **conditions: Any) -> set[object]:
    reply = client.query_points("docs", TOWARDS_1, query_filter=models.Filter(**conditions))
    return {point.id for point in reply.points}


def field(key: str, **condition: Any) -> models.FieldCondition:
    return models.FieldCondition(key=key, **condition)


# --- collections


def test_collection_life(server: EmulatorServer, connect: Connect) -> None:
    client = connect(server)
    assert not client.collection_exists("docs")
    assert client.create_collection(
        "docs",
        models.VectorParams(size=SIZE, distance=models.Distance.DOT),
        metadata={"embedding_model": "embed-english-v3.0"},
    )
    assert client.collection_exists("docs")
    assert [one.name for one in client.get_collections().collections] == ["docs"]
    info = client.get_collection("docs")
    assert info.status == models.CollectionStatus.GREEN
    assert info.config.params.vectors == models.VectorParams(size=SIZE, distance=models.Distance.DOT)
    assert info.config.metadata == {"embedding_model": "embed-english-v3.0"}
    assert (info.points_count, info.payload_schema) == (0, {})
    assert client.delete_collection("docs")
    assert not client.collection_exists("docs")
    assert not client.delete_collection("docs")


def test_named_vectors(server: EmulatorServer, connect: Connect) -> None:
    client = connect(server)
    dense = models.VectorParams(size=2, distance=models.Distance.COSINE)
    client.create_collection("docs", {"text": dense, "title": dense})
    client.upsert("docs", [models.PointStruct(id=1, vector={"text": [1.0, 0.0], "title": [0.0, 1.0]})])
    (point,) = client.query_points("docs", [0.0, 1.0], using="title", with_vectors=["title"]).points
    assert (point.score, point.vector) == (1.0, {"title": [0.0, 1.0]})
    assert set(client.get_collection("docs").config.params.vectors or {}) == {"text", "title"}
    with pytest.raises(UnexpectedResponse) as caught:
        client.query_points("docs", [0.0, 1.0])
    assert error_of(caught) == "Wrong input: Not existing vector name error: "


def test_a_collection_that_exists_is_a_conflict(client: QdrantClient) -> None:
    with pytest.raises(UnexpectedResponse) as caught:
        fill(client)
    assert caught.value.status_code == 409
    assert error_of(caught) == "Wrong input: Collection `docs` already exists!"


@pytest.mark.parametrize("name", ["..%2Fout", "a%2Fb", "%2E%2E", "a%3Ab", "x" * 300])
def test_names_that_would_leave_the_folder_are_refused(server: EmulatorServer, tmp_path: Path, name: str) -> None:
    body = {"vectors": {"size": 2, "distance": "Dot"}}
    assert http.put(f"{server.url}/collections/{name}", json=body).status_code in {404, 405, 422}
    assert [one.name for one in tmp_path.rglob("*")] == ["storage"]


@pytest.mark.parametrize(
    ("vectors", "status"),
    [
        ({"size": 65_536, "distance": "Cosine"}, 200),
        ({"size": 65_537, "distance": "Cosine"}, 422),
        ({"size": 0, "distance": "Cosine"}, 422),
        ({"size": "4", "distance": "Cosine"}, 400),
        ({"size": 4, "distance": "Near"}, 400),
        ({"a": 1}, 400),
        ({}, 400),
        (7, 400),
    ],
)
def test_sizes_and_distances(server: EmulatorServer, vectors: object, status: int) -> None:
    assert http.put(server.url + "/collections/docs", json={"vectors": vectors}).status_code == status


# --- points


def test_query_returns_the_stored_values(client: QdrantClient) -> None:
    points = client.query_points("docs", TOWARDS_1, with_vectors=True, limit=3).points
    assert [point.id for point in points] == [1, 2, AN_UUID]
    assert [point.payload for point in points] == [PAYLOADS[1], PAYLOADS[2], PAYLOADS[AN_UUID]]
    assert [point.score for point in points] == [1.0, 0.6, 0.0]
    assert points[0].vector == VECTORS[1]
    stored = np.asarray(points[1].vector, dtype=np.float32)
    assert (stored == np.asarray(VECTORS[2], dtype=np.float32)).all()


def test_random_vectors_come_back_bit_for_bit(server: EmulatorServer, connect: Connect) -> None:
    client = connect(server)
    client.create_collection("docs", models.VectorParams(size=768, distance=models.Distance.DOT))
    given = np.random.default_rng(1).standard_normal((5, 768)).astype(np.float32)
    payloads: list[dict[str, Any]] = [{"n": n} for n in range(5)]
    client.upsert("docs", models.Batch(ids=list(range(5)), vectors=given.tolist(), payloads=payloads))
    records, _ = client.scroll("docs", with_vectors=True)
    assert (np.asarray([record.vector for record in records], dtype=np.float32) == given).all()
    best = client.query_points("docs", given[3].tolist(), limit=1).points[0]
    assert best.id == 3
    assert best.score == pytest.approx(float(given[3] @ given[3]), rel=1e-5)


def test_limit_offset_and_payload_selection(client: QdrantClient) -> None:
    def only(**options: Any) -> models.ScoredPoint:
        return client.query_points("docs", TOWARDS_1, limit=1, **options).points[0]

    assert only(offset=1).id == 2
    assert only(with_payload=False).payload is None
    assert only(with_payload=["url"]).payload == {"url": "/a"}
    assert only(with_payload=models.PayloadSelectorInclude(include=["meta.lang"])).payload == {"meta": {"lang": "en"}}
    assert set(only(with_payload=models.PayloadSelectorExclude(exclude=["text", "n"])).payload or {}) == {
        "url",
        "meta",
        "at",
    }
    assert only().vector is None


def test_the_threshold_is_strict(client: QdrantClient) -> None:
    def found(threshold: float) -> list[object]:
        reply = client.query_points("docs", TOWARDS_1, score_threshold=threshold)
        return [point.id for point in reply.points]

    assert found(1.0) == []
    assert found(0.99) == [1]
    assert found(0.0) == [1, 2]
    assert found(-0.5) == [1, 2, AN_UUID]


def test_query_forms(server: EmulatorServer, client: QdrantClient) -> None:
    batch = client.query_batch_points("docs", [models.QueryRequest(query=VECTORS[key], limit=1) for key in VECTORS])
    assert [reply.points[0].id for reply in batch] == list(VECTORS)
    nearest = client.query_points("docs", models.NearestQuery(nearest=TOWARDS_1), limit=1)
    assert nearest.points[0].id == 1
    old = http.post(server.url + "/collections/docs/points/search", json={"vector": TOWARDS_1, "limit": 1}).json()
    assert old["result"] == [{"id": 1, "version": 0, "score": 1.0}]


def test_mmr_prefers_diversity_as_it_rises(client: QdrantClient) -> None:
    client.upsert("docs", [models.PointStruct(id=9, vector=[0.999, 0.01, 0.0, 0.0])])

    def second(diversity: float) -> object:
        mmr = models.Mmr(diversity=diversity, candidates_limit=10)
        points = client.query_points("docs", models.NearestQuery(nearest=TOWARDS_1, mmr=mmr), limit=2).points
        assert points[0].vector is None
        return points[1].id

    assert second(0.0) == 9
    assert second(0.9) == AN_UUID


def test_sparse_vectors_and_fusion(server: EmulatorServer, connect: Connect) -> None:
    client = connect(server)
    client.create_collection(
        "docs",
        {"dense": models.VectorParams(size=2, distance=models.Distance.COSINE)},
        sparse_vectors_config={"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    sparse = models.SparseVector(indices=[3, 17], values=[1.0, 0.5])
    client.upsert(
        "docs",
        [
            models.PointStruct(id=1, vector={"dense": [1.0, 0.0]}),
            models.PointStruct(id=2, vector={"dense": [0.0, 1.0], "bm25": sparse}),
        ],
    )
    assert [point.id for point in client.query_points("docs", sparse, using="bm25").points] == [2]
    (record,) = client.retrieve("docs", [2], with_vectors=["bm25"])
    assert record.vector == {"bm25": sparse}
    stages = [
        models.Prefetch(query=[1.0, 0.0], using="dense", limit=1),
        models.Prefetch(query=sparse, using="bm25", limit=1),
    ]
    weighted = models.RrfQuery(rrf=models.Rrf(weights=[1.0, 3.0]))
    assert [point.id for point in client.query_points("docs", weighted, prefetch=stages).points] == [2, 1]
    fused = client.query_points("docs", models.FusionQuery(fusion=models.Fusion.RRF), prefetch=stages)
    assert {point.id for point in fused.points} == {1, 2}
    config = client.get_collection("docs").config.params.sparse_vectors
    assert config is not None
    assert config["bm25"].modifier == models.Modifier.IDF


def test_retrieve_scroll_count_delete(server: EmulatorServer, client: QdrantClient) -> None:
    assert {record.id for record in client.retrieve("docs", [1, 99, AN_UUID])} == {1, AN_UUID}
    one = http.get(f"{server.url}/collections/docs/points/{AN_UUID}").json()["result"]
    assert one == {"id": AN_UUID, "payload": PAYLOADS[AN_UUID], "vector": VECTORS[AN_UUID]}
    assert http.get(f"{server.url}/collections/docs/points/99").status_code == 404
    assert http.get(f"{server.url}/collections/docs/points/doc_1").status_code == 400
    seen, offset = [], None
    for _ in range(3):
        records, offset = client.scroll("docs", limit=1, offset=offset)
        seen += [record.id for record in records]
    assert (seen, offset) == ([1, 2, AN_UUID], None)
    assert client.count("docs").count == 3
    assert client.count("docs", count_filter=models.Filter(must=[field("n", range=models.Range(gt=1))])).count == 1
    client.delete("docs", [1])
    client.delete("docs", models.Filter(must=[field("url", match=models.MatchValue(value="/b"))]))
    assert client.count("docs").count == 1


def test_points_are_replaced(client: QdrantClient) -> None:
    client.upsert("docs", [models.PointStruct(id=1, vector=TOWARDS_1, payload={"new": True})])
    assert client.retrieve("docs", [1])[0].payload == {"new": True}
    assert client.get_collection("docs").points_count == 3


# --- filters


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"must": [field("url", match=models.MatchValue(value="/a"))]}, {1}),
        ({"must": field("meta.lang", match=models.MatchValue(value="de"))}, {2}),
        ({"must": [field("n", match=models.MatchValue(value=2))]}, {2}),
        ({"must": [field("tags", match=models.MatchAny(any=["y", "z"]))]}, {AN_UUID}),
        ({"must": [field("n", match=models.MatchAny(any=[1, 2]))]}, {1, 2}),
        ({"must": [field("url", match=models.MatchAny(any=[]))]}, set()),
        ({"must": [field("url", match=models.MatchExcept(**{"except": ["/a"]}))]}, {2, AN_UUID}),
        ({"must": [field("text", match=models.MatchText(text="install"))]}, {1}),
        ({"must": [field("n", range=models.Range(gte=1, lt=2))]}, {1}),
        ({"must": [field("at", range=models.DatetimeRange(gte=datetime(2024, 1, 1, tzinfo=UTC)))]}, {1}),
        ({"must": [models.IsEmptyCondition(is_empty=models.PayloadField(key="n"))]}, {AN_UUID}),
        ({"must": [models.IsNullCondition(is_null=models.PayloadField(key="nothing"))]}, {2}),
        ({"must": [models.HasIdCondition(has_id=[2, AN_UUID])]}, {2, AN_UUID}),
        ({"must_not": [models.HasIdCondition(has_id=[2, AN_UUID])]}, {1}),
        (
            {"should": [field("n", range=models.Range(gt=1)), field("url", match=models.MatchValue(value="/c"))]},
            {2, AN_UUID},
        ),
        ({"must": [models.Filter(must_not=[field("url", match=models.MatchValue(value="/a"))])]}, {2, AN_UUID}),
        ({"must": [field("tags", values_count=models.ValuesCount(gte=2))]}, {AN_UUID}),
        ({}, {1, 2, AN_UUID}),
    ],
)
def test_filters(client: QdrantClient, conditions: dict[str, Any], expected: set[object]) -> None:
    assert ids(client, **conditions) == expected


@pytest.mark.parametrize(
    "bad",
    [
        7,
        {"musst": []},
        {"must": [7]},
        {"must": [{}]},
        {"must": [{"key": "n"}]},
        {"must": [{"key": 7, "match": {"value": 1}}]},
        {"must": [{"key": "n", "match": {"value": [1]}}]},
        {"must": [{"key": "n", "match": {"value": 1.5}}]},
        {"must": [{"key": "n", "match": {"any": ["a", 1]}}]},
        {"must": [{"key": "n", "match": {"value": True}}]},
        {"must": [{"key": "n", "match": {"any": [True]}}]},
        {"must": [{"key": "n", "range": {"above": 1}}]},
        {"must": [{"key": "a..b[", "match": {"value": 1}}]},
        {"must": [{"key": "n", "geo_radius": {"center": {"lon": 1, "lat": 1}, "radius": 1}}]},
        {"must": [{"is_empty": 3}]},
        {"must": [{"is_empty": {}}]},
        {"must": [{"nested": {}}]},
        {"must": [{"has_id": ["doc_1"]}]},
        {"min_should": {"conditions": []}},
    ],
)
def test_bad_filters_are_bad_requests(shelf: EmulatorServer, bad: object) -> None:
    for path, body in (("query", {"query": TOWARDS_1}), ("scroll", {}), ("delete", {}), ("count", {})):
        reply = http.post(f"{shelf.url}/collections/docs/points/{path}", json={**body, "filter": bad})
        assert reply.status_code == 400, (path, reply.text)
        assert reply.json()["status"]["error"]


def test_strict_mode_wants_an_index_of_the_right_type(tmp_path: Path, connect: Connect) -> None:
    by_url = {"must": [field("source_url", match=models.MatchValue(value="/a"))]}
    with qdrant_emulator(tmp_path, strict=True) as server:
        client = connect(server)
        fill(client)
        with pytest.raises(UnexpectedResponse) as caught:
            ids(client, **by_url)
        assert caught.value.status_code == 400
        assert error_of(caught).startswith(
            'Bad request: Index required but not found for "source_url" of one of the following types: [keyword]'
        )
        client.create_payload_index("docs", "source_url", models.PayloadSchemaType.INTEGER)
        with pytest.raises(UnexpectedResponse):
            ids(client, **by_url)
        client.delete_payload_index("docs", "source_url")
        client.create_payload_index("docs", "source_url", models.PayloadSchemaType.KEYWORD)
        assert ids(client, **by_url) == set()
        assert ids(client, must=[models.HasIdCondition(has_id=[1])]) == {1}
        with pytest.raises(UnexpectedResponse):
            ids(client, must=[models.IsEmptyCondition(is_empty=models.PayloadField(key="url"))])
        strict = client.get_collection("docs").config.strict_mode_config
        assert strict is not None
        assert (strict.enabled, strict.unindexed_filtering_retrieve) == (True, False)


def test_payload_indexes_are_described(server: EmulatorServer, client: QdrantClient) -> None:
    client.create_payload_index("docs", "url", models.PayloadSchemaType.KEYWORD)
    text = models.TextIndexParams(type=models.TextIndexType.TEXT, tokenizer=models.TokenizerType.WORD, lowercase=True)
    client.create_payload_index("docs", "text", text)
    schema = client.get_collection("docs").payload_schema
    assert {name: (info.data_type.value, info.points) for name, info in schema.items()} == {
        "text": ("text", 2),
        "url": ("keyword", 3),
    }
    body = {"field_name": "url", "field_schema": "colour"}
    assert http.put(server.url + "/collections/docs/index", json=body).status_code == 400


# --- refusals


@pytest.mark.parametrize(
    ("ask", "status", "message"),
    [
        (lambda c: c.query_points("nope", TOWARDS_1), 404, "Not found: Collection `nope` doesn't exist!"),
        (lambda c: c.get_collection("nope"), 404, "Not found: Collection `nope` doesn't exist!"),
        (lambda c: c.upsert("nope", [models.PointStruct(id=1, vector=TOWARDS_1)]), 404, "Not found"),
        (lambda c: c.query_points("docs", [1.0] * 768), 400, "Vector dimension error: expected dim: 4, got 768"),
        (lambda c: c.query_points("docs", []), 400, "Wrong input: Vector dimension error: expected dim: 4, got 0"),
        (lambda c: c.query_points("docs", TOWARDS_1, using="x"), 400, "Wrong input: Not existing vector name error: x"),
        (lambda c: c.query_points("docs", 1), 400, "flat lists"),
        (lambda c: c.query_points("docs", TOWARDS_1, limit=0), 422, "value 0 invalid, must be 1 or larger"),
        (lambda c: c.upsert("docs", [models.PointStruct(id=3, vector=[1.0])]), 400, "expected dim: 4, got 1"),
        (
            lambda c: c.upsert("docs", [models.PointStruct(id="doc_001", vector=TOWARDS_1)]),
            400,
            "value doc_001 is not a valid point ID, valid values are either an unsigned integer or a UUID",
        ),
        (lambda c: c.upsert("docs", [models.PointStruct(id=-1, vector=TOWARDS_1)]), 400, "not a valid point ID"),
    ],
)
def test_refusals(
    shelf: EmulatorServer, connect: Connect, ask: Callable[[QdrantClient], object], status: int, message: str
) -> None:
    client = connect(shelf)
    with pytest.raises(UnexpectedResponse) as caught:
        ask(client)
    assert caught.value.status_code == status
    assert message in error_of(caught)
    assert client.count("docs").count == 3


def test_an_upsert_with_one_bad_point_stores_none(client: QdrantClient) -> None:
    points = [models.PointStruct(id=10, vector=TOWARDS_1), models.PointStruct(id=11, vector=[1.0])]
    with pytest.raises(UnexpectedResponse):
        client.upsert("docs", points)
    assert client.count("docs").count == 3


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff",
        b'{"query":[NaN,0,0,0]}',
        b'{"query":[1e999,0,0,0]}',
        b'{"query":[1e39,0,0,0]}',
        b'{"query":["1","0","0","0"]}',
        b'{"query":{"recommend":{}}}',
        b'{"query":{"fusion":"sum"}}',
        b'{"query":{"rrf":7}}',
        b'{"query":{"nearest":[1,0,0,0],"mmr":7}}',
        b'{"query":[1,0,0,0],"limit":-1}',
        b'{"query":[1,0,0,0],"limit":"1"}',
        b'{"query":[1,0,0,0],"offset":true}',
        b'{"query":[1,0,0,0],"score_threshold":"0.5"}',
        b'{"query":[1,0,0,0],"with_payload":7}',
        b'{"query":[1,0,0,0],"with_vector":"yes"}',
        b'{"query":[1,0,0,0],"prefetch":7}',
        b'{"query":[1,0,0,0],"lookup_from":{"collection":"x"}}',
        b'{"query":"\\ud800"}',
        b"[" * 100_000,
    ],
)
def test_bad_queries_are_bad_requests(shelf: EmulatorServer, body: bytes) -> None:
    reply = http.post(shelf.url + "/collections/docs/points/query", content=body)
    assert reply.status_code == 400, reply.text
    assert set(reply.json()) == {"status", "time"}
    assert http.get(shelf.url + "/collections/docs").json()["result"]["points_count"] == 3


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"points": 7},
        {"points": [7]},
        {"points": [{"id": 5}]},
        {"points": [{"id": 5, "vector": 7}]},
        {"points": [{"id": True, "vector": TOWARDS_1}]},
        {"points": [{"id": 2**64, "vector": TOWARDS_1}]},
        {"points": [{"id": 5, "vector": [10**400, 0, 0, 0]}]},
        {"points": [{"id": 5, "vector": TOWARDS_1, "payload": 7}]},
        {"points": [{"id": 5, "vector": TOWARDS_1, "payload": {"text": "\ud800"}}]},
        {"batch": 7},
        {"batch": {"ids": [5], "vectors": []}},
    ],
)
def test_bad_upserts_are_bad_requests(shelf: EmulatorServer, body: object) -> None:
    reply = http.put(shelf.url + "/collections/docs/points", content=json.dumps(body).encode())
    assert reply.status_code == 400, reply.text
    assert http.get(shelf.url + "/collections/docs").json()["result"]["points_count"] == 3


def test_keys(tmp_path: Path, connect: Connect) -> None:
    with qdrant_emulator(tmp_path, api_key="right") as server:
        with pytest.raises(UnexpectedResponse) as caught:
            connect(server).get_collections()
        assert caught.value.status_code == 401
        assert caught.value.content == b"Must provide an API key or an Authorization bearer token"
        for headers, status in (({"api-key": "wrong"}, 401), ({"Authorization": "Bearer right"}, 200)):
            assert http.get(server.url + "/collections", headers=headers).status_code == status
        with pytest.warns(UserWarning, match="insecure"):
            client = connect(server, api_key="right")
        assert client.get_collections().collections == []
        for path in ("/", "/healthz", "/readyz", "/livez"):
            assert http.get(server.url + path).status_code == 200


def test_version_and_unknown_routes(server: EmulatorServer) -> None:
    assert http.get(server.url + "/").json()["version"] == "1.20.0"
    reply = http.get(server.url + "/collections/docs/nonsense")
    assert (reply.status_code, reply.json()["status"]["error"]) == (404, "not found")


# --- storage


def test_everything_survives_a_restart(tmp_path: Path, connect: Connect) -> None:
    with qdrant_emulator(tmp_path) as server:
        client = connect(server)
        client.create_collection(
            "docs", models.VectorParams(size=2, distance=models.Distance.EUCLID), metadata={"model": "m"}
        )
        client.upsert("docs", [models.PointStruct(id=1, vector=[3.0, 4.0], payload={"url": "/a"})])
        client.create_payload_index("docs", "url", models.PayloadSchemaType.KEYWORD)
    with qdrant_emulator(tmp_path) as server:
        client = connect(server)
        info = client.get_collection("docs")
        assert info.config.params.vectors == models.VectorParams(size=2, distance=models.Distance.EUCLID)
        assert info.config.metadata == {"model": "m"}
        assert info.payload_schema["url"].data_type == models.PayloadSchemaType.KEYWORD
        (point,) = client.query_points("docs", [0.0, 0.0]).points
        assert (point.score, point.payload) == (5.0, {"url": "/a"})


def test_a_shard_written_by_the_engine_is_served(tmp_path: Path, connect: Connect) -> None:
    shard = edge.EdgeShard.create(
        str(tmp_path / "built"), edge.EdgeConfig(vectors=edge.EdgeVectorParams(size=2, distance=edge.Distance.Cosine))
    )
    shard.update(edge.UpdateOperation.upsert_points([edge.Point(1, [1.0, 0.0], {"url": "/a"})]))
    shard.close()
    with qdrant_emulator(tmp_path) as server:
        client = connect(server)
        info = client.get_collection("built")
        assert info.config.params.vectors == models.VectorParams(size=2, distance=models.Distance.COSINE)
        assert (info.points_count, info.config.metadata) == (1, None)
        assert client.query_points("built", [1.0, 0.0]).points[0].payload == {"url": "/a"}


def test_a_shard_open_elsewhere_is_named(tmp_path: Path) -> None:
    config = edge.EdgeConfig(vectors=edge.EdgeVectorParams(size=2, distance=edge.Distance.Cosine))
    shard = edge.EdgeShard.create(str(tmp_path / "taken"), config)
    with pytest.raises(RuntimeError, match="taken"):
        qdrant_emulator(tmp_path).start()
    shard.close()
    with qdrant_emulator(tmp_path) as server:
        assert http.get(server.url + "/collections/taken/exists").json()["result"] == {"exists": True}


# --- faults, several at once


def test_faults(server: EmulatorServer, client: QdrantClient) -> None:
    server.faults.add(Fault("status", status=503))
    with pytest.raises(UnexpectedResponse) as caught:
        client.count("docs")
    assert (caught.value.status_code, error_of(caught)) == (503, "service unavailable")
    for fault in (Fault("drop"), Fault("drop", at="response")):
        server.faults.add(fault)
        with pytest.raises(ResponseHandlingException) as dropped:
            client.count("docs")
        assert isinstance(dropped.value.source, (httpx.RemoteProtocolError, httpx.ReadError))
    server.faults.add(Fault("malformed"))
    with pytest.raises(json.JSONDecodeError):  # the client lets this one through as it is
        client.count("docs")
    server.faults.add(Fault("malformed", body='{"result": {"points": [{"id": 1}]}, "status": "ok", "time": 0}'))
    with pytest.raises(ResponseHandlingException):
        client.query_points("docs", TOWARDS_1)
    server.faults.add(Fault("slow", delay_ms=20, path="/points/count"))
    assert client.collection_exists("docs")
    assert client.count("docs").count == 3


def test_requests_at_once_get_their_own_answers(client: QdrantClient) -> None:
    def write_and_read(number: int) -> bool:
        point = models.PointStruct(id=number, vector=[float(number), 1.0, 0.0, 0.0], payload={"n": number})
        client.upsert("docs", [point])
        return ids(client, must=[field("n", match=models.MatchValue(value=number))]) == {number}

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(write_and_read, range(100, 140)))
    assert client.count("docs").count == 43
