"""Finds a page's table of contents in its text: links to the page's own places, and the title above them."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby
from urllib.parse import urljoin

from passage.sites import html
from passage.sites.built.marks import Link
from passage.sites.html import Node

_HOLDERS = ("ul", "ol", "dl", "p", "div", "td")
_BESIDE_LINES = frozenset({*html.HEADINGS, "hr", "p", "div", "table", "ul", "ol"})
_FEWEST = 3
_BESIDE = 0.05
"""The most letters beside the links, as a share: a mark of what is new, a name that is struck through."""

_FILE = re.compile(r"(?:(?:[\w-]+|\.\.?)/)*([\w-]+\.[\w.-]*\w)#", re.ASCII)
"""The relative address of a page, and the name of its file."""

_LONGEST_TITLE = 60
"""The most characters of the line above a table of contents."""


def outlines(content: Node, links: Sequence[Link], url: str) -> Iterator[Node]:
    """The lists of next to nothing but links within the page, each with its title.

    Args:
        links: all in the content.
        url: of the page.
    """
    headings = _Headings(content)
    inside = [link for link, target in links if "#" in target and _place(target, url)]
    tops = (link for link, target in links if target == "#") if inside else ()
    for outline in _lists(content, inside, {html.key(link) for link in chain(inside, tops)}, url, headings):
        yield outline
        yield from _title_of(outline, headings)
    yield from _lines(inside)


class _Headings:
    """The headings of the content, and the places that tables of contents have among them."""

    def __init__(self, content: Node) -> None:
        self._content = content

    @cached_property
    def _ordered(self) -> tuple[dict[int, int], list[Node]]:
        headings: list[Node] = []
        before: dict[int, int] = {}
        for node in html.select(self._content, f"{html.HEADING}, {', '.join(_HOLDERS)}"):
            before[html.key(node)] = len(headings)
            headings += [node] if html.tag(node) in html.HEADINGS else []
        return before, headings

    def around(self, node: Node) -> tuple[list[Node], list[Node]]:
        """Those before an element, and those behind it."""
        before, headings = self._ordered
        at = before[html.key(node)]
        return headings[:at], headings[at:]


def _lists(
    content: Node, inside: Sequence[Node], keys: Container[int], url: str, headings: _Headings
) -> Iterator[Node]:
    holders: dict[int, Node] = {}
    linked: Counter[int] = Counter()
    for link in inside:
        above = next((each for each in html.ancestors(link) if html.tag(each) in _HOLDERS), None)
        if above is not None:
            holders.setdefault(html.key(above), above)
            if html.tag(above) == "div":
                linked.update(dict.fromkeys(map(html.key, html.ancestors(link)), _words(link)))
    found: dict[int, Node] = {}
    sizes: dict[int, int] = {}
    for holder in holders.values():
        outline = _outermost(holder, content, sizes, linked)
        found.setdefault(html.key(outline), outline)
    for outline in found.values():
        targets = html.select(outline, "a[href]")
        if not all(html.key(link) in keys for link in targets):
            continue
        words = _words(outline)
        beside = words - _labels(outline) - sum(map(_words, targets))
        if beside > words * _BESIDE or _ends_sentence(outline) or leads_into_itself(outline, url):
            continue
        if len(targets) >= _FEWEST or _names_headings(targets, outline, headings, url):
            yield outline


def _lines(inside: Sequence[Node]) -> Iterator[Node]:
    """Links within the page that are all that stands between two blocks, in no element of their own (groff)."""
    keys = set(map(html.key, inside))
    around = {html.key(link.parent): link.parent for link in inside if link.parent is not None}
    for parent in around.values():
        before = True
        for is_line, group in groupby(html.children(parent), lambda node: _is_of_line(node, keys)):
            nodes = list(group)
            links = [node for node in nodes if html.tag(node) == "a"]
            after = html.following(nodes[-1])
            ends = after is None or html.tag(after) in _BESIDE_LINES
            if is_line and before and ends and len(links) >= _FEWEST and html.tag(parent) not in _HOLDERS[:-2]:
                yield from links
            before = html.tag(nodes[-1]) in _BESIDE_LINES


def _is_of_line(node: Node, links: Container[int]) -> bool:
    """Whether a node is one of the links, or a break or blank between them."""
    return html.tag(node) == "br" or html.key(node) in links or not (html.tag(node) or html.letters(node))


def leads_into_itself(element: Node, url: str) -> bool:
    """Whether most links of an element lead to places in it: these are entries with an address, not a list of them."""
    targets = [_place(html.attribute(link, "href").strip(), url) for link in html.select(element, "a[href]")]
    marks = [*html.select(element, "[id]"), *html.select(element, "[name]")]
    places = {html.attribute(mark, name) for mark in marks for name in ("id", "name")} - {""}
    return bool(places) and sum(target in places for target in targets) * 2 > len(targets)


def _outermost(holder: Node, content: Node, sizes: dict[int, int], linked: Mapping[int, int]) -> Node:
    """The largest element with the same words, of which one is a list in another, or all words are in links.

    Args:
        sizes: keeps the letters of each element.
        linked: the letters of the links within the page in each element around a `div` with one.
    """

    def letters(node: Node) -> int:
        if (key := html.key(node)) not in sizes:
            sizes[key] = html.letters(node)
        return sizes[key]

    found = holder
    for above in html.ancestors(holder):
        if html.key(above) == html.key(content):
            break
        inside = linked.get(html.key(above), 0)
        if html.tag(above) in ("ul", "ol", "dl") or (inside * 2 > letters(above) and inside == _words(above)):
            found = above
        elif html.tag(above) != "li" and letters(above) != letters(found):
            break
    return found


def _words(node: Node) -> int:
    """The letters of an element without numbers, which a list may have beside its links."""
    return html.letters(node, digits=False)


def _labels(outline: Node) -> int:
    """The letters between the items of an outline's lists: names of groups."""
    lists = {html.key(each): each for each in (outline, *html.select(outline, "ul, ol"))}
    inside = (child for each in lists.values() if html.tag(each) in ("ul", "ol") for child in html.children(each))
    return sum(_words(child) for child in inside if not html.tag(child))


