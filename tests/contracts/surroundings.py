"""All five collections, each on a server and in an index, and the containers under test."""

import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import EVERY_PROFILE, ROOT
from contracts.circumstances import DEADLINE_MS, Circumstance, Environment, State
from contracts.rules import Stored
from handler.adapters.qdrant.manifest import SHARD
from handler.config import profiles
from handler.config.profiles import Collection, Profile
from handler.config.providers import EMULATOR
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.target import WantedIndex
from textbook import copy_index
from tools.artefact import Artefact
from tools.doubles import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator
from tools.runtime import Runtime

KEY = "test-key-90d2"
OTHER_DIMENSION = 8
VARIABLES: dict[Environment, dict[str, str]] = {
    "usual": {},
    "impatient": {"REQUEST_TIMEOUT_MS": str(DEADLINE_MS)},
    "without certificates": {"SSL_CERT_FILE": "/nonexistent/certificates.pem"},
}


class Surroundings:
    """The services around the function (the source's, or an artefact's), and its containers, started when first asked.

    One server has every profile's textbook. The collections of another are missing, empty or of another dimension.
    """

    def __init__(
        self,
        running: ExitStack,
        embedding: EmulatorServer,
        indexes: Path,
        folders: pytest.TempPathFactory,
        artefact: Artefact | None,
    ) -> None:
        self._running = running
        self._code = (ROOT / "src",) if artefact is None else artefact.code
        self._python = Path(sys.executable) if artefact is None else artefact.python
        self._folders = folders
        self._embedding = embedding
        self._containers: dict[tuple[str, ...], Runtime] = {}
        self._indexes: dict[State, Path] = {"textbook": indexes}
        self._odd = self._serve(folders.mktemp("odd"))
        self._textbook = self._serve_textbook()

    def ask(self, event: Mapping[str, Any], profile: Profile, store: str, circumstance: Circumstance) -> Any:
        """The function's response to `event`, with that store and under that circumstance."""
        server = self._textbook
        if circumstance.collections != "textbook":
            server = self._odd
            self._shape(profile.collection, circumstance.collections)
        container = self._container(store, server, circumstance)
        if circumstance.environment == "impatient":  # what only a first question takes must not use the time up
            container.invoke({"profile": profile.name, "query": "Is anyone there?"})
        faults = [(self._embedding, circumstance.embedding), (server, circumstance.store)]
        for emulator, fault in faults:
            if fault is not None:
                emulator.faults.add(fault)
        try:
            return container.invoke(event)
        finally:
            for emulator, _ in faults:
                emulator.faults.clear()

    def stored(self) -> Stored:
        """Every point of every profile's collection."""
        names = [profiles.load(name).collection.name for name in profiles.names()]
        return {name: _points(self._textbook.url, name) for name in names}

    def _serve(self, storage: Path) -> EmulatorServer:
        return self._running.enter_context(qdrant_emulator(storage))

    def _serve_textbook(self) -> EmulatorServer:
        storage = self._folders.mktemp("storage")
        for profile in map(profiles.load, profiles.names()):
            name = profile.collection.name
            copy_index(self._indexes["textbook"] / profile.name / SHARD, storage / name)
            # Without it, the server's collection would be fused with the balance of the model that it names.
            said = json.dumps({"metadata": {"embedded_by": EMULATOR}})
            (storage / f"{name}.collection.json").write_text(said, encoding="utf-8")
        return self._serve(storage)

    def _shape(self, collection: Collection, state: State) -> None:
        """Put the collection in that state on the server with faults."""
        url = f"{self._odd.url}/collections/{collection.name}"
        httpx.delete(url).raise_for_status()
        if state != "missing":
            size = OTHER_DIMENSION if state == "other dimension" else collection.dimension
            httpx.put(url, json={"vectors": {"size": size, "distance": collection.distance}}).raise_for_status()

    def _index(self, state: State) -> Path:
        """The folder of every profile's index in that state."""
        if state not in self._indexes:
            root = self._indexes[state] = self._folders.mktemp("indexes")
            for profile in [] if state == "missing" else map(profiles.load, profiles.names()):
                size = OTHER_DIMENSION if state == "other dimension" else profile.collection.dimension
                collection = profile.collection.model_copy(update={"dimension": size})
                shaped = profile.model_copy(update={"collection": collection})
                EdgeIndex(root, shaped).replace(WantedIndex(shaped, "", 0, "emulator"), [])
        return self._indexes[state]

    def _container(self, store: str, server: EmulatorServer, circumstance: Circumstance) -> Runtime:
        environment = {
            "COHERE_API_KEY": KEY,
            "EMBEDDING_CACHE_SIZE": "0",  # a fault of the embedding service must be met, whatever was asked before
            "COHERE_BASE_URL": self._embedding.url,
            "ALLOWED_COLLECTIONS": "textbook_chunks,absent",
            "STORE": store,
            "PROFILES": EVERY_PROFILE,
            **VARIABLES[circumstance.environment],
        }
        if store == "qdrant_edge":
            environment["EDGE_INDEX_PATH"] = str(self._index(circumstance.collections))
        else:
            environment["QDRANT_URL"] = server.url
        key = tuple(environment.values())
        if key not in self._containers:
            log = self._folders.mktemp("runtime") / "log"
            runtime = Runtime(environment=environment, code=self._code, python=self._python, log=log)
            self._containers[key] = self._running.enter_context(runtime)
        return self._containers[key]


def _points(url: str, collection: str) -> dict[str, dict[str, Any]]:
    answer = httpx.post(
        f"{url}/collections/{collection}/points/scroll", json={"limit": 10_000, "with_payload": True}
    ).raise_for_status()
    return {str(point["id"]): point["payload"] for point in answer.json()["result"]["points"]}
