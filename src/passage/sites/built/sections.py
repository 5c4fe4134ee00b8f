"""Cuts a page at its headings and converts each section to Markdown separately."""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape

from passage.sites import html
from passage.sites.built import render
from passage.sites.built.entries import Entry
from passage.sites.built.render import Rendering
from passage.sites.built.tables import is_frame
from passage.sites.html import Node
from passage.sites.model import Section

_NOT_CUT = frozenset({"blockquote", "table", "pre"})

_MARKS = "a[id], a[name], span[id]"
"""Empty elements that give a place of the page its address."""

_SCOPES = frozenset({"section", "details", "dl", "dd", "aside"})
"""Text after one of these elements belongs to the heading before the element."""

_ENTRY_LEVEL = 7
"""The level of API entries: below headings of every level."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading or an API entry.

    Attributes:
        level: from 1 to 6; higher for entries.
        is_own: it may be the page's title: it links to no page above, and stands before the text of other headings.
    """

    level: int
    title: str
    anchor: str
    is_own: bool = True


_NAMED = re.compile(r"(\W?([\w!?]+))\((?:[^)].*\)|\)\s*(?:[-=]>|[:\u21d2\u2192]))")
"""A heading that is a signature: its name, and parameters or what is returned."""
_LAST = re.compile("[.:#/]")

_BOUNDARY = "</div><div>"
"""Ends a block, so that the text before and after it does not run together."""


def cut(contents: list[Node], page: Rendering) -> tuple[list[Section], list[Heading]]:
    """The sections with text, in reading order, and every heading of the page."""
    points = {html.key(node): node for content in contents for node in _points(content, page)}
    around = {html.key(above) for node in points.values() for above in html.ancestors(node)}
    cutter = _Cutter(page, points, around)
    for content in contents:
        cutter.visit(content)
        cutter.parts.append(_BOUNDARY)
    cutter.close()
    return cutter.sections, cutter.headings


def _points(content: Node, page: Rendering) -> Iterator[Node]:
    """The headings and entries that begin a section."""
    parts = {html.key(node) for node in page.entries.parts}
    entries = page.generator.entries
    found = html.select(content, f"{html.HEADING}, {entries}" if entries else html.HEADING)
    layout = _layout(content) if found else frozenset()
    for node in (*found, *(node for node in page.entries.signatures if html.key(node) in page.entries.by_node)):
        begins = html.key(node) in page.entries.by_node
        in_item = _is_in_item(node) and _mark_before(node) is None
        if html.tag(node) in html.HEADINGS and not begins and (_is_title(node, page) or in_item):
            continue
        if html.key(node) not in parts and not _is_held(node, content, layout) and not page.leaves_out(node):
            yield node


def _layout(content: Node) -> frozenset[int]:
    """The keys of elements that only lay out the page: tables with most of its text, and headings, and quotations
    with its first heading, too.
    """
    found = html.select(content, "table, blockquote")
    whole = html.letters(content) if found else 0
    headed = [node for node in found if html.first(node, html.HEADING) is not None]
    title = html.first(content, html.HEADING) if headed else None
    around = set(map(html.key, html.ancestors(title))) if title is not None else set()
    frames = (node for node in headed if (html.key(node) in around if html.tag(node) != "table" else is_frame(node)))
    return frozenset(html.key(node) for node in frames if html.letters(node) * 2 > whole)


def _is_held(node: Node, content: Node, layout: Container[int]) -> bool:
    """Whether a heading stands in a link or in an element that is not cut: it is part of the text there."""
    for above in html.ancestors(node) if html.tag(node) in html.HEADINGS else ():
        name = html.tag(above)
        if (name in _NOT_CUT and html.key(above) not in layout) or (
            name == "a" and html.attribute(above, "href")[:1] not in ("", "#")
        ):
            return True
        if html.key(above) == html.key(content):
            break
    return False


def _is_title(heading: Node, page: Rendering) -> bool:
    """Whether a heading without address is the title of an alert or a card."""
    return html.key(heading) in page.rules and not html.attribute(heading, "id")


