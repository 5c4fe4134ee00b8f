"""Accounts for the visible text of a page, block by block: kept, left out by a rule, or lost."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
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
_SURE = 20
"""A text with fewer letters stands in many places."""
_KEPT = ""
"""The fate of text that is not left out."""


def account(found: Sequence[Block], contents: Sequence[Node], page: Rendering, told: Iterable[str]) -> Account:
    """Find each block of a page in what was made of it.

    Args:
        found: all blocks of the page.
        told: the titles, headings and Markdown of its sections.
    """
    known = _Known("\n".join(told))
    fates = _Fates(contents, page)
    left_out: Counter[str] = Counter()
    kept, lost, named = 0, 0, []
    letters = html.letters_of_lines(html.visible("\n".join(block.words for block in found)))
    for block, all_letters in zip(found, letters, strict=False):
        rule, words, parts = fates.of(block)
        wanted = all_letters if words is block.texts else _letters("".join(words))
        if rule == _KEPT and (known.has(wanted) or all(known.has(_letters(text)) for text in words)):
            kept += 1
            named += parts
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


def all_left_out(found: Iterable[Block], reason: str) -> Account:
    """The account of a page that is left out."""
    return Account(left_out={reason: sum(1 for _ in found)})


def _letters(text: str) -> str:
    return html.letters_of(html.visible(text))


class _Known:
    """The letters of what was made of a page. Texts are looked for in its order, each behind the one before."""

    def __init__(self, written: str) -> None:
        self._written = written
        self._text = _letters(unescape(_TARGET.sub("]", written)))
        self._place = 0

    @cached_property
    def _as_written(self) -> str:
        return _letters(self._written)

    def has(self, wanted: str) -> bool:
        at = self._text.find(wanted, self._place)
        if at < 0:
            at = self._text.find(wanted)
        if len(wanted) > _SURE and at >= 0:
            self._place = at
        return at >= 0 or wanted in self._as_written


class _Fates:
    """The rule by which each element of a page is left out, looked up once."""

    def __init__(self, contents: Sequence[Node], page: Rendering) -> None:
        self._formulas = page.formulas
        self._known = {html.key(content): _KEPT for content in contents} | dict(page.dropped)

    def of(self, block: Block) -> tuple[str, Sequence[str], list[tuple[str, str]]]:
        """The rule that leaves a block out, empty for none; its kept texts; and the others, each with its rule."""
        fates = [self._fate(html.key(node), around) for node, around in zip(block.nodes, block.around, strict=True)]
        if not self._formulas and not any(fates):
            return _KEPT, block.texts, []
        kept = [at for at, fate in enumerate(fates) if fate == _KEPT]
        words = [block.texts[at] for at in kept if self._formulas.isdisjoint(block.around[at])]  # a formula is TeX now
        others = zip(fates, block.texts, strict=True)
        parts = [(fate, intern(html.squeezed(text))) for fate, text in others if fate != _KEPT and _letters(text)]
        is_kept = not parts or (kept and (not words or _letters("".join(words))))
        return _KEPT if is_kept else parts[0][0], words, parts

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
