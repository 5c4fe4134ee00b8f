"""Accounts for the visible text of a page, block by block: kept, left out by a rule, or lost."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import unescape
from sys import intern

from passage.sites import html
from passage.sites.built.blocks import Block, innermost
from passage.sites.built.code import unnumbered
from passage.sites.built.document import Document
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


def account(document: Document, contents: Sequence[Node], page: Rendering, told: Iterable[str]) -> Account:
    """Find each block of a page in what was made of it.

    Args:
        told: the titles, headings and Markdown of its sections.
    """
    known = _Known("\n".join(told))
    fates = _Fates(document.parents, contents, page)
    left_out: Counter[str] = Counter()
    kept, lost, named = 0, 0, []
    letters = html.letters_of_lines(html.visible("\n".join(block.words for block in document.blocks)))
    for block, all_letters in zip(document.blocks, letters, strict=False):
        rule, words, parts = fates.of(block)
        wanted = all_letters if words is block.texts else _letters("".join(words))
        if rule == _KEPT and (
            known.has(wanted)
            or known.has(_letters(unnumbered("".join(words))))
            or all(map(known.has, map(_letters, words)))
        ):
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


def all_left_out(found: Sequence[Block], reason: str) -> Account:
    """The account of a page that is left out."""
    return Account(left_out={reason: len(found)})


def _letters(text: str) -> str:
    return html.letters_of(html.visible(text))


class _Known:
    """The letters of what was made of a page. Texts are looked for in its order, each behind the one before."""

    def __init__(self, written: str) -> None:
        self._written = written
        self._text = _letters(unescape(_TARGET.sub("]", written.replace("`<br>`", " "))))  # code in a cell
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
    """The rule by which each text of a page is left out: its own, else that of the innermost element with one."""

    def __init__(self, parents: Mapping[int, int], contents: Sequence[Node], page: Rendering) -> None:
        self._own = page.dropped
        known = {html.key(content): _KEPT for content in contents} | dict(page.dropped)
        self._around = innermost(parents, known, OUTSIDE)
        formulas = {key: True for key in page.formulas if isinstance(key, int)}
        self._in_formula = innermost(parents, formulas, False) if formulas else {}

    def of(self, block: Block) -> tuple[str, Sequence[str], list[tuple[str, str]]]:
        """The rule that leaves a block out, empty for none; its kept texts; and the others beside them, with rules."""
        around = map(self._around.__getitem__, block.around)
        fates = [self._own.get(key, fate) for key, fate in zip(map(html.key, block.nodes), around, strict=True)]
        if not self._in_formula and not any(fates):
            return _KEPT, block.texts, []
        kept = [at for at, fate in enumerate(fates) if fate == _KEPT]
        if not kept:
            worded = (fate for fate, text in zip(fates, block.texts, strict=True) if any(map(str.isalnum, text)))
            return next(worded), (), []
        words = [block.texts[at] for at in kept if not self._in_formula.get(block.around[at])]  # a formula is TeX now
        others = zip(fates, block.texts, strict=True)
        left_out = ((fate, text) for fate, text in others if fate != _KEPT and any(map(str.isalnum, text)))
        parts = [(fate, intern(html.squeezed(text))) for fate, text in left_out]
        is_kept = not parts or not words or _letters("".join(words))
        return _KEPT if is_kept else parts[0][0], words, parts
