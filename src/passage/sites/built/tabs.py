"""Finds the label of each tab panel: themes write all labels in a row before the panels."""

from collections.abc import Iterator

from passage.sites import html
from passage.sites.html import Node

# A theme's selectors of a set's labels, and of its panels in the same order.
_BY_ORDER = (
    (".tabbed-set", ":scope > .tabbed-labels", "label", ".tabbed-content > .tabbed-block"),
    (".vp-code-group", ":scope > .tabs", "label", ".blocks > *"),
)


def labels(content: Node) -> Iterator[tuple[Node, str]]:
    """Each tab panel with its label."""
    yield from _referred(content)
    yield from _ordered(content)
    for bar in html.select(content, "[role=tablist]"):
        around = bar.parent
        if around is None or _holds_panels(bar):
            continue
        panels = [panel for panel in html.outermost(around, "[role=tabpanel]") if panel.mem_id != around.mem_id]
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
    for tab_set, bar, label, panels in _BY_ORDER:
        for found in html.select(content, tab_set):
            row = _child(found, bar.rpartition(".")[2])
            if row is None:
                continue
            *above, last = panels.split(" > ")
            holder = _child(found, above[0].lstrip(".")) if above else found
            if holder is None:
                continue
            named = [html.squeezed(html.text(each)) for each in html.select(row, label)]
            blocks = [child for child in html.children(holder) if html.tag(child)]
            if last != "*":
                blocks = [child for child in blocks if last.lstrip(".") in html.classes(child)]
            yield from zip(blocks, named, strict=False)


def _child(node: Node, name: str) -> Node | None:
    return next((child for child in html.children(node) if name in html.classes(child)), None)
