"""Finds the elements in the main content that are not part of its text: by a selector, or by what they hold."""

import re
from collections.abc import Iterator

from passage.sites import html
from passage.sites.built import tabs
from passage.sites.built.noise import NOISE
from passage.sites.built.render import HEADINGS
from passage.sites.html import Node

_HEADING_LINKS = ", ".join(f"{heading} a[href*='#']" for heading in HEADINGS)

_SIGN = re.compile("[\u21a9\u2191\u2934\u00a7\u00b6\ufe0e\ufe0f\\s]+")
"""The words of a link within its page that only goes back from a footnote, or gives a place its address."""

_FEWEST_CONTENTS = 3

_COPIES = re.compile("copy|copied|clipboard", re.IGNORECASE)
_INLINE = frozenset({"a", "b", "code", "em", "i", "kbd", "label", "mark", "s", "small", "span", "strong", "u"})
_SENTENCES = frozenset({"p", "li", "dd", "blockquote"})
_TITLES = frozenset({*HEADINGS, "dt", "summary"})


def dropped(content: Node, noise: str) -> Iterator[Node]:
    """The elements that are left out.

    Args:
        noise: a selector of elements, besides those of every theme; empty for none.
    """
    yield from html.select(content, f"{NOISE}, {noise}" if noise else NOISE)
    yield from filter(_is_tool, html.select(content, "button"))
    yield from filter(_is_contents, html.outermost(content, "ul, ol"))
    yield from filter(_is_permalink, html.select(content, _HEADING_LINKS))
    yield from (link for link in html.select(content, "a[href^='#']") if _SIGN.fullmatch(html.text(link)))
    yield from tabs.lists(content)


def _is_tool(button: Node) -> bool:
    """Whether a `<button>` belongs to the theme. It is text in a table's cell, in a sentence, and as a whole title."""
    words = html.text(button)
    named = " ".join(html.attribute(button, name) for name in ("class", "title", "aria-label"))
    if not _letters(button) or _COPIES.search(f"{words} {named}"):
        return True
    around = next((above for above in html.ancestors(button) if html.tag(above) not in _INLINE), button)
    alone = _letters(around) == sum(map(_letters, html.select(around, "button")))
    return html.tag(around) not in ("td", "th", *(_TITLES if alone else _SENTENCES))


def _is_contents(links: Node) -> bool:
    """Whether a list is the page's table of contents: nothing but links within the page, and no end of a sentence."""
    targets = html.select(links, "a[href^='#']")
    before = links.prev
    while before is not None and not html.text(before).strip():
        before = before.prev
    if before is not None and html.text(before).rstrip().endswith(":"):
        return False
    return len(targets) >= _FEWEST_CONTENTS and _letters(links) == sum(map(_letters, targets))


def _letters(node: Node) -> int:
    return sum(map(str.isalnum, html.text(node)))


def _is_permalink(link: Node) -> bool:
    """Whether a heading's link is only a sign (`#`, `\u00b6`) beside its words."""
    sign = html.text(link).strip()
    heading = next(above for above in html.ancestors(link) if html.tag(above) in HEADINGS)
    return not any(map(str.isalnum, sign)) and html.text(heading).strip() != sign and html.first(link, "img") is None
