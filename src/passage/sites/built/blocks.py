"""Splits a page into its blocks of visible text: paragraphs, items, cells, code, and the lines between them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple, TypeVar

from passage.sites import html
from passage.sites.html import Node

BLOCKS = html.HEADINGS | {
    *("p", "pre", "div", "section", "article", "main", "header", "footer", "nav", "aside", "blockquote", "address"),
    *("ul", "ol", "menu", "li", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"),
    *("figure", "figcaption", "details", "summary", "form", "fieldset", "legend", "center", "hgroup", "dialog", "body"),
}
"""Elements that begin and end a block."""

UNSEEN = frozenset(
    {"script", "style", "template", "noscript", "head", "svg", "select", "textarea", "iframe", "canvas", "object"}
    | {"video", "audio"}
)
"""Elements without text that a reader sees beside the page's."""

SENTENCE = re.compile("[.!?\u2026:;\u3002\uff01\uff1f\uff1a]['\"\u00bb\u201d)\\]]*\\Z")
"""The end of a sentence, or of a line that announces what follows."""

_Value = TypeVar("_Value")


class Block(NamedTuple):
    """A run of text and pictures without a block inside.

    Attributes:
        nodes: its texts, pictures and line breaks.
        texts: of each of them: of a picture, the alternative text, between blanks.
        around: of each of them, the key of the element around it.
        links: of each of them, the link around it; None for those in no link.
        words: its text on one line; never without a letter or digit.
        above: the block elements around it, outermost first; the first one is where the search began.
        keys: the keys of these.
        rules: how many `<hr>` stand before it.
        is_heading: it stands in a heading.
    """

    nodes: tuple[Node, ...]
    texts: tuple[str, ...]
    around: tuple[int, ...]
    links: tuple[Node | None, ...]
    words: str
    above: tuple[Node, ...]
    keys: tuple[int, ...]
    rules: int
    is_heading: bool

    @property
    def tag(self) -> str:
        return html.tag(self.above[-1])

    @property
    def linked(self) -> list[Node]:
        """The link around each of its words and named pictures that is in one."""
        words = zip(self.texts, self.links, strict=True)
        return [link for text, link in words if link is not None and any(map(str.isalnum, text))]

    @property
    def beside(self) -> str:
        """Its text in no link."""
        return "".join(text for text, link in zip(self.texts, self.links, strict=True) if link is None)

    @property
    def is_linked(self) -> bool:
        """All its words and named pictures are in links."""
        return not any(map(str.isalnum, self.beside))


def blocks(root: Node, named: set[str], parents: dict[int, int]) -> Iterator[Block]:
    """The blocks below an element, in reading order.

    Args:
        named: takes the names of all elements.
        parents: takes the keys of the elements around texts, in reading order, each with that of its parent.
    """
    walk = _Walk(root, parents)
    stack = [html.named_children(root)]
    while stack:
        name, child = next(stack[-1], _END)
        named.add(name)
        ends = name in BLOCKS or name == "hr" or (child is None and walk.names[-1])
        if ends and walk.run and (block := walk.block()):
            yield block
        if child is None:
            stack.pop()
            walk.leave()
        elif name == "hr":
            walk.rules += 1
        elif not name or name in ("br", "img"):
            walk.add(name, child)
        elif name not in UNSEEN:
            stack.append(html.named_children(child))
            walk.enter(name, child)
        elif html.has_elements(child):
            named.update(map(html.tag, html.select(child, "*")))


_END: tuple[str, Node | None] = ("", None)


