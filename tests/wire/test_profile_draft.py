"""`passage profile --from-qdrant` and copies of an index: real client, real engine."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from command.passage_command import in_process
from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.adapters.qdrant.payload import read_one
from handler.config import profiles
from handler.config.models import find
from handler.config.profiles import Profile
from handler.core.errors import ConfigurationError
from handler.core.model import Noise, Search
from indexed import Silent
from passage.emulators.cohere.embed import Embedded, run_embed
from passage.emulators.embedding import embed
from passage.indexing import copying
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.draft import draft
from passage.indexing.server.index import ServerIndex
from passage.indexing.target import TargetError
from tools.doubles import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator
from wire.function import COHERE_KEY

PAYLOADS: dict[str, dict[str, Any]] = {
    "flat": {
        "content": "A twin mirrors an asset.",
        "source_url": "https://e.org/twin/",
        "title": "Twins",
        "chunk_index": 3,
        "section_headers": ["Twins", "Use"],
        "created_at": "2026-01-02T03:04:05Z",
    },
    "nested": {
        "page_content": "A twin mirrors an asset.",
        "metadata": {"source": "https://e.org/twin/", "title": "Twins"},
    },
    "LlamaIndex": {
        "url": "https://e.org/twin/",
        "_node_content": json.dumps({"id_": "1", "text": "A twin mirrors an asset.", "hash": "a" * 64, "metadata": {}}),
        "_node_type": "TextNode",
    },
    "unknown keys": {
        "body": "A twin mirrors an asset",
        "permalink": "https://e.org/twin/",
        "kind": "page",
    },
}
EXPECTED = {
    "flat": {
        "text": ["content"],
        "url": ["source_url"],
        "title": ["title"],
        "headings": ["section_headers"],
        "index": ["chunk_index"],
        "created_at": ["created_at"],
    },
    "nested": {"text": ["page_content"], "url": ["metadata.source"], "title": ["metadata.title"]},
    "LlamaIndex": {"text": ["_node_content.text"], "url": ["url"]},
    "unknown keys": {"text": ["body"], "url": ["permalink"]},
}


TEXT, URL, NAME = "A twin mirrors an asset in software.", "https://e.org/twin/", "Twins"
NODE = json.dumps({"id_": "1", "text": TEXT, "metadata": {"url": URL, "title": NAME}, "hash": "a" * 64})
LAYOUTS: dict[str, dict[str, Any]] = {
    "seed 000": {"text_content": TEXT, "source_url": URL, "page_title": NAME, "metadata": {"content_type": "text"}},
    "seed 000, flat": {"text_content": TEXT, "source_url": URL, "page_title": NAME, "content_type": "text"},
    "seed 001": {"content": TEXT, "url": URL, "title": NAME, "content_preview": TEXT[:9], "chunk_index": 0},
    "seed 002": {"text": TEXT, "source_url": URL, "title": NAME, "chapter": "C", "section": "S", "chunk_id": "6f96"},
    "seed 003": {"chunk_text": TEXT, "source_url": URL, "page_title": NAME, "section_headers": ["A"], "chunk_id": "b"},
    "seed 004": {"content": TEXT, "url": URL, "": NAME, "position": 4, "created_at": 1765000000.5},
    "LangChain": {"page_content": TEXT, "metadata.source": URL, "metadata.title": NAME},
    "LlamaIndex": {"_node_content.text": NODE, "url": URL, "title": NAME, "_node_type": "TextNode", "doc_id": "x"},
    "Haystack": {"content": TEXT, "meta.url": URL, "meta.title": NAME, "id": "a" * 64},
    "fastembed": {"document": TEXT, "source": URL, "name": NAME},
    "mcp-server-qdrant": {"document": TEXT, "metadata.url": URL, "metadata.title": NAME},
    "document_metadata": {"original_text": TEXT, "document_metadata.url": URL, "document_metadata.title": NAME},
    "Firecrawl": {"markdown": TEXT, "metadata.sourceURL": URL, "metadata.title": NAME},
    "page object": {"text": TEXT, "page.url": URL, "page.title": NAME},
    "Open WebUI": {"text": TEXT, "metadata.source": URL, "metadata.name": NAME},
    "Bedrock": {"AMAZON_BEDROCK_TEXT_CHUNK": TEXT, "x-amz-bedrock-kb-source-uri": URL, "": NAME},
    "DocSearch": {"content": TEXT, "url": URL, "": NAME, "hierarchy": {"lvl0": "Docs", "lvl1": NAME}},
}
"""Payloads that libraries and live systems write: the first three keys hold text, URL and title; "" is no title that a
draft reads. A dot stands for a nested object."""


def nested(layout: dict[str, Any]) -> dict[str, Any]:
    payload: dict[str, Any] = {}
    for key, value in layout.items():
        outer, _, inner = key.partition(".")
        if key and inner and not outer.startswith("_"):
            payload.setdefault(outer, {})[inner] = value
        elif key:
            payload[outer] = value
    return payload


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmulatorServer]:
    with qdrant_emulator(tmp_path / "storage") as running:
        yield running


@pytest.fixture
def client(connection: ServerConnection) -> QdrantClient:
    return connection.client


def make(client: QdrantClient, payload: dict[str, Any], *, vector: str = "", **options: Any) -> None:
    params = models.VectorParams(size=256, distance=models.Distance.COSINE)
    client.create_collection("docs", {vector: params} if vector else params, **options)
    (numbers,) = embed(["A twin mirrors an asset."], 256)
    point = {vector: numbers} if vector else numbers
    client.upsert(
        "docs", [models.PointStruct(id="5e2f7b1c-0000-4000-8000-000000000001", vector=point, payload=payload)]
    )


def drafted(connection: ServerConnection) -> Profile:
    return Profile.model_validate({**tomllib.loads(draft(connection, "docs", "chunks").toml), "name": "docs"})


@pytest.mark.parametrize("kind", PAYLOADS)
def test_draft_names_the_keys_that_points_have(kind: str, connection: ServerConnection, client: QdrantClient) -> None:
    make(client, PAYLOADS[kind])
    found = drafted(connection).payload.model_dump(exclude_defaults=True)
    assert {meaning: list(keys) for meaning, keys in found.items()} == EXPECTED[kind]


@pytest.mark.parametrize("kind", LAYOUTS)
def test_layout_is_read(kind: str, connection: ServerConnection, client: QdrantClient) -> None:
    make(client, nested(LAYOUTS[kind]))
    found = drafted(connection).payload
    assert [keys[0] if keys else "" for keys in (found.text, found.url, found.title)] == list(LAYOUTS[kind])[:3]


def test_draft_has_vector_model_and_filters(connection: ServerConnection, client: QdrantClient) -> None:
    make(client, PAYLOADS["flat"], vector="dense", metadata={"embedding_model": "embed-v4.0"})
    client.create_payload_index("docs", "source_url", models.PayloadSchemaType.KEYWORD)
    profile = drafted(connection)
    assert (profile.collection.vector, profile.collection.dimension) == ("dense", 256)
    assert (profile.embedding.model, profile.collection.distance) == ("embed-v4.0", "Cosine")
    assert profile.filters == {"source_url": ("source_url",)}


def test_draft_filters_once_by_keys_with_the_same_end(connection: ServerConnection, client: QdrantClient) -> None:
    make(client, {**PAYLOADS["flat"], "lang": "en", "metadata": {"lang": "en"}})
    for key in ("lang", "metadata.lang"):
        client.create_payload_index("docs", key, models.PayloadSchemaType.KEYWORD)
    (found,) = drafted(connection).filters.items()
    assert (found[0], sorted(found[1])) == ("lang", ["lang", "metadata.lang"])


@pytest.mark.parametrize("key", ['text "quoted"', "text\\", "text\t", "正文", "text \U0001f916", "text\x7f"])
def test_draft_holds_any_key(key: str, connection: ServerConnection, client: QdrantClient) -> None:
    make(client, {key: "A twin mirrors an asset", "source_url": "https://e.org/twin/"})
    assert drafted(connection).payload.text == (key,)


def test_draft_remarks_on_an_unnamed_model(connection: ServerConnection, client: QdrantClient) -> None:
    make(client, PAYLOADS["flat"])
    found = draft(connection, "docs", "chunks")
    assert any("embed-v5.0-pro" in remark and "256" in remark for remark in found.remarks)


def test_draft_remarks_on_what_it_may_read_wrongly(connection: ServerConnection, client: QdrantClient) -> None:
    payload = {"text": "A twin mirrors an asset.", "file_path": "docs/twin.md", "page": {"title": "Twins"}}
    make(client, payload, sparse_vectors_config={"words": models.SparseVectorParams()})
    found = draft(connection, "docs", "chunks")
    for words in (
        "the sparse vectors words are not used",
        "'file_path' holds no links",
        "'page.title' is read as the title",
    ):
        assert any(words in remark for remark in found.remarks), words
    client.delete_collection("docs")
    make(client, {"text": '[{"type": "paragraph"}]', "url": "https://e.org/twin/"})
    assert any("the text in 'text' is JSON" in remark for remark in draft(connection, "docs", "chunks").remarks)


def test_llama_index_text_is_read_out_of_its_json(connection: ServerConnection, client: QdrantClient) -> None:
    make(client, PAYLOADS["LlamaIndex"])
    profile = drafted(connection)
    (record,) = client.scroll("docs")[0]
    found = read_one(record, profile.payload, None)
    assert found is not None
    assert (found.text, found.url) == ("A twin mirrors an asset.", "https://e.org/twin/")


@pytest.fixture
def command(
    server: EmulatorServer, cohere: EmulatorServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """The command, with the variables of both services."""
    for name, value in {"QDRANT_URL": server.url, "COHERE_API_KEY": COHERE_KEY, "COHERE_BASE_URL": cohere.url}.items():
        monkeypatch.setenv(name, value)
    return ["profile", "--from-qdrant", "docs", "--cache", str(tmp_path / "cache")]


def test_draft_has_noise_with_the_providers_key(
    command: list[str], cohere: EmulatorServer, client: QdrantClient
) -> None:
    make(client, PAYLOADS["flat"], metadata={"embedding_model": "embed-v4.0"})
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COHERE_API_KEY")
        without = in_process(*command)
        refused = in_process(*command, "--identify-model", code=1)
    assert "[noise]" not in without.stdout
    assert "COHERE_API_KEY is needed" in without.stderr
    assert "COHERE_API_KEY is needed" in refused.stderr
    done, again = (in_process(*command) for _ in range(2))
    assert len(cohere.requests) == 1, "96 questions are one call, and are cached"
    assert again.stdout == done.stdout
    assert "Embed 96 questions with embed-v4.0" in done.stderr
    noise = Profile.model_validate({**tomllib.loads(done.stdout), "name": "docs"}).noise
    assert noise is not None
    assert -0.5 < noise.p50 < noise.p90 < 0.5


@pytest.mark.parametrize(
    ("made_with", "says"),
    [
        ("embed-multilingual-v3.0", "The vectors are those of embed-multilingual-v3.0."),
        ("embed-english-v2.0", "None of these models clearly made the vectors."),
    ],
)
def test_model_is_identified_by_a_stored_text(
    made_with: str,
    says: str,
    command: list[str],
    cohere: EmulatorServer,
    client: QdrantClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The emulator's models have one vector space; here each has its own, as the provider's have."""

    def vector_of(model: str, numbers: Any) -> Any:
        return np.roll(numbers, sum(map(ord, find(model).space)) if find(model) else 1)

    def in_own_space(asked: Any) -> Embedded:
        plain = run_embed(asked)
        return Embedded(np.array([vector_of(asked.model.name, each) for each in plain.vectors]), plain.tokens)

    monkeypatch.setattr("passage.emulators.cohere.emulator.run_embed", in_own_space)
    params = models.VectorParams(size=1024, distance=models.Distance.COSINE)
    client.create_collection("docs", params, metadata={"embedding_model": "embed-english-v3.0"})
    (numbers,) = embed(["A twin mirrors an asset."], 1024)
    stored = vector_of(made_with, np.array(numbers)).tolist()
    client.upsert("docs", [models.PointStruct(id=1, vector=stored, payload=PAYLOADS["flat"])])
    done = in_process(*command, "--identify-model")
    assert says in done.stderr
    assert done.stderr.index("Embed 1 text with embed-v4.0: about") < done.stderr.index("embed-v4.0: its vector")
    assert len(cohere.requests) == 5 + 1, "five models of 1,024 numbers, and the noise"
    named = made_with if "clearly" not in says else "embed-english-v3.0"
    assert tomllib.loads(done.stdout)["embedding"]["model"] == named
    assert (f"but its vectors are those of {made_with}" in done.stdout) == ("clearly" not in says)


