"""The REST routes of the Qdrant emulator. Engine work runs in worker threads, never on the event loop."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from aiohttp import web

from passage.emulators.server import json_response, parse_json
from tools.qdrant import indexes as qdrant_indexes
from tools.qdrant import reads as qdrant_reads
from tools.qdrant import search as qdrant_search
from tools.qdrant import writes as qdrant_writes
from tools.qdrant.collections import Collection, Collections
from tools.qdrant.errors import format_error
from tools.qdrant.info import collection_info
from tools.qdrant.strict import require_indexes, require_limits

VERSION = "1.20.0"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Work = Callable[[Collection, dict[str, Any]], object]


class Routes:
    """The routes over one set of collections; `strict` demands payload indexes for filters."""

    def __init__(self, collections: Collections, strict: bool) -> None:
        self._collections = collections
        self._strict = strict

    def table(self) -> list[web.RouteDef]:
        """All routes."""
        one, points = "/collections/{name}", "/collections/{name}/points"
        return [
            web.get("/", self._version),
            *[web.get(path, _alive) for path in ("/healthz", "/readyz", "/livez")],
            web.get("/collections", self._list),
            web.get(one, self._on_name(self._info)),
            web.get(one + "/exists", self._on_name(self._exists)),
            web.delete(one, self._on_name(self._collections.delete)),
            web.put(one, self._on_body(self._collections.create)),
            web.patch(one, self._on_body(self._collections.update)),
            web.post("/collections/aliases", self._aliases_changed),
            web.get("/aliases", self._aliases),
            web.get(one + "/aliases", self._on_name(self._aliases_of)),
            web.put(one + "/index", self._write(qdrant_indexes.create_index)),
            web.delete(one + "/index/{field}", self._drop_index),
            web.put(points, self._write(qdrant_writes.upsert)),
            web.post(points + "/delete", self._write(qdrant_writes.delete)),
            web.post(points + "/batch", self._write_batch),
            web.post(points, self._read(qdrant_reads.retrieve)),
            web.get(points + "/{id}", self._one_point),
            web.post(points + "/scroll", self._read(qdrant_reads.scroll)),
            web.post(points + "/count", self._read(qdrant_reads.count)),
            web.post(one + "/facet", self._read(qdrant_reads.facet)),
            web.post(points + "/query", self._read(qdrant_search.query)),
            web.post(points + "/query/batch", self._read(qdrant_search.query_batch)),
            web.post(points + "/search", self._read(qdrant_search.search)),
        ]

    def _on_name(self, work: Callable[[str], object]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            name = request.match_info["name"]
            return await _timed(lambda: work(name))

        return handler

    def _read(self, work: Work) -> Handler:
        return self._on_body(partial(self._work, work))

    def _write(self, work: Work) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            name, body = request.match_info["name"], await _read_object(request)
            return await _timed(lambda: _done(request, self._work(work, name, body)))

        return handler

    def _on_body(self, work: Callable[[str, dict[str, Any]], object]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            name, body = request.match_info["name"], await _read_object(request)
            return await _timed(lambda: work(name, body))

        return handler

    async def _write_batch(self, request: web.Request) -> web.Response:
        """Run the operations in order, each as a separate write. The server does not undo the first ones, either."""
        name, body = request.match_info["name"], await _read_object(request)

        def write(collection: Collection, body: dict[str, Any]) -> object:
            return [_done(request, number) for number in qdrant_writes.batch(collection, body)]

        return await _timed(lambda: self._work(write, name, body))

    def _work(self, work: Work, name: str, body: dict[str, Any]) -> object:
        collection = self._collections.get(name)
        if self._strict:
            require_indexes(collection, body)
        require_limits(collection.settings.strict_mode, body)
        return work(collection, body)

    def _info(self, name: str) -> object:
        return collection_info(self._collections.get(name), self._strict)

    def _exists(self, name: str) -> object:
        return {"exists": self._collections.find(name) is not None}

    async def _list(self, _: web.Request) -> web.Response:
        return await _timed(lambda: {"collections": [{"name": name} for name in self._collections.names()]})

    async def _aliases(self, _: web.Request) -> web.Response:
        return await _timed(lambda: {"aliases": self._collections.aliases.shown()})

    def _aliases_of(self, name: str) -> object:
        return {"aliases": self._collections.aliases.shown(of=self._collections.get(name).name)}

    async def _aliases_changed(self, request: web.Request) -> web.Response:
        body = await _read_object(request)
        return await _timed(lambda: self._collections.change_aliases(body))

    async def _drop_index(self, request: web.Request) -> web.Response:
        name, field = request.match_info["name"], request.match_info["field"]
        return await _timed(
            lambda: _done(request, qdrant_indexes.delete_index(self._collections.get(name), field)),
        )

    async def _version(self, _: web.Request) -> web.Response:
        return json_response(
            {"title": "qdrant - vector search engine", "version": self._collections.version or VERSION}
        )

    async def _one_point(self, request: web.Request) -> web.Response:
        name, point = request.match_info["name"], request.match_info["id"]
        return await _timed(lambda: qdrant_reads.retrieve_one(self._collections.get(name), point))


async def _timed(work: Callable[[], object]) -> web.Response:
    """Run engine work and answer with its result in the server's envelope; `time` is in seconds."""
    started = time.perf_counter()
    result = await asyncio.to_thread(work)
    return json_response({"result": result, "status": "ok", "time": round(time.perf_counter() - started, 9)})


def _done(request: web.Request, number: object) -> dict[str, object]:
    waited = request.query.get("wait") != "false"
    return {"operation_id": number, "status": "completed" if waited else "acknowledged"}


async def _read_object(request: web.Request) -> dict[str, Any]:
    raw = await request.read()
    try:
        body = parse_json(raw)
        if b"\\ud" in raw.lower():  # the escape may be an unpaired surrogate, which the server's parser refuses
            json.dumps(body, ensure_ascii=False).encode("utf-8")
    except ValueError as error:
        raise format_error(str(error)) from error
    if not isinstance(body, dict):
        raise format_error("invalid type, expected a map")
    return body


async def _alive(request: web.Request) -> web.Response:
    return web.Response(text=f"{request.path.strip('/')} check passed")
