"""Reads the passages of an answer in any of the five contracts."""

from collections.abc import Callable, Mapping
from typing import Any

from handler.adapters.qdrant import payload as payloads
from handler.config import profiles
from handler.config.payload_keys import Payload
from passage.evaluation.run import Hit

EXCERPT = 2_000
"""The characters of a passage that a run keeps."""


class ReplyError(Exception):
    """An answer does not have its contract's form."""


def hits(contract: str, profile: str, body: Any) -> tuple[Hit, ...]:
    """The passages of an answer, in its order.

    Raises:
        ReplyError: the answer does not have the contract's form.
    """
    key, read = READERS[contract]
    try:
        return tuple(_hit(rank, read(found, profile)) for rank, found in enumerate(body[key], start=1))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ReplyError(f"the answer does not have the form of the contract '{contract}' ({error!r})") from None


def search_ms(contract: str, body: Any) -> float | None:
    """The search's own time in milliseconds; None where the contract does not report it."""
    try:
        if contract == "vector_search":
            return float(body["results"][0]["retrieval_time_ms"])
        if contract == "ranked":
            return float(body["execution_metrics"]["vector_search_time_ms"])
    except (KeyError, IndexError, TypeError, ValueError):
        pass
    return None


def _hit(rank: int, values: dict[str, Any]) -> Hit:
    text = str(values.get("text", ""))
    return Hit(
        rank=rank,
        id=str(values.get("id", "")),
        chunk_id=str(values.get("chunk_id", "")),
        url=str(values.get("url", "")),
        title=str(values.get("title", "")),
        score=float(values["score"]),
        text=text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…",
    )


def _query_response(found: Mapping[str, Any], _: str) -> dict[str, Any]:
    return {
        "id": found["chunk_id"].rpartition("_")[0],
        "chunk_id": found["chunk_id"],
        "url": found["url"],
        "score": found["relevance_score"],
        "text": found["chunk_text"],
        "title": found.get("title", ""),
    }


def _vector_search(found: Mapping[str, Any], profile: str) -> dict[str, Any]:
    values = {"id": found["id"], "score": found["score"]}
    keys = profiles.load(profile).payload if profile in profiles.names() else Payload(text=("text",), url=("url",))
    read = payloads.read([payloads.Hit(found["id"], found["score"], found["payload"])], keys).passages
    for passage in read:
        values |= {"url": passage.url, "text": passage.text, "title": passage.title or ""}
        values["chunk_id"] = passage.chunk_id or ""
    return values


def _context(found: Mapping[str, Any], _: str) -> dict[str, Any]:
    return {
        "chunk_id": found["chunk_id"],
        "url": found["source_url"],
        "score": found["score"],
        "text": found["text"],
        "title": found["title"],
    }


def _ranked(found: Mapping[str, Any], _: str) -> dict[str, Any]:
    return {
        "chunk_id": found["chunk_id"],
        "url": found["metadata"]["source_url"],
        "score": found["similarity_score"],
        "text": found["chunk_text"],
        "title": found["metadata"]["page_title"],
    }


def _chunks(found: Mapping[str, Any], _: str) -> dict[str, Any]:
    return {
        "id": found["chunk_id"],
        "chunk_id": found["chunk_id"],
        "url": found["url"],
        "score": found["similarity_score"],
        "text": found["content"],
        "title": found.get("title", ""),
    }


READERS: Mapping[str, tuple[str, Callable[[Mapping[str, Any], str], dict[str, Any]]]] = {
    "query_response": ("results", _query_response),
    "vector_search": ("results", _vector_search),
    "context": ("chunks", _context),
    "ranked": ("results", _ranked),
    "chunks": ("results", _chunks),
}
"""For each contract, the key of the list of passages, and what reads one passage."""
