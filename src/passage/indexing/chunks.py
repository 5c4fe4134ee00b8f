"""Cuts a page into chunks along its own structure: a section a chunk, a long one at its paragraphs, lists, fences."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from semantic_text_splitter import MarkdownSplitter

from passage.sites.markdown import Page

MAX_CHARACTERS = 1_500
"""What an embedding model reads of a chunk is limited (Cohere's v3 models: 512 tokens, the rest is cut silently);
English prose and code stay below that limit at this length, and so do headings put before it."""

MIN_CHARACTERS = 200
"""A piece of a long section is filled up to at least this much where the structure allows."""

SPLITTER_CHARACTERS = 20_000
"""The most the splitter is given at once: its time grows with the square of what has no structure."""

# Inline markup matters in headings alone, and parsing it everywhere is most of the time a large page takes.
_blocks = MarkdownIt("commonmark", {"html": True}).enable("table").disable("inline")
_inline = MarkdownIt("commonmark", {"html": True})
_splitter = MarkdownSplitter((MIN_CHARACTERS, MAX_CHARACTERS))

# `{#id .class}` as Docusaurus and attr_list write it, and the comment that newer Docusaurus versions put there.
_ATTRIBUTES = re.compile(r"\s*(\{\s*[#.:][^{}]*\}|\{/\*.*?\*/\})\s*\Z")

# What MDX takes for JavaScript: strict enough to leave prose alone that begins with the word "import" or "export".
_MODULE = re.compile(
    r"""import\s+(?:[\w$*{][^"';]*?\sfrom\s*)?["'][^"'\n]+["'];?[ \t]*(?:\n|\Z)"""
    r"""|export\s+(?:(?:const|let|var|class|(?:async\s+)?function\*?)\s+[\w$]+\s*[=({;]"""
    r"""|default\s+(?:[\w$]+;?[ \t]*(?:\n|\Z)|[({]|(?:async\s+)?function\b|class\b)|\*\s+from\b|\{)"""
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page.

    Attributes:
        id: sha256 of what the chunk is (its page, headings and text), hexadecimal: the same content, the same id.
        path: its page's, relative to the pages' folder, without the suffix.
        index: its position on the page, from 0.
        total: how many chunks the page has.
        headings: the titles above it, outermost first; the first is the page's own.
        text: exactly as in the page (with `\\n` for line breaks), without surrounding blank lines.
    """

    id: str
    path: str
    url: str
    title: str
    index: int
    total: int
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
                total=len(pieces),
                headings=headings,
                text=text,
            )


def _sections(markdown: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each heading's path and the source below it, down to the next heading."""
    # The parser's own idea of a line; str.splitlines() also breaks at form feeds, U+2028 and others.
    markdown = re.sub(r"\r\n?", "\n", markdown)
    lines = markdown.split("\n")
    tokens = _blocks.parse(markdown)
    for first, last in _modules(tokens):
        lines[first:last] = [""] * (last - first)
    path: list[tuple[int, str]] = []
    start = 0
    for position, token in enumerate(tokens):
        if token.type != "heading_open" or token.level != 0 or token.map is None:
            continue
        yield _titles(path), "\n".join(lines[start : token.map[0]])
        depth = int(token.tag[1])
        path = [(level, title) for level, title in path if level < depth]
        path.append((depth, _plain(tokens[position + 1].content)))
        start = token.map[1]
    yield _titles(path), "\n".join(lines[start:])


def _titles(path: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(title for _, title in path if title)


def _modules(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """The lines of MDX's imports and exports, from the first to the one after the last."""
    for opening, content in pairwise(tokens):
        if opening.type == "paragraph_open" and opening.level == 0 and opening.map and _MODULE.match(content.content):
            yield opening.map[0], opening.map[1]


def _plain(heading: str) -> str:
    """A heading's words on one line, without markup, HTML tags and attributes."""
    (parsed,) = _inline.parseInline(_ATTRIBUTES.sub("", heading))
    words = "".join(
        " " if token.type in ("softbreak", "hardbreak") else token.content
        for token in parsed.children or []
        if token.type != "html_inline"
    )
    return " ".join(words.split())


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
