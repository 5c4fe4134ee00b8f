"""Finds the label of each tab panel: themes write all labels in a row before the panels."""

from collections.abc import Iterator

from passage.sites import html
from passage.sites.html import Node

_BY_ORDER = ((".tabbed-set", "tabbed-labels", "tabbed-content"), (".vp-code-group", "tabs", "blocks"))
"""A theme's selector of a set, the class of its row of labels, and the class of its panels' parent."""

_LABEL = 60
"""The most characters of a tab's label."""


def labels(content: Node) -> Iterator[tuple[Node, str]]:
    """Each tab panel with its label."""
    yield from _referred(content)
    yield from _ordered(content)
    yield from _paired(content)
    for bar in html.select(content, "[role=tablist]"):
        around = bar.parent
        if around is None or _holds_panels(bar):
            continue
        panels = [panel for panel in html.outermost(around, "[role=tabpanel]") if html.key(panel) != html.key(around)]
        unlabelled = [panel for panel in panels if not _own_label(panel, content)]
        for tab, panel in zip(html.select(bar, "[role=tab]"), unlabelled, strict=False):
            yield panel, html.squeezed(html.text(tab))


def lists(content: Node) -> list[Node]:
    """The rows of labels, and labels inside panels. They are dropped, because each panel gets its label."""
    repeated = [
        first for panel, label in labels(content) if (first := _first(panel)) is not None and _says(first, label)
    ]
    pairs = [row for _, row, _ in _pairs(content)]
    bars = [bar for bar in html.select(content, "[role=tablist]") if not _holds_panels(bar)]
    return [*repeated, *pairs, *bars, *html.select(content, ".tabbed-labels, .vp-code-group > .tabs, ul.nav-tabs")]


def _holds_panels(bar: Node) -> bool:
    return html.first(bar, "[role=tabpanel]") is not None


def _referred(content: Node) -> Iterator[tuple[Node, str]]:
    for panel in html.select(content, "[role=tabpanel]"):
        label = _own_label(panel, content)
        if label:
            yield panel, label


def _own_label(panel: Node, content: Node) -> str:
    label = html.attribute(panel, "aria-label")
    named = html.attribute(panel, "aria-labelledby")
    if not label and named and '"' not in named:
        tab = html.first(content, f'[id="{named}"]')
        label = html.text(tab) if tab is not None else ""
    return html.squeezed(label)


def _ordered(content: Node) -> Iterator[tuple[Node, str]]:
    for css, labels_class, panels_class in _BY_ORDER:
        for tab_set in html.select(content, css):
            row, holder = _child(tab_set, labels_class), _child(tab_set, panels_class)
            if row is not None and holder is not None:
                named = [html.squeezed(html.text(label)) for label in html.select(row, "label")]
                yield from zip(filter(html.tag, html.children(holder)), named, strict=False)


def _paired(content: Node) -> Iterator[tuple[Node, str]]:
    for _, row, holder in _pairs(content):
        named = [html.squeezed(html.text(label)) for label in filter(html.tag, html.children(row))]
        yield from zip(filter(html.tag, html.children(holder)), named, strict=True)


def _pairs(content: Node) -> Iterator[tuple[Node, Node, Node]]:
    """Sets of tabs without roles: a row of labels, then as many panels."""
    for tab_set in html.select(content, "[class*=tabs]:not(:has([role]))"):
        parts = [child for child in html.children(tab_set) if html.tag(child)]
        if len(parts) == 2 and html.first(parts[0], "p, pre, ul, table, h1, h2, h3, h4, input") is None:
            labels, panels = ([each for each in html.children(part) if html.tag(each)] for part in parts)
            if len(labels) == len(panels) > 1 and all(len(html.text(label)) <= _LABEL for label in labels):
                yield tab_set, parts[0], parts[1]


def _first(panel: Node) -> Node | None:
    return next((child for child in html.children(panel) if html.tag(child)), None)


def _says(node: Node, label: str) -> bool:
    return html.tag(node) not in ("h1", "h2", "h3", "h4", "h5", "h6", "pre") and html.squeezed(html.text(node)) == label


def _child(node: Node, name: str) -> Node | None:
    return next((child for child in html.children(node) if name in html.classes(child)), None)
