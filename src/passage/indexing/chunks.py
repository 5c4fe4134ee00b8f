"""Cuts a page into chunks along its own structure: a section a chunk, a long one at its paragraphs, lists, fences."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from semantic_text_splitter import MarkdownSplitter

from passage.sites.model import Page

MAX_CHARACTERS = 1_500
"""What an embedding model reads of a chunk is limited (Cohere's v3 models: 512 tokens, the rest is cut silently);
English prose and code stay below that limit at this length, and so do headings put before it."""

MIN_CHARACTERS = 200
"""A piece of a long section is filled up to at least this much where the structure allows."""

SPLITTER_CHARACTERS = 20_000
"""The most the splitter is given at once: its time grows with the square of what has no structure."""

_splitter = MarkdownSplitter((MIN_CHARACTERS, MAX_CHARACTERS))


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page.

    Attributes:
        id: sha256 of what the chunk is (its page, headings and text), hexadecimal: the same content, the same id.
        path: its page's, relative to the pages' folder, without the suffix.
        url: its page's, with the section's anchor where the section has one.
        title: its page's.
        index: its position on the page, from 0.
        total: how many chunks the page has.
        headings: the titles above it, outermost first; the first is the page's own.
        text: what is answered: Markdown as the reader sees it, without surrounding blank lines.
        embedded_text: what is embedded: the text under its headings, without the addresses of links.
        tokens: how many tokens of the profile's model `text` has.
        language: its page's, empty where the site does not state it.
        version: its page's, empty where the site does not state it.
    """

    id: str
    path: str
    url: str
    title: str
    index: int
    total: int
    headings: tuple[str, ...]
    text: str
    embedded_text: str
    tokens: int
    language: str = ""
    version: str = ""


def cut(pages: Iterable[Page]) -> Iterator[Chunk]:
    """The chunks of `pages`, page by page, in reading order."""
    for page in pages:
        pieces = [(section, text) for section in page.sections for text in _pieces(section.markdown)]
        seen: Counter[tuple[tuple[str, ...], str]] = Counter()
        for index, (section, text) in enumerate(pieces):
            path = section.headings
            headings = path if path and path[0] == page.title else (page.title, *path)
            occurrence = seen[headings, text]
            seen[headings, text] += 1
            embedded = "\n".join([" > ".join(headings), text])
            yield Chunk(
                id=_identity(page.url, headings, text, occurrence),
                path=page.path,
                url=f"{page.url}#{section.anchor}" if section.anchor else page.url,
                title=page.title,
                index=index,
                total=len(pieces),
                headings=headings,
                text=text,
                embedded_text=embedded,
                tokens=max(1, len(text) // 4),
                language=page.language,
                version=page.version,
            )


def _pieces(body: str) -> list[str]:
    if len(body) <= MAX_CHARACTERS:
        return [text] if (text := _trimmed(body)) else []
    parts = (piece for part in _parts(body) for piece in _splitter.chunks(part))
    return [text for piece in parts if (text := _trimmed(piece))]


def _parts(body: str) -> Iterator[str]:
    """The body in parts the splitter can take, cut where it hurts least. Together they are the body."""
    start = 0
    while len(body) - start > SPLITTER_CHARACTERS:
        end = start + SPLITTER_CHARACTERS
        for boundary in ("\n\n", "\n", ". ", " "):
            found = body.rfind(boundary, start + SPLITTER_CHARACTERS // 2, end)
            if found >= 0:
                end = found + len(boundary)
                break
        yield body[start:end]
        start = end
    yield body[start:]


def _trimmed(text: str) -> str:
    """Without the blank lines around it; the first line's indent stays, which may make it code."""
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _identity(url: str, headings: tuple[str, ...], text: str, occurrence: int) -> str:
    # A length before each part keeps ("ab", "c") and ("a", "bc") apart.
    parts = [url, *headings, text, str(occurrence)]
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()
