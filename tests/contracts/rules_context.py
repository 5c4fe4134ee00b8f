"""Seed 002: RetrievedChunk, RetrievalResult, ContextBlock, AssembledContext, RetrievalError."""

from collections.abc import Mapping, Sequence
from typing import Any

from contracts.shape import (
    Stored,
    anything,
    descending,
    filled,
    items,
    natural,
    one_of,
    record,
    sent,
    similarity,
    text,
    web_address,
)

COLLECTION = "textbook_chunks"
CODES = ("EMPTY_QUERY", "INVALID_QUERY", "CONNECTION_ERROR", "COLLECTION_NOT_FOUND", "RATE_LIMIT")
CHUNK = {
    "text": filled,
    "score": similarity,
    "source_url": web_address,
    "chapter": text,
    "section": text,
    "chunk_index": natural,
    "title": text,
    "chunk_id": filled,
}


def check_answer(asked: Mapping[str, Any], answer: Any, stored: Stored) -> None:
    record(answer, {"query": text, "chunks": items, "count": natural, "collection": text, "context": anything})
    assert answer["query"] == sent(asked, "text", "query", "question")
    assert answer["collection"] == COLLECTION
    chunks = answer["chunks"]
    count = sent(asked, "k", "top_k")
    assert answer["count"] == len(chunks) <= (5 if count is None else min(max(count, 3), 8))
    by_chunk_id = {payload["chunk_id"]: payload for payload in stored[COLLECTION].values()}
    for chunk in chunks:
        record(chunk, CHUNK)
        payload = by_chunk_id[chunk["chunk_id"]]
        for name in CHUNK.keys() - {"score"}:  # "All fields except `score` come from Qdrant payload"
            assert chunk[name] == payload.get(name, "")
    assert len({chunk["chunk_id"] for chunk in chunks}) == len(chunks)
    if asked.get("order") == "score":  # the seed does not promise it
        assert descending([chunk["score"] for chunk in chunks])
    _check_context(answer["context"], chunks, _budget(asked))


def _budget(asked: Mapping[str, Any]) -> float:
    """The smaller of the two budgets, in characters; a token counts as four."""
    characters, tokens = asked.get("max_chars"), asked.get("max_tokens")
    return min(float("inf") if characters is None else characters, float("inf") if tokens is None else 4 * tokens)


def _check_context(context: Any, chunks: Sequence[Mapping[str, Any]], budget: float) -> None:
    record(context, {"formatted_text": text, "chunk_count": natural, "total_chars": natural, "sources": items})
    included = chunks
    assert len(included) == context["chunk_count"]
    assert context["total_chars"] == len(context["formatted_text"]) <= budget
    separators = _separators(context["formatted_text"], [_block(*item) for item in enumerate(included, start=1)])
    assert len(separators) <= 1
    seen: list[str] = []
    for chunk in included:
        if chunk["source_url"] not in seen:
            seen.append(chunk["source_url"])
    assert context["sources"] == seen


def _block(number: int, chunk: Mapping[str, Any]) -> str:
    lines = [f"[Result {number}] Score: {chunk['score']:.2f}", f"Source: {chunk['source_url']}"]
    known = [f"{name.title()}: {chunk[name]}" for name in ("title", "chapter", "section") if chunk[name]]
    lines += [" | ".join(known)] if known else []
    return "\n".join([*lines, "---", chunk["text"]])


def _separators(formatted: str, blocks: Sequence[str]) -> set[str]:
    """The separators between the blocks. The text has only blocks and separators."""
    found: set[str] = set()
    position = 0
    for number, block in enumerate(blocks):
        start = formatted.index(block, position)
        if number == 0:
            assert start == 0
        else:
            separator = formatted[position:start]
            assert len(separator.split()) == 1, "one line"
            assert separator.startswith("\n")
            assert separator.endswith("\n")
            found.add(separator)
        position = start + len(block)
    assert position == len(formatted)
    return found


def check_error(asked: Mapping[str, Any], answer: Any) -> str:
    record(answer, {"code": one_of(*CODES), "message": filled, "details": text})
    question = sent(asked, "text", "query", "question")
    blank = isinstance(question, str) and not question.strip()
    assert (answer["code"] == "EMPTY_QUERY") == blank
    return str(answer["code"])
