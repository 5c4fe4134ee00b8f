"""Hybrid search over both stores: what is sent, what is found, and when a collection is searched by vectors only."""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from handler.adapters.qdrant import metadata, sparse_files
from handler.adapters.qdrant.connection import Connection
from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.adapters.qdrant.metadata import UNREADABLE, Limits
from handler.adapters.qdrant.server import QdrantServerStore
from handler.adapters.qdrant.text_search import definition
from handler.config import profiles
from handler.config.payload_keys import RANKED_KEY
from handler.config.profiles import Profile, SearchOptions
from handler.core.errors import CollectionNotFound, RequestRefused, UpstreamUnavailable
from handler.core.model import Passage, Search
from passage.emulators.embedding import embed
from tools.doubles import EmulatorServer, Fault
from tools.qdrant.emulator import qdrant_emulator
from wire.function import QUESTION, Output, Start, assert_error

pytestmark = pytest.mark.needs_qdrant("1.20")

OnEdge = dict[str, str | None]
PROFILE = profiles.load("query-response")
TEXT = (
    "robot twin sensor gripper lidar humanoid walking walked simulation physics reward policy calibrate mesh URDF "
    "joint torque node topic service kinematics robots zzzz 机器人 the of and what is a how does"
)
WORDS = TEXT.split()
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


def vector(text: str) -> list[float]:
    return embed([text], 768)[0]


def searching(**options: Any) -> Profile:
    """The default profile with these options in its table `[search]`."""
    return PROFILE.model_copy(update={"search": SearchOptions.model_validate(options)})


