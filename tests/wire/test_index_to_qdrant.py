"""`passage index --to qdrant`: the real client, over HTTP, on a server that holds Qdrant's own engine."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from handler.config import profiles
from handler.config.payload_keys import RANKED_KEY, TITLES_KEY
from handler.config.profiles import Profile
from indexed import embedder_at, index_to
from passage.indexing.plan import Plan
from passage.indexing.run import IndexOptions
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.index import ServerIndex
from passage.indexing.server.releases import Releases
from passage.indexing.target import TargetError
from passage.sites.markdown import find_site
from tools.doubles import EmulatorServer, Fault
from tools.qdrant import routes
from wire.function import COHERE_KEY, Start

PROFILE = profiles.load("vector-search")
ALIAS = PROFILE.collection.name
PAGES = 10
RELEASE = re.compile(rf"{ALIAS}__\d{{8}}T\d{{12}}-[0-9a-f]{{4}}")

Index = Callable[..., Plan]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    for number in range(PAGES):
        write(folder, number, f"Robot {number} has {number} arms.")
    return folder


def write(folder: Path, page: int, sentence: str) -> None:
    """A page of two chunks; the second one stays the same."""
    (folder / f"page{page}.md").write_text(f"# Page {page}\n\n{sentence}\n\n## Use\n\nMaintenance of robot {page}.\n")


@pytest.fixture
def sleeps() -> list[float]:
    return []


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def index(
    server: EmulatorServer, cohere: EmulatorServer, site: Path, tmp_path: Path, sleeps: list[float], notes: list[str]
) -> Iterator[Index]:
    """Indexes the site as it is now; arguments are ServerIndex's and the run's."""
    connection = ServerConnection(server.url, None, sleep=sleeps.append)

    def run(profile: Profile = PROFILE, *, keep: int = 1, noise: bool = False, **options: bool) -> Plan:
        embedder = embedder_at(cohere.url, profile, COHERE_KEY)
        target = ServerIndex(connection, profile, keep=keep, note=notes.append)
        return index_to(
            target,
            find_site(site, "https://example.com"),
            profile,
            embedder,
            options=IndexOptions(**options),
            cache=tmp_path / "cache",
            noise=noise,
        )

    yield run
    connection.close()


def served(client: QdrantClient) -> str:
    """The collection that the alias leads to."""
    (alias,) = [one for one in client.get_aliases().aliases if one.alias_name == ALIAS]
    return alias.collection_name


def texts(client: QdrantClient) -> dict[str, dict[str, Any]]:
    """Payloads by text, found through the alias."""
    records, _ = client.scroll(ALIAS, limit=1000)
    return {str((record.payload or {})["content"]): record.payload or {} for record in records}


def written(server: EmulatorServer) -> list[int]:
    """The ids of all points that were sent to the server, in order."""
    return [
        point["id"]
        for request in server.requests
        if request.method == "PUT" and request.path.endswith("/points")
        for point in request.json()["points"]
    ]


def test_first_run_serves_a_new_collection_by_its_alias(index: Index, client: QdrantClient) -> None:
    plan = index()
    assert (plan.action, plan.points.added, plan.texts) == ("replace", 20, 20)
    assert RELEASE.fullmatch(served(client))
    assert len(texts(client)) == 20
    info = client.get_collection(ALIAS)
    said = info.config.metadata or {}
    assert (said["embedding_model"], said["vector_space"], said["embedded_by"]) == (
        "embed-multilingual-v3.0",
        "embed-multilingual-v3.0",
        "emulator",
    )
    assert said["passage"]["state"] == "ready"


@pytest.mark.needs_qdrant("1.20")
def test_collection_has_an_index_for_each_filter_and_for_words(index: Index, client: QdrantClient) -> None:
    index()
    schema = client.get_collection(ALIAS).payload_schema
    kinds = {key: one.data_type.value for key, one in schema.items()}
    assert kinds == {
        "source_url": "keyword",
        "url": "keyword",
        "chunk_id": "integer",
        "chunk_index": "integer",
        "embedding_model": "keyword",
        "timestamp": "datetime",
        "language": "keyword",
        "version": "keyword",
        RANKED_KEY: "text",
        TITLES_KEY: "text",
    }
    params = schema[RANKED_KEY].params
    assert isinstance(params, models.TextIndexParams)
    assert params.scoring is True
    found = client.query_points(ALIAS, models.TextQuery(text="an arm"), using=RANKED_KEY, limit=20).points
    assert len(found) == PAGES
    assert all("arms" in (point.payload or {})["content"] for point in found)


@pytest.mark.plays_qdrant
def test_server_before_1_20_gets_no_text_index_and_a_note(
    index: Index, client: QdrantClient, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older server would silently ignore `scoring`."""
    monkeypatch.setattr(routes, "VERSION", "1.19.2")
    index()
    assert "content" not in client.get_collection(ALIAS).payload_schema
    assert any("1.19" in note and "BM25" in note for note in notes)


