"""Reads Qdrant Edge and reports its failures. The engine has no class for them, and some are no `Exception`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import qdrant_edge

from passage.indexing.target import TargetError

BATCH = 256
"""Points in one answer of `scroll`."""


class EngineError(TargetError):
    """The engine failed, as on damaged files or a full disk."""


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turn any failure into an EngineError. Only calls of the engine belong inside."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # on damaged files the engine may panic, which is not an Exception
        raise EngineError(str(error)) from error


def scroll(shard: qdrant_edge.EdgeShard, *, payload: Any, vectors: bool) -> Iterator[list[qdrant_edge.Record]]:
    """Every point, in batches, with the given part of its payload.

    Raises:
        EngineError: the points cannot be read.
    """
    offset: Any = None
    while True:
        request = qdrant_edge.ScrollRequest(offset=offset, limit=BATCH, with_payload=payload, with_vector=vectors)
        with engine_errors():
            records, offset = shard.scroll(request)
        yield records
        if offset is None:
            return