def _is_in_item(heading: Node) -> bool:
    """Whether a heading is a part of a list's item, not of a section in it: Javadoc writes every method in an item."""
    around = (html.tag(above) for above in html.ancestors(heading) if "blockList" not in html.classes(above))
    return next((name for name in around if name in ("li", "section")), "") == "li"


@dataclass(slots=True)
class _Cutter:
    """Walks the content in reading order; `parts` is the HTML of the section that is open."""

    page: Rendering
    points: Mapping[int, Node]
    around: set[int]
    path: list[Heading] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)

    def visit(self, node: Node) -> None:
        identity = html.key(node)
        if identity in self.points:
            self._begin(node)
        elif identity not in self.around or identity in self.page.dropped:
            self.parts.append(render.render(node, self.page))
        else:
            self._enter(node)

    def _enter(self, node: Node) -> None:
        """Visit the contents of an element that holds headings."""
        before = list(self.path)
        label = self.page.labels.get(html.key(node))
        self.parts.append(_BOUNDARY + (render.bold(label) if label else ""))
        for child in html.children(node):
            self.visit(child)
        self.parts.append(_BOUNDARY)
        if (label or (_is_scope(node) and not self._is_signature(node))) and self.path != before:
            self.close()
            self.path = before or [heading for heading in self.headings[:1] if heading.level == 1]

    def _is_signature(self, node: Node) -> bool:
        """Whether an element holds an entry's signature alone, so that the text after it is the entry's."""
        last = next((child for child in reversed(list(html.children(node))) if html.text(child).strip()), node)
        return html.key(last) in self.page.entries.by_node

    def _begin(self, node: Node) -> None:
        if (reference := self.page.entries.by_node.get(html.key(node))) is not None:
            self._begin_entry(node, reference)
            return
        entry = html.tag(node) == "dt"
        if entry and _follows_entry(node):  # the next description belongs to both terms
            self.parts.append(_signature(node, self.page) or render.bold(render.words(node, self.page)))
            return
        self.close()
        heading = _entry(node, self.page) if entry else heading_of(node, self.page)
        if not heading.anchor and node.parent is not None and self._holds_section(node.parent, node):
            heading = replace(heading, anchor=html.attribute(node.parent, "id"))
        if any(section.headings for section in self.sections):
            heading = replace(heading, is_own=False)
        written = ""
        if named := _NAMED.match(heading.title):
            name = named[2].casefold()
            if name in (_LAST.split(heading.anchor.casefold())[-1], heading.anchor.partition("-")[0].casefold()):
                written = f"<p><code>{escape(heading.title, quote=False)}</code></p>"
                heading = replace(heading, title=named[1])
        self.path = [*(above for above in self.path if above.level < heading.level), heading]
        self.headings.append(heading)
        self.parts.append(written)
        if entry:
            self.parts.append(_signature(node, self.page))
        else:
            self.parts += (f"<p>{render.inside(slogan, self.page)}</p>" for slogan in _slogans(node, self.page))

    def _holds_section(self, around: Node, heading: Node) -> bool:
        """Whether an element begins with a heading and holds its section alone, which is not the whole content."""
        level = html.tag(heading)
        if html.tag(around) != "div" or not html.attribute(around, "id") or level not in html.HEADINGS - {"h1"}:
            return False
        first = html.first(around, html.HEADING)
        if first is None or html.key(first) != html.key(heading):
            return False
        others = html.select(around, html.HEADING)[1:]
        return len(others) + 2 < len(self.points) and all(html.tag(other) > level for other in others)

    def _begin_entry(self, node: Node, entry: Entry) -> None:
        """Begin a section at a signature. One without a name of its own, or with the heading's, belongs to that."""
        above = self.path[-1] if self.path else None
        named = above is not None and 1 < above.level < _ENTRY_LEVEL and entry.name.casefold() == above.title.casefold()
        if above is not None and (named or not entry.name):
            further = any(part != _BOUNDARY and part.strip() for part in self.parts)
            self.close()
            heading = replace(above, anchor=entry.anchor if further or not above.anchor else above.anchor)
        else:
            self.close()
            level = int(html.tag(node)[1]) if html.tag(node) in html.HEADINGS else _ENTRY_LEVEL + entry.depth
            heading = Heading(level, entry.name or render.words(node, self.page), entry.anchor, is_own=False)
            self.headings.append(heading)
        self.path = [*(each for each in self.path if each.level < heading.level), heading]
        self.parts.append(self.page.rules[html.key(node)](node, self.page))

    def close(self) -> None:
        """End the section that is open."""
        source = "".join(self.parts)
        self.parts.clear()
        markdown = render.restore(html.to_markdown(f"<div>{source}</div>"), self.page)
        if any(map(str.isalnum, markdown)):
            anchor = next((heading.anchor for heading in reversed(self.path) if heading.anchor), "")
            self.sections.append(Section(tuple(each.title for each in self.path if each.title), markdown, anchor))


