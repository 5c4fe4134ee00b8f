"""Cuts a page into chunks along its own structure: a section a chunk, a long one at its paragraphs, lists, fences."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from semantic_text_splitter import MarkdownSplitter

from devkit.indexing.site import Page

MAX_CHARACTERS = 1_500
"""What an embedding model reads of a chunk is limited (Cohere's v3 models: 512 tokens, the rest is cut silently);
English prose and code stay below that limit at this length, and so do headings put before it."""

MIN_CHARACTERS = 200
"""A piece of a long section is filled up to at least this much where the structure allows."""

_markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
_splitter = MarkdownSplitter((MIN_CHARACTERS, MAX_CHARACTERS))


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page.

    Attributes:
        id: sha256 of what the chunk is (its page, headings and text), hexadecimal: the same content, the same id.
        path: its page's, as in `Page`.
        index: its position on the page, from 0.
        headings: the titles above it, outermost first; the first is the page's own.
        text: exactly as in the page, without surrounding blank lines.
    """

    id: str
    path: str
    url: str
    title: str
    index: int
    headings: tuple[str, ...]
    text: str

    def to_embed(self) -> str:
        """What is embedded: the text under its headings, without which "It has three parts" is about nothing."""
        return "\n".join([" > ".join(self.headings), self.text])


def cut(pages: Iterable[Page]) -> Iterator[Chunk]:
    """The chunks of `pages`, page by page, in reading order."""
    for page in pages:
        sections = list(_sections(page.markdown))
        title = page.title or next((path[0] for path, _ in sections if path), page.path.rsplit("/", 1)[-1])
        pieces = [(path, piece) for path, body in sections for piece in _pieces(body)]
        seen: Counter[tuple[tuple[str, ...], str]] = Counter()
        for index, (path, text) in enumerate(pieces):
            headings = path if path and path[0] == title else (title, *path)
            occurrence = seen[headings, text]
            seen[headings, text] += 1
            yield Chunk(
                id=_identity(page.url, headings, text, occurrence),
                path=page.path,
                url=page.url,
                title=title,
                index=index,
                headings=headings,
                text=text,
            )


def _sections(markdown: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each heading's path and the source below it, down to the next heading."""
    lines = markdown.splitlines(keepends=True)
    tokens = _markdown.parse(markdown)
    path: list[tuple[int, str]] = []
    start = 0
    for position, token in enumerate(tokens):
        if token.type != "heading_open" or token.level != 0 or token.map is None:
            continue
        yield tuple(title for _, title in path), "".join(lines[start : token.map[0]])
        depth = int(token.tag[1])
        path = [(level, title) for level, title in path if level < depth]
        path.append((depth, _plain(tokens[position + 1].children or [])))
        start = token.map[1]
    yield tuple(title for _, title in path), "".join(lines[start:])


def _plain(tokens: Iterable[object]) -> str:
    """A heading's words, without its markup."""
    return "".join(str(getattr(token, "content", "")) for token in tokens).strip()


def _pieces(body: str) -> list[str]:
    if len(body) <= MAX_CHARACTERS:
        return [text] if (text := body.strip()) else []
    return [text for piece in _splitter.chunks(body) if (text := piece.strip("\n"))]


def _identity(url: str, headings: tuple[str, ...], text: str, occurrence: int) -> str:
    # A length before each part keeps ("ab", "c") and ("a", "bc") apart.
    parts = [url, *headings, text, str(occurrence)]
    return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()