@pytest.mark.plays_qdrant
def test_server_without_collection_metadata_is_refused(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "VERSION", "1.15.4")
    with pytest.raises(TargetError, match=r"QDRANT_URL.*1\.15\.4.*1\.16"):
        index()


def test_large_collection_is_quantized_and_on_disk(
    index: Index, client: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passage.indexing.server.collection.LARGE_BYTES", 1000)
    index()
    config = client.get_collection(ALIAS).config
    assert isinstance(config.params.vectors, models.VectorParams)
    assert config.params.vectors.on_disk is True
    assert isinstance(config.quantization_config, models.ScalarQuantization)


def test_second_run_writes_and_embeds_nothing(index: Index, server: EmulatorServer, cohere: EmulatorServer) -> None:
    index()
    server.requests.clear()
    cohere.requests.clear()
    assert index().action == "nothing"
    assert cohere.requests == []
    assert {request.method for request in server.requests} <= {"GET", "POST"}
    assert written(server) == []


def test_noise_is_measured_again_only_after_a_change(
    index: Index, client: QdrantClient, server: EmulatorServer, cohere: EmulatorServer, site: Path, start: Start
) -> None:
    def stored() -> dict[str, Any]:
        return dict((client.get_collection(ALIAS).config.metadata or {}).get("noise") or {})

    index()
    plan = index(noise=True)  # an index of a version that measured none
    assert (plan.action, plan.questions.texts, plan.questions.calls) == ("nothing", 96, 1)
    first = stored()
    assert (first["questions"], first["model"], first["p50"] < first["p90"]) == (96, PROFILE.embedding.model, True)
    assert cohere.requests[-1].json()["input_type"] == "search_query"
    cohere.requests.clear()
    server.requests.clear()
    assert index(noise=True).questions.texts == 0
    assert (cohere.requests, {request.method for request in server.requests} <= {"GET", "POST"}) == ([], True)
    assert not any("query" in request.path for request in server.requests)
    write(site, 3, "What is the capital of Mongolia?")
    plan = index(noise=True)
    assert (plan.action, plan.questions.texts, len(cohere.requests)) == ("edit", 0, 1)
    assert stored()["of"] != first["of"]
    function = start(QDRANT_URL=server.url, DEFAULT_PROFILE="vector-search")
    assert function.get("/ready").json["collection"]["noise"] == {name: stored()[name] for name in ("p50", "p90")}
    assert function.post({"query_text": "Robot 5 has 5 arms.", "fit": True}).results[0]["fit"] == "strong"


def test_metadata_that_someone_added_changes_nothing(index: Index, client: QdrantClient) -> None:
    index()
    client.update_collection(served(client), metadata={"owner": "docs team"})
    assert index().action == "nothing"


def test_metadata_of_another_program_means_a_new_collection(index: Index, client: QdrantClient) -> None:
    index()
    before = served(client)
    client.update_collection(before, metadata={"passage": "of another program"})
    assert index().action == "replace"
    assert served(client) != before


def test_edit_of_three_pages_writes_their_points_only(
    index: Index, server: EmulatorServer, client: QdrantClient, site: Path, cohere: EmulatorServer
) -> None:
    index()
    collection, before = served(client), texts(client)
    for page in (2, 5, 7):
        write(site, page, f"Robot {page} was replaced.")
    server.requests.clear()
    cohere.requests.clear()
    plan = index()
    assert (plan.action, plan.pages.changed, plan.to_write, plan.texts) == ("edit", 3, 6, 3)
    assert len(written(server)) == 3
    assert served(client) == collection
    after = texts(client)
    assert len(after) == 20
    assert after["Robot 2 was replaced."]["chunk_id"] == 21
    assert "Robot 2 has 2 arms." not in after
    kept = {text: payload for text, payload in before.items() if text in after}
    assert kept == {text: after[text] for text in kept}
    assert index().action == "nothing"


def test_new_points_are_there_before_old_ones_go(index: Index, server: EmulatorServer, site: Path) -> None:
    index()
    write(site, 1, "Robot 1 was replaced.")
    server.requests.clear()
    index()
    writes = [request.path.rpartition("/")[2] for request in server.requests if "/points" in request.path]
    assert writes.index("points") < writes.index("delete")


def test_moved_chunk_gets_its_new_position_without_embedding(
    index: Index, client: QdrantClient, site: Path, cohere: EmulatorServer, tmp_path: Path
) -> None:
    """A machine without the cache takes the vector from the server."""
    index()
    write(site, 4, "")
    (tmp_path / "cache" / "vectors.sqlite").unlink()
    cohere.requests.clear()
    assert index().texts == 0
    assert texts(client)["Maintenance of robot 4."]["chunk_index"] == 0
    assert cohere.requests == []


def test_removed_pages_lose_their_points(index: Index, client: QdrantClient, site: Path) -> None:
    index()
    (site / "page3.md").unlink()
    plan = index()
    assert (plan.action, plan.pages.removed, plan.points.removed) == ("edit", 1, 2)
    assert len(texts(client)) == 18


def test_change_of_most_pages_goes_to_a_new_collection(index: Index, client: QdrantClient, site: Path) -> None:
    index()
    first = served(client)
    for page in range(PAGES):
        (site / f"page{page}.md").write_text(f"# Page {page}\n\nAnother robot, number {page}.\n")
    assert index().action == "replace"
    assert served(client) != first
    assert len(texts(client)) == PAGES
    assert client.collection_exists(first)


def test_another_model_means_a_new_collection(index: Index, client: QdrantClient) -> None:
    index()
    first = served(client)
    other = PROFILE.embedding.model_copy(update={"model": "embed-english-v3.0"})
    plan = index(PROFILE.model_copy(update={"embedding": other}))
    assert (plan.action, plan.texts) == ("replace", 20)
    assert "another model" in plan.note
    assert served(client) != first


def test_foreign_points_are_left_behind(index: Index, client: QdrantClient, site: Path) -> None:
    """Someone else wrote into the collection: a new one has the site's points alone."""
    index()
    first = served(client)
    foreign = models.PointStruct(
        id="5e2f7b1c-0000-4000-8000-000000000001", vector=[0.5] * 1024, payload={"content": "x"}
    )
    client.upsert(ALIAS, [foreign])
    write(site, 1, "Robot 1 was replaced.")
    plan = index()
    assert (plan.action, plan.note, plan.texts) == ("replace", "points were added or removed by someone else", 1)
    assert served(client) != first
    assert len(texts(client)) == 20


def test_interrupted_edit_is_completed(index: Index, server: EmulatorServer, client: QdrantClient, site: Path) -> None:
    index()
    first = served(client)
    write(site, 1, "Robot 1 was replaced.")
    server.faults.add(Fault("status", status=400, path="/points/delete", times=0))
    with pytest.raises(TargetError):
        index()
    server.faults.clear()
    assert {"Robot 1 has 1 arms.", "Robot 1 was replaced."} <= set(texts(client))
    assert index().action == "edit"
    assert served(client) == first
    assert "Robot 1 has 1 arms." not in texts(client)


def test_alias_switches_after_the_checks(index: Index, server: EmulatorServer) -> None:
    index()
    steps = [request.path.partition("?")[0].rpartition("/")[2] for request in server.requests]
    last_write = len(steps) - 1 - steps[::-1].index("points")
    assert last_write < steps.index("count", last_write) < steps.index("query") < steps.index("aliases", last_write)


def test_refused_switch_keeps_serving_the_old_collection(
    index: Index, connection: ServerConnection, client: QdrantClient
) -> None:
    index()
    first = served(client)
    with pytest.raises(TargetError):
        Releases(connection, ALIAS).switch("absent")
    assert served(client) == first


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/points/count", '{"result":{"count":19},"status":"ok","time":0}'),
        ("/points/query", '{"result":{"points":[]},"status":"ok","time":0}'),
    ],
)
def test_failed_check_leaves_the_alias(
    path: str, answer: str, index: Index, server: EmulatorServer, client: QdrantClient
) -> None:
    index()
    first = served(client)
    server.faults.add(Fault("malformed", body=answer, path=path, times=0))
    with pytest.raises(TargetError, match="failed its check"):
        index(rebuild=True)
    server.faults.clear()
    assert served(client) == first
    server.requests.clear()
    index(rebuild=True)
    assert served(client) != first
    assert written(server) == [], "what the failed run wrote is completed, not written again"