def _is_scope(node: Node) -> bool:
    """Whether the headings in an element are for its own text. Those in a `summary` are for the text after it."""
    return html.tag(node) in _SCOPES and not any(html.tag(above) == "summary" for above in html.ancestors(node))


def heading_of(node: Node, page: Rendering) -> Heading:
    """A heading as the page shows it, wherever it stands."""
    title = render.words(node, page)
    for slogan in reversed(_slogans(node, page)):
        title = title.removesuffix(render.words(slogan, page)).strip()
    links = html.select(node, "a[href]") if html.has_elements(node) else ()
    above = any(html.letters(link) * 2 > html.letters(node) and _leads_above(link, page) for link in links)
    return Heading(
        int(html.tag(node)[1]) if html.tag(node) in html.HEADINGS else 1, title, _anchor(node, page), is_own=not above
    )


def _leads_above(link: Node, page: Rendering) -> bool:
    """Whether a link leads to a page above this one, as a site's name leads home."""
    target = page.address(link).partition("#")[0]
    folder = target.removesuffix("index.html")
    return folder.endswith("/") and page.url != target and page.url.startswith(folder)


def _slogans(node: Node, page: Rendering) -> list[Node]:
    return html.select(node, page.generator.slogan) if page.generator.slogan else []


def _anchor(node: Node, page: Rendering) -> str:
    """The heading's id; else that of the section that it begins; else that of a mark inside, around or before it."""
    if own := html.attribute(node, "id"):
        return "" if own == page.generator.top else own
    section = node.parent
    if section is not None and _is_section(section):
        heading = html.first(section, html.HEADING)
        begins = heading is not None and html.key(heading) == html.key(node)
        if begins and (named := html.attribute(section, "id")):
            return named
    around = section if section is not None and html.tag(section) == "a" else None
    inside = html.first(node, _MARKS) if html.has_elements(node) else None
    mark = inside or around or _mark_before(node)
    return (html.attribute(mark, "id") or html.attribute(mark, "name")) if mark is not None else ""


def _mark_before(node: Node) -> Node | None:
    """The mark before a heading, or before the list that it begins: `<a id="part"></a>`, alone or in a paragraph."""
    before = html.previous(node)
    if before is None and node.parent is not None and html.tag(node.parent) in ("li", "ul"):
        return _mark_before(node.parent)
    if before is None or html.tag(before) not in ("a", "span", "p") or html.text(before).strip():
        return None
    marks = html.select(before, _MARKS)
    return marks[-1] if marks and html.first(before, "img, svg, video, iframe") is None else None


def _is_section(node: Node) -> bool:
    return html.tag(node) == "section" or "section" in html.classes(node)


def _entry(node: Node, page: Rendering) -> Heading:
    depth = sum(html.tag(above) == "dl" for above in html.ancestors(node))
    title = html.squeezed("".join(render.plain(part, page) for part in _names(node, page))) or render.words(node, page)
    return Heading(_ENTRY_LEVEL + depth, title, html.attribute(node, "id"))


def _signature(node: Node, page: Rendering) -> str:
    """An API entry's full signature; empty for a glossary term, whose title is complete."""
    return render.signature(node, page) if _names(node, page) else ""


def _names(node: Node, page: Rendering) -> list[Node]:
    return html.select(node, page.generator.entry_name) if page.generator.entry_name else []


def _follows_entry(node: Node) -> bool:
    before = html.previous(node)
    return before is not None and html.tag(before) == "dt"
