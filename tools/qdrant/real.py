"""A real Qdrant server behind the emulator's interface, with its recording and its faults: `make test-qdrant`."""

import atexit
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
from aiohttp import web
from qdrant_client import QdrantClient, models

from passage.emulators.server import HOST, EmulatedService
from tools.doubles.server import EmulatorServer
from tools.qdrant.emulator import qdrant_emulator

STARTS_WITHIN = 30.0
"""Seconds for a server process to answer."""

HOP_BY_HOP = frozenset({"connection", "content-length", "date", "host", "transfer-encoding"})
"""Headers that each side of a proxy writes itself."""

PAGE = 256


class Unavailable(Exception):
    """The server cannot play what a test needs; the message says what that is."""


@dataclass(frozen=True)
class Kind:
    """What a server process is started with."""

    api_key: str | None = None
    strict: bool = False


@dataclass
class Server:
    """A running server, used by one emulated service at a time.

    Attributes:
        storage: the folder of the service whose collections it holds; None if it is empty.
    """

    url: str
    kind: Kind
    http: httpx.Client
    storage: Path | None = None
    busy: bool = False

    @cached_property
    def version(self) -> tuple[int, int]:
        """The major and minor version."""
        major, minor = str(self.http.get("/").json()["version"]).split(".")[:2]
        return int(major), int(minor)

    def empty(self) -> None:
        """Delete all aliases and collections."""
        for one in self.http.get("/aliases").json()["result"]["aliases"]:
            action = {"delete_alias": {"alias_name": one["alias_name"]}}
            self.http.post("/collections/aliases", json={"actions": [action]}).raise_for_status()
        for one in self.http.get("/collections").json()["result"]["collections"]:
            self.http.delete(f"/collections/{quote(one['name'], safe='')}").raise_for_status()


@dataclass
class Servers:
    """Starts one process for each kind that is in use at a time. A server at a URL is one of the plain kind.

    Args:
        where: the server's program, or the URL of a running server, which is emptied.
    """

    where: str
    _known: list[Server] = field(default_factory=list)

    def take(self, kind: Kind, storage: Path) -> Server:
        """A server for a storage folder: the one that has its collections, else an empty one.

        Raises:
            Unavailable: the server at a URL is of another kind, or in use.
        """
        idle = [one for one in self._known if one.kind == kind and not one.busy]
        chosen = next((one for one in idle if one.storage == storage), None) or next(iter(idle), None)
        if chosen is None:
            chosen = self._start(kind)
            self._known.append(chosen)
        chosen.busy = True
        if chosen.storage != storage:
            chosen.empty()
            chosen.storage = storage
            _copy(storage, chosen)
        return chosen

    def close(self) -> None:
        """Close the connections. The processes end with this one."""
        for one in self._known:
            one.http.close()

    def version(self) -> tuple[int, int]:
        """The version of the servers."""
        if not self._known:
            self._known.append(self._start(Kind()))
        return self._known[0].version

    def _start(self, kind: Kind) -> Server:
        headers = {"api-key": kind.api_key} if kind.api_key else {}
        if self.where.startswith(("http://", "https://")):
            if self._known or kind != Kind():
                raise Unavailable("needs a second server, with a key or in strict mode: QDRANT must be a program")
            return Server(self.where, kind, httpx.Client(base_url=self.where, trust_env=False, timeout=60))
        url = _process(self.where, kind)
        return Server(url, kind, httpx.Client(base_url=url, trust_env=False, timeout=60, headers=headers))


