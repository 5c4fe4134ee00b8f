"""Cuts Markdown at its headings: each section's text and the titles above it."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from passage.sites.model import Section

# Inline markup matters in headings alone, and parsing it everywhere is most of the time a large page takes.
_blocks = MarkdownIt("commonmark", {"html": True}).enable("table").disable("inline")
_inline = MarkdownIt("commonmark", {"html": True})

# `{#id .class}` as Docusaurus and attr_list write it, and the comment that newer Docusaurus versions put there.
_ATTRIBUTES = re.compile(r"\s*(\{\s*[#.:][^{}]*\}|\{/\*.*?\*/\})\s*\Z")

# What MDX takes for JavaScript: strict enough to leave prose alone that begins with the word "import" or "export".
_MODULE = re.compile(
    r"""import\s+(?:[\w$*{][^"';]*?\sfrom\s*)?["'][^"'\n]+["'];?[ \t]*(?:\n|\Z)"""
    r"""|export\s+(?:(?:const|let|var|class|(?:async\s+)?function\*?)\s+[\w$]+\s*[=({;]"""
    r"""|default\s+(?:[\w$]+;?[ \t]*(?:\n|\Z)|[({]|(?:async\s+)?function\b|class\b)|\*\s+from\b|\{)"""
)


def sections(markdown: str) -> tuple[str | None, tuple[Section, ...]]:
    """The first level-1 heading (None without one) and every section that has text, in reading order."""
    # The parser's own idea of a line; str.splitlines() also breaks at form feeds, U+2028 and others.
    markdown = re.sub(r"\r\n?", "\n", markdown)
    found = list(_sections(markdown))
    title = next((title for level, title, _ in found if level == 1 and title), None)
    return title, tuple(section for _, _, section in found if section.markdown.strip())


def _sections(markdown: str) -> Iterator[tuple[int, str, Section]]:
    """Each heading's level and words, and its section; level 0 is the text before the first heading."""
    lines = markdown.split("\n")
    tokens = _blocks.parse(markdown)
    for first, last in _modules(tokens):
        lines[first:last] = [""] * (last - first)
    path: list[tuple[int, str]] = [(0, "")]
    start = 0
    for position, token in enumerate(tokens):
        if token.type != "heading_open" or token.level != 0 or token.map is None:
            continue
        yield *path[-1], Section(_titles(path), "\n".join(lines[start : token.map[0]]))
        depth = int(token.tag[1])
        path = [(level, title) for level, title in path if level < depth]
        path.append((depth, _plain(tokens[position + 1].content)))
        start = token.map[1]
    yield *path[-1], Section(_titles(path), "\n".join(lines[start:]))


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
