"""Indexing a site through the real SDK, the emulated embedding service and the real engine."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.config import profiles
from handler.config.payload_keys import Payload
from handler.config.profiles import Profile
from handler.core.errors import ConfigurationError
from handler.core.model import Search
from indexed import Outcome, embedder_at, index_edge
from passage.emulators.embedding import embed
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.payloads import layout
from passage.indexing.target import NewPoint, WantedIndex
from passage.sites.markdown import find_site
from passage.sites.model import SiteError
from sites.reading import written
from tools.doubles import EmulatorServer, cohere_emulator

URL = "https://example.com"
PROFILE = profiles.load("query-response")


@pytest.fixture
def cohere() -> Iterator[EmulatorServer]:
    with cohere_emulator() as emulator:
        yield emulator


@pytest.fixture
def site(tmp_path: Path) -> Path:
    pages = {
        "assets/twin.md": "# Twins\n\nA digital twin mirrors an asset.\n\n## Use\n\nMaintenance.\n",
        "pid.md": "# PID\n\nThree terms make a controller.\n",
    }
    return written(tmp_path / "site", pages)


def run(site: Path, out: Path, cohere: EmulatorServer, profile: Profile = PROFILE) -> Outcome:
    return index_edge(find_site(site, URL), profile, out, embedder_at(cohere.url, profile))


def files(folder: Path) -> dict[str, bytes]:
    """The contents of all small files. The engine rewrites some with the same content when it opens them."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_size < 1_000_000
    }


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def stored(out: Path, profile: Profile = PROFILE) -> dict[str, dict[str, object]]:
    """Payloads by text, read back through the function's own adapter."""
    store = QdrantEdgeStore(root=out, profile=profile)
    found = store.search([((0.1,) * profile.collection.dimension, Search(top_k=100, whole_payload=True))])[0]
    return {passage.text: {"id": passage.id, **passage.payload} for passage in found.passages}


