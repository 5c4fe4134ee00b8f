"""The one connection pool is shared: a client that goes away must not take it with it."""

import gc
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import httpcore
import pytest
from qdrant_client import QdrantClient

from handler.adapters import transport
from tools.doubles import EmulatorServer


def test_garbage_collected_client_leaves_the_pool_open(qdrant: EmulatorServer) -> None:
    """qdrant-client closes its transport in `__del__`, which the collector may call in the middle of another request,
    where the pool's lock is held: closing the pool there waited for ever."""
    client = QdrantClient(url=qdrant.url, check_compatibility=False, transport=transport.for_client())
    client.get_collections()
    pool = transport.shared()._pool  # type: ignore[attr-defined]  # httpx has no public name for it
    kept = list(pool.connections)
    assert kept
    with pool._optional_thread_lock:
        del client
        gc.collect()
    assert list(pool.connections) == kept
    assert not any(connection.is_closed() for connection in kept)


def test_threads_that_ask_first_get_one_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index is embedded by several threads. The pools of those that came second were left with open connections."""
    made: list[object] = []

    def slow(_: httpcore.NetworkBackend) -> object:
        time.sleep(0.05)  # long enough for the others to ask
        made.append(object())
        return made[-1]

    monkeypatch.setattr(transport, "_make_pool", slow)
    monkeypatch.setattr(transport, "_shared", cache(transport._shared.__wrapped__))
    with ThreadPoolExecutor(4) as threads:
        pools = list(threads.map(lambda _: transport.shared(), range(4)))
    assert [*map(id, pools)] == [id(made[0])] * 4
