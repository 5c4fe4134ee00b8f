"""The one module that knows the HTML libraries: selectolax parses and selects, html-to-markdown converts.

Both were chosen by measurement: together they keep every code block, heading and table of the built sites they were
tried on (docs/sites.md). Other modules treat a `Node` as opaque and use the functions below.
"""

import codecs
import re
from collections.abc import Iterator

from html_to_markdown import ConversionOptions, convert
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

Node = LexborNode

_OPTIONS = ConversionOptions(
    expand_abbreviations=False,  # otherwise every `<abbr>` becomes "AWS (Amazon Web Services)"
    hidden_content="reachable",  # otherwise inactive tab panels are dropped
    compact_tables=True,  # padding adds 7 % and more to a table
    autolinks=False,
    extract_metadata=False,
    bullets="-",
    # A single line break inside a paragraph is only a space.
    newline_style="spaces",
)

_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_HEAD_BYTES = 1_024
"""HTML requires the declaration of the encoding within these first bytes."""

_MARKED = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
"""Byte order marks; they come before any declaration."""

_DECODERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
"""Browsers decode these encodings with a larger one. A declaration that can be read as ASCII is not in UTF-16."""

_SPACE = " \t\n\r\f\u00a0"
INVISIBLE = {ord(character): None for character in "\u200b\u00ad\ufeff\u2060"}
"""Invisible characters; themes put them into permalinks and long words."""


class SelectorError(ValueError):
    """A CSS selector that cannot be read."""


def parse(content: bytes) -> Node:
    """The document's `<html>` element.

    Raises:
        UnicodeDecodeError: the bytes are not in the declared encoding (UTF-8 where none is).
        LookupError: the declared encoding does not exist.
        ValueError: there is no document.
    """
    root = LexborHTMLParser(content.decode(_encoding(content))).root
    if root is None:
        raise ValueError("the file holds no HTML")
    return root


def _encoding(content: bytes) -> str:
    for mark, encoding in _MARKED:
        if content.startswith(mark):
            return encoding
    declared = _CHARSET.search(content[:_HEAD_BYTES])
    return _decoder(declared[1].decode()) if declared else "utf-8"


def _decoder(declared: str) -> str:
    encoding = codecs.lookup(declared).name
    return _DECODERS.get(encoding, encoding)


def marked(content: bytes, encoding: str) -> bytes:
    """The document in UTF-8 with its mark, so that `parse` reads it as the server declares; unchanged if it cannot."""
    if any(content.startswith(mark) for mark, _ in _MARKED):
        return content
    try:
        return codecs.BOM_UTF8 + content.decode(_decoder(encoding)).encode()
    except (LookupError, ValueError):
        return content


def select(node: Node, css: str) -> list[Node]:
    """All elements below `node` (and `node` itself) that match, each once, in document order.

    Raises:
        SelectorError: `css` is not a selector.
    """
    try:
        # An element that several selectors of a list match is found several times.
        return list({match.mem_id: match for match in node.css(css)}.values())
    except SelectolaxError as error:
        raise SelectorError(f"{css!r} is not a CSS selector") from error


def first(node: Node, css: str) -> Node | None:
    return next(iter(select(node, css)), None)


def outermost(node: Node, css: str) -> list[Node]:
    """The matches that lie in no other match."""
    found = select(node, css)
    keys = {key(match) for match in found}
    return [match for match in found if not any(key(above) in keys for above in ancestors(match))]


def ancestors(node: Node) -> Iterator[Node]:
    """The elements around `node`, innermost first."""
    above = node.parent
    while above is not None and above.tag != "-document":
        yield above
        above = above.parent


def children(node: Node) -> Iterator[Node]:
    """Elements and texts directly below `node`; comments are left out."""
    return (child for child in node.iter(include_text=True) if not child.is_comment_node)


def comments(node: Node) -> Iterator[str]:
    """The texts of the comments directly below `node`."""
    return (child.comment_content or "" for child in node.iter(include_text=True) if child.is_comment_node)


def key(node: Node) -> int:
    """A key of a node: equal for every reference to the same node of one document."""
    return node.mem_id


def tag(node: Node) -> str:
    """The element's name in lower case; empty for a text."""
    return "" if node.is_text_node else (node.tag or "")


def own_text(node: Node) -> str:
    """The text of a text node."""
    return node.text_content or ""


def text(node: Node) -> str:
    """All text below `node`, unchanged."""
    return node.text(deep=True)


def attribute(node: Node, name: str) -> str:
    """An attribute's value, empty when it is absent or has none."""
    return node.attributes.get(name) or ""


def has_attribute(node: Node, name: str) -> bool:
    return name in node.attributes


def set_attribute(node: Node, name: str, value: str) -> None:
    node.attrs[name] = value


def drop_attribute(node: Node, name: str) -> None:
    del node.attrs[name]


def remove(node: Node) -> None:
    """Remove an element from its document; `node` must not be used afterwards."""
    node.decompose()


def classes(node: Node) -> list[str]:
    return attribute(node, "class").split()


def squeezed(words: str) -> str:
    """Text on one line, without invisible characters."""
    return " ".join(words.translate(INVISIBLE).split())


def to_markdown(html: str) -> str:
    """CommonMark with tables, fenced code and `-` bullets, without surrounding blank lines."""
    return (convert(html, _OPTIONS).content or "").strip("\n").rstrip(_SPACE)
