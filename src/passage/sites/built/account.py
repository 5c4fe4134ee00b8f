"""Accounts for the visible text of a page, block by block: kept, left out by a rule, or lost."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import unescape
from sys import intern

from passage.sites import html
from passage.sites.built.blocks import Block
from passage.sites.built.render import Rendering
from passage.sites.built.sections import Heading
from passage.sites.html import Node
from passage.sites.model import LOST, Account, Section

OUTSIDE = "outside of the main content"

_TARGET = re.compile(r"\]\([^)\s]*\)")
_LETTERS = re.compile(r"[^\W_]+")
_KEPT = ""
"""The fate of text that is not left out."""


def account(found: Iterable[Block], contents: Sequence[Node], page: Rendering, told: Iterable[str]) -> Account:
    """Find each block of a page in what was made of it.

    Args:
        found: all blocks of the page.
        told: the titles, headings and Markdown of its sections.
    """
    written = "\n".join(told)
    known = "\n".join(map(_letters, (written, unescape(_TARGET.sub("]", written)))))
    fates = _Fates(contents, page)
    left_out: Counter[str] = Counter()
    kept, lost, named = 0, 0, []
    for block in found:
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


def all_left_out(found: Sequence[Block], reason: str) -> Account:
    """The account of a page that is left out."""
    return Account(left_out={reason: len(found)})


def _letters(text: str) -> str:
    return "".join(_LETTERS.findall(html.visible(text)))


class _Fates:
    """The rule by which each element of a page is left out, looked up once."""

    def __init__(self, contents: Sequence[Node], page: Rendering) -> None:
        self._page = page
        self._known = {html.key(content): _KEPT for content in contents} | dict(page.dropped)

    def of(self, block: Block) -> tuple[str, list[str]]:
        """The rule that leaves a block out, empty for none, and the texts of it that are not left out."""
        fates = self._all(block)
        kept = [at for at, fate in enumerate(fates) if fate == _KEPT]
        words = [block.texts[at] for at in kept if not self._is_formula(block.around[at])]
        if kept and (_letters("".join(words)) or not words):
            return _KEPT, words
        found = zip(fates, block.texts, strict=True)
        return next((fate for fate, text in found if fate != _KEPT and _letters(text)), _KEPT), words

    def parts(self, block: Block) -> list[tuple[str, str]]:
        """The texts in a block that are left out, each with the rule."""
        found = zip(self._all(block), block.texts, strict=True)
        return [(fate, intern(html.squeezed(text))) for fate, text in found if fate != _KEPT and _letters(text)]

    def _all(self, block: Block) -> list[str]:
        return [self._fate(html.key(node), around) for node, around in zip(block.nodes, block.around, strict=True)]

    def _fate(self, key: int, around: Sequence[int]) -> str:
        """The rule for a text or a picture: its own, else that of the innermost element around it with one."""
        if key in self._known:
            return self._known[key]
        inner: list[int] = []
        fate = OUTSIDE
        for each in reversed(around):
            if each in self._known:
                fate = self._known[each]
                break
            inner.append(each)
        self._known.update(dict.fromkeys(inner, fate))
        return fate

    def _is_formula(self, around: Iterable[int]) -> bool:
        """Whether a formula is written as TeX instead of the words on the page."""
        return bool(self._page.formulas) and not self._page.formulas.isdisjoint(around)