def test_draft_from_points_without_text_is_refused(connection: ServerConnection, client: QdrantClient) -> None:
    make(client, {"number": 1})
    with pytest.raises(TargetError, match="no payload key holds a text: keys are number"):
        draft(connection, "docs", "chunks")


def test_missing_collection_is_named_with_those_there_are(connection: ServerConnection, client: QdrantClient) -> None:
    make(client, PAYLOADS["flat"])
    with pytest.raises(TargetError, match=r"no collection 'other'\. There are: docs"):
        draft(connection, "other", "chunks")


def test_collection_becomes_an_edge_index_and_back(
    connection: ServerConnection, client: QdrantClient, tmp_path: Path
) -> None:
    noise = {"p50": 0.1, "p90": 0.2, "model": "embed-v4.0"}
    make(client, PAYLOADS["flat"], vector="dense", metadata={"embedding_model": "embed-v4.0", "noise": noise})
    profile = drafted(connection)
    source = copying.server_source(connection, "docs", profile)
    assert copying.copy(source, profile, EdgeIndex(tmp_path, profile), Silent())
    assert not copying.copy(source, profile, EdgeIndex(tmp_path, profile), Silent()), "it is there already"
    (question,) = embed(["twin"], 256)
    store = QdrantEdgeStore(root=tmp_path, profile=profile)
    (found,) = store.search([(tuple(question), Search(top_k=3))])
    (passage,) = found.passages
    assert store.noise() == Noise(0.1, 0.2)
    store.close()
    assert (passage.text, passage.url, passage.index) == ("A twin mirrors an asset.", "https://e.org/twin/", 3)
    back = profile.with_collection("copied")
    with copying.edge_source(tmp_path, profile) as index:
        assert copying.copy(index, back, ServerIndex(connection, back), Silent())
    (record,) = client.scroll("copied", with_vectors=True)[0]
    (original,) = client.scroll("docs", with_vectors=True)[0]
    assert (record.id, record.payload) == (original.id, original.payload)
    assert (client.get_collection("copied").config.metadata or {})["noise"] == noise


