"""A Qdrant-compatible HTTP server on Qdrant's own engine, for development and tests without a cluster."""

import hmac
from pathlib import Path

from aiohttp import web

from passage.emulators.server import HOST, EmulatedService
from tools.doubles.server import EmulatorServer
from tools.qdrant.collections import Collections
from tools.qdrant.routes import Routes

OPEN_PATHS = frozenset({"/", "/healthz", "/readyz", "/livez"})  # answered without a key, as by the server


def qdrant_emulator(  # noqa: PLR0913 - all but the first are options, by name
    storage: Path,
    *,
    api_key: str | None = None,
    strict: bool = False,
    version: str | None = None,
    host: str = HOST,
    port: int = 0,
    latency_ms: float = 0,
) -> EmulatorServer:
    """A Qdrant emulator, not yet started.

    Args:
        storage: a folder of collections, one shard each. It is created if missing.
        api_key: the only accepted key; None needs no key.
        strict: filters need a payload index, as on Qdrant Cloud.
        version: of an older server, as in "1.16.3"; None for the newest. Before 1.20, indexes do not score and text
            queries are refused.
        host, port, latency_ms: see `EmulatorServer`.
    """
    collections = Collections(storage, version)
    service = EmulatedService(
        name="qdrant",
        routes=Routes(collections, strict).table(),
        error_body=lambda _, message: {"status": {"error": message}, "time": 0.0},
        authorize=lambda request: _authorize(request, api_key),
        open=collections.open,
        close=collections.close,
    )
    return EmulatorServer(service, host=host, port=port, latency_ms=latency_ms, compresses=True)


def _authorize(request: web.Request, api_key: str | None) -> web.Response | None:
    """Plain text with 401 in both cases, as servers with access tokens answer (older ones: 403)."""
    if api_key is None or request.path in OPEN_PATHS:
        return None
    bearer = request.headers.get("Authorization", "")
    given = request.headers.get("api-key") or (bearer.removeprefix("Bearer ") if bearer.startswith("Bearer ") else "")
    if not given:
        return web.Response(status=401, text="Must provide an API key or an Authorization bearer token")
    if not hmac.compare_digest(given.encode(errors="surrogateescape"), api_key.encode()):
        return web.Response(status=401, text="Invalid API key or JWT")
    return None
