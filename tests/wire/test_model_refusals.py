"""Models over HTTP: what the function and the indexer ask for, refuse, and warn of."""

from pathlib import Path

import pytest
from qdrant_client import QdrantClient
from qdrant_client.models import PointStruct

from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.bootstrap import factories
from handler.config import profiles
from handler.config.providers import PROVIDERS
from handler.config.settings import CollectionSettings
from handler.core.errors import ConfigurationError
from indexed import index_edge
from passage.indexing.embedding import document_embedder
from passage.sites.markdown import MarkdownSite, find_site
from sites.reading import written
from textbook import copy_index
from tools.doubles import EmulatorServer
from wire.function import COHERE_KEY, MakeCollection, Output, Start, asked, assert_error, both_gateways


@pytest.fixture(autouse=True)
def _nothing_warned_of() -> None:
    factories._warn_once.cache_clear()


@pytest.fixture
def site(tmp_path: Path) -> MarkdownSite:
    pages = {"index.md": "# Twins\n\nA digital twin mirrors a machine.\n"}
    return find_site(written(tmp_path / "site", pages), "https://example.org")


def test_questions_and_texts_have_models_of_one_space(
    cohere: EmulatorServer, start: Start, site: MarkdownSite, tmp_path: Path
) -> None:
    """The default profile, with nothing set but the key and the addresses."""
    profile = profiles.load("query-response")
    embedder = document_embedder(profile, {"COHERE_API_KEY": COHERE_KEY, "COHERE_BASE_URL": cohere.url})
    index_edge(site, profile, tmp_path / "index", embedder)
    function = start(STORE="qdrant_edge", QDRANT_URL=None, EDGE_INDEX_PATH=str(tmp_path / "index"))
    assert function.ask().results
    assert function.get("/ready").status == 200
    sent = [request.json() for request in asked(cohere, "/v2/embed")]
    assert [body["model"] for body in sent] == ["embed-v5.0-pro", "embed-v5.0-fast"]
    assert [body["output_dimension"] for body in sent] == [768, 768]


@both_gateways
@pytest.mark.parametrize(
    "model", [model.name for model in PROVIDERS["cohere"].models if model.state == "retired" and model.embeds]
)
def test_retired_model_is_500_and_no_service_is_asked(
    model: str, cohere: EmulatorServer, qdrant: EmulatorServer, start: Start
) -> None:
    message = assert_error(start(EMBEDDING_MODEL=model).ask(), 500, "INTERNAL_ERROR")
    for part in (model, "2026-04-04", "EMBEDDING_MODEL", "embed-v5.0-fast"):
        assert part in message
    assert (cohere.requests, qdrant.requests) == ([], [])


def test_retired_model_is_refused_when_the_function_starts(start: Start) -> None:
    with pytest.raises(ConfigurationError, match=r"embed-v5\.0-fast"):
        start(EMBEDDING_MODEL="embed-multilingual-v2.0").container.load()


def test_retired_model_is_refused_by_index(cohere: EmulatorServer) -> None:
    settings = CollectionSettings.from_env({"EMBEDDING_MODEL": "embed-multilingual-v2.0"})
    profile = profiles.load_with_settings("query-response", settings)
    with pytest.raises(ConfigurationError, match=r"embed-v5\.0-fast"):
        document_embedder(profile, {"COHERE_API_KEY": COHERE_KEY, "COHERE_BASE_URL": cohere.url})
    assert cohere.requests == []


def test_index_warns_of_an_unknown_model(cohere: EmulatorServer) -> None:
    settings = CollectionSettings.from_env({"EMBEDDING_MODEL": "my-model"})
    profile = profiles.load_with_settings("query-response", settings)
    warnings: list[str] = []
    document_embedder(profile, {"COHERE_API_KEY": COHERE_KEY, "COHERE_BASE_URL": cohere.url}, warnings.append)
    assert len(warnings) == 1
    assert "my-model" in warnings[0]


