"""The one connection pool is shared: a client that goes away must not take it with it."""

import gc

from qdrant_client import QdrantClient

from handler.adapters import transport
from passage.emulators import EmulatorServer


def test_garbage_collected_client_leaves_the_pool_open(qdrant: EmulatorServer) -> None:
    """qdrant-client closes its transport in `__del__`, which the collector may call in the middle of another request,
    where the pool's lock is held: closing the pool there waited for ever."""
    client = QdrantClient(url=qdrant.url, check_compatibility=False, transport=transport.lent())
    client.get_collections()
    pool = transport.shared()._pool  # type: ignore[attr-defined]  # httpx has no public name for it
    kept = list(pool.connections)
    assert kept
    with pool._optional_thread_lock:
        del client
        gc.collect()
    assert list(pool.connections) == kept
    assert not any(connection.is_closed() for connection in kept)
