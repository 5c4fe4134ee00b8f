"""The Qdrant emulator's aliases, collection options, text indexes and batches, driven by the real client."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from passage.emulators import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator

TEXTS = {1: "running an engine", 2: "the engine room", 3: "a cat sleeps"}
TEXT_INDEX = models.TextIndexParams(
    type=models.TextIndexType.TEXT,
    tokenizer=models.TokenizerType.MULTILINGUAL,
    lowercase=True,
    stemmer=models.SnowballParams(type=models.Snowball.SNOWBALL, language=models.SnowballLanguage.ENGLISH),
    stopwords=models.StopwordsSet(languages=[models.Language.ENGLISH]),
    scoring=True,
)


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return tmp_path / "storage"


@pytest.fixture
def server(storage: Path) -> Iterator[EmulatorServer]:
    with qdrant_emulator(storage) as running:
        yield running


@pytest.fixture
def client(server: EmulatorServer) -> Iterator[QdrantClient]:
    client = QdrantClient(url=server.url, check_compatibility=False, timeout=5)
    for name in ("one", "two"):
        client.create_collection(name, models.VectorParams(size=2, distance=models.Distance.COSINE))
    points = [models.PointStruct(id=key, vector=[1.0, key], payload={"text": text}) for key, text in TEXTS.items()]
    client.upsert("one", points)
    yield client
    client.close()


def point_to(client: QdrantClient, alias: str, collection: str) -> None:
    delete = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias))
    create = models.CreateAliasOperation(
        create_alias=models.CreateAlias(alias_name=alias, collection_name=collection),
    )
    client.update_collection_aliases([delete, create])


def aliases(client: QdrantClient) -> dict[str, str]:
    return {one.alias_name: one.collection_name for one in client.get_aliases().aliases}


def test_moved_alias_answers_as_its_new_collection(client: QdrantClient) -> None:
    point_to(client, "docs", "one")
    assert client.count("docs").count == 3
    point_to(client, "docs", "two")
    assert client.count("docs").count == 0
    assert aliases(client) == {"docs": "two"}
    assert [one.name for one in client.get_collections().collections] == ["one", "two"]
    assert [one.alias_name for one in client.get_collection_aliases("two").aliases] == ["docs"]


def test_alias_survives_a_restart(client: QdrantClient, server: EmulatorServer, storage: Path) -> None:
    point_to(client, "docs", "one")
    server.stop()
    with qdrant_emulator(storage) as again:
        restarted = QdrantClient(url=again.url, check_compatibility=False)
        assert restarted.count("docs").count == 3
        restarted.close()


def test_alias_named_as_a_collection_is_409(client: QdrantClient) -> None:
    with pytest.raises(UnexpectedResponse) as caught:
        point_to(client, "one", "two")
    assert caught.value.status_code == 409


def test_collection_named_as_an_alias_is_400(client: QdrantClient) -> None:
    point_to(client, "docs", "one")
    with pytest.raises(UnexpectedResponse) as caught:
        client.create_collection("docs", models.VectorParams(size=2, distance=models.Distance.DOT))
    assert caught.value.status_code == 400


def test_refused_alias_action_changes_none(client: QdrantClient) -> None:
    point_to(client, "docs", "one")
    with pytest.raises(UnexpectedResponse) as caught:
        point_to(client, "docs", "absent")
    assert caught.value.status_code == 404
    assert aliases(client) == {"docs": "one"}


def test_renamed_alias_keeps_its_collection(client: QdrantClient) -> None:
    point_to(client, "docs", "one")
    rename = models.RenameAlias(old_alias_name="docs", new_alias_name="site")
    client.update_collection_aliases([models.RenameAliasOperation(rename_alias=rename)])
    assert aliases(client) == {"site": "one"}


def test_deleting_a_collection_deletes_its_alias(client: QdrantClient) -> None:
    point_to(client, "docs", "one")
    client.delete_collection("one")
    assert aliases(client) == {}


def test_collection_options_are_kept_and_shown(client: QdrantClient) -> None:
    int8 = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
    client.create_collection(
        "big",
        models.VectorParams(size=2, distance=models.Distance.COSINE, on_disk=True),
        quantization_config=models.ScalarQuantization(scalar=int8),
        metadata={"state": "building", "digest": "a"},
    )
    client.update_collection("big", metadata={"state": "ready"})
    config = client.get_collection("big").config
    assert isinstance(config.params.vectors, models.VectorParams)
    assert config.params.vectors.on_disk is True
    assert config.quantization_config == models.ScalarQuantization(scalar=int8)
    assert config.metadata == {"state": "ready", "digest": "a"}


def test_text_query_ranks_by_the_text_index(client: QdrantClient) -> None:
    client.create_payload_index("one", "text", TEXT_INDEX)
    found = client.query_points("one", models.TextQuery(text="run engine"), using="text").points
    assert [point.id for point in found] == [1, 2]
    assert found[0].score > found[1].score
    info = client.get_collection("one").payload_schema["text"]
    assert isinstance(info.params, models.TextIndexParams)
    assert info.params.scoring is True
    assert info.params.tokenizer is models.TokenizerType.MULTILINGUAL
    assert info.params.stemmer == TEXT_INDEX.stemmer


def test_text_query_without_its_index_is_400(client: QdrantClient) -> None:
    with pytest.raises(UnexpectedResponse) as caught:
        client.query_points("one", models.TextQuery(text="engine"), using="text")
    assert caught.value.status_code == 400
    assert b"requires a text index on field text" in caught.value.content


def test_batch_applies_its_operations_in_order(client: QdrantClient) -> None:
    new = models.PointStruct(id=9, vector=[0.0, 1.0], payload={"text": "new"})
    results = client.batch_update_points(
        "one",
        [
            models.UpsertOperation(upsert=models.PointsList(points=[new])),
            models.DeleteOperation(delete=models.PointIdsList(points=[1, 2])),
        ],
    )
    assert len(results) == 2
    records, _ = client.scroll("one")
    assert [record.id for record in records] == [3, 9]
