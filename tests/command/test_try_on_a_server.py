"""Passage with a Qdrant on this machine and no key: `passage index --to qdrant` and `serve` use the emulator."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from command.passage_command import Passage
from handler.config import profiles
from passage.local.environment import LocalError, function_environment
from serving import served
from sites.reading import written
from tools.doubles import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator


@pytest.fixture
def small_site(tmp_path: Path) -> Path:
    return written(tmp_path / "site", {"robots.md": "# Robots\n\nA robot moves.\n\n## Arms\n\nAn arm grips."})


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmulatorServer]:
    with qdrant_emulator(tmp_path / "storage", strict=True) as running:
        yield running


def test_every_profile_is_indexed_and_answers_without_a_key(
    passage: Passage, small_site: Path, server: EmulatorServer, tmp_path: Path
) -> None:
    arguments = ("index", str(small_site), "--to", "qdrant", "--all-profiles", "--cache", str(tmp_path / "cache"))
    passage(*arguments, "--site-url", "https://example.com", QDRANT_URL=server.url).ok()
    for name in profiles.names():
        collection = profiles.load(name).collection.name
        said = httpx.get(f"{server.url}/collections/{collection}").json()["result"]["config"]["metadata"]
        assert (said["embedded_by"], said["passage"]["profile"]) == ("emulator", name)
    with function_environment({"QDRANT_URL": server.url}, tmp_path) as environ, served(environ) as url:
        assert httpx.get(f"{url}/ready").status_code == 200
        assert httpx.post(f"{url}/query", json={"text": "What is a robot?", "k": 1}).json()["results"]
    real = {"QDRANT_URL": server.url, "COHERE_API_KEY": "real"}
    with pytest.raises(LocalError, match=r"by the emulator, .* by Cohere"), function_environment(real, tmp_path):
        pass


def test_server_elsewhere_needs_a_key_or_emulate(passage: Passage, tmp_path: Path) -> None:
    elsewhere = {"QDRANT_URL": "http://localhost.localdomain:9"}
    with pytest.raises(LocalError, match="--emulate"), function_environment(elsewhere, tmp_path):
        pass
    with function_environment(elsewhere, tmp_path, emulate=True) as environ:
        assert environ["COHERE_BASE_URL"].startswith("http://127.0.0.1")
    done = passage("serve", "--help")
    assert "--emulate" in done.stdout


def test_collection_of_the_emulator_is_refused_to_cohere(server: EmulatorServer) -> None:
    """The function itself refuses it, too: a deployed one has no local checks."""
    profile = profiles.load("query-response")
    body = {
        "vectors": {"size": profile.collection.dimension, "distance": "Cosine"},
        "metadata": {"embedded_by": "emulator", "embedding_model": profile.embedding.model},
    }
    httpx.put(f"{server.url}/collections/{profile.collection.name}", json=body)
    environ = {"QDRANT_URL": server.url, "STORE": "qdrant_server", "COHERE_API_KEY": "k"}
    with served({**environ, "COHERE_BASE_URL": "https://api.cohere.com"}) as url:
        answer = httpx.get(f"{url}/ready")
    assert answer.status_code == 500
    assert "was embedded by 'emulator'" in answer.text
