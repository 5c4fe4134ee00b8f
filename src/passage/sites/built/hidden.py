"""Finds text that no reader of the page sees: hidden by an attribute or a style, and opened by nothing on the page.

A style is the element's own, or a rule of a `<style>` element for one class or one id.
"""

import re
from collections.abc import Container, Iterator
from functools import lru_cache

from passage.sites import html
from passage.sites.html import Node

_HIDDEN = "[hidden], [style*=display i], [style*=visibility i], [aria-hidden=true]"
_STYLE = re.compile(r"(display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_RULE = re.compile(r"(@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|[^{}]+)(?:\{([^{}]*)\})?")
"""A rule's selectors and style, or a group of rules whole, which holds for some screens or for paper."""
_SHEETS = "style:not([media], noscript *, svg *, template *)"
_ONE_NAME = re.compile(r"[.#][\w-]+")
_WORD = re.compile(r"[\w-]+")
_OPENED = frozenset({"dialog", "pre", "code", "math", "mjx-container"})
REFERENCES = (
    *("href", "for", "onclick", "aria-controls", "aria-owns", "popovertarget"),
    *("data-tab", "data-target", "data-bs-target"),
)
"""The attributes in which a control names what it opens."""
_NAMED_BY = ", ".join(f"[{name}]" for name in REFERENCES if name != "href") + ", a[href^='#']"
_BUTTONS = "button, [role=button], [role=tab], summary, input[type=checkbox], input[type=radio]"


def hidden(content: Node, page: Node, panels: Container[int]) -> Iterator[Node]:
    """The elements of the content that stay hidden.

    Args:
        page: the root of its document.
        panels: the keys of tab panels.
    """
    found = [node for node in html.select(content, _HIDDEN) if _is_hidden(node)]
    if styled := ", ".join(_hiding_selectors(page)):
        found += html.select(content, styled)
    # A heading that is hidden by itself names the section that a reader sees.
    found = [node for node in found if html.tag(node) not in html.HEADINGS]
    named = _named_by_controls(page) if any(html.attribute(node, "id") for node in found) else frozenset()
    for node in found:
        kept = _is_opened(node) or html.key(node) in panels or html.attribute(node, "id") in named
        if not kept and not _follows_button(node) and not _is_label(node):
            yield node


def _is_opened(node: Node) -> bool:
    """Whether a reader opens a panel or details, or sees a part of code or of a formula in another form."""
    around = list(map(html.tag, html.ancestors(node)))
    return (
        html.attribute(node, "role") == "tabpanel"
        or html.attribute(node, "hidden") == "until-found"
        or html.tag(node) == "math"
        or around[:1] == ["details"]
        or not _OPENED.isdisjoint(around)
    )


def _is_hidden(node: Node) -> bool:
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or _STYLE.search(html.attribute(node, "style")) is not None
    )


def _hiding_selectors(page: Node) -> list[str]:
    """The classes and ids that the page's style sheets hide, and that no other rule and no script on it names."""
    sheets = [_names_of(html.text(style)) for style in html.select(page, _SHEETS)]
    others = frozenset().union(*(shown for _, shown in sheets))
    hiding = {name for names, _ in sheets for name in names if name[1:] not in others}
    scripts = html.select(page, "script") if hiding else []
    named = {word for script in scripts for word in _WORD.findall(html.text(script))}
    return sorted(name for name in hiding if name[1:] not in named)


@lru_cache(maxsize=16)
def _names_of(sheet: str) -> tuple[frozenset[str], frozenset[str]]:
    """The classes and ids that a style sheet hides, and the words of its other selectors. Pages share their sheets."""
    hiding: set[str] = set()
    others: set[str] = set()
    for selectors, style in _RULE.findall(_COMMENT.sub("", sheet)):
        if _STYLE.search(style):
            hiding.update(filter(_ONE_NAME.fullmatch, map(str.strip, selectors.split(","))))
        else:
            others.update(_WORD.findall(selectors))
    return frozenset(hiding), frozenset(others)


def _named_by_controls(page: Node) -> frozenset[str]:
    """The ids that controls on the page name, in an attribute or a script of theirs."""
    values = (html.attribute(node, name) for node in html.select(page, _NAMED_BY) for name in REFERENCES)
    return frozenset(word for value in values for word in re.findall(r"[^\s#'\"(),;]+", value))


def _follows_button(node: Node) -> bool:
    before = html.previous(node)
    if before is None or not html.tag(before):
        return False
    return bool(buttons := html.select(before, _BUTTONS)) and html.letters(before) == sum(map(html.letters, buttons))


def _is_label(node: Node) -> bool:
    """Whether a text is hidden from screen readers alone, which read the label of the element around it instead."""
    return node.parent is not None and bool(html.attribute(node.parent, "aria-label"))
