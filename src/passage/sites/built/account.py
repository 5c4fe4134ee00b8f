"""Accounts for the visible text of a page, block by block: kept, left out by a rule, or lost."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import unescape
from sys import intern

from passage.sites import html
from passage.sites.built.blocks import Block, blocks
from passage.sites.built.render import Rendering
from passage.sites.built.sections import Heading
from passage.sites.html import Node
from passage.sites.model import LOST, Account, Section

OUTSIDE = "outside of the main content"

_TARGET = re.compile(r"\]\([^)\s]*\)")
_MARKS = re.compile(r"[\W_]+")
_KEPT = ""
"""The fate of text that is not left out."""


def account(root: Node, contents: Sequence[Node], page: Rendering, told: Iterable[str]) -> Account:
    """Find each block of a page in what was made of it.

    Args:
        told: the titles, headings and Markdown of its sections.
    """
    written = "\n".join(told)
    known = "\n".join(map(_letters, (written, unescape(_TARGET.sub("]", written)))))
    fates = _Fates(contents, page)
    left_out: Counter[str] = Counter()
    kept, lost, named = 0, 0, []
    for block in _blocks(root):
        rule, words = fates.of(block)
        if rule == _KEPT and (_letters("".join(words)) in known or all(_letters(each) in known for each in words)):
            kept += 1
            named += fates.parts(block)
            continue
        if rule == _KEPT:
            lost += 1
        else:
            left_out[rule] += 1
        named.append((rule or LOST, intern(block.words)))
    return Account(kept, left_out, lost, tuple(named))


def told_of(title: str, headings: Iterable[Heading], parts: Iterable[Section]) -> list[str]:
    """What was made of a page."""
    return [title, *(heading.title for heading in headings), *(part.markdown for part in parts)]


def all_left_out(root: Node, reason: str) -> Account:
    """The account of a page that is left out."""
    return Account(left_out={reason: sum(1 for _ in _blocks(root))})


def _blocks(root: Node) -> Iterable[Block]:
    body = html.first(root, "body")
    return blocks(body) if body is not None else ()


def _letters(text: str) -> str:
    return _MARKS.sub("", html.visible(text))


class _Fates:
    """The rule by which each element of a page is left out, looked up once."""

    def __init__(self, contents: Sequence[Node], page: Rendering) -> None:
        self._page = page
        self._known = {html.key(content): _KEPT for content in contents} | dict(page.dropped)

    def of(self, block: Block) -> tuple[str, list[str]]:
        """The rule that leaves a block out, empty for none, and the texts of it that are not left out."""
        fates = [(node, self._fate(node)) for node in block.nodes]
        kept = [node for node, fate in fates if fate == _KEPT]
        words = [_words(node) for node in kept if not self._is_formula(node)]
        if kept and (_letters("".join(words)) or not words):
            return _KEPT, words
        return next((fate for node, fate in fates if fate != _KEPT and _letters(_words(node))), _KEPT), words

    def parts(self, block: Block) -> list[tuple[str, str]]:
        """The texts in a block that are left out, each with the rule."""
        fates = [(self._fate(node), html.squeezed(_words(node))) for node in block.nodes]
        return [(fate, intern(words)) for fate, words in fates if fate != _KEPT and _letters(words)]

    def _fate(self, node: Node) -> str:
        above: list[int] = []
        each: Node | None = node
        while each is not None and (key := html.key(each)) not in self._known:
            above.append(key)
            each = each.parent if html.tag(each) != "body" else None
        fate = OUTSIDE if each is None else self._known[html.key(each)]
        self._known.update(dict.fromkeys(above, fate))
        return fate

    def _is_formula(self, node: Node) -> bool:
        """Whether a formula is written as TeX instead of the words on the page."""
        return bool(self._page.formulas) and any(html.key(each) in self._page.formulas for each in html.ancestors(node))


def _words(node: Node) -> str:
    return html.attribute(node, "alt") if html.tag(node) else html.own_text(node)
