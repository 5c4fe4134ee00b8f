"""One stored chunk by its id, as far as this deployment and the profile's contract show it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from handler.contracts.fields import json_safe, zulu
from handler.core.deadline import Deadline
from handler.core.errors import InvalidRequest, NotFound
from handler.core.model import Passage, PointId, Vector
from handler.service.services import Served

FIELDS = ("text", "url", "title", "headings", "chapter", "section", "index", "chunk_id", "tokens", "created_at")
"""The fields of a passage that everybody may see: those that a profile's `[payload]` maps."""


class StoredChunk(NamedTuple):
    """A chunk that was found.

    Attributes:
        payload: the mapped fields, or the whole payload where the profile shows that; fit for JSON.
        vector: shape `(dimension,)`, if requested.
        took_ms: milliseconds that the store took.
    """

    id: PointId
    passage: Passage
    payload: Mapping[str, Any]
    vector: Vector | None
    took_ms: float


def find_chunk(served: Served, chunk_id: str, until: Deadline, *, with_vectors: bool = False) -> StoredChunk:
    """Find a chunk by its point id or by the chunk id that the contract shows.

    Raises:
        NotFound: there is none that the contract can show, or the deployment serves no chunks.
        InvalidRequest: vectors are requested where they are not shown.
        PassageError: as `Retriever.fetch`.
    """
    if served.chunks == "false":
        raise NotFound("This deployment serves no chunks by their id.")
    raw = served.contract.raw or served.chunks == "raw"
    if with_vectors and not raw:
        raise InvalidRequest("'with_vectors' must be false: this profile shows no vectors.")
    stored = served.contract.stored_id(chunk_id)
    point, passage, took_ms = served.retriever.fetch(stored, until, with_vectors=with_vectors)
    return StoredChunk(
        id=point.id,
        passage=passage,
        payload=json_safe(point.payload) if raw else _mapped_fields(passage),
        vector=point.vector,
        took_ms=took_ms,
    )


def _mapped_fields(passage: Passage) -> dict[str, Any]:
    """The fields of a passage that are stored."""
    present = {name: value for name in FIELDS if (value := getattr(passage, name)) not in (None, ())}
    return {name: zulu(value) if isinstance(value, datetime) else json_safe(value) for name, value in present.items()}