@pytest.mark.parametrize("to_server", [False, True])
def test_copy_names_a_point_without_the_vector(
    to_server: bool, connection: ServerConnection, client: QdrantClient, tmp_path: Path
) -> None:
    make(client, PAYLOADS["flat"], vector="dense")
    client.upsert("docs", [models.PointStruct(id=7, vector={}, payload=PAYLOADS["flat"])])
    profile = drafted(connection)
    source = copying.server_source(connection, "docs", profile)
    other = profile.with_collection("copied")
    target = ServerIndex(connection, other) if to_server else EdgeIndex(tmp_path, other)
    with pytest.raises(TargetError, match=r"point 7 of .*'docs'.* has no vector 'dense'"):
        copying.copy(source, other, target, Silent())


OTHER_MODEL, DIMENSION_256 = {"embedding": {"model": "embed-v5.0-fast"}}, {"collection": {"dimension": 256}}


@pytest.mark.parametrize(
    ("payload", "own", "changes", "error", "says"),
    [
        (PAYLOADS["flat"], True, OTHER_MODEL, TargetError, "EMBEDDING_MODEL"),
        (PAYLOADS["flat"], False, {}, ConfigurationError, "256"),
        ({"inhalt": TEXT, "adresse": URL}, False, DIMENSION_256, TargetError, "passage profile --from-qdrant"),
    ],
    ids=["another model", "another dimension", "unreadable payload"],
)
def test_copy_that_does_not_fit_the_profile_is_refused(
    *,
    payload: dict[str, Any],
    own: bool,
    changes: dict[str, dict[str, Any]],
    error: type[Exception],
    says: str,
    connection: ServerConnection,
    client: QdrantClient,
    tmp_path: Path,
) -> None:
    make(client, payload, metadata={"embedding_model": "embed-v4.0"} if own else None)
    profile = drafted(connection) if own else profiles.load("chunks")
    sections = {name: getattr(profile, name).with_changes(**each) for name, each in changes.items()}
    profile = profile.with_changes(**sections)
    source = copying.server_source(connection, "docs", profile)
    with pytest.raises(error, match=says):
        copying.copy(source, profile, EdgeIndex(tmp_path, profile), Silent())
