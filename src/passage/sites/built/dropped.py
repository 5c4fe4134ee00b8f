"""Finds the elements in the main content that are not part of its text: by a selector, or by what they hold."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby

from passage.sites import html
from passage.sites.built import tabs
from passage.sites.built.blocks import Block, within
from passage.sites.built.code import line_numbers
from passage.sites.built.furniture import beside_title, furniture
from passage.sites.built.hidden import hidden
from passage.sites.built.link_lists import link_lists
from passage.sites.built.marks import badges, briefs, footnote_marks, permalinks
from passage.sites.built.noise import NOISE
from passage.sites.built.outlines import outlines
from passage.sites.built.render import HEADINGS
from passage.sites.built.repeated import Key, elements, repeated
from passage.sites.built.tables import number_cells
from passage.sites.html import Node

LISTED = "list of links"

_HEADINGS = ", ".join(HEADINGS)

_COPIES = re.compile("copy|copied|clipboard", re.IGNORECASE)
_INLINE = frozenset({"a", "b", "code", "em", "i", "kbd", "label", "mark", "s", "small", "span", "strong", "u"})
_SENTENCES = frozenset({"p", "li", "dd", "blockquote"})
_TITLES = frozenset({*HEADINGS, "dt", "summary"})

_OPENS = re.compile(r"(expand|collapse|show|hide|toggle)( the)? \w+", re.IGNORECASE)

_SOURCE_CODE = re.compile(r"((expand|show|view) )?source( code)?( in \S+)?", re.IGNORECASE)
"""The words of a control that opens an entry's source code."""

_SOURCES = ("source", "src", "viewsource", "sourcecode")
_LISTING = re.compile(r"(^|/)(src|source|_modules|_sources)/|/blob/|[-_.]source\.html|\.rs\.html")
"""Addresses of listings of source code."""
_TO_LISTINGS = ", ".join(f"a[href*='{part}']" for part in ("src/", "source", "_modules/", "/blob/", ".rs.html"))
"""The links that `_LISTING` may match. Most links of a page are others."""

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
        found_tabs = tabs.find(content)
        gone |= dict.fromkeys(map(html.key, (*_marks(content), *found_tabs.rows)), "mark, label or tool")
        gone |= dict.fromkeys(map(html.key, _navigation(content, noise, url, common)), "navigation")
        panels = {html.key(panel) for panel, _ in found_tabs.panels}
        gone |= dict.fromkeys(map(html.key, hidden(content, panels)), "hidden")
        for rule, css in NOISE.items():
            gone |= dict.fromkeys(map(html.key, html.select(content, css)), rule)
    found = list(within(page, contents, gone))
    for _, inside in groupby(found, key=lambda block: block.keys[0]):
        gone |= dict.fromkeys(map(html.key, _skip_links(inside)), "navigation")
    if common:
        left_out = repeated(found, common, url)
        gone |= dict.fromkeys(map(html.key, elements(found, left_out)), "repeated on most pages")
        left = set(map(id, left_out))
        found = [block for block in found if id(block) not in left]
    lists = list(link_lists(found, contents, url))
    gone |= dict.fromkeys(map(html.key, elements(found, lists)), LISTED)
    gone |= dict.fromkeys(map(html.key, furniture(contents, gone, url)), "around the text")
    return gone | dict.fromkeys(map(html.key, _announcement(contents, gone)), "around the text")


def _announcement(contents: Sequence[Node], gone: Container[int]) -> Iterator[Node]:
    """A line at the very end that announces what is left out: "… was generated from the following file:"."""
    end: Node | None = contents[-1] if contents else None
    followed = False
    while end is not None and html.tag(end):
        backwards = list(html.children(end))[::-1]
        last = next((child for child in backwards if html.text(child).strip()), None)
        left = next((child for child in backwards if html.key(child) not in gone and html.text(child).strip()), None)
        followed = followed or (left is not None and last is not None and html.key(last) != html.key(left))
        end = left
        if end is not None and followed and not html.tag(end) and html.own_text(end).rstrip().endswith(":"):
            yield end


