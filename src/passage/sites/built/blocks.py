"""Splits a page into its blocks of visible text: paragraphs, items, cells, code, and the lines between them."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from passage.sites import html
from passage.sites.html import Node

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})

_BLOCKS = HEADINGS | {
    *("p", "pre", "div", "section", "article", "main", "header", "footer", "nav", "aside", "blockquote", "address"),
    *("ul", "ol", "menu", "li", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"),
    *("figure", "figcaption", "details", "summary", "form", "fieldset", "legend", "center", "hgroup", "dialog", "body"),
}
"""Elements that begin and end a block."""

_UNSEEN = frozenset(
    {"script", "style", "template", "noscript", "head", "svg", "select", "textarea", "iframe", "canvas", "object"}
    | {"video", "audio"}
)
"""Elements without text that a reader sees beside the page's."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text and pictures without a block inside.

    Attributes:
        nodes: its texts and pictures.
        words: its text on one line, with the alternative texts of pictures; never without a letter or digit.
        above: the block elements around it, outermost first; the first one is where the search began.
        rules: how many `<hr>` stand before it.
    """

    nodes: tuple[Node, ...]
    words: str
    above: tuple[Node, ...]
    rules: int

    @property
    def tag(self) -> str:
        return html.tag(self.above[-1])

    @property
    def is_heading(self) -> bool:
        return any(html.tag(node) in HEADINGS for node in self.above)


def blocks(root: Node, gone: Container[int] = ()) -> Iterator[Block]:
    """The blocks below an element, in reading order.

    Args:
        gone: the keys of elements that are passed over.
    """
    around, open_tags = [root], [True]
    run: list[Node] = []
    rules = 0
    stack = [html.children(root)]
    while stack:
        child = next(stack[-1], None)
        name = "" if child is None else html.tag(child)
        begins = child is None and open_tags[-1]
        if run and (begins or name in _BLOCKS or name == "hr"):
            yield from _block(run, around, rules)
            run = []
        if child is None:
            stack.pop()
            if open_tags.pop():
                around.pop()
        elif name == "hr":
            rules += 1
        elif not name or name in ("br", "img"):
            run.append(child)
        elif name not in _UNSEEN and html.key(child) not in gone:
            stack.append(html.children(child))
            open_tags.append(name in _BLOCKS)
            if name in _BLOCKS:
                around.append(child)


def _block(run: Sequence[Node], around: Sequence[Node], rules: int) -> Iterator[Block]:
    words = html.squeezed("".join(map(_words, run)))
    if any(map(str.isalnum, words)):
        yield Block(tuple(run), words, tuple(around), rules)


def _words(node: Node) -> str:
    if not html.tag(node):
        return html.own_text(node)
    return f" {html.attribute(node, 'alt')} "