class _Walk:
    """The place of a walk through a page.

    Attributes:
        names: of the elements around; empty for those that do not end a block.
        rules: how many `<hr>` it has passed.
        run: the texts and pictures since the last block ended.
    """

    def __init__(self, root: Node, parents: dict[int, int]) -> None:
        self.names = [html.tag(root)]
        self.rules = 0
        self.run: list[Node] = []
        self._texts: list[str] = []
        self._each_around: list[int] = []
        self._each_link: list[Node | None] = []
        self._above, self._keys = [root], [html.key(root)]
        self._parents = parents
        self._parents[self._keys[0]] = 0
        self._around = [self._keys[0]]
        self._links: list[Node | None] = [None]

    def enter(self, name: str, element: Node) -> None:
        """Go into an element."""
        key = html.key(element)
        self._parents[key] = self._around[-1]
        self._around.append(key)
        is_link = name == "a" and html.attribute(element, "href")
        self._links.append(element if is_link else self._links[-1])
        if name in BLOCKS:
            self.names.append(name)
            self._above.append(element)
            self._keys.append(key)
        else:
            self.names.append("")

    def leave(self) -> None:
        if self.names.pop():
            self._above.pop()
            self._keys.pop()
        self._around.pop()
        self._links.pop()

    def add(self, name: str, node: Node) -> None:
        """Go past a text, a picture or a line break."""
        self.run.append(node)
        self._texts.append(f" {html.attribute(node, 'alt')} " if name else html.own_text(node))
        self._each_around.append(self._around[-1])
        self._each_link.append(self._links[-1])

    def block(self) -> Block | None:
        """The block that ends here; None if it has no words."""
        nodes, texts, around, links = self.run, self._texts, self._each_around, self._each_link
        self.run, self._texts, self._each_around, self._each_link = [], [], [], []
        words = _words(texts)
        if not words:
            return None
        is_heading = not html.HEADINGS.isdisjoint(self.names)
        pieces = tuple(nodes), tuple(texts), tuple(around), tuple(links)
        above, keys = tuple(self._above), tuple(self._keys)
        return Block(*pieces, words, above, keys, self.rules, is_heading)


def _words(texts: Iterable[str]) -> str:
    """Texts on one line; empty without a letter or digit."""
    words = html.squeezed("".join(texts))
    return words if any(map(str.isalnum, words)) else ""


def innermost(parents: Mapping[int, int], values: Mapping[int, _Value], outside: _Value) -> dict[int, _Value]:
    """For each element the value of the innermost one around it that has a value, beginning with itself.

    Args:
        parents: see `blocks`.
        outside: for elements around which none has a value.
    """
    found = {0: outside}
    for key, parent in parents.items():
        found[key] = values[key] if key in values else found[parent]
    return found


def within(
    found: Iterable[Block], parents: Mapping[int, int], contents: Sequence[Node], gone: Mapping[int, str]
) -> Iterator[Block]:
    """The blocks in some elements of the page, each without what is left out.

    Args:
        found: all blocks of the page.
        parents: see `blocks`.
        gone: the keys of the elements that are left out.
    """
    by_key = {html.key(content): content for content in contents}
    holder_of = innermost(parents, dict.fromkeys(gone, 0) | {key: key for key in by_key}, 0)
    for block in found:
        holders = [holder_of[around] for around in block.around]
        holder = next(filter(None, holders), 0)
        if holder and (part := _part(block, [each == holder for each in holders])):
            yield _below(part, holder, by_key[holder], parents)


def _part(block: Block, kept: Sequence[bool]) -> Block | None:
    """A block without some of its nodes; None if no words are left."""
    if all(kept):
        return block
    texts = tuple(compress(block.texts, kept))
    words = _words(texts)
    if not words:
        return None
    nodes, around = tuple(compress(block.nodes, kept)), tuple(compress(block.around, kept))
    links = tuple(compress(block.links, kept))
    return block._replace(nodes=nodes, texts=texts, around=around, links=links, words=words)


def _below(block: Block, key: int, holder: Node, parents: Mapping[int, int]) -> Block:
    """A block as it is found below an element around it."""
    nodes, texts, around, links, words, above, keys, rules, is_heading = block
    if key in keys:
        at = keys.index(key)
        return Block(nodes, texts, around, links, words, above[at:], keys[at:], rules, is_heading)
    outer, parent = set[int](), parents[key]
    while parent:
        outer.add(parent)
        parent = parents[parent]
    at = sum(each in outer for each in keys)
    return block._replace(above=(holder, *above[at:]), keys=(key, *keys[at:]))
