"""Cohere's chat endpoint, version 2: an answer quoted from the given documents, with a citation for each quote.

It reads `model`, `messages`, `documents` and `citation_options`, and does not stream. A real model uses its own words.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from passage.emulators.cohere.requests import check_words, invalid, no_such_model, read_object, text_of
from passage.emulators.embedding import NATIVE_DIMENSION, load_model, replace_lone_surrogates

MODELS = ("command-", "c4ai-")
"""How the names of chat models begin."""

ROLES = ("assistant", "system", "tool", "user")
UNCITED = ("DISABLED", "OFF")
QUOTES = 2
SILENT = "The documents do not say."

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")  # noqa: RUF001 - full-width marks end sentences, too
_MARKUP = re.compile(r"^[\s>#*+|-]+|\*\*|`")
_WORDS_OF_A_QUOTE = 4


@dataclass(frozen=True)
class ChatRequest:
    """A validated request. `documents` are their fields by id."""

    question: str
    documents: Mapping[str, Mapping[str, Any]]
    cites: bool


async def read_chat(request: web.Request) -> ChatRequest:
    """Read a chat request."""
    body = await read_object(request)
    name = text_of(body, "model")
    if not name.startswith(MODELS):
        raise no_such_model(name)
    if body.get("stream"):
        raise invalid("the emulator does not stream")
    question = _question(body.get("messages"))
    documents = _documents(body.get("documents") or [])
    check_words([question])
    mode = str((body.get("citation_options") or {}).get("mode") or "ENABLED").upper()
    return ChatRequest(question, documents, mode not in UNCITED)


def run_chat(asked: ChatRequest) -> dict[str, Any]:
    """The answer's `finish_reason`, `message` and `usage`: the sentences nearest to the question."""
    quoted = _quotes(asked)
    text, citations = "", []
    for key, sentence in quoted:
        start = len(text) + bool(text)
        text = f"{text} {sentence}".strip()
        source = {"type": "document", "id": key, "document": {**asked.documents[key], "id": key}}
        span = {"start": start, "end": len(text), "text": sentence, "type": "TEXT_CONTENT", "content_index": 0}
        citations.append({**span, "sources": [source]})
    text = text or SILENT
    model = load_model()
    given = [asked.question, *(_text(fields) for fields in asked.documents.values())]
    tokens = {"input_tokens": sum(map(len, model.tokenize(given))), "output_tokens": len(model.tokenize([text])[0])}
    cited = {"citations": citations} if asked.cites and citations else {}
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], **cited}
    return {"finish_reason": "COMPLETE", "message": message, "usage": {"billed_units": tokens, "tokens": tokens}}


def _quotes(asked: ChatRequest) -> list[tuple[str, str]]:
    """The documents' ids with their sentences that are nearest to the question, in the documents' order."""
    sentences = {
        sentence: key
        for key, fields in reversed(list(asked.documents.items()))  # the first document keeps a sentence of several
        for part in _SENTENCE_END.split(_text(fields))
        if len((sentence := _MARKUP.sub("", part).strip()).split()) >= _WORDS_OF_A_QUOTE
    }
    if not sentences:
        return []
    model = load_model()
    vectors = model.embed_tokens(model.tokenize([asked.question, *sentences]), NATIVE_DIMENSION)
    nearest = dict(sorted(zip(sentences, vectors[1:] @ vectors[0], strict=True), key=lambda one: -one[1])[:QUOTES])
    order = list(asked.documents)
    return sorted(((key, one) for one, key in sentences.items() if one in nearest), key=lambda one: order.index(one[0]))


def _text(fields: Mapping[str, Any]) -> str:
    """A document's longest field: its other fields are titles and addresses."""
    return max((str(value) for value in fields.values()), key=len, default="")


def _question(messages: object) -> str:
    """The last message's text."""
    if not isinstance(messages, list) or not messages:
        raise invalid("messages must not be empty")
    if not all(isinstance(one, dict) and one.get("role") in ROLES for one in messages):
        raise invalid(f"each message must have a role: {', '.join(ROLES)}")
    content = messages[-1].get("content")
    if isinstance(content, list):
        content = " ".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if messages[-1]["role"] != "user" or not isinstance(content, str) or not content.strip():
        raise invalid("the last message must be a user's, with content")
    return replace_lone_surrogates(content)


def _documents(given: object) -> dict[str, dict[str, Any]]:
    """The fields of each document by its id; those without one get `doc:0`, `doc:1`, …"""
    if not isinstance(given, list):
        raise invalid("documents must be a list")
    documents = {}
    for number, one in enumerate(given):
        fields = {"content": one} if isinstance(one, str) else one.get("data") if isinstance(one, dict) else None
        if not isinstance(fields, dict):
            raise invalid("each document must be a string or an object with data")
        key = one.get("id") if isinstance(one, dict) else None
        documents[str(key or f"doc:{number}")] = fields
    return documents