def _is_of_page(header: Node, content: Node, common: frozenset[Key]) -> bool:
    """Whether a header has the page's title, not the site's: its heading is the only one, and `<title>` begins so."""
    heading = html.first(header, "h1") if html.tag(header) == "header" else None
    if heading is None or len(html.select(content, "h1")) > 1 or html.first(heading, "a[href]") is not None:
        return False
    words = _words(heading)
    head = html.first(next(reversed(list(html.ancestors(content))), content), "head > title")
    return head is not None and _words(head).startswith(words) and ("h1", words) not in common


def _navigation(content: Node, noise: str, url: str, common: frozenset[Key]) -> Iterator[Node]:
    for node in html.select(content, noise) if noise else ():
        yield from beside_title(node) if _is_of_page(node, content, common) else (node,)
    yield from filter(_is_menu, html.select(content, "aside"))
    yield from outlines(content, url)


def _is_menu(beside: Node) -> bool:
    """Whether an element beside the text is a menu: more than half of its letters are in links, or it has none."""
    linked = sum(map(html.letters, html.outermost(beside, "a[href]")))
    return linked * 2 > html.letters(beside) or not html.letters(beside)


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
    yield from permalinks(content)
    yield from badges(content)
    yield from briefs(content)
    yield from footnote_marks(content)
    for pre in html.select(content, "pre"):
        yield from line_numbers(pre)
    for table in html.select(content, "table"):
        yield from number_cells(table)
    yield from filter(_leads_to_source, html.select(content, _TO_LISTINGS))
    yield from _labels(content)
    for summary in filter(_is_control, html.select(content, "summary")):
        yield summary.parent if _SOURCE_CODE.fullmatch(_words(summary)) and summary.parent is not None else summary


def _is_tool(button: Node) -> bool:
    """Whether a `<button>` belongs to the theme. It is text in a table's cell, in a sentence, and as a whole title."""
    words = html.text(button)
    named = " ".join(html.attribute(button, name) for name in ("class", "title", "aria-label"))
    if not html.letters(button) or _COPIES.search(f"{words} {named}"):
        return True
    around = next((above for above in html.ancestors(button) if html.tag(above) not in _INLINE), button)
    alone = html.letters(around) == sum(map(html.letters, html.select(around, "button")))
    return html.tag(around) not in ("td", "th", *(_TITLES if alone else _SENTENCES))


def _labels(content: Node) -> Iterator[Node]:
    """The names of fields that a reader fills in, which are left out: labels, legends, and what a field refers to."""
    yield from (label for label in html.select(content, "label") if _is_of_field(label, content))
    for field in html.select(content, _TYPED):
        for named in html.attribute(field, "aria-labelledby").split():
            yield from html.select(content, f'[id="{named}"]:not({_HEADINGS})') if '"' not in named else ()
    for legend in html.select(content, "fieldset:not(:has(p, li, pre, table)) > legend"):
        if html.first(legend.parent or legend, _TYPED) is not None:
            yield legend


def _is_of_field(label: Node, content: Node) -> bool:
    named = html.attribute(label, "for")
    field = html.first(content, f'[id="{named}"]') if named and '"' not in named else None
    return html.first(label, _TYPED) is not None or (field is not None and bool(html.select(field, _TYPED)))


def _is_control(summary: Node) -> bool:
    """Whether a summary is only a control: "Expand description", or a text for each state ("Show code Hide code")."""
    if _OPENS.fullmatch(_words(summary)) or _SOURCE_CODE.fullmatch(_words(summary)):
        return True
    parts = [html.squeezed(html.text(child)).split() for child in html.children(summary) if html.tag(child)]
    if len(parts) != 2 or not 1 < len(parts[0]) == len(parts[1]):
        return False
    return sum(one != other for one, other in zip(parts[0], parts[1], strict=True)) == 1


def _words(node: Node) -> str:
    return html.squeezed(html.text(node))
