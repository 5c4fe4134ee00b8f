"""Finds the elements in the main content that are not part of its text: by a selector, or by what they hold."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from passage.sites import html
from passage.sites.built import tabs
from passage.sites.built.blocks import Block, within
from passage.sites.built.code import line_numbers
from passage.sites.built.furniture import furniture, letters, menus
from passage.sites.built.hidden import hidden
from passage.sites.built.noise import NOISE
from passage.sites.built.render import HEADINGS
from passage.sites.built.repeated import Key, elements, repeated
from passage.sites.html import Node

_HEADINGS = ", ".join(HEADINGS)

_SIGN = re.compile("[\u21a9\u2191\u2934\u00a7\u00b6\ufe0e\ufe0f\\s]+")
"""The words of a link within its page that only goes back from a footnote, or gives a place its address."""

_FEWEST_CONTENTS = 3

_COPIES = re.compile("copy|copied|clipboard", re.IGNORECASE)
_INLINE = frozenset({"a", "b", "code", "em", "i", "kbd", "label", "mark", "s", "small", "span", "strong", "u"})
_SENTENCES = frozenset({"p", "li", "dd", "blockquote"})
_TITLES = frozenset({*HEADINGS, "dt", "summary"})

_OPENS = re.compile(r"(expand|collapse|show|hide|toggle) \w+", re.IGNORECASE)

_SOURCES = ("source", "src", "viewsource", "sourcecode")
_LISTING = re.compile(r"(^|/)(src|source|_modules|_sources)/|/blob/|[-_.]source\.html|\.rs\.html")
"""Addresses of listings of source code."""

_TYPED = "input:not([type=checkbox], [type=radio]), select, textarea"
"""Fields that a reader fills in. A checkbox may be an item of a list, a radio button a tab."""


def dropped(
    contents: Sequence[Node], page: Iterable[Block], noise: str, url: str, common: frozenset[Key]
) -> dict[int, str]:
    """The keys of the elements and texts that are left out, with the rule for people.

    Args:
        page: all blocks of the page.
        noise: a selector of elements, besides those of every theme; empty for none.
        url: of the page.
        common: the blocks that most of the site's pages have.
    """
    gone: dict[int, str] = {}
    for content in contents:
        gone |= dict.fromkeys(map(html.key, _marks(content)), "mark, label or tool")
        gone |= dict.fromkeys(map(html.key, _navigation(content, noise)), "navigation")
        panels = {html.key(panel) for panel, _ in tabs.labels(content)}
        gone |= dict.fromkeys(map(html.key, hidden(content, panels)), "hidden")
        for rule, css in NOISE.items():
            gone |= dict.fromkeys(map(html.key, html.select(content, css)), rule)
    found = list(within(page, contents, gone))
    for _, inside in groupby(found, key=lambda block: block.keys[0]):
        gone |= dict.fromkeys(map(html.key, _skip_links(inside)), "navigation")
    if common:
        left_out = elements(found, repeated(found, common, url))
        gone |= dict.fromkeys(map(html.key, left_out), "repeated on most pages")
    return gone | dict.fromkeys(map(html.key, furniture(contents, gone, url)), "around the text")


def _navigation(content: Node, noise: str) -> Iterator[Node]:
    if noise:
        yield from html.select(content, noise)
    yield from menus(html.select(content, "aside"))
    for links in filter(_is_contents, html.outermost(content, "ul, ol")):
        yield links
        yield from _title_of(links)


def _skip_links(content: Iterable[Block]) -> Iterator[Node]:
    """Links into the page before all of its text."""
    for block in content:
        links = [next((each for each in html.ancestors(node) if html.tag(each) == "a"), None) for node in block.nodes]
        if not all(link is not None and html.attribute(link, "href").startswith("#") for link in links):
            return
        yield from block.nodes


def _leads_to_source(link: Node) -> bool:
    """Whether a link leads from an API's entry to its source."""
    words = "".join(filter(str.isalpha, html.text(link))).lower()
    return words in _SOURCES and _LISTING.search(html.attribute(link, "href")) is not None


