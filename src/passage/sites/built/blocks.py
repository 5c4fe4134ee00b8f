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
        names, keys: of these.
        rules: how many `<hr>` stand before it.
        is_heading: it stands in a heading.
    """

    nodes: tuple[Node, ...]
    texts: tuple[str, ...]
    around: tuple[int, ...]
    links: tuple[Node | None, ...]
    words: str
    above: tuple[Node, ...]
    names: tuple[str, ...]
    keys: tuple[int, ...]
    rules: int
    is_heading: bool

    @property
    def tag(self) -> str:
        return self.names[-1]

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
        return any(self.links) and not any(map(str.isalnum, self.beside))


_PIECES = frozenset({"", "br", "img"})
_ENDS = BLOCKS | {"hr"}

_Piece = tuple[Node, str, int, Node | None]
"""A text, picture or line break: with its text, the key of the element around it, and the link around it."""

_Place = tuple[Iterator[tuple[str, Node]], bool, int, Node | None, tuple[Node, ...], tuple[str, ...], tuple[int, ...]]
"""An element of a walk: its children that are left, whether it ends a block, its key, the link around them, and the
values of blocks that end in it: above, names, keys."""


def blocks(root: Node, named: set[str], parents: dict[int, int]) -> Iterator[Block]:
    """The blocks below an element, in reading order.

    Args:
        named: takes the names of all elements.
        parents: takes the keys of the elements around texts, in reading order, each with that of its parent.
    """
    rules = 0
    run: list[_Piece] = []
    key = html.key(root)
    parents[key] = 0
    places: list[_Place] = [(html.named_children(root), True, key, None, (root,), (html.tag(root),), (key,))]
    while places:
        place = children, is_block, around, link, above, names, keys = places.pop()
        for name, child in children:
            named.add(name)
            if name in _PIECES:
                text = f" {html.attribute(child, 'alt')} " if name else html.own_text(child)
                if run or not text.isspace():  # most blanks stand between blocks
                    run.append((child, text, around, link))
                continue
            if run and name in _ENDS:
                yield from _block(run, above, names, keys, rules)
            if name in UNSEEN:
                named.update(_names_in(child))
                continue
            rules += name == "hr"
            places.append(place)
            key, inside = html.key(child), html.named_children(child)
            parents[key] = around
            if name in BLOCKS:
                places.append((inside, True, key, link, (*above, child), (*names, name), (*keys, key)))
            else:
                within_link = child if name == "a" and html.attribute(child, "href") else link
                places.append((inside, False, key, within_link, above, names, keys))
            break
        else:
            if run and is_block:
                yield from _block(run, above, names, keys, rules)


def _names_in(element: Node) -> Iterable[str]:
    return map(html.tag, html.select(element, "*")) if html.has_elements(element) else ()


def _block(
    run: list[_Piece], above: tuple[Node, ...], names: tuple[str, ...], keys: tuple[int, ...], rules: int
) -> Iterator[Block]:
    """The block that ends here, after which the next one begins; none without words."""
    nodes, texts, around, links = zip(*run, strict=True)
    run.clear()
    if words := _words(texts):
        is_heading = not html.HEADINGS.isdisjoint(names)
        yield Block(nodes, texts, around, links, words, above, names, keys, rules, is_heading)


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
        whole = holders.count(holder) == len(holders)
        if holder and (part := block if whole else _part(block, [each == holder for each in holders])):
            yield _below(part, holder, by_key[holder], parents)


def _part(block: Block, kept: Sequence[bool]) -> Block | None:
    """A block without some of its nodes; None if no words are left."""
    texts = tuple(compress(block.texts, kept))
    words = _words(texts)
    if not words:
        return None
    nodes, around = tuple(compress(block.nodes, kept)), tuple(compress(block.around, kept))
    links = tuple(compress(block.links, kept))
    return block._replace(nodes=nodes, texts=texts, around=around, links=links, words=words)


def _below(block: Block, key: int, holder: Node, parents: Mapping[int, int]) -> Block:
    """A block as it is found below an element around it."""
    nodes, texts, around, links, words, above, names, keys, rules, is_heading = block
    if key in keys:
        at = keys.index(key)
        return Block(nodes, texts, around, links, words, above[at:], names[at:], keys[at:], rules, is_heading)
    outer, parent = set[int](), parents[key]
    while parent:
        outer.add(parent)
        parent = parents[parent]
    at = sum(each in outer for each in keys)
    names = html.tag(holder), *names[at:]
    return block._replace(above=(holder, *above[at:]), names=names, keys=(key, *keys[at:]))
