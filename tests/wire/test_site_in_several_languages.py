"""Words are found on both stores: numbers, names and words without spaces, and each language's words by their stems."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient

from handler.adapters.qdrant.text_search import definition
from handler.config import profiles
from handler.config.payload_keys import RANKED_KEY, TITLES_KEY
from indexed import Silent, embedder_at, index_to
from passage.indexing import copying, text_index
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.plan import Plan
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.index import ServerIndex
from passage.indexing.target import Target
from passage.sites.model import Page, Section
from tools.doubles import EmulatorServer
from tools.qdrant import routes
from wire.function import COHERE_KEY, Function, Start

pytestmark = pytest.mark.needs_qdrant("1.20")

PROFILE = profiles.load("vector-search")
ALIAS = PROFILE.collection.name
DE, EN = "ranked_text_de", "ranked_text_en"
PAGES = {
    "de": {"haus": "Das Haus am See hat eine rote Tür.", "boot": "Das Boot liegt am Ufer."},
    "en": {"house": "The house by the lake has a red door.", "walk": "She walked along the shore."},
    "zh": {"home": "湖边的房子有一扇红门。"},
    "": {"note": "Haus walked"},
}
NAMED = {
    "old": "Release 1.16 is old.",
    "new": "Release 1.160 is new.",
    "out": "Release 1.16.0 is out on port 8080.",
    "types": "Returns Basket<Apple> or Pear|Plum, for int\u00a0seconds.",
    "height": "Call set_lantern_height(3).",
    "width": "Call set_lantern_width(3).",
    "ja": "ランプの設定ファイルを編集してください。",
    "ko": "프로그램을 설치하는 방법을 설명합니다.",
}
ASKED = {
    "1.16": ["old"],
    "1.160": ["new"],
    "1.16.0": ["out"],
    "8080": ["out"],
    "Plum": ["types"],
    "seconds": ["types"],
    "set_lantern_width": ["width", "height"],
    "設定": ["ja"],
    "ﾗﾝﾌﾟ": ["ja"],
    "프로그램": ["ko"],
    "설치": ["ko"],
}
GERMAN, ENGLISH = {"de": PAGES["de"]}, {"en": PAGES["en"]}
SEVERAL = {RANKED_KEY: "", DE: "german", EN: "english"}

Index = Callable[[Mapping[str, Mapping[str, str]]], Plan]


@dataclass(frozen=True)
class Pages:
    """A site whose pages state their languages: texts by name, by language."""

    texts: Mapping[str, Mapping[str, str]]
    nothing_found: str = "no pages"

    def read(self) -> Iterator[Page]:
        for language, pages in self.texts.items():
            for name, text in pages.items():
                yield Page(name, f"https://e.org/{name}/", name.title(), (Section((), text),), language)


@dataclass
class Store:
    """One of the two stores: where a site is indexed, and a function that answers from it.

    Attributes:
        indexes: reads the stemmer's language of each text index, by payload key.
    """

    target: Callable[[], Target]
    environ: dict[str, str | None]
    start: Start
    indexes: Callable[[], dict[str, str]]
    cohere: EmulatorServer
    cache: Path
    function: Function | None = None

    def index(self, texts: Mapping[str, Mapping[str, str]]) -> Plan:
        embedder = embedder_at(self.cohere.url, PROFILE, COHERE_KEY)
        self.function = None
        return index_to(self.target(), Pages(texts), PROFILE, embedder, cache=self.cache)

    def ask(self, text: str, **options: Any) -> Any:
        self.function = self.function or self.start(
            **self.environ, DEFAULT_PROFILE="vector-search", DEBUG_ANSWERS="true"
        )
        answer = self.function.post({"query_text": text, "top_k": 10, "debug": True, **options})
        assert answer.status == 200, answer.text
        assert RANKED_KEY not in answer.text
        return answer.json

    def ranked_by_words(self, text: str, **options: Any) -> list[str]:
        """The pages that the search by words finds, best first."""
        passages = self.ask(text, **options)["debug"]["passages"]
        found = {one["stages"]["text"]["rank"]: one["url"] for one in passages if "text" in one["stages"]}
        return [found[rank].split("/")[-2] for rank in sorted(found)]

    def by_words(self, text: str, **options: Any) -> set[str]:
        return set(self.ranked_by_words(text, **options))

    def mcp(self, method: str, **params: str) -> Any:
        assert self.function is not None
        sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.function.post(sent, "/mcp").json["result"]


def stemmers(indexes: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The language of each index's stemmer, which is also that of its stop words."""
    indexes = {key: index for key, index in indexes.items() if key != TITLES_KEY}
    found = {key: (index.get("stemmer") or {}).get("language", "") for key, index in indexes.items()}
    stop_words = {key: (index.get("stopwords") or {}).get("languages", []) for key, index in indexes.items()}
    assert stop_words == {key: [language] if language else [] for key, language in found.items()}
    assert all(index["scoring"] for index in indexes.values())
    return found


