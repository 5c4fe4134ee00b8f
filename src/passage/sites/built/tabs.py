"""Finds the label of each tab panel: themes write all labels in a row before the panels."""

from collections.abc import Iterator

from passage.sites import html
from passage.sites.html import Node

_BY_ORDER = ((".tabbed-set", "tabbed-labels", "tabbed-content"), (".vp-code-group", "tabs", "blocks"))
"""A theme's selector of a set, the class of its row of labels, and the class of its panels' parent."""


def labels(content: Node) -> Iterator[tuple[Node, str]]:
    """Each tab panel with its label."""
    yield from _referred(content)
    yield from _ordered(content)
    for bar in html.select(content, "[role=tablist]"):
        around = bar.parent
        if around is None or _holds_panels(bar):
            continue
        panels = [panel for panel in html.outermost(around, "[role=tabpanel]") if html.key(panel) != html.key(around)]
        unlabelled = [panel for panel in panels if not _own_label(panel, content)]
        for tab, panel in zip(html.select(bar, "[role=tab]"), unlabelled, strict=False):
            yield panel, html.squeezed(html.text(tab))


def lists(content: Node) -> list[Node]:
    """The rows of labels. They are dropped, because each panel gets its label."""
    bars = [bar for bar in html.select(content, "[role=tablist]") if not _holds_panels(bar)]
    return [*bars, *html.select(content, ".tabbed-labels, .vp-code-group > .tabs, ul.nav-tabs")]


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


def _child(node: Node, name: str) -> Node | None:
    return next((child for child in html.children(node) if name in html.classes(child)), None)
