"""Finds the elements in the main content that are not part of its text: by a selector, or by what they hold."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, groupby
from typing import NamedTuple

from passage.sites import html
from passage.sites.built import tabs
from passage.sites.built.blocks import Block, within
from passage.sites.built.code import line_numbers
from passage.sites.built.document import Document
from passage.sites.built.furniture import beside_title, furniture
from passage.sites.built.hidden import hidden
from passage.sites.built.link_lists import link_lists
from passage.sites.built.marks import BADGES, FOOTNOTE_MARKS, Link, badges, briefs, footnote_marks, permalinks
from passage.sites.built.noise import MACHINERY, NOISE
from passage.sites.built.outlines import outlines
from passage.sites.built.repeated import Key, elements, repeated
from passage.sites.built.tables import number_cells
from passage.sites.html import Node

LISTED = "list of links"

_COPIES = re.compile("copy|copied|clipboard", re.IGNORECASE)
_INLINE = frozenset({"a", "b", "code", "em", "i", "kbd", "label", "mark", "s", "small", "span", "strong", "u"})
_SENTENCES = frozenset({"p", "li", "dd", "blockquote"})
_TITLES = frozenset({*html.HEADINGS, "dt", "summary"})

_WORD = re.compile(r"\w+")
_OPENS = re.compile(r"(expand|collapse|show|hide|toggle)( the)? \w+", re.IGNORECASE)

_SOURCE_CODE = re.compile(r"((expand|show|view) )?source( code)?( in \S+)?", re.IGNORECASE)
"""The words of a control that opens an entry's source code."""

_SOURCES = ("source", "src", "viewsource", "sourcecode")
_LISTING = re.compile(r"(^|/)(src|source|_modules|_sources)/|/(blob|tree)/|[-_.]source\.html")
"""Addresses of listings of source code."""
_TYPED = "input:not([type=checkbox], [type=radio]), select, textarea"
"""Fields that a reader fills in. A checkbox may be an item of a list, a radio button a tab."""
_LABELLED = f"[aria-labelledby]:is({_TYPED})"
_LEGENDS = "fieldset:not(:has(p, li, pre, table)) > legend"

_RARE = ("button", "summary", "aside", "label", _LABELLED, _LEGENDS, BADGES, FOOTNOTE_MARKS)
"""Selectors that match on few pages."""


class Dropped(NamedTuple):
    """What is left out of a page's content.

    Attributes:
        rules: the elements and texts, by key, each with the rule for people.
        labels: of tab panels, by key.
        kept: the blocks of the content that are left; some of their lines may be left out, too.
    """

    rules: Mapping[int, str]
    labels: Mapping[int, str]
    kept: Sequence[Block]


def dropped(contents: Sequence[Node], document: Document, noise: str, url: str, common: frozenset[Key]) -> Dropped:
    """Find what is no text of the page.

    Args:
        noise: a selector of elements, besides those of every theme; empty for none.
        url: of the page.
        common: the blocks that most of the site's pages have.
    """
    gone: dict[int, str] = {}
    labels: dict[int, str] = {}

    def drop(nodes: Iterable[Node], rule: str) -> None:
        gone.update(dict.fromkeys(map(html.key, nodes), rule))  # at once: most rules look at `gone`

    for content in contents:
        matches = document.select_each(content, (*_RARE, *filter(None, (noise,)), *NOISE.values()))
        matches |= document.select_each(content, (MACHINERY,))
        links = [(link, html.attribute(link, "href")) for link in html.select(content, "a[href]")]
        found_tabs = tabs.find(content, document)
        labels.update((html.key(panel), label) for panel, label in found_tabs.labels())
        drop((*_marks(content, matches, links), *found_tabs.rows), "mark, label or tool")
        around = chain.from_iterable(
            beside_title(node) if _is_of_page(node, content, document, common) else (node,)
            for node in matches.get(noise, ())
        )
        drop((*around, *filter(_is_menu, matches["aside"]), *outlines(content, links, url)), "navigation")
        panels = {html.key(panel) for panel, _ in found_tabs.panels}
        drop(hidden(content, document.root, panels), "hidden")
        for rule, css in (*NOISE.items(), ("no text", MACHINERY)):
            drop(matches[css], rule)
    found = list(within(document.blocks, document.parents, contents, gone))
    for _, inside in groupby(found, key=lambda block: block.keys[0]):
        drop(_skip_links(inside), "navigation")
    if found and (left_out := repeated(found, document, common, url)):
        drop(elements(found, left_out), "repeated on most pages")
        left = set(map(id, left_out))
        found = [block for block in found if id(block) not in left]
    lists = list(link_lists(found, document, url))
    drop(elements(found, lists), LISTED)
    drop(furniture(contents, document, gone, url), "around the text")
    drop(_between_links(found, gone), "around the text")
    drop(_announcement(contents, gone), "around the text")
    return Dropped(gone, labels, found)