def test_unknown_model_is_asked_and_warned_of_once(cohere: EmulatorServer, start: Start, output: Output) -> None:
    function = start(EMBEDDING_MODEL="my-model")
    for _ in range(2):
        assert "my-model" in assert_error(function.ask(), 500, "INTERNAL_ERROR")
    assert len(cohere.requests) == 2
    assert len([line for line in output.logs if line["level"] == "WARNING" and "my-model" in line["message"]]) == 1


@pytest.mark.parametrize("model", ["cohere.embed-english-v3", "embed-english-v3.0"])
def test_same_model_of_another_provider_reads_the_index(
    model: str, cohere: EmulatorServer, site: MarkdownSite, tmp_path: Path
) -> None:
    """A model's vectors are comparable at any provider. Another model's of the same provider are not."""

    profile = profiles.load("context")
    embedder = document_embedder(profile, {"COHERE_API_KEY": COHERE_KEY, "COHERE_BASE_URL": cohere.url})
    root = tmp_path / "index"
    index_edge(site, profile, root, embedder)
    manifest = root / "context" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"emulator"', '"cohere"'))
    asking = profile.model_copy(update={"embedding": profile.embedding.model_copy(update={"model": model})})
    assert QdrantEdgeStore(root=root, profile=asking, embedded_by=("bedrock",)).describe().points_count == 1
    other = profile.embedding.model_copy(update={"model": "cohere.embed-multilingual-v3"})
    asking = profile.model_copy(update={"embedding": other})
    with pytest.raises(ConfigurationError, match="embedded by 'cohere'"):
        QdrantEdgeStore(root=root, profile=asking, embedded_by=("bedrock",)).describe()


OTHER = "embed-english-v3.0"
WARNING = f"embedded with '{OTHER}' and the question with 'embed-v5.0-fast', whose vectors are not comparable"


@pytest.mark.parametrize("mode", ["hybrid", "dense"])
@pytest.mark.parametrize("told", ["metadata", "payload", "manifest"])
def test_index_of_another_model_is_answered_with_a_warning(
    told: str, mode: str, start: Start, make_collection: MakeCollection, textbook_index: Path, tmp_path: Path
) -> None:
    """Seed 003: both models must match. A search by vectors alone does not read the metadata."""
    if told == "manifest":
        root = copy_index(textbook_index, tmp_path / "index")
        edited = root / "query-response" / "manifest.json"
        edited.write_text(edited.read_text().replace("embed-v5.0-pro", OTHER))
        settings = {"STORE": "qdrant_edge", "QDRANT_URL": None, "EDGE_INDEX_PATH": str(root)}
    else:
        stated = {"embedding_model": OTHER}
        payload = {"text_content": "A twin.", "source_url": "https://e.org/", **(stated if told == "payload" else {})}
        points = [PointStruct(id=1, vector=[0.5] * 768, payload=payload)]
        name = make_collection("other", points=points, metadata=stated if told == "metadata" else None)
        settings = {"COLLECTION_NAME": name}
    function = start(SEARCH_MODE=mode, **settings)
    for answer in (function.ask(), function.ask()):
        assert answer.results
        warned = [WARNING in warning for warning in answer.json.get("warnings", [])]
        assert warned == ([] if (told, mode) == ("metadata", "dense") else [True])
    message = assert_error(function.get("/ready"), 500, "INTERNAL_ERROR")
    for part in (OTHER, "embed-v5.0-fast", "EMBEDDING_MODEL"):
        assert part in message


def test_warning_ends_when_the_collection_has_the_model(
    start: Start, make_collection: MakeCollection, qdrant: EmulatorServer
) -> None:
    points = [PointStruct(id=1, vector=[0.5] * 768, payload={"text_content": "A twin.", "source_url": "https://e.org"})]
    function = start(COLLECTION_NAME=make_collection("moved", points=points, metadata={"embedding_model": OTHER}))
    assert WARNING in function.ask().json["warnings"][0]
    client = QdrantClient(url=qdrant.url, check_compatibility=False)
    client.update_collection("moved", metadata={"embedding_model": "embed-v5.0-pro"})
    client.close()
    assert "warnings" not in function.ask().json