def _process(program: str, kind: Kind) -> str:
    """The URL of a new process, which ends with this one."""
    folder, port = Path(tempfile.mkdtemp(prefix="qdrant-")), _free_port()
    settings: dict[str, object] = {
        "SERVICE__HOST": HOST,
        "SERVICE__HTTP_PORT": port,
        "SERVICE__GRPC_PORT": _free_port(),
        "SERVICE__ENABLE_STATIC_CONTENT": "false",
        "SERVICE__MAX_REQUEST_SIZE_MB": 64,
        "STORAGE__STORAGE_PATH": folder / "storage",
        "STORAGE__SNAPSHOTS_PATH": folder / "snapshots",
        "TELEMETRY_DISABLED": "true",
        "LOG_LEVEL": "WARN",
    }
    if kind.api_key:
        settings["SERVICE__API_KEY"] = kind.api_key
    if kind.strict:
        for option, value in (
            ("ENABLED", "true"),
            ("UNINDEXED_FILTERING_RETRIEVE", "false"),
            ("UNINDEXED_FILTERING_UPDATE", "false"),
        ):
            settings[f"STORAGE__COLLECTION__STRICT_MODE__{option}"] = value
    variables = {f"QDRANT__{name}": str(value) for name, value in settings.items()}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - the program that the developer names
            [program, "--disable-telemetry"],
            env={**os.environ, **variables, "QDRANT_INIT_FILE_PATH": str(folder / "initialized")},
            cwd=folder,
            stdout=log,
            stderr=log,
        )

    @atexit.register
    def stop() -> None:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)

    url = f"http://{HOST}:{port}"
    until = time.monotonic() + STARTS_WITHIN
    with httpx.Client(trust_env=False) as client:
        while time.monotonic() < until and process.poll() is None:
            try:
                if client.get(f"{url}/readyz").is_success:
                    return url
            except httpx.TransportError:
                time.sleep(0.05)
    raise RuntimeError(f"{program} did not start: {(folder / 'log').read_text(errors='replace')[-1000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _copy(storage: Path, server: Server) -> None:
    """Write the shards in a folder, which only the engine can read, into the server: by the emulator's own API."""
    if not any(storage.glob("*/edge_config.json")):
        return
    with qdrant_emulator(storage) as source:
        old = QdrantClient(url=source.url, check_compatibility=False)
        headers = {"api-key": server.kind.api_key} if server.kind.api_key else {}
        new = QdrantClient(url=server.url, headers=headers, check_compatibility=False, trust_env=False)
        for one in old.get_collections().collections:
            _copy_collection(one.name, old, new)
        aliases = [
            models.CreateAliasOperation(
                create_alias=models.CreateAlias(alias_name=one.alias_name, collection_name=one.collection_name)
            )
            for one in old.get_aliases().aliases
        ]
        if aliases:
            new.update_collection_aliases(aliases)
        old.close()
        new.close()


def _copy_collection(name: str, old: QdrantClient, new: QdrantClient) -> None:
    info = old.get_collection(name)
    params = info.config.params
    new.create_collection(
        name,
        vectors_config=params.vectors,
        sparse_vectors_config=params.sparse_vectors,
        metadata=info.config.metadata,
    )
    for key, index in info.payload_schema.items():
        new.create_payload_index(name, key, index.params or index.data_type)
    offset = None
    while True:
        records, offset = old.scroll(name, limit=PAGE, offset=offset, with_vectors=True)
        points = [_point(record) for record in records]
        if points:
            new.upsert(name, points)
        if offset is None:
            return


def _point(record: models.Record) -> models.PointStruct:
    vector: Any = record.vector or {}  # the client's classes for stored and for written vectors differ
    return models.PointStruct(id=record.id, vector=vector, payload=record.payload)


def qdrant_proxy(  # noqa: PLR0913 - as `qdrant_emulator`
    servers: Servers,
    storage: Path,
    *,
    api_key: str | None = None,
    strict: bool = False,
    version: str | None = None,
    host: str = HOST,
    port: int = 0,
    latency_ms: float = 0,
) -> EmulatorServer:
    """A proxy to a real server, not yet started. See `qdrant_emulator` for the arguments.

    Raises:
        Unavailable: another version than the server's is to be played.
    """
    if version is not None and tuple(map(int, version.split(".")[:2])) != servers.version():
        raise Unavailable(f"plays Qdrant {version}")
    kind, folder = Kind(api_key, strict), storage.absolute()
    taken: list[Server] = []

    async def forward(request: web.Request) -> web.Response:
        return await _forwarded(taken[-1].url, request)

    def open_storage() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        taken.append(servers.take(kind, folder))

    def close() -> None:
        if taken:
            taken.pop().busy = False

    service = EmulatedService(
        name="qdrant",
        routes=[web.route("*", "/{path:.*}", forward)],
        error_body=lambda _, message: {"status": {"error": message}, "time": 0.0},
        authorize=lambda _: None,
        open=open_storage,
        close=close,
    )
    return EmulatorServer(service, host=host, port=port, latency_ms=latency_ms)


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # slow, so once


async def _forwarded(url: str, request: web.Request) -> web.Response:
    """The server's answer, as it was sent: compressed or not."""
    headers = [(name, value) for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP]
    body = await request.read()
    async with httpx.AsyncClient(trust_env=False, timeout=None, verify=_certificates()) as client:  # noqa: S113 - the caller's own timeout holds
        sent = httpx.Request(request.method, f"{url}{request.raw_path}", headers=headers, content=body)
        answer = await client.send(sent, stream=True)
        content = b"".join([part async for part in answer.aiter_raw()])
        await answer.aclose()
    kept = [(name, value) for name, value in answer.headers.multi_items() if name.lower() not in HOP_BY_HOP]
    return web.Response(status=answer.status_code, body=content, headers=dict(kept))
