"""Searches without a vector: by words or titles, and by words where a question cannot be embedded."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from handler.config import profiles
from handler.config.profiles import SearchOptions
from handler.core.without_vector import NO_SCORES
from indexed import Silent
from passage.emulators import cohere_emulator
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.run import IndexOptions, index_site
from passage.sites.markdown import find_site
from serving import served_index
from sites.reading import written
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, MakeCollection, Output, Start, asked, assert_error

pytestmark = pytest.mark.needs_qdrant("1.20")

OnEdge = dict[str, str | None]
NO_KEY: dict[str, str | None] = {"COHERE_API_KEY": None, "COHERE_BASE_URL": None}
SCORES = {"query-response": "relevance_score", "vector-search": "score", "context": "score"} | dict.fromkeys(
    ("ranked", "chunks"), "similarity_score"
)


@pytest.fixture(params=["server", "edge"])
def store(request: pytest.FixtureRequest, on_edge: OnEdge) -> OnEdge:
    """The variables of each store."""
    return on_edge if request.param == "edge" else {}


@pytest.mark.parametrize("profile", SCORES)
def test_words_need_no_embedding_in_any_contract(
    profile: str, start: Start, on_edge: OnEdge, several_indexes: Path, cohere: EmulatorServer
) -> None:
    function = start(**(on_edge | {"EDGE_INDEX_PATH": str(several_indexes)}))
    answer = function.post({"question": "Kritzinger twin", "top_k": 3, "search": "words"}, f"/profiles/{profile}/query")
    body = answer.json
    results = body.get("results") or body["chunks"]
    assert answer.status == 200
    assert len(results) == 3
    assert "Kritzinger" in json.dumps(results[0])
    assert {result[SCORES[profile]] for result in results} == {0}
    assert body["warnings"] == [NO_SCORES]
    assert cohere.requests == []


def test_words_answer_alike_over_each_way_in(start: Start, store: OnEdge) -> None:
    """As an option, as the profile's mode without any key, in a query string, an event and a tool of MCP."""
    function, mode = start(**store), start(**store, **NO_KEY, SEARCH_MODE="words")
    fields = {"text": "Kritzinger twin", "k": 3}
    found = function.post({**fields, "search": "words"}).results
    call = {"name": "search_docs", "arguments": {"question": fields["text"], "top_k": 3, "search": "words"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    tool = function.post(message, "/mcp").json["result"]["structuredContent"]
    assert found == mode.post(fields).results
    assert found == function.get("/query", "text=Kritzinger%20twin&k=3&search=words").results
    assert found == function.invoke({**fields, "search": "words"})["results"]
    assert [result["text"] for result in tool["results"]] == [result["chunk_text"] for result in found]
    assert NO_SCORES in tool["warnings"]
    assert mode.get("/ready").json["collection"]["search"] == "words"
    assert function.post({**fields, "search": "words", "filters": {"source_url": "none"}}).results == []


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/query", {"text": QUESTION, "score_threshold": 0.2}),
        ("/profiles/vector-search/query", {"query_vector": [0.5] * 768}),
        ("/profiles/chunks/query", {"query_text": QUESTION, "threshold": 0.2}),
        ("/query", {"text": QUESTION, "search": "vectors"}),
    ],
)
def test_question_that_needs_similarities_is_400(path: str, fields: dict[str, Any], start: Start) -> None:
    answer = start().post({"search": "words", **fields}, path)
    assert answer.status == 400, answer.text


def test_collection_without_a_text_index_has_no_words(start: Start, make_collection: MakeCollection) -> None:
    """The caller's choice is the caller's error; the profile's is the operator's."""
    name = make_collection("plain")
    for search in ("words", "titles"):
        chosen = start(COLLECTION_NAME=name).post({"text": QUESTION, "search": search})
        assert f"cannot be searched by {search}" in assert_error(chosen, 400, "INVALID_INPUT")
    function = start(COLLECTION_NAME=name, SEARCH_MODE="words", **NO_KEY)
    for answer in (function.ask(), function.get("/ready")):
        assert "no text index" in assert_error(answer, 500, "INTERNAL_ERROR")


