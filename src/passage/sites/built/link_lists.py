"""Finds lists of links to other pages in a page's text: the contents of a part, an index."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import urljoin

from passage.sites import html
from passage.sites.built.addresses import is_page
from passage.sites.built.blocks import Block
from passage.sites.html import Node

_LISTS = frozenset({"ul", "ol", "dl", "table"})
_INDEX = 30
"""The fewest links of an index."""
_SHARE = 0.9
"""The share of an index' letters that are in links: the others are its letters A to Z, and numbers."""
_LINE = 60
"""The most characters of the line above a list."""
_SENTENCE = re.compile(r"[.!?:;\u3002\uff01\uff1f\uff1a]['\")\]]*\Z")


def link_lists(found: Sequence[Block], contents: Sequence[Node], url: str) -> Iterator[Block]:
    """The blocks of lists of links alone: below the title, at the end, from the next page on, and of long ones.

    A list that a heading, a title or a sentence with a colon announces is the author's, if it does not begin with the
    next page.

    Args:
        found: all blocks of the content, in reading order.
        url: of the page.
    """
    targets = {html.key(link): link for content in contents for link in html.select(content, "a[href]")}
    links = [_links(block, targets) for block in found]
    if not any(links):
        return
    following = _following(contents[0], url)
    spans = _spans(found, links, url)
    gone = set(_index(found, links, url))
    title = next((at for at, block in enumerate(found) if block.is_heading), 0)
    for first, last in spans:
        above = first - 1
        named = above > title and _announces(found[above])
        below_title = first > title and _begins(above - named, title, gone)
        if (below_title and last > first) or _target(links[first][0], url) in following:
            gone.update(range(first - named, last + 1))
    for first, last in reversed(spans):
        announced = first and (found[first - 1].is_heading or _announces(found[first - 1]))
        if gone.issuperset(range(last + 1, len(found))) and not announced and first > title:
            gone.update(range(first, last + 1))
    yield from (found[at] for at in sorted(gone))


def _links(block: Block, targets: dict[int, Node]) -> list[Node]:
    """The link around each word and picture of a block; none if a word stands in no link."""
    found: list[Node] = []
    for text, around in zip(block.texts, block.around, strict=True):
        if any(map(str.isalpha, text)):
            key = next((each for each in reversed(around) if each in targets), None)
            if key is None:
                return []
            found.append(targets[key])
    return found


def _spans(found: Sequence[Block], links: Sequence[Sequence[Node]], url: str) -> list[tuple[int, int]]:
    """The first and the last position of each outermost list of links alone, of which one leads to another page."""
    inside: dict[int, list[int]] = {}
    for at, block in enumerate(found):
        for node, key in zip(block.above, block.keys, strict=True):
            if html.tag(node) in _LISTS:
                inside.setdefault(key, []).append(at)
    spans: list[tuple[int, int]] = []
    for held in inside.values():
        whole = all(links[at] and not found[at].is_heading for at in held)
        of_site = whole and all(_is_in_site(link, url) for at in held for link in links[at])
        if of_site and any(is_page(link, url) for at in held for link in links[at]):
            spans += [(held[0], held[-1])] if not spans or held[0] > spans[-1][1] else []
    return spans


def _is_in_site(link: Node, url: str) -> bool:
    return html.attribute(link, "href").startswith("#") or is_page(link, url)


def _index(found: Sequence[Block], links: Sequence[Sequence[Node]], url: str) -> Iterator[int]:
    """The positions in elements with many links of the site and next to no other word."""
    linked = [at for at, inside in enumerate(links) if inside and all(_is_in_site(link, url) for link in inside)]
    if len(linked) < _INDEX:
        return
    letters = [sum(map(str.isalpha, block.words)) for block in found]
    counts = Counter(key for at in linked for key in found[at].keys)
    sizes: Counter[int] = Counter()
    in_links: Counter[int] = Counter()
    of_links = set(linked)
    for at, block in enumerate(found):
        for key in block.keys:
            sizes[key] += letters[at]
            in_links[key] += letters[at] * (at in of_links)
    whole = {key for key, count in counts.items() if count >= _INDEX and in_links[key] >= sizes[key] * _SHARE}
    for at, block in enumerate(found):
        if not whole.isdisjoint(block.keys) and not block.is_heading and (links[at] or _is_line(block)):
            yield at


def _begins(at: int, title: int, gone: set[int]) -> bool:
    """Whether only lists that are left out stand between the title and a position."""
    return gone.issuperset(range(title + 1, at + 1))


def _is_line(block: Block) -> bool:
    return not block.is_heading and len(block.words) <= _LINE and not _SENTENCE.search(block.words)


def _announces(block: Block) -> bool:
    return block.words.endswith((":", "\uff1a")) or _is_line(block)


def _following(content: Node, url: str) -> set[str]:
    """The addresses of the pages that the page's head names as the next ones."""
    root = next(reversed(list(html.ancestors(content))), content)
    return {_target(link, url) for link in html.select(root, "head > link[rel=next]")}


def _target(link: Node, url: str) -> str:
    try:
        return urljoin(url, html.attribute(link, "href")).partition("#")[0]
    except ValueError:
        return ""
