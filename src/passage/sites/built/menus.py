"""Finds menus, and the links to the pages around a page, by what the links in a block are."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain

from passage.sites import html
from passage.sites.built.addresses import is_page, page_of
from passage.sites.built.blocks import Block
from passage.sites.built.document import Document
from passage.sites.html import Node

WIDEST = 12
"""The most blocks of a group of links to the pages around a page."""

_FEWEST = 3
"""The fewest blocks of a menu inside of the text."""
_FEWEST_IN_LIST = 5
"""The fewest links of a list that is a menu on few pages."""
_LISTS = frozenset({"ul", "ol", "dl", "table"})
_AROUND = frozenset(
    {"prev", "previous", "next", "up", "parent", "home", "start", "begin", "first", "last", "contents", "toc", "index"}
)
"""The `rel` of links to the pages around a page, and the names of their pictures: `next.png`."""
_KEYS = frozenset("hnpu")
"""The `accesskey` of such links, as DocBook and texinfo write it."""
_LETTERS = re.compile("[a-z]+")
LABELS = re.compile(r"(\W*\w+( \w+)?\s?[:\uff1a])*[\W_]*")
"""The words beside the links of a panel: "Next: … Up: …"."""


def leading_links(found: Sequence[Block], document: Document, url: str) -> tuple[set[int], set[int]]:
    """The positions of links to the pages around this one, and of the words that the head gives to such a page.

    And of panels: lines of several links with a label at most beside each ("Next: A, Up: B"), which have `rel`, or of
    which one leads to a page that the head names.
    """
    stated = [link for link in document.select("head > link[rel][href]") if _is_around(link)]
    titles = {html.squeezed(html.attribute(link, "title")) for link in stated} - {""}
    leading = [link for link in document.select("a[rel], a[accesskey], a:has(> img)") if _is_around(link)]
    if titles or leading:
        titles.add(document.title)
    named = {at for at, block in enumerate(found) if block.words in titles and not block.is_heading}
    if not leading and not stated:
        return named, set()
    pages = {page_of(link, url) for link in stated}
    marked = set(map(html.key, leading))
    panels: set[int] = set()
    for at, block in enumerate(found):
        inside = {html.key(link): link for link in block.links if link is not None}
        leads = not marked.isdisjoint(inside) or any(pages and page_of(each, url) in pages for each in inside.values())
        if not leads or block.is_heading:
            continue
        if len(marked.intersection(inside)) > 1 or (len(inside) > 1 and not block.is_linked):
            panels |= {at} if LABELS.fullmatch(block.beside) else set()
        elif marked.issuperset(inside) and block.is_linked:
            named.add(at)
    return named, panels


def _is_around(link: Node) -> bool:
    rel = html.attribute(link, "rel").lower().split()
    if not _AROUND.isdisjoint(rel) or html.attribute(link, "accesskey") in _KEYS:
        return True
    arrow = html.first(link, "img")
    file = html.attribute(arrow, "src").lower().rpartition("/")[2] if arrow is not None else ""
    return not _AROUND.isdisjoint(_LETTERS.findall(file))


def menus_in(found: Sequence[Block], shared: Sequence[bool], url: str) -> set[int]:
    """The positions of common links: of several in a line, or in an element of common lines that are mostly links.

    A link to the page itself may have other words there, such as an arrow.
    """
    common = {at for at, block in enumerate(found) if shared[at] and not block.is_heading}
    linked = {at for at in common if _is_mostly_linked(found[at])}
    of_links = Counter(chain.from_iterable(found[at].keys for at in linked))
    menus = {key for key, count in of_links.items() if count >= _FEWEST}
    for at, block in enumerate(found) if menus else ():
        if at not in common and not menus.isdisjoint(block.keys) and not (_is_number(block) or _is_itself(block, url)):
            menus.difference_update(block.keys)
    lines = Counter(key for at in common if not _is_number(found[at]) for key in found[at].keys if key in menus)
    menus = {key for key in menus if of_links[key] * 2 > lines[key]}
    several = {at for at in linked if found[at].is_linked and len(set(map(html.key, found[at].linked))) > 1}
    return several.union(at for at in common if not menus.isdisjoint(found[at].keys))


def lists_in(found: Sequence[Block]) -> list[list[int]]:
    """The positions of the blocks in each list and table, in reading order, an outer one before those in it."""
    inside: dict[int, list[int]] = {}
    for at, block in enumerate(found):
        for name, key in zip(block.names, block.keys, strict=True):
            if name in _LISTS:
                inside.setdefault(key, []).append(at)
    return list(inside.values())


def lists_of_links(found: Sequence[Block]) -> list[tuple[str, list[int]]]:
    """The words of each list of links alone, of which one may be the page itself, and the positions of its blocks."""
    lists = []
    for held in lists_in(found):
        wordy = [found[at].is_linked and not found[at].is_heading for at in held if not _is_number(found[at])]
        if wordy.count(True) >= _FEWEST_IN_LIST and wordy.count(False) <= 1:
            lists.append(("\n".join(found[at].words for at in held), held))
    return lists


def widened(found: Sequence[Block], menus: set[int], leading: set[int]) -> set[int]:
    """The positions in menus, and in elements of links alone that hold a part of a menu or two links of `leading`."""
    wide = set(menus)
    keys = {key for at in menus | leading for key in found[at].keys[1:]}
    inside: dict[int, list[int]] = {}
    for at, block in enumerate(found) if keys else ():
        for key in keys.intersection(block.keys):
            inside.setdefault(key, []).append(at)
    for group in inside.values():
        leads = len(leading.intersection(group)) > 1 or not menus.isdisjoint(group)
        narrow = len(group) <= WIDEST or len(menus.intersection(group)) * 2 > len(group)
        plain = leads and narrow and not any(found[at].is_heading for at in group)
        if plain and all(at in menus or _is_number(found[at]) or found[at].is_linked for at in group):
            wide.update(group)
    return wide


def is_link(block: Block, url: str) -> bool:
    """Whether all words of a block are in links to pages of the site."""
    return block.is_linked and all(is_page(link, url) for link in block.linked)


def _is_itself(block: Block, url: str) -> bool:
    return block.is_linked and all(page_of(link, url) == url for link in block.linked)


def _is_number(block: Block) -> bool:
    return not any(map(str.isalpha, block.words))


def _is_mostly_linked(block: Block) -> bool:
    """Whether more than half of a block's letters are in links."""
    return any(block.links) and len(html.letters_of(block.beside)) * 2 < len(html.letters_of(block.words))
