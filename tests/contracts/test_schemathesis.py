"""Tests the running function against its OpenAPI document."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from conftest import EVERY_PROFILE
from contracts.conftest import KEY
from handler.config import profiles
from handler.entrypoints.http.routes import document
from programs import run
from serving import served
from tools.doubles import EmulatorServer

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")


@pytest.fixture(scope="module")
def url(several_indexes: Path, embedding: EmulatorServer) -> Iterator[str]:
    environ = {
        "COHERE_API_KEY": KEY,
        "COHERE_BASE_URL": embedding.url,
        "STORE": "qdrant_edge",
        "EDGE_INDEX_PATH": str(several_indexes),
        "DEBUG_ANSWERS": "true",
        "PROFILES": EVERY_PROFILE,
    }
    embedding.faults.clear()
    with served(environ) as address:
        yield address


def test_every_made_up_request_is_answered_as_described(url: str, tmp_path: Path) -> None:
    command = (sys.executable, "-m", "schemathesis.cli", "--config-file", CONFIGURATION, "--no-color")
    env = {**os.environ, "PYTHONPATH": str(CONFIGURATION.parents[1])}
    printed = run(*command, "run", f"{url}/openapi.json", cwd=tmp_path, env=env).stdout
    operations = sum(len(methods) for methods in document("query-response")["paths"].values())
    assert f"Tested: {operations}" in printed, printed


@pytest.mark.parametrize("profile", profiles.names())
def test_existing_chunks_match_the_description(profile: str, url: str) -> None:
    """Ids that schemathesis generates match no chunk, so it sees only the 404."""
    described = httpx.get(f"{url}/openapi.json").json()
    answer = httpx.get(f"{url}/profiles/{profile}/query", params={"query": "What is a digital twin?"}).json()
    for result in answer.get("results") or answer["chunks"]:
        chunk = result.get("id") or result["chunk_id"]
        for with_vectors in ("false", "true") if profile == "vector-search" else ("false",):
            found = httpx.get(f"{url}/profiles/{profile}/chunks/{chunk}", params={"with_vectors": with_vectors})
            assert found.status_code == 200, (chunk, found.text)
            schema: dict[str, Any] = {"$ref": "#/components/schemas/Chunk", "components": described["components"]}
            Draft202012Validator(schema).validate(found.json())
            assert (found.json()["vector"] is None) == (with_vectors == "false")
