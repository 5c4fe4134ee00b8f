"""Finds pages that must not be indexed: redirects, noindex, error pages, lists, search pages, source listings."""

import re
from collections.abc import Sequence

from passage.sites import html
from passage.sites.built.addresses import is_page
from passage.sites.built.blocks import Block
from passage.sites.built.copies import LIST_FOLDERS
from passage.sites.built.document import Document
from passage.sites.built.generators import Generator
from passage.sites.html import Node
from passage.sites.model import Section

_BY_PATH = (
    (re.compile(r"(.*/)?404(\.html|/index\.html)"), "error page"),
    (re.compile(r"(.*/)?node_modules/.*"), "no page"),
    (re.compile(r"(.*/)?blog/(page|tags?|authors?|archives?|categor(y|ies))(/.*|\.html)"), "list of pages"),
    (re.compile(r"(.*/)?page/\d+(/index)?\.html"), "list of pages"),
    (re.compile(r"google[0-9a-f]{16}\.html"), "no page"),
)
"""Paths that identify such a page. "tags" and "search" are missing: a manual may have such chapters."""

_SEARCH = re.compile(r"([a-z]{2}(-[a-z]{2,4})?/)?search(\.html|/index\.html)", re.IGNORECASE)
_OWN_HEADINGS = "main h2[id], main h3[id], article h2[id], article h3[id]"
_OUT_OF_SEARCH = "main[data-pagefind-ignore], article[data-pagefind-ignore], body[data-pagefind-ignore]"
_SENTENCE = re.compile(r"[.!?\u3002\uff01\uff1f]['\")]*\Z")
_OWN_LETTERS = 25
"""A sentence with fewer letters does not make a list of pages a page: "The manual has six chapters."."""
_LINES, _TARGETS = 5, 20
"""The fewest lines and links of an index."""
_BESIDE = 3
"""The most words beside an index's links: a name, and what it is ("Data Constructor")."""
_LETTER = 3
"""The most characters of a heading that is a letter of an index: "A", "A-C"."""
_TOLD = 0.05
"""The most of an index's letters, as a share, that are in names of more words."""
_LINES_PER_SENTENCE = 100
"""An index has fewer sentences: they say how to read it. A short page with a box of links has more."""
_SECOND_LINE = "pre [id=line-2], pre [id='line.2'], pre [id=L2], pre [id=l00002], pre [id='2']"
"""A line of a listing, whose lines have an address each."""
_NUMBERED = "pre.linenums"
"""Code whose lines a script numbers."""
_OF_SOURCE = re.compile(r"\.[a-z]\w*\.html?\Z", re.IGNORECASE)
"""The end of a listing's address: "mill.js.html"."""
_SHELL_CHARACTERS = 60
_SEARCH_WORDS = 60
"""A page called "search" with fewer words is a search box; one with more words is about searching."""


def skip_reason(file: str, document: Document, generator: Generator) -> str | None:
    """The reason to leave out the page at `file`; None where it must be read."""
    file = f"{file}l" if file.endswith(".htm") else file
    if redirects(document):
        return "redirect"
    by_path = next((reason for pattern, reason in _BY_PATH if pattern.fullmatch(file)), None)
    if by_path or _noindex(document):
        return by_path or "noindex"
    if document.first(_OUT_OF_SEARCH) is not None:
        return "left out of the site's search"
    return generator.reason_to_skip(file, document) or _listing(file, document.root, generator)


def _listing(file: str, root: Node, generator: Generator) -> str | None:
    if generator.taxonomies and LIST_FOLDERS.fullmatch(file) and not _has_own_sections(root):
        return "list of pages"
    if _SEARCH.fullmatch(file) and len(html.text(root).split()) < _SEARCH_WORDS:
        return "search page"
    return None


def _lists_source(file: str, document: Document, found: Sequence[Block]) -> bool:
    """Whether a page shows a source file: a block of code whose lines have addresses, or numbers, and little else."""
    line = document.first(f"{_SECOND_LINE}, {_NUMBERED}" if _OF_SOURCE.search(file) else _SECOND_LINE)
    pre = next((each for each in (line, *html.ancestors(line)) if html.tag(each) == "pre"), None) if line else None
    return pre is not None and html.letters(pre) * 10 >= sum(len(html.letters_of(each.words)) for each in found) * 9


def _has_own_sections(root: Node) -> bool:
    """Whether a page is a chapter ("Series", "Authors"): its headings have ids and are not links to other pages."""
    if len(html.select(root, "article")) > 1:
        return False
    return any(
        all(html.attribute(link, "href").startswith("#") for link in html.select(heading, "a[href]"))
        for heading in html.select(root, _OWN_HEADINGS)
    )


