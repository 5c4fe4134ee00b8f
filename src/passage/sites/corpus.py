"""Reads a corpus in BEIR's layout: corpus.jsonl, one document a line (`_id`, `title`, `text`). Each becomes a page.

A document may state its `language`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from passage.sites.markdown.convention import encodable
from passage.sites.model import Note, Page, Section, Skip, readable_name

FILE = "corpus.jsonl"
BASE = "https://corpus.invalid/"
"""The made-up site of documents without a URL. `.invalid` is reserved for such names (RFC 2606)."""


def document_url(identity: str) -> str:
    """The URL of a document's page: its id where that is a URL, else one made from the id."""
    return identity if identity.startswith(("http://", "https://")) else BASE + quote(identity, safe="")


def corpus_file(source: Path) -> Path | None:
    """The corpus in a folder or a file; None if it is something else."""
    if source.is_dir():
        return source / FILE if (source / FILE).is_file() else None
    return source if source.suffix == ".jsonl" and source.is_file() else None


@dataclass(frozen=True, slots=True)
class Corpus:
    """The documents of one file; a `passage.sites.model.Site`. `text` may be Markdown."""

    file: Path

    @property
    def nothing_found(self) -> str:
        return f"{self.file} holds no document with any text in it."

    def read(self) -> Iterator[Page | Note]:
        """The path of a skip is its line."""
        seen: set[str] = set()
        with self.file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _document(line, f"{self.file.name}:{number}", seen)


def _document(line: bytes, where: str, seen: set[str]) -> Page | Skip:
    try:
        values: Any = json.loads(line)
    except (ValueError, RecursionError):
        return Skip(where, "is not JSON", failed=True)
    if isinstance(values, dict):
        values = {key: encodable(value) if isinstance(value, str) else value for key, value in values.items()}
    fault = _fault(values, seen)
    if fault:
        return Skip(where, fault, failed=True)
    identity, title, text = values["_id"], values.get("title") or "", values["text"]
    seen.add(identity)
    if not text.strip():
        return Skip(where, "no text")
    path = quote(identity, safe="")
    heading, language = title.strip() or readable_name(path), values.get("language") or ""
    return Page(path, document_url(identity), heading, (Section((), text),), language)


def _fault(values: Any, seen: set[str]) -> str:
    """Why a line is not a document; empty when it is one."""
    if not isinstance(values, dict):
        return "is not a JSON object"
    if not isinstance(values.get("_id"), str) or not values["_id"]:
        return "has no '_id', or one that is not text"
    if not isinstance(values.get("text"), str) or not isinstance(values.get("title") or "", str):
        return "has no 'text', or a title or text that is not text"
    if not isinstance(values.get("language") or "", str):
        return "has a 'language' that is not text"
    return "has the '_id' of another document" if values["_id"] in seen else ""