def test_documents_are_embedded_as_documents_in_profiles_model(
    site: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    outcome = run(site, tmp_path / "index", cohere)
    assert outcome == Outcome(pages=2, chunks=3, embedded=3, removed=0, changed=True)
    (request,) = [request for request in cohere.requests if request.path == "/v2/embed"]
    body = request.json()
    assert body["input_type"] == "search_document"
    assert body["model"] == "embed-v5.0-pro"
    assert "Twins > Use\nMaintenance." in body["texts"]


SECONDS = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"
HASHED = hashlib.sha256(b"https://example.com/assets/twin/Maintenance.").hexdigest()
SEEDS: dict[str, dict[str, Any]] = {
    "query-response": {
        "text_content": "Maintenance.",
        "source_url": "https://example.com/assets/twin/",
        "page_title": "Twins",
        "chunk_index": 1,
        "created_at": int,
        "metadata": {"word_count": 1, "content_type": "text/markdown", "processed_at": re.compile(SECONDS)},
    },
    "vector-search": {
        "content": "Maintenance.",
        "source_url": "https://example.com/assets/twin/",
        "url": "https://example.com/assets/twin/",
        "chunk_id": 2,
        "chunk_index": 1,
        "total_chunks": 2,
        "timestamp": re.compile(SECONDS),
        "embedding_model": "embed-multilingual-v3.0",
    },
    "context": {
        "text": "Maintenance.",
        "source_url": "https://example.com/assets/twin/",
        "title": "Twins",
        "chapter": "assets",
        "section": "Use",
        "chunk_index": 1,
        "chunk_id": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    },
    "ranked": {
        "chunk_id": HASHED,
        "chunk_text": "Maintenance.",
        "source_url": "https://example.com/assets/twin/",
        "page_title": "Twins",
        "section_headers": ["Twins", "Use"],
        "chunk_index": 1,
        "tokens": 10,
        "timestamp": re.compile(SECONDS),
    },
    "chunks": {
        "content": "Maintenance.",
        "url": "https://example.com/assets/twin/",
        "position": 1,
        "created_at": re.compile(SECONDS),
    },
}


def like(value: Any, expected: Any) -> bool:
    """Whether a stored value matches the seed: an exact value, a type, or a pattern."""
    match expected:
        case re.Pattern():
            return isinstance(value, str) and expected.fullmatch(value) is not None
        case type():
            return type(value) is expected
        case dict():
            return (
                isinstance(value, dict)
                and value.keys() == expected.keys()
                and all(like(value[key], expected[key]) for key in expected)
            )
    return type(value) is type(expected) and bool(value == expected)


@pytest.mark.parametrize("name", SEEDS)
def test_points_have_exactly_the_profiles_payload(
    name: str, site: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    profile = profiles.load(name)
    run(site, tmp_path / "index", cohere, profile)
    payload = stored(tmp_path / "index", profile)["Maintenance."]
    assert type(payload.pop("id")) is int
    url = next(payload[key] for key in profile.payload.url if key in payload)
    assert payload.pop("page_url", url) == url.partition("#")[0], "of the page, where the URL is of a section"
    titles = {profile.payload.keys("title")[0]: "Twins", profile.payload.keys("headings")[0]: ["Twins", "Use"]}
    assert like(payload, titles | SEEDS[name]), payload


def test_every_profile_that_ships_is_covered_by_a_seed() -> None:
    assert sorted(SEEDS) == profiles.names()


def test_a_page_outside_any_folder_has_no_chapter(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    profile = profiles.load("context")
    run(site, tmp_path / "index", cohere, profile)
    assert "chapter" not in stored(tmp_path / "index", profile)["Three terms make a controller."]


def test_profile_without_stored_keys_gets_each_first_key(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    profile = profiles.load("chunks").model_copy(update={"written_payload": {}})
    run(site, tmp_path / "index", cohere, profile)
    payload = stored(tmp_path / "index", profile)["Maintenance."]
    assert payload.keys() == {"id", "content", "url", "page_url", "title", "headings", "position", "created_at"}
    assert type(payload["created_at"]) is int


@pytest.mark.parametrize(
    ("read", "written", "keys"),
    [
        ({}, {}, {"page_title": "title", "section_headers": "headings"}),
        ({"title": ("page.name", "name")}, {"page_title": "section"}, {"name": "title", "section_headers": "headings"}),
        ({"headings": ("crumbs",)}, {"page": {"name": "title"}}, {"crumbs": "headings"}),
        ({"variants": False}, {}, {}),
    ],
)
def test_titles_are_stored_under_the_first_free_key_that_is_read(
    read: dict[str, Any], written: dict[str, Any], keys: dict[str, str]
) -> None:
    payload = Payload(text=("body",), url=("url",), **read)
    profile = PROFILE.model_copy(update={"payload": payload, "written_payload": {"body": "text", **written}})
    assert layout(profile) == {"body": "text", **written, **keys}


def test_a_second_run_changes_no_file_and_embeds_nothing(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    before, manifest = files(out), out / PROFILE.name / "manifest.json"
    written = manifest.stat().st_mtime_ns
    cohere.requests.clear()
    assert run(site, out, cohere).changed is False
    assert (files(out), manifest.stat().st_mtime_ns) == (before, written)
    assert cohere.requests == []


def test_other_payload_keys_rewrite_the_index_with_its_vectors(
    site: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    out, renamed = tmp_path / "index", PROFILE.model_copy(update={"written_payload": {"body": "text"}})
    run(site, out, cohere)
    cohere.requests.clear()
    assert run(site, out, cohere, renamed) == Outcome(pages=2, chunks=3, embedded=0, removed=0, changed=True)
    assert cohere.requests == []


def test_only_changed_chunks_are_embedded_again(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    before = stored(out)
    (site / "assets/twin.md").write_text(
        "# Twins\n\nA new beginning.\n\nA digital twin mirrors an asset.\n\n## Use\n\nMaintenance.\n"
    )
    outcome = run(site, out, cohere)
    after = stored(out)
    assert (outcome.embedded, outcome.removed) == (1, 1)
    assert after["Maintenance."] == before["Maintenance."]
    assert "A digital twin mirrors an asset." not in after


@pytest.mark.parametrize("name", ["query-response", "vector-search"])
def test_a_chunk_keeps_the_time_it_was_first_indexed(
    name: str, site: Path, tmp_path: Path, cohere: EmulatorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, out = profiles.load(name), tmp_path / "index"
    key = profile.payload.created_at[0]
    monkeypatch.setattr("time.time", lambda: 1_700_000_000)
    run(site, out, cohere, profile)
    before = stored(out, profile)["Three terms make a controller."][key]
    monkeypatch.setattr("time.time", lambda: 1_800_000_000)
    (site / "new.md").write_text("# New\n\nA page more.\n")
    run(site, out, cohere, profile)
    after = stored(out, profile)
    assert after["Three terms make a controller."][key] == before
    assert after["A page more."][key] != before


def test_a_removed_page_disappears(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    (site / "pid.md").unlink()
    outcome = run(site, out, cohere)
    assert (outcome.embedded, outcome.removed) == (0, 1)
    assert set(stored(out)) == {"A digital twin mirrors an asset.", "Maintenance."}
    assert visible(out) == ["query-response"]


def test_index_of_an_older_format_is_rewritten_with_its_vectors(
    site: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    path = out / "query-response" / "manifest.json"
    manifest = json.loads(path.read_text())
    older = {name: value for name, value in manifest.items() if name != "stored_as"}
    path.write_text(json.dumps(older))
    cohere.requests.clear()
    assert run(site, out, cohere) == Outcome(pages=2, chunks=3, embedded=0, removed=0, changed=True)
    assert cohere.requests == []
    assert json.loads(path.read_text()) | {"files": {}} == manifest | {"files": {}}, "the engine names its files anew"


@pytest.mark.parametrize("distance", ["Cosine", "Dot"])
def test_scores_equal_exact_products_of_given_vectors(distance: Literal["Cosine", "Dot"], tmp_path: Path) -> None:
    """16-bit numbers cannot hold every vector of a dot-product collection."""
    scale = 1.0 if distance == "Cosine" else 1e5
    collection = PROFILE.collection.model_copy(update={"dimension": 256, "distance": distance})
    profile = PROFILE.model_copy(update={"collection": collection})
    vectors = np.array(embed([f"Passage {number} is about robots." for number in range(40)], 256)) * scale
    points = [
        NewPoint(number, vector.tolist(), {"text_content": "text", "source_url": "https://e.org/"})
        for number, vector in enumerate(vectors, 1)
    ]
    EdgeIndex(tmp_path, profile).replace(WantedIndex(profile, "", len(points), "emulator"), points)
    found = QdrantEdgeStore(root=tmp_path, profile=profile).search([(vectors[7].tolist(), Search(top_k=40))])[0]
    exact = vectors @ vectors[7]
    assert len(found.passages) == 40
    for passage in found.passages:
        assert passage.score == pytest.approx(exact[int(passage.id) - 1], rel=1e-4, abs=1e-4)


def test_another_model_embeds_every_text_again(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    collection = PROFILE.collection.model_copy(update={"dimension": 1024})
    embedding = PROFILE.embedding.model_copy(update={"model": "embed-english-v3.0", "document_model": None})
    other = PROFILE.model_copy(update={"collection": collection, "embedding": embedding})
    assert run(site, out, cohere, other) == Outcome(pages=2, chunks=3, embedded=3, removed=0, changed=True)
    manifest = json.loads((out / "query-response" / "manifest.json").read_text())
    assert (manifest["embedding_model"], manifest["dimension"]) == ("embed-english-v3.0", 1024)


def test_model_of_another_dimension_is_refused_index_unchanged(
    site: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    before = files(out)
    other = PROFILE.model_copy(
        update={
            "embedding": PROFILE.embedding.model_copy(update={"model": "embed-english-v3.0", "document_model": None})
        }
    )
    with pytest.raises(ConfigurationError, match=r"1024.*768"):
        run(site, out, cohere, other)
    assert files(out) == before


def test_a_site_without_text_is_an_error_and_not_an_empty_index(tmp_path: Path, cohere: EmulatorServer) -> None:
    site = written(tmp_path / "site", {"a.md": "# Only a heading\n"})
    with pytest.raises(SiteError, match="no Markdown with any text"):
        run(site, tmp_path / "index", cohere)
    assert visible(tmp_path / "index") == []
