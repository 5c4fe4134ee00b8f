"""Reads the passages of an answer through its contract's own models."""

from typing import Any

from pydantic import BaseModel, ValidationError

from handler.adapters.qdrant import payload as payloads
from handler.config import profiles
from handler.config.payload_keys import Payload
from handler.contracts import chunks, context, query_response, ranked, registry, vector_search
from passage.evaluation.run import SavedHit

EXCERPT = 2_000
"""The characters of a passage that a run keeps."""


class ReplyError(Exception):
    """An answer does not have its contract's form."""


def read(contract: str, profile: str, body: Any) -> tuple[tuple[SavedHit, ...], float | None]:
    """The passages of an answer, in its order, and the search's own milliseconds where the contract reports them.

    Raises:
        ReplyError: the answer does not have the contract's form.
    """
    if contract not in registry.NAMES:
        raise ReplyError(f"the contract '{contract}' is unknown here; known: {', '.join(registry.NAMES)}")
    shape = registry.load(contract)
    try:
        answer = shape.response_model.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise ReplyError(f"the answer does not have the form of '{contract}' ({where}: {first['msg']})") from None
    results: list[BaseModel] = getattr(answer, shape.results)
    return tuple(_hit(rank, result, profile) for rank, result in enumerate(results, start=1)), _search_ms(answer)


def _search_ms(answer: BaseModel) -> float | None:
    match answer:
        case vector_search.VectorSearchResponse(results=[first, *_]):
            return first.retrieval_time_ms
        case ranked.RetrievalResponse(execution_metrics=metrics):
            return metrics.vector_search_time_ms
    return None


def _hit(rank: int, result: BaseModel, profile: str) -> SavedHit:
    point = title = ""
    match result:
        case query_response.Result(chunk_id=shown, url=url, relevance_score=score, chunk_text=text):
            point = query_response.stored_id(shown)
        case vector_search.RetrievalResult(id=identity, score=score, payload=payload):
            point = str(identity)
            shown, url, title, text = _of_payload(point, payload, profile)
        case context.RetrievedChunk(chunk_id=shown, source_url=url, title=title, score=score, text=text):
            pass
        case ranked.SearchResult(chunk_id=shown, metadata=about, similarity_score=score, chunk_text=text):
            url, title = about.source_url, about.page_title
        case chunks.RetrievedChunk(chunk_id=shown, url=url, similarity_score=score, content=text):
            point = shown
        case _:
            raise TypeError(f"a contract's results are {type(result).__name__}: say here which field is which")
    excerpt = text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"
    return SavedHit(rank=rank, id=point, chunk_id=shown, url=url, title=title, score=score, text=excerpt)


def _of_payload(point: str, payload: dict[str, Any], profile: str) -> tuple[str, str, str, str]:
    """A whole payload's chunk id, URL, title and text, each "" where the profile's keys lead to none."""
    known = profile in profiles.names()
    keys = profiles.load(profile).payload if known else Payload(text=("text",), url=("url",))
    for passage in payloads.read([payloads.Hit(point, 0.0, payload)], keys).passages:
        return passage.chunk_id or "", passage.url, passage.title or "", passage.text
    return "", "", "", ""
