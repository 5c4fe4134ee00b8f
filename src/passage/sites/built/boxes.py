"""Finds the titles of boxes and of code: a short line that a theme sets above a text of its own, whatever its class."""

import re
from collections.abc import Iterator, Sequence

from passage.sites import html
from passage.sites.html import Node

_FIRST = (
    ":is(div, aside, section, figure, blockquote) > :is(p, div, span, strong, b, header, figcaption):first-child,"
    " [role=note] > :first-child"
)
_BEFORE_CODE = "pre, div:has(> pre), figure:has(> pre)"
_BLOCKS = f"p, div, ul, ol, dl, pre, table, blockquote, section, {html.HEADING}, img, input"

_LONGEST = 60
"""The most characters of a title."""
_ENDS = re.compile("[.,!?:;\u2026\u3002\uff01\uff1f]['\")]*\\Z")
_TITLE = re.compile(r"title|head(er|ing)|caption|label|file-?_?name", re.IGNORECASE)
_BOX = re.compile(
    r"(^|[-_])(callout|admonition|note|hint|tip|alert|warning|caution|danger|important|notice)($|[-_])", re.IGNORECASE
)


def titles(content: Node) -> Iterator[Node]:
    """The lines that are titles: of two parts in a box the first, and a line glued to a block of code."""
    for first in html.select(content, _FIRST):
        behind = _parts_behind(first) if _is_line(first) else []
        if behind and (_names_code(behind) or _names_box(first, behind)):
            yield first
    for block in html.select(content, _BEFORE_CODE):
        before = html.previous(block)
        if before is not None and html.tag(before) in ("div", "p", "figcaption") and _is_line(before):
            named = " ".join((html.attribute(before, "class"), html.attribute(before, "data-title")))
            if _TITLE.search(named):
                yield before


def _is_line(node: Node) -> bool:
    words = html.words(node)
    if not 0 < len(words) <= _LONGEST or _ENDS.search(words):
        return False
    return all(html.key(inside) == html.key(node) or _is_bold(inside) for inside in html.select(node, _BLOCKS))


def _is_bold(block: Node) -> bool:
    """Whether a block, perhaps a `pre`, is one bold name."""
    bold = html.first(block, "strong, b")
    return bold is not None and html.letters(bold) == html.letters(block) > 0


def _parts_behind(first: Node) -> list[Node]:
    """The elements with text behind the first of a box; none where text stands between them."""
    behind = list(html.all_following(first))
    if not all(map(html.tag, behind)):
        return []
    return [part for part in behind if html.tag(part) != "button" and html.letters(part)]


def _names_code(behind: Sequence[Node]) -> bool:
    """Whether a block of code is all that stands behind a line."""
    pre = html.first(behind[0], "pre") if len(behind) == 1 else None
    return pre is not None and html.letters(pre) == html.letters(behind[0])


def _names_box(first: Node, behind: Sequence[Node]) -> bool:
    """Whether a line stands above the text of a note, or is a styled half of a styled box."""
    box = first.parent
    if box is None or html.first(first, "a, time"):
        return False
    if any(_BOX.search(name) for name in html.classes(box)) or html.attribute(box, "role") == "note":
        return all(html.tag(part) not in ("span", "a", "code", "em") for part in behind[:1])
    styled = bool(html.attribute(first, "class") and html.attribute(behind[0], "class"))
    return styled and len(behind) == 1 and html.tag(behind[0]) == "div" and html.first(behind[0], "h1, h2, h3") is None