def _place(target: str, url: str) -> str:
    """The place of the page that a link leads to; empty for another page."""
    target = target.strip()
    if target.startswith("#"):
        return target[1:]
    name = _FILE.match(target)
    if name is not None and name[1] != url.rpartition("/")[2]:
        return ""  # `urljoin` takes longer
    try:
        page, _, place = urljoin(url, target).partition("#")
    except ValueError:
        return ""
    return place if page.removesuffix("/") == url.removesuffix("/") else ""


def _ends_sentence(links: Node) -> bool:
    before = next((each for each in html.all_before(links) if html.text(each).strip()), None)
    if before is None or html.tag(before) in html.HEADINGS:
        return False
    if html.tag(before) and html.first(before, "input, select") is not None:  # the label of a field
        return False
    return html.text(before).rstrip().endswith(":")


def _names_headings(targets: list[Node], outline: Node, headings: _Headings, url: str) -> bool:
    """Whether links around the page's title have the words of headings, the first those of the next one."""
    before, behind = headings.around(outline)
    if behind and html.tag(behind[0]) == "h1":
        behind = behind[1:]
    fewest = 1 if html.first(outline, "li") is not None else _FEWEST - 1
    if len(targets) < fewest or any(html.tag(each) != "h1" and not _is_above(each, outline) for each in before):
        return False
    for at, link in enumerate(targets):
        heading = next((each for each in behind if _place(html.attribute(link, "href"), url) in _ids(each)), None)
        if heading is None or not html.words(heading).startswith(html.words(link)):
            return False
        if not at and html.key(heading) != html.key(behind[0]):
            return False
    return True


def _ids(heading: Node) -> set[str]:
    """The ids of a heading, and of the section that it begins."""
    around = heading.parent if html.previous(heading) is None else None
    return {html.attribute(node, "id") for node in (heading, around) if node is not None} - {""}


def _is_above(heading: Node, outline: Node) -> bool:
    before, around = html.previous(outline), outline.parent
    while before is None and around is not None:
        before, around = html.previous(around), around.parent
    return before is not None and html.key(before) == html.key(heading)


def _title_of(links: Node, headings: _Headings) -> Iterator[Node]:
    """The heading of links that are left out, and a line that shares a box with them.

    A heading stays that has something else below it, but one without an address before a heading of its level.
    """
    before, after = html.previous(links), html.following(links)
    if before is None or not html.tag(before):
        return
    if html.tag(before) in html.HEADINGS - {"h1"}:
        _, behind = headings.around(links)
        ends = bool(behind) and html.tag(behind[0]) <= html.tag(before)
        if after is None or (ends and (html.tag(after) in html.HEADINGS or not _is_linked(before))):
            yield before
        return
    around = links.parent
    alone = around is not None and html.letters(around) == html.letters(links) + html.letters(before)
    if alone and html.tag(before) != "h1" and len(html.words(before)) <= _LONGEST_TITLE:
        yield before


def _is_linked(heading: Node) -> bool:
    """Whether a heading has an address of its own, as the others of a page do."""
    return bool(html.attribute(heading, "id")) or html.first(heading, "a, [id]") is not None
