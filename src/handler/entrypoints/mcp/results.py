"""Results of tools: passages as the tools show them, and failures as sentences."""

import json
from collections.abc import Callable
from typing import Any

from handler.contracts.fields import json_safe
from handler.core.errors import PassageError
from handler.core.model import Passage
from handler.entrypoints.http.status import retry_after
from handler.entrypoints.limits import sent_bytes
from handler.entrypoints.mcp.endpoint import Endpoint
from handler.service.answering import Answered

Result = dict[str, Any]

ENVELOPE_BYTES = 1_024
"""Room for the message around a result."""


def listed(answered: Answered, render: Callable[[Passage], Result]) -> list[Result]:
    """An answer's passages, each as `render` shows it."""
    return [render(passage) for passage in answered.retrieval.passages]


def reference(passage: Passage) -> Result:
    """A result of OpenAI's `search`: where a passage is, without its text."""
    return {"id": str(passage.id), "title": _title(passage), "url": passage.url}


def whole(passage: Passage) -> Result:
    """A result of `search_docs`: a passage with its text."""
    return {
        **reference(passage),
        "headings": list(passage.headings),
        "text": passage.text,
        "score": passage.score,
    }


def document(passage: Passage) -> Result:
    """The result of OpenAI's `fetch`."""
    place = {"headings": " > ".join(passage.headings), "chunk_id": passage.chunk_id or ""}
    return {
        "id": str(passage.id),
        "title": _title(passage),
        "text": passage.text,
        "url": passage.url,
        "metadata": {name: value for name, value in place.items() if value},
    }


def _title(passage: Passage) -> str:
    """The page's title and the nearest heading; the URL where neither is stored."""
    parts = dict.fromkeys(part for part in (passage.title, *passage.headings[-1:]) if part)
    return ": ".join(parts) or passage.url


def succeeded(result: Result) -> Result:
    """A result as data and, for clients that read only text, as JSON in one text."""
    safe = json_safe(result)
    return {
        "content": [{"type": "text", "text": json.dumps(safe, ensure_ascii=False)}],
        "structuredContent": safe,
        "isError": False,
    }


def failed(error: PassageError) -> Result:
    """A failure in words that a model can act on. They never hold a key or a service's URL (see PassageError)."""
    seconds = retry_after(error)
    wait = "" if seconds is None else f" Try again in {seconds} seconds."
    return {"content": [{"type": "text", "text": f"{error}{wait}"}], "isError": True}


def fits(result: Result, endpoint: Endpoint) -> bool:
    """Whether a response can carry the result."""
    message = json.dumps(succeeded(result), ensure_ascii=False)
    return sent_bytes(message, utf8=endpoint.services.writes_utf8) <= endpoint.room - ENVELOPE_BYTES
