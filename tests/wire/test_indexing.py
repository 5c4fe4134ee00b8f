"""Indexing a site through the real SDK, the emulated embedding service and the real engine."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from devkit.emulators import EmulatorServer, cohere_emulator
from devkit.indexing.embedding import DocumentEmbedder, EmbeddingError
from devkit.indexing.run import Outcome, index_site
from devkit.indexing.site import SiteError, find_site
from handler import profiles
from handler.adapters.qdrant_edge import QdrantEdgeStore
from handler.core.model import Search
from handler.profiles import Profile

URL = "https://example.com"
PROFILE = profiles.load("query-response")


@pytest.fixture
def cohere() -> Iterator[EmulatorServer]:
    with cohere_emulator() as emulator:
        yield emulator


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "twin.md").write_text("# Twins\n\nA digital twin mirrors an asset.\n\n## Use\n\nMaintenance.\n")
    (folder / "pid.md").write_text("# PID\n\nThree terms make a controller.\n")
    return folder


def run(site: Path, out: Path, cohere: EmulatorServer, profile: Profile = PROFILE) -> Outcome:
    def embedder() -> DocumentEmbedder:
        return DocumentEmbedder(
            api_key="test", base_url=cohere.url, model=profile.embedding.model, dimension=profile.collection.dimension
        )

    return index_site(find_site(site, URL), profile, out, embedder, lambda *_: lambda _: None)


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and path.stat().st_size < 1_000_000
    }


def stored(out: Path) -> dict[str, dict[str, object]]:
    """Payloads by text, read back through the function's own adapter."""
    store = QdrantEdgeStore(root=out, profile=PROFILE)
    found = store.search([0.1] * PROFILE.collection.dimension, Search(top_k=100))
    return {passage.text: {"id": passage.id, **passage.payload} for passage in found.passages}


def test_documents_are_embedded_as_documents_in_the_profile_s_model(
    site: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    """Trap 10, its other half."""
    outcome = run(site, tmp_path / "index", cohere)
    assert outcome == Outcome(pages=2, chunks=3, embedded=3, removed=0, changed=True)
    (request,) = [request for request in cohere.requests if request.path == "/v2/embed"]
    body = request.json()
    assert body["input_type"] == "search_document"
    assert body["model"] == PROFILE.embedding.model
    assert "Twins > Use\nMaintenance." in body["texts"]


def test_points_have_the_seed_s_payload(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    run(site, tmp_path / "index", cohere)
    payload = stored(tmp_path / "index")["Maintenance."]
    assert payload["source_url"] == "https://example.com/twin/"
    assert payload["page_title"] == "Twins"
    assert payload["chunk_index"] == 1
    assert isinstance(payload["created_at"], int)
    assert isinstance(payload["id"], int)


def test_a_second_run_touches_no_file_and_embeds_nothing(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    before = files(out)
    cohere.requests.clear()
    assert run(site, out, cohere).changed is False
    assert files(out) == before
    assert cohere.requests == []


def test_only_what_changed_is_embedded_again_and_the_rest_keeps_its_id_and_time(
    site: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    before = stored(out)
    (site / "twin.md").write_text(
        "# Twins\n\nA new beginning.\n\nA digital twin mirrors an asset.\n\n## Use\n\nMaintenance.\n"
    )
    outcome = run(site, out, cohere)
    after = stored(out)
    assert (outcome.embedded, outcome.removed) == (1, 1)
    assert after["Maintenance."] == before["Maintenance."]
    assert "A digital twin mirrors an asset." not in after


def test_a_removed_page_disappears(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    (site / "pid.md").unlink()
    outcome = run(site, out, cohere)
    assert (outcome.embedded, outcome.removed) == (0, 1)
    assert set(stored(out)) == {"A digital twin mirrors an asset.", "Maintenance."}
    assert [path.name for path in out.iterdir()] == ["query-response"]


def test_another_model_means_every_vector_is_made_anew(site: Path, tmp_path: Path, cohere: EmulatorServer) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    collection = PROFILE.collection.model_copy(update={"dimension": 1024})
    embedding = PROFILE.embedding.model_copy(update={"model": "embed-english-v3.0"})
    other = PROFILE.model_copy(update={"collection": collection, "embedding": embedding})
    assert run(site, out, cohere, other).embedded == 3
    manifest = json.loads((out / "query-response" / "manifest.json").read_text())
    assert (manifest["embedding_model"], manifest["dimension"]) == ("embed-english-v3.0", 1024)


def test_a_model_of_another_dimension_is_refused_and_leaves_the_index_alone(
    site: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    out = tmp_path / "index"
    run(site, out, cohere)
    before = files(out)
    other = PROFILE.model_copy(
        update={"embedding": PROFILE.embedding.model_copy(update={"model": "embed-english-v3.0"})}
    )
    with pytest.raises(EmbeddingError, match=r"1024.*768"):
        run(site, out, cohere, other)
    assert files(out) == before


def test_a_site_without_text_is_an_error_and_not_an_empty_index(tmp_path: Path, cohere: EmulatorServer) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.md").write_text("# Only a heading\n")
    with pytest.raises(SiteError, match="no Markdown with any text"):
        run(tmp_path / "site", tmp_path / "index", cohere)
    assert not (tmp_path / "index").exists()