def of_edge(root: Path) -> dict[str, str]:
    manifest = json.loads((root / PROFILE.name / "manifest.json").read_text(encoding="utf-8"))
    return stemmers(manifest["stored_as"]["text_index"])


def of_server(client: QdrantClient, collection: str = ALIAS) -> dict[str, str]:
    schema = client.get_collection(collection).payload_schema
    params = {key: index.params for key, index in schema.items() if index.data_type == "text"}
    return stemmers({key: one.model_dump(mode="json", exclude_none=True) for key, one in params.items() if one})


@pytest.fixture
def in_server(
    connection: ServerConnection,
    server: EmulatorServer,
    client: QdrantClient,
    cohere: EmulatorServer,
    start: Start,
    tmp_path: Path,
) -> Store:
    environ: dict[str, str | None] = {"QDRANT_URL": server.url}
    return Store(
        target=lambda: ServerIndex(connection, PROFILE),
        environ=environ,
        start=start,
        indexes=lambda: of_server(client),
        cohere=cohere,
        cache=tmp_path / "cache",
    )


@pytest.fixture
def in_edge(cohere: EmulatorServer, start: Start, tmp_path: Path) -> Store:
    root = tmp_path / "edge"
    environ = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(root), "QDRANT_URL": None}
    return Store(
        target=lambda: EdgeIndex(root, PROFILE),
        environ=environ,
        start=start,
        indexes=lambda: of_edge(root),
        cohere=cohere,
        cache=tmp_path / "cache",
    )


@pytest.fixture(params=["in_server", "in_edge"])
def store(request: pytest.FixtureRequest) -> Store:
    chosen: Store = request.getfixturevalue(request.param)
    return chosen


def test_each_language_is_found_by_its_stems(store: Store) -> None:
    store.index(PAGES)
    assert store.indexes() == SEVERAL
    assert store.by_words("Häuser", language="de") == {"haus"}
    assert store.by_words("die Boote", filters={"language": "de"}) == {"boot"}
    assert store.by_words("walking houses", language="en") == {"house", "walk"}
    assert store.by_words("the of", language="en") == set(), "stop words"


def test_question_without_language_finds_written_words(store: Store) -> None:
    store.index(PAGES)
    assert store.by_words("Häuser walks") == set()
    assert store.by_words("Haus walked") == {"haus", "walk", "note"}
    assert store.by_words("房子", language="zh") == {"home"}
    assert store.by_words("Haus walked", filters={"language": ["de", "en"]}) == {"haus", "walk"}


def test_numbers_names_and_words_without_spaces_are_found(store: Store) -> None:
    store.index({"": NAMED})
    for question, pages in ASKED.items():
        assert store.ranked_by_words(question)[: len(pages)] == pages, question


def test_older_text_index_is_written_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(text_index, "definition", lambda language, _: definition(language, "multilingual"))
        store.index(PAGES)
    plan = store.index(PAGES)
    assert (plan.action, plan.texts) == ("replace", 0)
    assert store.index(PAGES).action == "nothing"


def test_answer_has_only_passages_of_its_language(store: Store) -> None:
    store.index(PAGES)
    answer = store.ask("Häuser", language="de")
    assert {result["payload"]["language"] for result in answer["results"]} == {"de"}
    assert len(answer["results"]) == 2
    ready = store.function.get("/ready").json["collection"] if store.function else {}
    assert (ready["search"], ready["notes"]) == ("hybrid", [])


def test_agents_are_told_the_languages_and_the_pages(store: Store) -> None:
    store.index(PAGES)
    store.ask("Haus")
    tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in store.mcp("tools/list")["tools"]}
    assert tools["search_docs"]["language"]["enum"] == ["de", "en", "zh", None]
    assert "version" not in tools["search_docs"]
    (listed,) = store.mcp("resources/list")["resources"]
    (read,) = store.mcp("resources/read", uri=listed["uri"])["contents"]
    pages = sorted(f"https://e.org/{name}/" for names in PAGES.values() for name in names)
    assert read["text"] == "".join(f"- <{page}>\n" for page in pages)


def test_chunk_by_id_hides_its_language_key(store: Store) -> None:
    store.index(PAGES)
    (first, *_) = store.ask("Haus", language="de")["results"]
    assert store.function is not None
    chunk = store.function.get(f"/profiles/vector-search/chunks/{first['id']}")
    assert chunk.status == 200
    assert first["payload"]["content"] in chunk.json["payload"].values()
    assert RANKED_KEY not in chunk.text


def test_second_language_and_back_pays_for_no_text_twice(store: Store) -> None:
    store.index(GERMAN)
    plan = store.index(GERMAN | ENGLISH)
    assert (plan.action, plan.texts) == ("replace", 2)
    assert store.indexes() == SEVERAL
    assert store.by_words("Häuser", language="de") == {"haus"}
    assert store.index(GERMAN | ENGLISH).action == "nothing"
    store.cohere.requests.clear()
    plan = store.index(GERMAN)
    assert (plan.action, plan.texts) == ("replace", 0)
    assert store.cohere.requests == []
    assert store.indexes() == {RANKED_KEY: "german"}
    assert store.by_words("Häuser", language="de") == {"haus"}


