"""Finds the label of each tab panel: themes write all labels in a row before the panels."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from passage.sites import html
from passage.sites.built.document import Document
from passage.sites.built.hidden import REFERENCES
from passage.sites.html import Node

_LABEL = 60
"""The most characters of a tab's label."""

_PANEL, _BAR, _NAMED_ELEMENTS = "[role=tabpanel]", "[role=tablist]", "[label]"
_PANELS = ("div", "section", "pre", "figure", "article", "li")
_BEHIND_ROW = ":is(div, ul, ol, nav, button, label, a) + :is(div, section, pre, ul)"
_NO_LABEL = "p, pre, ul, table, h1, h2, h3, h4, textarea, select, input:not([type=radio], [type=checkbox])"
_NAMED = re.compile(r"(^|[-_])(tab|code-?group)", re.IGNORECASE)
"""Classes of a set of tabs or a part of it."""


@dataclass(frozen=True, slots=True)
class Tabs:
    """The tabs in an element.

    Attributes:
        panels: each with its label, whether or not it is to be written.
        rows: the rows of labels, and labels inside panels. They are dropped, because each panel gets its label.
    """

    panels: list[tuple[Node, str]]
    rows: list[Node]

    def labels(self) -> Iterator[tuple[Node, str]]:
        """Each panel with its label. A panel that begins with a heading of the same words has none."""
        for panel, label in self.panels:
            begin = _first(panel)
            if begin is None or html.tag(begin) not in html.HEADINGS or html.words(begin) != label:
                yield panel, label


def find(content: Node, document: Document) -> Tabs:
    """All tabs below an element of a document."""
    matches = document.select_each(content, (_PANEL, _BAR, _NAMED_ELEMENTS))
    sets = list(_sets(content, roles=bool(matches[_PANEL])))
    bars = [bar for bar in matches[_BAR] if html.first(bar, _PANEL) is None]
    referred = [(panel, label) for panel in matches[_PANEL] if (label := _own_label(panel, content))]
    named = _named_elements(matches[_NAMED_ELEMENTS])
    found = Tabs([*referred, *named, *_in_sets(sets), *_in_bars(bars, content)], [])
    begins = ((_first(panel), label) for panel, label in found.labels())
    found.rows.extend(begin for begin, label in begins if begin is not None and _says(begin, label))
    found.rows.extend(node for row, _, _ in sets for node in row)
    found.rows.extend(bars)
    return found


def _in_sets(sets: Iterable[tuple[list[Node], list[Node], list[Node]]]) -> Iterator[tuple[Node, str]]:
    for _, named, panels in sets:
        yield from zip(panels, (html.words(label) for label in named), strict=True)


def _in_bars(bars: Iterable[Node], content: Node) -> Iterator[tuple[Node, str]]:
    for bar in bars:
        around = bar.parent
        if around is None:
            continue
        panels = [panel for panel in html.outermost(around, _PANEL) if html.key(panel) != html.key(around)]
        unlabelled = [panel for panel in panels if not _own_label(panel, content)]
        for tab, panel in zip(html.select(bar, "[role=tab]"), unlabelled, strict=False):
            yield panel, html.words(tab)


def _named_elements(panels: Iterable[Node]) -> Iterator[tuple[Node, str]]:
    """Elements of a theme's own in a row, each with its label in an attribute."""
    for panel in panels:
        row = html.elements(panel.parent) if panel.parent is not None else ()
        alike = [each for each in row if html.tag(each) == html.tag(panel) and html.attribute(each, "label")]
        if "-" in html.tag(panel) and len(alike) > 1:
            yield panel, html.squeezed(html.attribute(panel, "label"))


def _own_label(panel: Node, content: Node) -> str:
    label = html.attribute(panel, "aria-label")
    if not label and (tab := html.with_id(content, html.attribute(panel, "aria-labelledby"))) is not None:
        label = html.text(tab)
    return html.squeezed(label)


def _sets(content: Node, *, roles: bool) -> Iterator[tuple[list[Node], list[Node], list[Node]]]:
    """Sets of tabs without roles: their rows, labels and panels.

    A row of labels stands before an element with as many panels, or before the panels themselves.

    Args:
        roles: the content has panels with a role.
    """
    for behind in html.select(content, _BEHIND_ROW):
        before = html.previous(behind)
        if before is None or (roles and html.first(behind, _PANEL) is not None):
            continue
        if html.tag(before) in ("button", "label", "a"):
            named = row = _run_before(behind, html.tag(before))
        else:
            row, named = [before], _lettered(before)
        if len(named) < 2 or not all(map(_is_label, named)):
            continue
        beside = [behind, *takewhile(html.tag, html.all_following(behind))]
        inside = list(html.elements(behind))
        for panels in (inside, [panel for panel in beside if html.text(panel).strip()]):
            if _are_panels(panels, named) and _are_tabs(row, named, panels):
                yield row, named, panels
                break


def _run_before(node: Node, tag: str) -> list[Node]:
    """The elements of one name that stand before `node`, in reading order."""
    return list(takewhile(lambda each: html.tag(each) == tag, html.all_before(node)))[::-1]


def _lettered(row: Node) -> list[Node]:
    """The parts of a row; none where words stand beside them."""
    parts = [child for child in html.children(row) if html.text(child).strip()]
    return parts if all(map(html.tag, parts)) else []


def _is_label(node: Node) -> bool:
    return 0 < len(html.words(node)) <= _LABEL and html.first(node, _NO_LABEL) is None


def _are_panels(panels: Sequence[Node], named: Sequence[Node]) -> bool:
    return len(panels) == len(named) and all(html.tag(panel) in _PANELS for panel in panels)


def _are_tabs(row: Sequence[Node], named: Sequence[Node], panels: Sequence[Node]) -> bool:
    """Whether labels belong to panels: by a class, as buttons, by reference, or because one of them is chosen."""
    targets = [_targets(label) for label in named]
    if all(html.attribute(panel, "id") in names for panel, names in zip(panels, targets, strict=True)):
        return not any(_is_section(panel, label) for panel, label in zip(panels, named, strict=True))
    if any(html.tag(label) in ("button", "label") for label in named):
        return True
    around = [row[0], row[0].parent, panels[0].parent, *html.select(row[0], "[class]")[:2]]
    if any(_NAMED.search(name) for node in around if node is not None for name in html.classes(node)):
        return True
    chosen = {html.attribute(label, "class") for label in named}
    return len(chosen) == 2 and "" in chosen and sum(bool(html.attribute(label, "class")) for label in named) == 1


def _targets(label: Node) -> set[str]:
    """The ids that a label refers to; never an empty one."""
    parts = html.select(label, "*")
    return {value for part in parts for name in REFERENCES if (value := html.attribute(part, name).removeprefix("#"))}


def _is_section(panel: Node, label: Node) -> bool:
    """Whether a label is a line of a table of contents, and the panel a section of the page."""
    heading = html.first(panel, html.HEADING)
    return heading is not None and html.words(label) in html.words(heading)


def _first(panel: Node) -> Node | None:
    return next(html.elements(panel), None)


def _says(node: Node, label: str) -> bool:
    return html.tag(node) not in (*html.HEADINGS, "pre") and html.words(node) == label
