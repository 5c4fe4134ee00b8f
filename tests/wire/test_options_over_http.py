"""The options of a question, over HTTP, on both stores."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from qdrant_client import QdrantClient, models

from passage.emulators.embedding import embed
from tools.doubles import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator
from wire.function import QUESTION, Function, MakeCollection, Start, asked, assert_error

OnEdge = dict[str, str | None]


@pytest.fixture(params=["server", "edge"])
def function(request: pytest.FixtureRequest, start: Start, on_edge: OnEdge) -> Function:
    return start(**(on_edge if request.param == "edge" else {}), DEBUG_ANSWERS="true")


def results(function: Function, **fields: Any) -> list[dict[str, Any]]:
    return function.post({"text": QUESTION, "k": 5, **fields}).results


def page(result: dict[str, Any]) -> str:
    url: str = result["url"]
    return url.partition("#")[0]


def ids(found: list[dict[str, Any]]) -> list[str]:
    return [result["chunk_id"] for result in found]


def test_filters_by_value_prefix_and_bounds_hold_for_all_results(function: Function) -> None:
    url = results(function)[0]["url"]
    assert {result["url"] for result in results(function, filters={"source_url": url})} == {url}
    start = page(results(function)[0])
    found = results(function, filters={"source_url": {"prefix": start}, "chunk_index": {"gte": 1, "lt": 3}})
    assert found
    assert all(result["url"].startswith(start) for result in found)
    assert all(result["chunk_id"].rsplit("_")[1] in ("1", "2") for result in found)


def test_filter_by_time_compares_the_stored_epoch(function: Function) -> None:
    assert len(results(function, filters={"created_at": {"gt": "2000-01-01", "lte": "2100-01-01T00:00:00Z"}})) == 5
    assert results(function, filters={"created_at": {"gt": "2100-01-01"}}) == []
    assert len(results(function, filters={"created_at": {"gt": 0}})) == 5
    assert results(function, filters={"created_at": ["2100-01-01", 7]}) == []


def test_language_and_version_filter_by_their_fields(function: Function) -> None:
    same = results(function, filters={"language": "xx"})
    assert same == results(function, language="xx") == results(function, version="99") == []


def test_score_threshold_drops_results_below_it(function: Function) -> None:
    """Other passages above the threshold take the places of those below it."""
    usual = results(function)
    least = usual[2]["relevance_score"]
    found = results(function, score_threshold=least)
    assert all(result["relevance_score"] >= least for result in found)
    assert set(ids(usual[:3])) <= set(ids(found))
    assert not set(ids(usual[3:])) & set(ids(found))


def test_offset_pages_through_one_list(function: Function) -> None:
    whole = ids(results(function, k=30, offset=0, order="relevance"))
    assert len(set(whole)) == 30
    pages = [ids(results(function, k=7, offset=offset, order="relevance")) for offset in range(0, 28, 7)]
    assert [one for part in pages for one in part] == whole[:28]
    second = results(function, k=7, offset=7)
    assert set(ids(second)) == set(pages[1])
    assert ids(second) == ids(sorted(second, key=itemgetter("relevance_score"), reverse=True))


def test_max_per_page_limits_the_results_of_a_page(function: Function) -> None:
    assert len({page(result) for result in results(function)}) < 5
    assert len({page(result) for result in results(function, max_per_page=1)}) == 5


def test_by_section_returns_each_section_once(function: Function) -> None:
    sections = [(result["url"], *result["headings"]) for result in results(function, titles=True, k=20)]
    once = [(result["url"], *result["headings"]) for result in results(function, titles=True, k=20, by_section=True)]
    assert len(set(sections)) < len(sections) == len(once) == len(set(once))
    assert set(sections) <= set(once)


def test_diversity_changes_the_results_but_not_the_first(function: Function) -> None:
    assert results(function, diversity=0) == results(function)
    usual, diverse = results(function, order="relevance"), results(function, diversity=0.9, order="relevance")
    assert usual[0] == diverse[0]
    assert ids(usual) != ids(diverse)
    scores = [result["relevance_score"] for result in results(function, diversity=0.9)]
    assert scores == sorted(scores, reverse=True)


def test_neighbors_hold_the_text_of_the_chunks_around(function: Function) -> None:
    found = results(function, neighbors=1)
    assert [result["chunk_text"] for result in found] == [result["chunk_text"] for result in results(function)]
    for result in found:
        assert result["chunk_text"] in result["text_with_neighbors"]
        index = int(result["chunk_id"].rsplit("_")[1])
        around = results(
            function,
            filters={"source_url": {"prefix": page(result)}, "chunk_index": {"gte": index - 1, "lte": index + 1}},
        )
        texts = {one["chunk_id"].rsplit("_")[1]: one["chunk_text"] for one in around if page(one) == page(result)}
        assert len(texts) > 1
        assert all(text in result["text_with_neighbors"] for text in texts.values())


def test_titles_are_those_of_page_and_section(function: Function) -> None:
    usual, titled = results(function), results(function, titles=True)
    assert results(function, titles=False) == usual
    assert [
        {**plain, "title": one["title"], "headings": one["headings"]} for plain, one in zip(usual, titled, strict=True)
    ] == titled
    assert "What Is a Digital Twin" in {one["title"] for one in titled}
    assert all(one["headings"][0] == one["title"] for one in titled)
    assert len({one["headings"][-1] for one in titled}) > 2


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_copies_of_a_page_leave_room_for_all_neighbors(
    copies: int, start: Start, make_collection: MakeCollection
) -> None:
    """A site that was indexed again under new ids has each chunk several times."""
    (vector,) = embed([QUESTION], 768)
    other = [0.0, 1.0, *[0.0] * 766]
    points = [
        models.PointStruct(
            id=index * copies + copy,
            vector=vector if index == 2 else other,
            payload={"text_content": f"Chunk {index}.", "source_url": "https://x.example/a", "chunk_index": index},
        )
        for index in range(5)
        for copy in range(copies)
    ]
    make_collection("copies", points=points)
    function = start(COLLECTION_NAME="copies")
    texts = [result["chunk_text"] for result in results(function, k=4)]
    assert len(set(texts)) == len(texts) == 4
    found = results(function, k=1, neighbors=1)
    assert [result["text_with_neighbors"] for result in found] == ["Chunk 1.\n\nChunk 2.\n\nChunk 3."]


def test_neighbors_cost_one_more_request(start: Start, qdrant: EmulatorServer) -> None:
    function = start()
    results(function)
    usual = len(asked(qdrant, "/points/query"))
    results(function, neighbors=3)
    assert len(asked(qdrant, "/points/query")) == 2 * usual + 1


@pytest.mark.needs_qdrant("1.20")
def test_debug_names_stages_ranks_and_reasons(function: Function) -> None:
    answer = function.post({"text": QUESTION, "k": 3, "max_per_page": 1, "debug": True})
    debug = answer.json["debug"]
    assert debug["profile"] == "query-response"
    assert debug["times_ms"].keys() >= {"embedding", "search", "total"}
    kept = [passage for passage in debug["passages"] if "dropped" not in passage]
    assert [passage["url"] for passage in kept] == [result["url"] for result in answer.results]
    assert [passage["stages"]["selection"]["rank"] for passage in kept] == [1, 2, 3]
    assert debug["mode"] == "hybrid"
    assert debug["balance"] == 0.4
    assert all(one["stages"]["fused"].keys() == {"rank", "score", "vectors", "words"} for one in kept)
    assert debug["found"].keys() == {"dense", "text", "fused", "selection"}
    reasons = {passage.get("dropped") for passage in debug["passages"]}
    assert {"more than 1 of its page", "after the last result"} <= reasons


def test_options_in_a_query_string(function: Function) -> None:
    filters = quote(json.dumps({"chunk_index": {"lt": 2}}))
    chosen = "max_per_page=1&unique=true&by_section=true&diversity=0.2&offset=1"
    query = f"text={quote(QUESTION)}&k=5&{chosen}&filters={filters}"
    body = {
        "max_per_page": 1,
        "unique": True,
        "by_section": True,
        "diversity": 0.2,
        "offset": 1,
        "filters": {"chunk_index": {"lt": 2}},
    }
    assert function.get("/query", query).results == results(function, **body)
    assert function.get("/query", f"text={quote(QUESTION)}&version=1").results == []


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"filters": {"colour": "red"}}, "It declares: source_url"),
        ({"filters": {"created_at": {"prefix": "2026"}}}, "'filters.created_at' is not text"),
        ({"filters": {"chunk_index": {"gt": "2026-01-01"}}}, "its bounds must be numbers"),
        ({"filters": {"language": {"gt": 1}}}, "is text"),
        ({"filters": {"source_url": ["a", 7]}}, "'filters.source_url' is text"),
        ({"filters": {"chunk_index": "x"}}, "'filters.chunk_index' is a number"),
        ({"filters": {"created_at": "x"}}, "'filters.created_at' is a time"),
        ({"filters": {"language": "en"}, "language": "en"}, "mean the same"),
        ({"language": 5}, "'language' must be text, not a number"),
        ({"score_threshold": 1.5}, "'score_threshold' must be 1 or less"),
        ({"offset": -1}, "'offset' must be 0 or more"),
        ({"offset": 200}, "'offset' must be 199 or less"),
        ({"max_per_page": 0}, "'max_per_page' must be 1 or more"),
        ({"diversity": 1.1}, "'diversity' must be 1 or less"),
        ({"diversity": "high"}, "'diversity' must be a number, not text"),
        ({"unique": 1}, "'unique' must be true or false, not a number"),
        ({"titles": "yes"}, "'titles' must be true or false, not text"),
        ({"neighbors": 4}, "'neighbors' must be 3 or less"),
        ({"order": "date"}, "'order' must be 'relevance' or 'score'"),
        ({"debug": True}, "DEBUG_ANSWERS"),
    ],
)
def test_wrong_option_is_400_and_says_what_is_allowed(fields: dict[str, Any], says: str, start: Start) -> None:
    answer = start().post({"text": QUESTION, **fields})
    assert says in assert_error(answer, 400, "INVALID_INPUT")


def test_unknown_parameter_of_a_url_is_named_in_a_warning(function: Function) -> None:
    answer = function.get("/query", urlencode({"text": QUESTION, "k": 1, "limit": 3, "<b>": 1}))
    assert answer.json["warnings"] == ["ignored: limit, 1 more"]


def test_null_option_counts_as_absent(start: Start) -> None:
    fields = dict.fromkeys(("filters", "language", "offset", "diversity", "neighbors", "order", "debug"))
    function = start()
    assert results(function, **fields) == results(function)


SHAPE = {"COLLECTION_NAME": "rag_embeddings", "EMBEDDING_DIMENSION": "768", "EMBEDDING_MODEL": "embed-v5.0-fast"}
"""The shape of the collection that the emulator holds, for any profile."""


def test_diversity_returns_no_vectors_unless_asked(start: Start) -> None:
    function = start(**SHAPE, DEFAULT_PROFILE="vector-search")
    usual = function.post({"query_text": QUESTION, "diversity": 0.5}).results
    assert [result["vector"] for result in usual] == [None] * 10
    assert (
        len(function.post({"query_text": QUESTION, "diversity": 0.5, "with_vectors": True}).results[0]["vector"]) == 768
    )


@pytest.mark.parametrize(
    ("profile", "text", "holder"),
    [
        ("chunks", "content", "results"),
        ("context", "text", "chunks"),
        ("ranked", "chunk_text", "results"),
        ("vector-search", "", "results"),
    ],
)
def test_every_contract_takes_the_options(profile: str, text: str, holder: str, start: Start) -> None:
    function = start(**SHAPE, DEFAULT_PROFILE=profile)
    fields = {"query": QUESTION, "max_per_page": 1, "neighbors": 1, "unique": True, "offset": 0, "score_threshold": 0.1}
    answer = function.post(fields)
    assert answer.status == 200, answer.text
    found = answer.json[holder]
    assert len(found) >= 5
    held = [result[text] if text else result["payload"]["text_content"] for result in found]
    assert all(own in result["text_with_neighbors"] for own, result in zip(held, found, strict=True))
    if profile == "context":
        assert all(result["text_with_neighbors"] in answer.json["context"]["formatted_text"] for result in found)


@contextmanager
def server(folder: Path, **kind: Any) -> Iterator[tuple[EmulatorServer, QdrantClient]]:
    """A server of another kind, with three chunks of one page."""
    with qdrant_emulator(folder, **kind) as running:
        admin = QdrantClient(url=running.url, check_compatibility=False)
        admin.create_collection("own", models.VectorParams(size=768, distance=models.Distance.COSINE))
        for index in range(3):
            url = "https://x.example/a" + (f"#s{index}" if index else "")
            payload = {"text_content": f"Part {index}.", "source_url": url, "chunk_index": index}
            vector = [1.0, float(index), *[0.0] * 766]
            admin.upsert("own", [models.PointStruct(id=index, vector=vector, payload=payload)])
        yield running, admin
        admin.close()


def test_prefix_on_an_old_server_names_the_version(tmp_path: Path, start: Start) -> None:
    with server(tmp_path, version="1.18.0") as (running, _):
        function = start(QDRANT_URL=running.url, COLLECTION_NAME="own")
        running.requests.clear()
        filters = {"source_url": {"prefix": "https://x.example/"}}
        answer = function.post({"text": QUESTION, "filters": filters})
        assert "Qdrant 1.19" in assert_error(answer, 400, "INVALID_INPUT")
        assert not asked(running, "/query"), "the version is known before the search"
        # Neighbors are then found by the page's own URL alone.
        answer = function.post({"text": QUESTION, "neighbors": 1, "filters": {"chunk_index": 0}})
        assert answer.results[0]["text_with_neighbors"] == "Part 0."
        assert "Qdrant 1.19" in answer.json["warnings"][0]


def test_strict_server_names_the_index_that_is_missing(tmp_path: Path, start: Start) -> None:
    with server(tmp_path, strict=True) as (running, admin):
        function = start(QDRANT_URL=running.url, COLLECTION_NAME="own")

        def refused(**fields: Any) -> str:
            return assert_error(function.post({"text": QUESTION, **fields}), 400, "INVALID_INPUT")

        assert "for chunk_index of the type float" in refused(filters={"chunk_index": {"gt": 0}})
        assert "for source_url of the type keyword" in refused(filters={"source_url": {"prefix": "https://"}})
        assert "for chunk_index of the type float" in refused(neighbors=1)
        admin.create_payload_index("own", "chunk_index", models.PayloadSchemaType.INTEGER)
        admin.create_payload_index("own", "source_url", models.PayloadSchemaType.KEYWORD)
        assert "for source_url of the type keyword, with prefix" in refused(neighbors=1)
        with_prefix = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, prefix=True)
        admin.create_payload_index("own", "source_url", with_prefix)
        found = results(function, neighbors=2, filters={"chunk_index": {"gt": 0}})
        assert {result["text_with_neighbors"] for result in found} == {"Part 0.\n\nPart 1.\n\nPart 2."}


def test_neighbors_without_positions_are_a_warning(tmp_path: Path, start: Start) -> None:
    with server(tmp_path) as (running, admin):
        payloads = [{"text_content": f"Part {one}.", "source_url": "https://x.example/a"} for one in range(3)]
        points = [models.PointStruct(id=one, vector=[1.0] * 768, payload=payloads[one]) for one in range(3)]
        admin.upsert("own", points)
        answer = start(QDRANT_URL=running.url, COLLECTION_NAME="own").post({"text": QUESTION, "neighbors": 1})
        assert len(answer.results) == 3
        assert "have no position" in answer.json["warnings"][0]


def test_neighbors_beyond_a_servers_limit_name_it(tmp_path: Path, start: Start) -> None:
    with server(tmp_path) as (running, admin):
        function = start(QDRANT_URL=running.url, COLLECTION_NAME="own", SEARCH_MODE="dense")
        admin.update_collection("own", strict_mode_config={"enabled": True, "max_query_limit": 8})
        message = assert_error(function.post({"text": QUESTION, "k": 3, "neighbors": 1}), 400, "INVALID_INPUT")
        assert "allows searches for 8 points, and this one needs 9" in message
        assert "ask for fewer passages or a smaller 'neighbors', or raise the collection's max_query_limit" in message
        found = results(function, k=1, neighbors=2)  # without room for copies
        assert found[0]["text_with_neighbors"].startswith("Part 0.\n\nPart 1.")


def test_fit_tells_an_answer_from_none(function: Function) -> None:
    """The rare word alone is enough: `ECLASS` stands in one passage, whose cosine is that of noise."""
    first = {
        question: results(function, text=question, fit=True)[0]["fit"]
        for question in ("What is a digital twin?", "ECLASS", "asdfghjkl qwertz", "Who painted the Mona Lisa?")
    }
    assert first == {
        "What is a digital twin?": "strong",
        "ECLASS": "good",
        "asdfghjkl qwertz": "weak",
        "Who painted the Mona Lisa?": "none",
    }
    fits = [result["fit"] for result in results(function, k=20, fit=True)]
    assert fits == sorted(fits, key=["strong", "good", "weak", "none"].index), "none is worse than one below it"
    assert all("fit" not in result for result in results(function))


def test_threshold_noise_is_the_measured_one(function: Function) -> None:
    noise = function.get("/ready").json["collection"]["noise"]
    assert noise["p50"] < noise["p90"]
    assert results(function, k=50, score_threshold="noise") == results(function, k=50, score_threshold=noise["p90"])
    assert results(function, text="Who painted the Mona Lisa?", score_threshold="noise") == []
    for wrong, says in (("nois", "must be a number, not text"), (2, "must be 1 or less")):
        assert says in assert_error(function.post({"text": QUESTION, "score_threshold": wrong}), 400, "INVALID_INPUT")


def test_index_without_noise_answers_without_fit(start: Start, make_collection: MakeCollection) -> None:
    point = models.PointStruct(id=1, vector=[0.5] * 768, payload={"text": "twin", "url": "https://a"})
    make_collection("foreign", points=[point])
    answer = start(COLLECTION_NAME="foreign").post({"text": "twin", "fit": True, "score_threshold": "noise"})
    assert len(answer.results) == 1
    assert "fit" not in answer.results[0]
    assert "[noise] that `passage profile` drafts" in answer.json["warnings"][0]