def redirects(document: Document) -> bool:
    """An immediate refresh to another page. mike's root page keeps it in `noscript`."""
    if any(
        "url=" in html.attribute(meta, "content").lower()
        for meta in document.metas
        if html.attribute(meta, "http-equiv").lower() == "refresh"
    ):
        return True
    head = html.first(document.root, "head")
    return head is not None and any(
        'http-equiv="refresh"' in (html.text(node) + (node.html or "")).lower()
        for node in html.select(head, "noscript")
    )


def _noindex(document: Document) -> bool:
    return any(
        re.search(r"\b(noindex|none)\b", html.attribute(meta, "content").lower())
        for meta in document.metas
        if "robots" in (html.attribute(meta, "name").lower(), html.attribute(meta, "property").lower())
    )


def in_pagefind(document: Document) -> bool:
    """Whether the page is marked for Pagefind. If one page of a site is marked, Pagefind skips unmarked pages."""
    return document.first("[data-pagefind-body]") is not None


def is_shell(root: Node, sections: Sequence[Section]) -> bool:
    """Whether a page has only a few words until its script has run: "Loading …"."""
    return (
        len(sections) == 1
        and not sections[0].headings
        and len(sections[0].markdown) <= _SHELL_CHARACTERS
        and html.first(root, "body script[src]") is not None
        and (html.first(root, "body p") is None or sections[0].markdown.endswith(("...", "\u2026")))
    )


def reason_to_leave_out(file: str, document: Document, found: Sequence[Block], page_url: str) -> str | None:
    """The reason to leave out the page at `file` for what its content is; None where it must be read.

    Args:
        found: the blocks of its content.
    """
    if _lists_source(file, document, found):
        return "source listing"
    return "list of pages" if _is_index(document, found, page_url) else None


def _is_index(document: Document, found: Sequence[Block], page_url: str) -> bool:
    """Whether a page is an index: lines of links to pages, which have most of its letters, and few words beside them.

    The entries of an API's reference may be little more than links to their types, but these stand in code.
    """
    if not _is_mostly_links(found) or document.first("pre") is not None:
        return False
    linked = document.select("code:has(a[href])")
    if any(html.letters(code) > sum(map(html.letters, html.outermost(code, "a"))) for code in linked):
        return False
    lines = targets = headings = sentences = letters = beside = told = 0
    for block in found:
        links = {html.key(link): link for link in block.links if link is not None}
        is_line = bool(links) and all(is_page(link, page_url) for link in links.values())
        alone = block.beside.strip() if is_line else block.words
        left = len(html.letters_of(alone))
        lines += is_line
        targets += len(links) * is_line
        headings += block.is_heading and not is_line and len(block.words) > _LETTER
        letters += len(html.letters_of(block.words))
        beside += left
        if left >= _OWN_LETTERS:
            told += left if len(alone.split()) > _BESIDE else 0
            sentences += _SENTENCE.search(alone) is not None
    if lines < _LINES or targets < _TARGETS or headings > 1 or sentences * _LINES_PER_SENTENCE > lines:
        return False
    return beside * 2 < letters and told <= letters * _TOLD


def _is_mostly_links(found: Sequence[Block]) -> bool:
    some = (each for each in found if any(each.links))
    linked = sum(len(text) for each in some for text, link in zip(each.texts, each.links, strict=True) if link)
    return linked * 2 > sum(len(each.words) for each in found)


def lists_pages(contents: list[Node], page_url: str) -> bool:
    """Whether the content is only links to other pages of the site, each with a few words at most, and no sentence."""
    if any(html.first(content, "pre, table, p + p, blockquote, details") is not None for content in contents):
        return False
    headings = [heading for each in contents for heading in html.select(each, "h1, h2, h3") if html.letters(heading)]
    if any(html.tag(heading) != "h1" and not _is_group(heading) for heading in headings[1:]):
        return False
    below = (element for content in contents for element in html.elements(content))
    items = [item for element in below for item in html.outermost(element, "li, dd, .entry, article")]
    if not items or not all(_begins_with_link(item, page_url) for item in items):
        return False
    keys = {html.key(item) for item in items}
    around = [block for content in contents for block in html.select(content, "p, div:not(:has(p, div))")]
    return not any(
        html.letters(block) >= _OWN_LETTERS
        and _SENTENCE.search(html.text(block).strip())
        and not html.is_within(block, keys)
        for block in around
    )


def _is_group(heading: Node) -> bool:
    """Whether a heading only groups links: it is a date, or a link to another page."""
    words = html.text(heading)
    link = html.first(heading, "a[href]")
    return not any(map(str.isalpha, words)) or (link is not None and not html.attribute(link, "href").startswith("#"))


def _begins_with_link(item: Node, page_url: str) -> bool:
    link = html.first(item, "a[href]")
    return (
        link is not None and is_page(link, page_url) and html.text(item).strip().startswith(html.text(link).strip()[:1])
    )