def _between_links(found: Iterable[Block], gone: Container[int]) -> Iterator[Node]:
    """The brackets and bars of lines whose links are left out."""
    for block in found:
        if any(block.links) and all(html.key(link) in gone for link in block.linked) and block.is_linked:
            yield from (node for node, link in zip(block.nodes, block.links, strict=True) if link is None)


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


def _is_of_page(header: Node, content: Node, document: Document, common: frozenset[Key]) -> bool:
    """Whether a header has the page's title, not the site's: its heading is the only one, and `<title>` begins so.

    It may begin with the last word alone: "Period" below the heading "Module Calendar.Period".
    """
    heading = html.first(header, "h1") if html.tag(header) == "header" else None
    if heading is None or len(html.select(content, "h1")) > 1 or html.first(heading, "a[href]") is not None:
        return False
    words = html.words(heading)
    if not document.title or ("h1", words) in common:
        return False
    return document.title.startswith(words) or _WORD.findall(words)[-1:] == _WORD.findall(document.title)[:1]


def _is_menu(beside: Node) -> bool:
    """Whether an element beside the text is a menu: more than half of its letters are in links, or it has none."""
    linked = sum(map(html.letters, html.outermost(beside, "a[href]")))
    return linked * 2 > html.letters(beside) or not html.letters(beside)


def _skip_links(content: Iterable[Block]) -> Iterator[Node]:
    """Links into the page before all of its text."""
    for block in content:
        if not block.is_linked or not all(html.attribute(link, "href").startswith("#") for link in block.linked):
            return
        yield from block.nodes


@lru_cache(maxsize=10_000)  # the pages of a site have the same links
def _is_listing(target: str) -> bool:
    return _LISTING.search(target) is not None


def _leads_to_source(link: Node) -> bool:
    """Whether a link to a listing of source code leads there from an API's entry."""
    return "".join(filter(str.isalpha, html.text(link))).lower() in _SOURCES


def _marks(content: Node, matches: Mapping[str, list[Node]], links: Sequence[Link]) -> Iterator[Node]:
    headings = html.select(content, html.HEADING)
    yield from filter(_is_tool, matches["button"])
    yield from permalinks(headings, links)
    yield from badges(matches[BADGES], headings)
    yield from briefs(content, links)
    yield from footnote_marks(content, matches[FOOTNOTE_MARKS])
    for block in html.select(content, "pre, table"):
        yield from line_numbers(block) if html.tag(block) == "pre" else number_cells(block)
    yield from (link for link, target in links if _is_listing(target) and _leads_to_source(link))
    yield from _labels(content, matches["label"], matches[_LABELLED], matches[_LEGENDS])
    for summary in filter(_is_control, matches["summary"]):
        yield summary.parent if _SOURCE_CODE.fullmatch(html.words(summary)) and summary.parent is not None else summary


def _is_tool(button: Node) -> bool:
    """Whether a `<button>` belongs to the theme. It is text in a table's cell, in a sentence, and as a whole title."""
    words = html.text(button)
    named = " ".join(html.attribute(button, name) for name in ("class", "title", "aria-label"))
    if not html.letters(button) or _COPIES.search(f"{words} {named}"):
        return True
    around = next((above for above in html.ancestors(button) if html.tag(above) not in _INLINE), button)
    alone = html.letters(around) == sum(map(html.letters, html.select(around, "button")))
    return html.tag(around) not in ("td", "th", *(_TITLES if alone else _SENTENCES))


def _labels(content: Node, labels: Iterable[Node], fields: Iterable[Node], legends: Iterable[Node]) -> Iterator[Node]:
    """The names of fields that a reader fills in, which are left out: labels, legends, and what a field refers to."""
    yield from (label for label in labels if _is_of_field(label, content))
    for field in fields:
        for named in html.attribute(field, "aria-labelledby").split():
            name = html.with_id(content, named)
            if name is not None and html.tag(name) not in html.HEADINGS:
                yield name
    for legend in legends:
        if html.first(legend.parent or legend, _TYPED) is not None:
            yield legend


def _is_of_field(label: Node, content: Node) -> bool:
    field = html.with_id(content, html.attribute(label, "for"))
    return html.first(label, _TYPED) is not None or (field is not None and bool(html.select(field, _TYPED)))


def _is_control(summary: Node) -> bool:
    """Whether a summary is only a control: "Expand description", or a text for each state ("Show code Hide code")."""
    if _OPENS.fullmatch(html.words(summary)) or _SOURCE_CODE.fullmatch(html.words(summary)):
        return True
    parts = [html.words(child).split() for child in html.elements(summary)]
    if len(parts) != 2 or not 1 < len(parts[0]) == len(parts[1]):
        return False
    return sum(one != other for one, other in zip(parts[0], parts[1], strict=True)) == 1