def _marks(content: Node) -> Iterator[Node]:
    yield from filter(_is_tool, html.select(content, "button"))
    yield from _permalinks(content)
    yield from _footnote_marks(content)
    for pre in html.select(content, "pre"):
        yield from line_numbers(pre)
    yield from filter(_leads_to_source, html.select(content, "a[href]"))
    yield from (label for label in html.select(content, "label") if _is_of_field(label, content))
    yield from filter(_is_control, html.select(content, "summary"))
    yield from tabs.lists(content)


def _is_tool(button: Node) -> bool:
    """Whether a `<button>` belongs to the theme. It is text in a table's cell, in a sentence, and as a whole title."""
    words = html.text(button)
    named = " ".join(html.attribute(button, name) for name in ("class", "title", "aria-label"))
    if not letters(button) or _COPIES.search(f"{words} {named}"):
        return True
    around = next((above for above in html.ancestors(button) if html.tag(above) not in _INLINE), button)
    alone = letters(around) == sum(map(letters, html.select(around, "button")))
    return html.tag(around) not in ("td", "th", *(_TITLES if alone else _SENTENCES))


def _is_contents(links: Node) -> bool:
    """Whether a list is the page's table of contents: nothing but links within the page, and no end of a sentence."""
    targets = html.select(links, "a[href^='#']")
    before = links.prev
    while before is not None and not html.text(before).strip():
        before = before.prev
    if before is not None and html.text(before).rstrip().endswith(":"):
        return False
    return len(targets) >= _FEWEST_CONTENTS and letters(links) == sum(map(letters, targets))


def _title_of(links: Node) -> Iterator[Node]:
    """The heading of a list that is left out, if it has nothing else below it."""
    before, after = html.previous(links), html.following(links)
    if before is not None and html.tag(before) in HEADINGS[1:] and (after is None or html.tag(after) in HEADINGS):
        yield before


def _permalinks(content: Node) -> Iterator[Node]:
    """Links in a heading to itself or with a sign alone, beside its words; elsewhere, signs that lead into the page."""
    for heading in html.select(content, _HEADINGS):
        itself = f"#{html.attribute(heading, 'id')}"
        for link in html.select(heading, "a[href*='#']"):
            sign = not letters(link) and html.first(link, "img") is None
            if (sign or html.attribute(link, "href") == itself) and letters(heading) > letters(link):
                yield link
    yield from (link for link in html.select(content, "a[href^='#']") if _SIGN.fullmatch(html.text(link)))


def _footnote_marks(content: Node) -> Iterator[Node]:
    """Raised links to a footnote, and the same mark raised where the footnote begins."""
    for mark in html.select(content, "sup:has(a[href^='#'])"):
        link = html.first(mark, "a[href^='#']")
        if link is None or letters(link) != letters(mark):
            continue
        yield mark
        named = html.attribute(link, "href")[1:]
        note = html.first(content, f'[id="{named}"]') if named and '"' not in named else None
        first = html.first(note, "sup") if note is not None else None
        if first is not None and html.squeezed(html.text(first)) == html.squeezed(html.text(mark)):
            yield first


def _is_of_field(label: Node, content: Node) -> bool:
    """Whether a label names a field that the reader fills in, which is left out."""
    named = html.attribute(label, "for")
    field = html.first(content, f'[id="{named}"]') if named and '"' not in named else None
    return html.first(label, _TYPED) is not None or (field is not None and bool(html.select(field, _TYPED)))


def _is_control(summary: Node) -> bool:
    """Whether a summary is only a control: "Expand description", or a text for each state ("Show code Hide code")."""
    if _OPENS.fullmatch(html.squeezed(html.text(summary))):
        return True
    parts = [html.squeezed(html.text(child)).split() for child in html.children(summary) if html.tag(child)]
    return len(parts) == 2 and len(parts[0]) > 1 and parts[0] != parts[1] and parts[0][1:] == parts[1][1:]
