"""What tools return: a passage, a section or a page as data and as text, or a failure in words."""

import json
from collections.abc import Callable
from typing import Any

from handler.contracts.fields import json_safe
from handler.core.errors import PassageError
from handler.core.model import Passage
from handler.core.selection import page_of
from handler.entrypoints.http.headers import ERROR_CODE
from handler.entrypoints.http.status import retry_after
from handler.service.documents import Reading

Result = dict[str, Any]


def show_reference(passage: Passage) -> Result:
    """A result of OpenAI's `search`: where a passage is, without its text."""
    return {"id": str(passage.id), "title": _title(passage), "url": passage.url}


def show_passage(passage: Passage) -> Result:
    """A result of `search_docs`: a passage with its text."""
    return {
        **show_reference(passage),
        "headings": list(passage.headings),
        "text": passage.text,
        "score": passage.score,
    }


def show_document(reading: Reading, *, whole_page: bool = False) -> Result:
    """The result of OpenAI's `fetch`: a passage in its section, or a page."""
    passage, end = reading.passage, reading.start + len(reading.text)
    place = {
        "headings": "" if whole_page else " > ".join(passage.headings),
        "chunk_id": "" if whole_page else passage.chunk_id,
        "previous": reading.previous,
        "next": reading.next,
        "next_start_index": end if end < reading.total else None,
    }
    return {
        "id": str(passage.id),
        "title": passage.title or page_of(passage.url) if whole_page else _title(passage),
        "text": reading.text,
        "url": page_of(passage.url) if whole_page else passage.url,
        "metadata": {name: str(value) for name, value in place.items() if value not in (None, "")},
    }


def _title(passage: Passage) -> str:
    """The page's title and the nearest heading; the URL where neither is stored."""
    parts = dict.fromkeys(part for part in (passage.title, *passage.headings[-1:]) if part)
    return ": ".join(parts) or passage.url


def write_result(result: Result, write: Callable[[Result], str] | None = None) -> Result:
    """A result as data and, for clients that read only text, as text: its JSON unless `write` says it for people."""
    safe = json_safe(result)
    text = json.dumps(safe, ensure_ascii=False) if write is None else write(safe)
    return {"content": [{"type": "text", "text": text}], "structuredContent": safe, "isError": False}


def write_failure(error: PassageError) -> Result:
    """A failure in words that a model can act on. They never hold a key or a service's URL (see PassageError)."""
    seconds = retry_after(error)
    wait = "" if seconds is None else f" Try again in {seconds} seconds."
    text = f"{error}{wait}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {ERROR_CODE: error.code}}


def write_passages(result: Result) -> str:
    """The result of `search_docs` as a person would write it: each passage under its title, with URL and id."""
    warnings = [f"> {warning}" for warning in result["warnings"]]
    passages = [
        f"## {number}. {passage['title']}\n\n{passage['url']} (id {passage['id']})\n\n{passage['text'].strip()}"
        for number, passage in enumerate(result["results"], start=1)
    ]
    return "\n\n".join([*warnings, *passages] or ["No passage fits."])