def test_collection_with_the_alias_name_is_an_error(index: Index, client: QdrantClient) -> None:
    client.create_collection(ALIAS, models.VectorParams(size=2, distance=models.Distance.COSINE))
    with pytest.raises(TargetError, match="COLLECTION_NAME"):
        index()
    assert client.get_collection(ALIAS).points_count == 0
    assert [one.name for one in client.get_collections().collections] == [ALIAS]


def test_old_collections_beyond_keep_are_deleted(index: Index, client: QdrantClient) -> None:
    names = []
    for _ in range(3):
        index(rebuild=True, keep=1)
        names.append(served(client))
    assert {one.name for one in client.get_collections().collections} == set(names[1:])
    index(rebuild=True, keep=0)
    assert [one.name for one in client.get_collections().collections] == [served(client)]


def test_rollback_serves_the_collection_before(
    index: Index, client: QdrantClient, connection: ServerConnection, site: Path
) -> None:
    index()
    first = served(client)
    write(site, 1, "Robot 1 was replaced.")
    index(rebuild=True)
    assert Releases(connection, ALIAS).roll_back(None).name == first
    assert served(client) == first
    assert "Robot 1 has 1 arms." in texts(client)
    with pytest.raises(TargetError, match="keeps no collection before"):
        Releases(connection, ALIAS).roll_back(None)


def test_temporary_failures_are_retried(
    index: Index, server: EmulatorServer, client: QdrantClient, sleeps: list[float]
) -> None:
    server.faults.add(Fault("status", status=503, times=2))
    server.faults.add(Fault("status", status=429, retry_after=7, path="/points"))
    server.faults.add(Fault("drop", at="response", path="/points"))
    index()
    assert len(texts(client)) == 20
    assert 7.0 in sleeps