def payloads(client: QdrantClient, collection: str = ALIAS) -> dict[str, dict[str, Any]]:
    """Payloads by page."""
    records, _ = client.scroll(collection, limit=100)
    return {str((record.payload or {})["url"]).split("/")[-2]: record.payload or {} for record in records}


def test_chunk_has_the_key_of_its_own_language_only(in_server: Store, client: QdrantClient) -> None:
    in_server.index(PAGES)
    keys = {page: {key for key in held if key.startswith(RANKED_KEY)} for page, held in payloads(client).items()}
    assert keys == {
        "haus": {RANKED_KEY, DE},
        "boot": {RANKED_KEY, DE},
        "house": {RANKED_KEY, EN},
        "walk": {RANKED_KEY, EN},
        "home": {RANKED_KEY},
        "note": {RANKED_KEY},
    }
    assert all(held[key] == held[RANKED_KEY] for page, held in payloads(client).items() for key in keys[page])


def test_edited_page_keeps_its_language_key(in_server: Store, client: QdrantClient) -> None:
    in_server.index(PAGES)
    changed = PAGES | {"de": PAGES["de"] | {"boot": "Die Brücken sind neu."}}
    plan = in_server.index(changed)
    assert (plan.action, plan.texts, plan.points.unchanged) == ("edit", 1, 5)
    assert payloads(client)["boot"][DE] == "Boot\nDie Brücken sind neu."
    assert in_server.by_words("Brücke", language="de") == {"boot"}


def test_page_that_changes_its_language_changes_its_key(in_server: Store, client: QdrantClient) -> None:
    in_server.index(PAGES | {"": {}, "de": PAGES["de"] | PAGES[""]})
    assert DE in payloads(client)["note"]
    plan = in_server.index(PAGES | {"": {}, "en": PAGES["en"] | PAGES[""]})
    assert (plan.action, plan.texts) == ("edit", 0)
    assert payloads(client)["note"].keys() & {DE, EN} == {EN}


def test_old_server_gets_no_index_and_later_all(
    in_server: Store, client: QdrantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(routes, "VERSION", "1.19.2")
        in_server.index(PAGES)
        assert of_server(client) == {}
    plan = in_server.index(PAGES)
    assert (plan.action, plan.texts) == ("replace", 0)
    assert in_server.by_words("Häuser", language="de") == {"haus"}


def test_copies_keep_the_languages_indexes(
    in_server: Store, in_edge: Store, client: QdrantClient, connection: ServerConnection, tmp_path: Path
) -> None:
    in_server.index(PAGES)
    source = copying.server_source(connection, ALIAS, PROFILE)
    assert copying.copy(source, PROFILE, in_edge.target(), Silent())
    assert in_edge.indexes() == SEVERAL
    assert in_edge.by_words("Häuser", language="de") == {"haus"}
    assert not copying.copy(source, PROFILE, in_edge.target(), Silent()), "it is there already"
    back = PROFILE.with_collection("copied")
    with copying.edge_source(tmp_path / "edge", PROFILE) as index:
        assert copying.copy(index, back, ServerIndex(connection, back), Silent())
    assert of_server(client, "copied") == SEVERAL
    assert payloads(client, "copied") == payloads(client)


def test_language_index_dropped_meanwhile_is_done_without(in_server: Store, client: QdrantClient) -> None:
    in_server.index(PAGES)
    assert in_server.by_words("Häuser", language="de") == {"haus"}
    client.delete_payload_index(ALIAS, DE)
    for _ in range(2):
        assert in_server.by_words("Häuser", language="de") == set()
        assert in_server.by_words("Haus", language="de") == {"haus"}
        assert in_server.by_words("walks", language="en") == {"walk"}


def test_running_container_survives_the_loss_of_a_language(in_server: Store) -> None:
    """Its collection is replaced by one with other indexes."""
    in_server.index(PAGES)
    in_server.ask("Häuser", language="de")
    running = in_server.function
    in_server.index(GERMAN)
    in_server.function = running
    assert in_server.by_words("Häuser", language="de") == {"haus"}


def test_batch_of_languages_is_one_request(in_server: Store, server: EmulatorServer) -> None:
    in_server.index(PAGES)
    in_server.ask("warm")
    server.requests.clear()
    assert in_server.function is not None
    in_server.function.invoke([{"query_text": "Häuser", "language": code} for code in ("de", "en", "zh")])
    (request,) = server.requests
    fields = [search["using"] for search in request.json()["searches"] if "text" in search["query"]]
    assert fields == [DE, EN, RANKED_KEY]
