"""Finds lists of links that are not a page's text: the contents of a manual's part, and inherited names of an API."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from passage.sites import html
from passage.sites.built.addresses import is_page, page_of
from passage.sites.built.blocks import SENTENCE, Block
from passage.sites.built.document import Document
from passage.sites.built.menus import lists_in
from passage.sites.html import Node

_LINE = 60
"""The most characters of the line above a list."""
_INHERITED = re.compile(r"\b(inherited|included|extended) (from|by)\b|\Ainherited \w+\Z", re.IGNORECASE)
"""The title of names that another page of an API reference describes."""


def link_lists(found: Sequence[Block], document: Document, url: str) -> Iterator[Block]:
    """The blocks of lists of links alone whose first one to another page leads to that which the head names as next.

    The line above such a list is its title. Links alone below a title that says that they are inherited are left out,
    too, with the title. Other lists of links are the author's.

    Args:
        found: all blocks of the content, in reading order.
        url: of the page.
    """
    following = frozenset(page_of(link, url) for link in document.select("head > link[rel=next]"))
    short = (at for at, block in enumerate(found) if len(block.words) <= 2 * _LINE and "ed " in block.words.lower())
    inherited = [at for at in short if _INHERITED.search(found[at].words)]
    if not following and not inherited:
        return
    links = [_links(block) for block in found]
    for at in inherited:
        names = list(takewhile(lambda each: links[each] and not found[each].is_heading, range(at + 1, len(found))))
        yield from found[at : names[-1] + 1] if names else ()
    title = next((at for at, block in enumerate(found) if block.is_heading), 0)
    for first, last in _spans(found, links, url):
        others = (page for at in range(first, last + 1) for link in links[at] if (page := page_of(link, url)) != url)
        if next(others, "") in following:
            named = first - 1 > title and _announces(found[first - 1])
            yield from found[first - named : last + 1]


def _links(block: Block) -> list[Node]:
    """The links in a block; none if a word beside a number stands in no link."""
    return [] if any(map(str.isalpha, block.beside)) else block.linked


def _spans(found: Sequence[Block], links: Sequence[Sequence[Node]], url: str) -> list[tuple[int, int]]:
    """The first and the last position of each outermost list of links alone."""
    spans: list[tuple[int, int]] = []
    for held in lists_in(found):
        whole = all(links[at] and not found[at].is_heading for at in held)
        if whole and all(_is_in_site(link, url) for at in held for link in links[at]):
            spans += [(held[0], held[-1])] if not spans or held[0] > spans[-1][1] else []
    return spans


def _is_in_site(link: Node, url: str) -> bool:
    return html.attribute(link, "href").startswith("#") or is_page(link, url)


def _announces(block: Block) -> bool:
    return not block.is_heading and len(block.words) <= _LINE and not SENTENCE.search(block.words.rstrip(":\uff1a"))
