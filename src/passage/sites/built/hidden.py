"""Finds text that no reader of the page sees: hidden by an attribute or a style, and opened by nothing on the page."""

import re
from collections.abc import Container, Iterator

from passage.sites import html
from passage.sites.built.furniture import letters
from passage.sites.html import Node

_HIDDEN = ":is([hidden], [style*=display], [style*=visibility], [aria-hidden=true]):not(h1, h2, h3, h4, h5, h6)"
"""A heading that is hidden by itself names the section that a reader sees."""
_STYLE = re.compile(r"(display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_OPENED = "[role=tabpanel], details > *, [hidden=until-found], dialog *, pre *, code *, math, math *, mjx-container *"
"""Panels, details and parts of code and formulas: a reader opens them, or sees them in another form."""
_CONTROLS = ("aria-controls", "aria-owns", "onclick", "for", "href", "data-target", "data-bs-target", "popovertarget")
_NAMED_BY = ", ".join(f"[{name}]" for name in _CONTROLS if name != "href") + ", a[href^='#']"
_BUTTONS = "button, [role=button], [role=tab], summary, input[type=checkbox], input[type=radio]"


def hidden(content: Node, panels: Container[int]) -> Iterator[Node]:
    """The elements of the content that stay hidden.

    Args:
        panels: the keys of tab panels.
    """
    found = [node for node in html.select(content, _HIDDEN) if _is_hidden(node)]
    named = _named_by_controls(content) if found else frozenset()
    opened = {html.key(node) for node in html.select(content, _OPENED)} if found else set()
    for node in found:
        kept = html.key(node) in opened or html.key(node) in panels or html.attribute(node, "id") in named
        if not kept and not _follows_button(node) and not _is_label(node):
            yield node


def _is_hidden(node: Node) -> bool:
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or _STYLE.search(html.attribute(node, "style")) is not None
    )


def _named_by_controls(content: Node) -> frozenset[str]:
    """The ids that controls on the page name, in an attribute or a script of theirs."""
    page = next(reversed(list(html.ancestors(content))), content)
    values = (html.attribute(node, name) for node in html.select(page, _NAMED_BY) for name in _CONTROLS)
    return frozenset(word for value in values for word in re.findall(r"[^\s#'\"(),;]+", value))


def _follows_button(node: Node) -> bool:
    before = html.previous(node)
    if before is None or not html.tag(before):
        return False
    return bool(buttons := html.select(before, _BUTTONS)) and letters(before) == sum(map(letters, buttons))


def _is_label(node: Node) -> bool:
    """Whether a text is hidden from screen readers alone, which read the label of the element around it instead."""
    return node.parent is not None and bool(html.attribute(node.parent, "aria-label"))