@pytest.fixture(scope="session")
def edge(textbook_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[QdrantEdgeStore]:
    root = tmp_path_factory.mktemp("edge") / "index"
    sparse_files.copy_folder(textbook_index, root)
    store = QdrantEdgeStore(root=root, profile=PROFILE)
    yield store
    store.close()


@pytest.fixture(scope="session")
def server(qdrant: EmulatorServer) -> QdrantServerStore:
    return on(qdrant.url)


def on(url: str, profile: Profile = PROFILE, transport: httpx.BaseTransport | None = None) -> QdrantServerStore:
    """The store of a server."""
    return QdrantServerStore(Connection(profile.collection.name, url, transport=transport), profile)


def found(store: QdrantEdgeStore | QdrantServerStore, text: str, search: Search) -> tuple[Passage, ...]:
    return store.search([(vector(text), replace(search, text=text))])[0].passages


def ranking(passages: tuple[Passage, ...]) -> list[tuple[Any, float]]:
    return [(passage.id, pytest.approx(passage.score, abs=1e-6)) for passage in passages]


@given(text=questions, top_k=st.integers(1, 60), threshold=st.sampled_from([None, 0.1, 0.3, 0.5]))
@settings(
    deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_both_stores_give_the_same_passages_in_the_same_order(
    edge: QdrantEdgeStore, server: QdrantServerStore, text: str, top_k: int, threshold: float | None
) -> None:
    search = Search(top_k=top_k, score_threshold=threshold)
    one, other = found(edge, text, search), found(server, text, search)
    assert [(passage.id, passage.score) for passage in one] == ranking(other)
    assert [passage.fused for passage in one] == pytest.approx([passage.fused for passage in other], abs=1e-6)


@given(text=questions, balance=st.none() | st.floats(0, 1), top_k=st.integers(1, 20))
@settings(deadline=None, max_examples=30)
def test_hybrid_result_keeps_its_promises(edge: QdrantEdgeStore, text: str, balance: float | None, top_k: int) -> None:
    """Ranked by fused score; as many as asked for; each score is the cosine of a dense search."""
    store = QdrantEdgeStore(root=edge._folder.parent, profile=searching(balance=balance))
    store.__dict__["_shard"] = edge._shard  # opened once: a shard belongs to one process at a time
    passages = found(store, text, Search(top_k=top_k))
    assert len(passages) == top_k
    keys = [(-(passage.fused or 0.0), -passage.score, passage.id) for passage in passages]
    assert keys == sorted(keys)
    (dense,) = store.search([(vector(text), Search(top_k=1000))])
    cosines = {passage.id: passage.score for passage in dense.passages}
    assert all(passage.score == pytest.approx(cosines[passage.id], abs=1e-6) for passage in passages)
    if balance == 1:
        assert [passage.id for passage in passages] == list(cosines)[:top_k]


def test_threshold_finds_all_candidates_above_it(edge: QdrantEdgeStore, server: QdrantServerStore) -> None:
    """A passage that only its words find must meet the threshold, too, and gives way to the next that does."""
    every = found(edge, QUESTION, Search(top_k=95))
    above = [passage.id for passage in every if passage.score >= 0.35]
    assert 3 < len(above) < len(every)
    for store in (edge, server):
        limited = found(store, QUESTION, Search(top_k=3, score_threshold=0.35))
        assert [passage.id for passage in limited] == above[:3]


@pytest.mark.parametrize("text", ["the of and", "zzzz qqqq"])
def test_question_without_known_words_gets_the_dense_answer(
    text: str, edge: QdrantEdgeStore, server: QdrantServerStore
) -> None:
    for store in (edge, server):
        (dense,) = store.search([(vector(text), Search(top_k=10))])
        assert [passage.id for passage in found(store, text, Search(top_k=10))] == [p.id for p in dense.passages]


def test_filter_applies_to_both_lists(qdrant: EmulatorServer) -> None:
    profile = profiles.load("vector-search").model_copy(
        update={"collection": PROFILE.collection, "payload": PROFILE.payload, "filters": {"page": ("page_title",)}}
    )
    store = on(qdrant.url, profile)
    (title,) = {passage.title for passage in found(store, QUESTION, Search(top_k=1))}
    assert title is not None
    passages = found(store, QUESTION, Search(top_k=50, filters={"page": (title,)}))
    assert {passage.title for passage in passages} == {title}


def test_explained_search_has_the_lists_it_fused(edge: QdrantEdgeStore, server: QdrantServerStore) -> None:
    for store in (edge, server):
        (result,) = store.search([(vector(QUESTION), Search(top_k=5, text=QUESTION, explain=True))])
        assert result.stages.keys() == {"fused", "dense", "text"}
        cosines, words, fused = (dict(result.stages[name]) for name in ("dense", "text", "fused"))
        assert fused.keys() == cosines.keys() | words.keys()
        assert [passage.id for passage in result.passages] == list(fused)[:5]
        bm25 = [one["score"] for one in words.values()]
        assert bm25 == sorted(bm25, reverse=True)
        assert result.balance == 0.4
        for identity, one in fused.items():
            assert one["score"] == pytest.approx(0.4 * one["vectors"] + 0.6 * one["words"])
            assert one["words"] == pytest.approx(words[identity]["score"] / bm25[0] if identity in words else 0)
        (dense,) = store.search([(vector(QUESTION), Search(top_k=5, explain=True))])
        assert dense.stages == {"dense": tuple((passage.id, {"score": passage.score}) for passage in dense.passages)}


def test_query_response_sorts_the_best_of_the_fused_list(start: Start, on_edge: OnEdge, edge: QdrantEdgeStore) -> None:
    results = start(**on_edge).ask(k=10).results
    scores = [result["relevance_score"] for result in results]
    best = found(edge, QUESTION, Search(top_k=10))
    assert scores == sorted((passage.score for passage in best), reverse=True)
    assert scores != [passage.score for passage in best], "the fused order differs"


def test_balance_follows_the_vectors_and_the_profile_wins() -> None:
    default, own = searching().search, searching(balance=0).search
    balances = {by: default.balance_for(by) for by in ("emulator", "cohere", "bedrock", "")}
    assert balances == {"emulator": 0.4, "cohere": 0.65, "bedrock": 0.65, "": 0.65}
    assert own.balance_for("emulator") == 0


def test_no_request_of_the_function_asks_for_compression(start: Start, qdrant: EmulatorServer) -> None:
    """Qdrant sends a compressed answer in two writes, and the second often waits 40 ms."""
    function = start()
    function.post({"text": QUESTION, "k": 3, "neighbors": 1})
    function.get("/profiles/query-response/chunks/1")
    function.get("/ready")
    assert len(qdrant.requests) > 5
    assert {request.headers["accept-encoding"] for request in qdrant.requests} == {"identity"}
    assert httpx.get(f"{qdrant.url}/collections").headers["content-encoding"] == "gzip", "the emulator compresses"


def test_version_and_index_are_read_once_per_container(start: Start, qdrant: EmulatorServer) -> None:
    function = start()
    for k in (1, 2, 3):
        function.ask(k=k)
    paths = [request.path.removeprefix("/collections/rag_embeddings") for request in qdrant.requests]
    assert paths == ["/", "", *["/points/query/batch"] * 3]


def test_vector_of_a_caller_is_a_dense_search(start: Start, qdrant: EmulatorServer) -> None:
    function = start(DEFAULT_PROFILE="vector-search", COLLECTION_NAME="rag_embeddings", EMBEDDING_DIMENSION="768")
    assert function.post({"query_vector": vector(QUESTION), "top_k": 3}).status == 200
    (request,) = qdrant.requests
    assert request.path.endswith("/points/query")


@pytest.fixture
def own(request: pytest.FixtureRequest, textbook_index: Path, tmp_path: Path) -> Iterator[EmulatorServer]:
    """The textbook on a server of the test's own."""
    sparse_files.copy_folder(textbook_index / PROFILE.name / "shard", tmp_path / PROFILE.collection.name)
    with qdrant_emulator(tmp_path, **getattr(request, "param", {})) as emulator:
        yield emulator


@pytest.fixture
def admin(own: EmulatorServer) -> Iterator[QdrantClient]:
    client = QdrantClient(url=own.url, check_compatibility=False)
    yield client
    client.close()


@pytest.mark.parametrize("own", [{"version": "1.16.3"}, {"version": "1.19.2"}], indirect=True)
def test_old_server_gets_dense_searches_only(
    start: Start, own: EmulatorServer, output: Output, request: pytest.FixtureRequest
) -> None:
    function = start(QDRANT_URL=own.url)
    dense = start(QDRANT_URL=own.url, SEARCH_MODE="dense")
    for _ in range(2):
        answer = function.ask()
        assert answer.results == dense.ask().results
        assert "warnings" not in answer.json
    assert dense.post({"text": QUESTION, "fit": True}).status == 200
    (note,) = function.get("/ready").json["collection"]["notes"]
    assert "needs Qdrant 1.20" in note
    assert request.node.callspec.params["own"]["version"].rpartition(".")[0] in note
    assert [sent for sent in own.requests if sent.path.endswith("batch")] == []
    assert [line["message"] for line in output.logs].count(note) == 1, "logged once, and not where vectors were chosen"


def test_collection_without_the_index_is_dense_until_it_has_it(
    start: Start, own: EmulatorServer, admin: QdrantClient
) -> None:
    admin.delete_payload_index("rag_embeddings", RANKED_KEY)
    function = start(QDRANT_URL=own.url)
    before = function.ask(k=10).results
    assert before == start(QDRANT_URL=own.url, SEARCH_MODE="dense").ask(k=10).results
    described = function.get("/profiles/query-response/collection").json
    assert described["search"] == "dense"
    (note,) = described["notes"]
    _, _, request = note.partition("PUT /collections/rag_embeddings/index ")
    assert json.loads(request) == {"field_name": "text_content", "field_schema": definition("english")}
    assert httpx.put(f"{own.url}/collections/rag_embeddings/index", content=request).is_success
    assert function.get("/ready").json["collection"]["search"] == "hybrid"
    assert function.ask(k=10).results != before


def test_index_without_scoring_is_not_used(start: Start, own: EmulatorServer, admin: QdrantClient) -> None:
    admin.delete_payload_index("rag_embeddings", RANKED_KEY)
    admin.create_payload_index("rag_embeddings", "text_content", "text")
    assert len(start(QDRANT_URL=own.url).ask().results) == 3


def test_index_dropped_while_a_container_runs_makes_it_dense(
    start: Start, own: EmulatorServer, admin: QdrantClient, output: Output
) -> None:
    function = start(QDRANT_URL=own.url)
    assert function.ask().results
    admin.delete_payload_index("rag_embeddings", RANKED_KEY)
    expected = start(QDRANT_URL=own.url, SEARCH_MODE="dense").ask().results
    assert [function.ask().results for _ in range(2)] == [expected] * 2
    assert len([line for line in output.logs if "it has no text index" in line["message"]]) == 1


@pytest.mark.parametrize(
    ("failing", "kinds"), [("/", ["dense", "text"]), ("/collections/rag_embeddings", ["dense"]), ("", [])]
)
def test_unreadable_metadata_means_vectors_and_a_warning(failing: str, kinds: list[str], sleeps: list[float]) -> None:
    """A server that hides its version still shows whether its index ranks. One that tells nothing is down."""
    searches: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if "/points/query" in path:
            asked = json.loads(request.content)
            sent = asked.get("searches", [asked])
            searches.extend(
                "text" if isinstance(one["query"], dict) else "dense" for one in sent if "prefetch" not in one
            )
            return httpx.Response(
                200, json={"result": [{"points": []}] * len(sent) if len(sent) > 1 else {"points": []}}
            )
        if path == failing or not failing:
            return httpx.Response(503)
        if path == "/":
            return httpx.Response(200, json={"title": "qdrant", "version": "1.20.0"})
        return metadata_answer(RANKED_KEY)

    store = answering(answer)
    if not failing:
        with pytest.raises(UpstreamUnavailable):
            store.prepare()
        return
    store.prepare()
    (result,) = store.search([(vector(QUESTION), Search(top_k=3, text=QUESTION))])
    assert searches == kinds
    assert (UNREADABLE in result.warnings) is ("text" not in kinds)
    if "text" not in kinds:
        with pytest.raises(UpstreamUnavailable):
            store.search([((), Search(top_k=3, text=QUESTION, by="words"))])


def test_refused_search_reads_changing_indexes_once() -> None:
    """Nodes of a cluster may differ for a while; a collection with two text keys has either index here."""
    fields, sent = itertools.cycle([RANKED_KEY, PROFILE.payload.text[0]]), []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request.url.path)
        if request.url.path.endswith("/batch"):
            return httpx.Response(400, json={"status": {"error": "Wrong input"}, "time": 0})
        if request.url.path == "/":
            return httpx.Response(200, json={"title": "qdrant", "version": "1.20.0"})
        return metadata_answer(next(fields))

    with pytest.raises(RequestRefused):
        found(answering(answer), QUESTION, Search(top_k=3))
    assert len([path for path in sent if path.endswith("/batch")]) == 2


def test_missing_similarity_means_shards_are_read_again() -> None:
    """An alias now leads to a collection of three shards, each of which gives the word search its own candidates."""
    shards = [1, 3, 3]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/":
            return httpx.Response(200, json={"title": "qdrant", "version": "1.20.0"})
        if request.url.path.endswith("/batch"):
            _, _, similar = json.loads(request.content)["searches"]
            near, by_words = hit(1, 0.9), hit(2, 0.3)
            lists = [[near], [near, by_words], [near, by_words] if similar["limit"] == 90 else [near]]
            return httpx.Response(200, json={"result": [{"points": one} for one in lists], "status": "ok", "time": 0})
        return metadata_answer(RANKED_KEY, shards.pop(0))

    store = answering(answer)
    asked = [[passage.id for passage in found(store, QUESTION, Search(top_k=3))] for _ in range(3)]
    assert asked == [[1], [1, 2], [1, 2]]
    assert len(shards) == 1, "read twice"


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> QdrantServerStore:
    """The store of a server that answers so."""
    transport = httpx.MockTransport(answer)
    return on("http://qdrant.test:6333", transport=transport)


def metadata_answer(field: str, shards: int | None = None) -> httpx.Response:
    index = {"data_type": "text", "points": 2, "params": definition("english")}
    vectors = {PROFILE.collection.vector: {"size": PROFILE.collection.dimension, "distance": "Cosine"}}
    config = {"params": {"vectors": vectors, **({} if shards is None else {"shard_number": shards})}}
    return httpx.Response(200, json={"result": {"status": "green", "payload_schema": {field: index}, "config": config}})


def hit(identity: int, score: float) -> dict[str, Any]:
    return {
        "id": identity,
        "version": 0,
        "score": score,
        "payload": {"text_content": "Twins", "source_url": "https://e.org/"},
    }


def test_dense_profile_reads_nothing_and_has_no_note(start: Start, qdrant: EmulatorServer) -> None:
    function = start(SEARCH_MODE="dense")
    function.ask()
    assert [request.path for request in qdrant.requests] == ["/collections/rag_embeddings/points/query"]
    collection = function.get("/ready").json["collection"]
    assert (collection["search"], collection["notes"]) == ("dense", [])


def test_edge_index_without_text_index_is_dense_and_says_so(start: Start, on_edge: OnEdge, tmp_path: Path) -> None:
    assert on_edge["EDGE_INDEX_PATH"] is not None
    sparse_files.copy_folder(Path(on_edge["EDGE_INDEX_PATH"]), tmp_path / "index")
    path = tmp_path / "index" / "query-response" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest["stored_as"]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    function = start(**(on_edge | {"EDGE_INDEX_PATH": str(tmp_path / "index")}))
    assert len(function.ask().results) == 3
    (note,) = function.get("/ready").json["collection"]["notes"]
    assert "passage index" in note


def strict(admin: QdrantClient, **limits: int) -> None:
    """Set limits of the collection's strict mode."""
    admin.update_collection("rag_embeddings", strict_mode_config={"enabled": True, **limits})


@pytest.mark.parametrize("limits", [{"max_query_limit": 20}, {"search_max_batchsize": 1}])
def test_search_is_split_and_shortened_to_a_servers_limits(
    limits: dict[str, int], start: Start, own: EmulatorServer, admin: QdrantClient
) -> None:
    function = start(QDRANT_URL=own.url)
    expected = function.ask(k=3).results
    strict(admin, **limits)
    assert function.ask(k=3).results == expected, "after the first refusal"
    own.requests.clear()
    batch = function.invoke([{"text": QUESTION, "k": 3}, {"text": "What is a robot?", "k": 3}])
    assert batch[0]["results"] == expected
    assert all("/query" in request.path for request in own.requests), "the limits are known now"
    message = function.post({"text": QUESTION, "k": 3, "filters": {"chunk_index": [1, 2]}})
    assert message.status == 200
    another = start(QDRANT_URL=own.url)
    another.get("/ready")
    own.requests.clear()
    assert another.ask(k=3).results == expected
    assert all("/query" in request.path for request in own.requests), "/ready has read the limits"


@pytest.mark.parametrize(
    ("mode", "limits", "fields", "says"),
    [
        ("hybrid", {"max_query_limit": 60}, {"k": 90}, "searches for 60 points, and this one needs 90: ask for fewer"),
        ("dense", {"max_query_limit": 60}, {"k": 90}, "searches for 60 points, and this one needs 90: ask for fewer"),
        ("dense", {"max_query_limit": 60}, {"offset": 0}, "searches for 60 points, and this one needs 200"),
        ("hybrid", {"condition_max_size": 1}, {"filters": {"chunk_index": [1, 2]}}, "filters with 1 values in a list"),
        (
            *("dense", {"filter_max_conditions": 1}),
            *({"filters": {"chunk_index": 1, "source_url": "x"}}, "filters with 1 conditions, and this one needs 2"),
        ),
    ],
)
def test_limit_that_the_caller_exceeds_is_400_and_is_named(
    *,
    mode: str,
    limits: dict[str, int],
    fields: dict[str, Any],
    says: str,
    start: Start,
    own: EmulatorServer,
    admin: QdrantClient,
) -> None:
    strict(admin, **limits)
    function = start(QDRANT_URL=own.url, SEARCH_MODE=mode)
    message = assert_error(function.post({"text": QUESTION, **fields}), 400, "INVALID_INPUT")
    assert says in message
    assert next(iter(limits)) in message
    assert len(function.ask().results) == 3


def test_refused_choice_is_a_warning_with_a_metric(
    start: Start, own: EmulatorServer, admin: QdrantClient, output: Output
) -> None:
    strict(admin, max_query_limit=60)
    start(QDRANT_URL=own.url).ask(k=90)
    (line,) = [line for line in output.logs if line.get("code")]
    assert (line["level"], line["code"]) == ("WARNING", "CHOICE_REFUSED")
    assert {"Error.CHOICE_REFUSED", "Failed.Caller"} <= {name for metric in output.metrics for name in metric}


@pytest.mark.parametrize("fields", [{}, {"k": 90}, {"filters": {"chunk_index": 1}}])
def test_limit_that_every_question_exceeds_is_the_operators(
    fields: dict[str, Any], start: Start, own: EmulatorServer, admin: QdrantClient
) -> None:
    strict(admin, max_query_limit=2)
    answer = start(QDRANT_URL=own.url).post({"text": QUESTION, **fields})
    assert "max_query_limit" in assert_error(answer, 500, "INTERNAL_ERROR")


@pytest.mark.parametrize(("asked", "shards", "each"), [(30, 1, 30), (50, 3, 33), (120, 1, 100), (30, 50, 3)])
def test_lists_fit_the_limit_of_a_collection_with_shards(asked: int, shards: int, each: int) -> None:
    assert Limits(max_query_limit=100).fit(asked, 3, shards) == each
    assert Limits().fit(asked, 3, shards) == asked


@pytest.mark.parametrize(("path", "waits"), [("/collections/rag_embeddings", 2), ("/points/query", 1)])
def test_store_that_is_down_is_503_after_one_retry(
    path: str, waits: int, start: Start, qdrant: EmulatorServer, sleeps: list[float]
) -> None:
    """One for each step: a server that hides a collection's metadata may still search it."""
    qdrant.faults.add(Fault("status", times=0, path=path))
    answer = start().ask()
    assert answer.status == 503
    assert len(sleeps) == waits


def test_failed_reading_is_repeated_by_the_retry(start: Start, qdrant: EmulatorServer, sleeps: list[float]) -> None:
    expected = start().ask().results
    qdrant.faults.add(Fault("status", path="/collections/rag_embeddings"))
    function = start()
    assert function.ask().results == expected
    assert len(sleeps) == 1


def test_version_hidden_by_a_proxy_does_not_prevent_hybrid(own: EmulatorServer) -> None:
    store = on(own.url)
    own.faults.add(Fault("status", status=403))
    assert found(store, QUESTION, Search(top_k=3))[0].fused is not None


def test_metadata_that_may_not_be_read_means_dense(qdrant: EmulatorServer) -> None:
    qdrant.faults.add(Fault("status", status=400, times=0, path="/collections/rag_embeddings"))
    store = on(qdrant.url)
    with pytest.raises(RequestRefused):
        found(store, QUESTION, Search(top_k=3))
    qdrant.faults.clear()
    assert found(store, QUESTION, Search(top_k=3))[0].fused is None


@pytest.mark.parametrize(("seconds", "then_fused"), [(60.0, False), (0.0, True)])
@pytest.mark.parametrize("status", [200, 307])
def test_page_instead_of_metadata_means_dense_for_a_minute(
    status: int, seconds: float, then_fused: bool, qdrant: EmulatorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy that is being set up answers so. The container must not stay dense until it dies."""
    monkeypatch.setattr(metadata, "FAILED_SECONDS", seconds)
    qdrant.faults.add(Fault("status", status=status, body="<html>", path="/collections/rag_embeddings"))
    store = on(qdrant.url)
    for fused in (False, then_fused):
        assert (found(store, QUESTION, Search(top_k=3))[0].fused is not None) is fused


def test_missing_collection_is_reported_by_its_name(start: Start, qdrant: EmulatorServer) -> None:
    answer = start(COLLECTION_NAME="absent").ask()
    assert answer.status == 500
    assert "COLLECTION_NAME" in answer.json["error"]
    store = on(qdrant.url, PROFILE.with_collection("absent"))
    with pytest.raises(CollectionNotFound):
        found(store, QUESTION, Search(top_k=3))


@pytest.mark.parametrize("body", ["{}", "[]", '{"result": null}', '{"result": {"payload_schema": 7}}', "null"])
def test_unreadable_metadata_is_a_temporary_failure_or_dense(body: str, qdrant: EmulatorServer) -> None:
    qdrant.faults.add(Fault("malformed", body=body, times=3))
    store = on(qdrant.url)
    try:
        passages = found(store, QUESTION, Search(top_k=3))
    except UpstreamUnavailable:
        return
    assert passages[0].fused is None


def test_words_of_a_title_find_its_passage_on_both_stores(edge: QdrantEdgeStore, server: QdrantServerStore) -> None:
    for store in (edge, server):
        (found,) = store.search([(vector("Shared memory"), Search(top_k=5, text="Shared memory"))])
        assert found.passages[0].url.endswith("/deployment/jetson/#shared-memory")
        assert "shared memory" not in found.passages[0].text.lower()
