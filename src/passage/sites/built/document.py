"""A parsed page, and what it has names of: most selectors are for other themes."""

import re
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache

from passage.sites import html
from passage.sites.built.blocks import Block, blocks
from passage.sites.html import Node

_ALTERNATIVE = re.compile(r",\s*(?![^()]*(?:\([^()]*\)[^()]*)*\))")
"""Parts the selectors of a list."""
_IN_PARENTHESES = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
_NO_NAME = re.compile(r"\[[^]]*\]|[:#][\w-]+")
_NAME = re.compile(r"\.?[\w-]+")


class Document:
    """A page. A selector that needs an element or a class that the page does not have is not tried.

    Attributes:
        root: its `<html>` element.
        blocks: all its blocks of text.
        parents: see `blocks`.
    """

    def __init__(self, root: Node) -> None:
        self.root = root
        self._named = {html.tag(root)}
        self.parents: dict[int, int] = {}
        self.blocks: list[Block] = list(blocks(root, self._named, self.parents))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its elements, each behind `<`, and their classes, in lower case."""
        classes = " ".join(html.attribute(element, "class") for element in html.select(self.root, "[class]"))
        return frozenset({f"<{name}" for name in self._named}.union(classes.lower().split()))

    @cached_property
    def title(self) -> str:
        """The words of its `<title>`; empty where it has none."""
        title = html.first(self.root, "head > title")
        return html.words(title) if title is not None else ""

    @cached_property
    def metas(self) -> list[Node]:
        """Its `<meta>` elements."""
        return html.select(self.root, "meta")

    def first(self, css: str) -> Node | None:
        """As `html.first`."""
        possible = self._possible(css)
        return html.first(self.root, possible) if possible else None

    def select(self, css: str) -> list[Node]:
        """As `html.select`."""
        possible = self._possible(css)
        return html.select(self.root, possible) if possible else []

    def select_each(self, node: Node, selectors: Iterable[str]) -> dict[str, list[Node]]:
        """`html.select` below one of its elements, for selectors of which most match nothing."""
        possible = {css: self._possible(css) for css in selectors}
        together = ", ".join(filter(None, possible.values()))
        found = bool(together) and html.first(node, together) is not None
        return {css: html.select(node, some) if found and some else [] for css, some in possible.items()}

    def _possible(self, css: str) -> str:
        return _those(css, self.names & _needed(css))


@lru_cache(maxsize=10_000)  # the pages of a site have the same names
def _those(css: str, names: frozenset[str]) -> str:
    """The selectors of a list that need no other names."""
    return ", ".join(one for one, needed in _alternatives(css) if needed <= names)


@cache
def _needed(css: str) -> frozenset[str]:
    return frozenset().union(*(needed for _, needed in _alternatives(css)))


def _alternatives(css: str) -> list[tuple[str, frozenset[str]]]:
    """The selectors of a list, each with those of `Document.names` that it needs."""
    found = []
    for one in _ALTERNATIVE.split(css):
        named = _NAME.findall(_NO_NAME.sub("", _IN_PARENTHESES.sub("", one)))
        needed = (name[1:] if name.startswith(".") else f"<{name}" for name in named)
        found.append((one, frozenset(map(str.lower, needed))))
    return found