def test_titles_give_each_section_once_with_its_titles(start: Start, store: OnEdge, cohere: EmulatorServer) -> None:
    function = start(**store, RERANK_PROVIDER="cohere")
    answer = function.post({"text": "digital tw", "k": 20, "search": "titles"})
    first, urls = answer.results[0], [result["url"] for result in answer.results]
    title = "What Is a Digital Twin"
    assert (first["title"], first["headings"], first["relevance_score"]) == (title, [title], 0)
    assert len(urls) == len(set(urls))
    assert "ranked_title" not in answer.text
    assert answer.json["warnings"] == [NO_SCORES]
    assert function.get("/query", "text=digital%20tw&k=20&search=titles").results == answer.results
    assert cohere.requests == []


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of a small site, without vectors."""
    loaded, folder = profiles.load("query-response"), tmp_path_factory.mktemp("small")
    profile = loaded.model_copy(update={"search": loaded.search.model_copy(update={"mode": "words"})})
    pages = {
        "client.md": "# HTTP client\n\nIt asks.\n\n## Retry policy\n\nAgain.\n\n## Timeouts\n\n### Policy\n\nOnce.",
        "tokens.md": f"# API tokens\n\n{'A long text. ' * 200}\n\n## Rotate\n\nOften.",
        "ros.md": "# ROS 2\n\nNodes.\n\n## Bridging to other robots\n\nWith a bridge.",
        "zahlen.md": "# 数学\n\n数。\n\n## Übersicht\n\nAlles.",
    }
    site = find_site(written(folder / "site", pages), "https://example.com")
    index_site(site, profile, EdgeIndex(folder / "index", profile), None, Silent(), IndexOptions())
    return folder / "index"


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("r", "ROS 2"),
        ("retr", "Retry policy"),
        ("Retry po", "Retry policy"),
        ("timeo", "Timeouts"),
        ("api tok", "API tokens"),
        ("ros 2", "ROS 2"),
        ("数", "数学"),
        ("xyz", None),
    ],
)
def test_what_was_typed_so_far_finds_its_title(typed: str, title: str | None, start: Start, small: Path) -> None:
    """Also a heading without a text of its own, in the section that is the first below it."""
    function = start(STORE="qdrant_edge", EDGE_INDEX_PATH=str(small), QDRANT_URL=None, SEARCH_MODE="words", **NO_KEY)
    results = function.post({"text": typed, "search": "titles"}).results
    found = results[0]["headings"] if results else []
    assert (title in found) if title else (found == [])


@pytest.fixture
def falling_back(start: Start, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts a container that answers by words where it cannot embed."""
    environ["WITHOUT_EMBEDDING"] = "words"
    monkeypatch.setattr(SearchOptions, "embedding_seconds", property(lambda _: 0.2))
    return start


@pytest.mark.parametrize(
    ("fault", "reason", "ours"),
    [
        (Fault("status", times=0), "the service is not available", False),
        (Fault("status", 429, times=0), "the service asked to slow down", False),
        (Fault("slow", delay_ms=500, times=0), "the time ran out", False),
        (Fault("status", 401, times=0), "it is set up wrongly", True),
        (Fault("malformed", times=0), "the service is not available", False),
    ],
)
@pytest.mark.usefixtures("sleeps")
def test_failed_embedding_is_answered_by_words(
    fault: Fault, reason: str, ours: bool, falling_back: Start, cohere: EmulatorServer, output: Output
) -> None:
    function = falling_back(RERANK_PROVIDER="cohere")
    cohere.faults.add(fault)
    answer = function.ask("Kritzinger")
    assert "Kritzinger" in answer.results[0]["chunk_text"]
    assert reason in answer.json["warnings"][0]
    assert answer.json["warnings"][1] == NO_SCORES
    assert asked(cohere, "rerank") == [], "it would most likely fail, too"
    (record,) = [line for line in output.metrics if "AnsweredByWords" in line]
    assert ("Failed.Ours" in record) is ours
    assert [line["level"] for line in output.logs if "answered by words" in line["message"]] == [
        "ERROR" if ours else "WARNING"
    ]


def test_threshold_is_not_applied_where_words_answer(
    falling_back: Start, store: OnEdge, cohere: EmulatorServer, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("status", times=0))
    answer = falling_back(**store).post({"text": "Kritzinger", "score_threshold": 0.9})
    assert answer.results
    assert "minimum score was not applied" in " ".join(answer.json["warnings"])


def test_failed_embedding_without_a_text_index_is_503(
    falling_back: Start, make_collection: MakeCollection, cohere: EmulatorServer, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("status", times=0))
    answer = falling_back(COLLECTION_NAME=make_collection("bare")).ask()
    assert "embedding service" in assert_error(answer, 503, "SERVICE_UNAVAILABLE")


def test_demo_answers_after_its_embedding_service_stopped(textbook_index: Path) -> None:
    """`passage serve`, over HTTP: the same session, before and after."""
    with ExitStack() as stack:
        emulator = ExitStack()
        cohere = stack.enter_context(emulator).enter_context(cohere_emulator())
        services = {"COHERE_API_KEY": "any", "COHERE_BASE_URL": cohere.url, "WITHOUT_EMBEDDING": "words"}
        url = stack.enter_context(served_index(textbook_index, **services))
        asked = [httpx.get(f"{url}/query", params={"question": QUESTION}).json()]
        emulator.close()
        asked.append(httpx.get(f"{url}/query", params={"question": "Which twin does Kritzinger name?"}).json())
    assert all(answer["results"] for answer in asked)
    assert "warnings" not in asked[0]
    assert "could not be embedded (the service is not available)" in asked[1]["warnings"][0]
