"""The one module that knows the HTML libraries: selectolax parses and selects, html-to-markdown converts.

Both were chosen by measurement: together they keep every code block, heading and table of the built sites they were
tried on (docs/sites.md). Other modules use the functions below, and of a `Node` only `parent`, `prev` and `html`.
"""

import re
from collections.abc import Callable, Container, Iterator
from operator import attrgetter

from html_to_markdown import (
    CodeBlockStyle,
    ConversionOptions,
    HeadingStyle,
    HiddenContent,
    HighlightStyle,
    InlineDataMedia,
    LinkStyle,
    ListIndentType,
    NewlineStyle,
    OutputFormat,
    TierStrategy,
    UrlEscapeStyle,
    WhitespaceMode,
    convert,
)
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from passage.sites import encoding

Node = LexborNode

_OPTIONS = ConversionOptions(
    expand_abbreviations=False,  # otherwise every `<abbr>` becomes "AWS (Amazon Web Services)"
    hidden_content=HiddenContent.REACHABLE,  # otherwise inactive tab panels are dropped
    compact_tables=True,  # padding adds 7 % and more to a table
    br_in_tables=True,  # otherwise lines, paragraphs and list items of a cell run together
    autolinks=False,
    extract_metadata=False,
    bullets="-",
    # A single line break inside a paragraph is only a space.
    newline_style=NewlineStyle.SPACES,
    # The converter's defaults. It looks up the name of each style at each call, which takes longer than to convert.
    heading_style=HeadingStyle.ATX,
    list_indent_type=ListIndentType.SPACES,
    highlight_style=HighlightStyle.DOUBLE_EQUAL,
    whitespace_mode=WhitespaceMode.NORMALIZED,
    code_block_style=CodeBlockStyle.BACKTICKS,
    inline_data_media=InlineDataMedia.KEEP,
    url_escape_style=UrlEscapeStyle.ANGLE,
    link_style=LinkStyle.INLINE,
    output_format=OutputFormat.MARKDOWN,
    tier_strategy=TierStrategy.AUTO,
)

_BLOCK = "p, ul, ol, pre, table, blockquote, dl, section, div:has(p, ul, ol, pre, table)"
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
HEADING = ", ".join(sorted(HEADINGS))
"""Selects them."""
_IN_HEADING = f":is({HEADING}) > :is({_BLOCK})"

DEEPEST = 512
"""The deepest level of elements, as in browsers."""
_LEAVES = HEADINGS | {"", "p", "pre", "td", "th", "li", "img", "br", "code"}

_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalnum())
_NO_WORDS = bytes(code for code in range(128) if not chr(code).isalpha())
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_NOT_IN_LINES = _NO_LETTERS.replace(b"\n", b"")
_NO_LETTER = re.compile(r"\W+")

_SPACE = " \t\n\r\f\u00a0"
_INVISIBLE = "\u200b\u00ad\ufeff\u2060"
"""Invisible characters; themes put them into permalinks and long words."""


class SelectorError(ValueError):
    """A CSS selector that cannot be read."""


def parse(content: bytes) -> Node:
    """The document's `<html>` element.

    Raises:
        ValueError: there is no document.
    """
    root = LexborHTMLParser(encoding.decoded(content, encoding.of_html(content))).root
    if root is None:
        raise ValueError("the file holds no HTML")
    for heading in {key(block.parent): block.parent for block in root.css(_IN_HEADING) if block.parent}.values():
        _close(heading)
    return root


def _close(heading: Node) -> None:
    """Put the blocks in a heading that was left open (`<h2>Oil<p>…`) behind it."""
    inside = list(heading.iter(include_text=True))
    begin = next(at for at, child in enumerate(inside) if child.css_matches(_BLOCK))
    if any(text(child).strip() for child in inside[:begin] if not child.is_comment_node):
        for child in reversed(inside[begin:]):
            heading.insert_after(child)  # a copy
            child.decompose()


def flatten(root: Node) -> None:
    """Take the elements away that are nested deeper than browsers nest them; their text stays."""
    depth, node = 0, root.child
    deep: list[Node] = []
    while node is not None and key(node) != key(root):
        if depth >= DEEPEST and tag(node) not in _LEAVES and not node.is_comment_node:
            deep.append(node)
        following = node.child or node.next
        depth += node.child is not None
        while following is None and (node := node.parent) is not None and key(node) != key(root):
            following, depth = node.next, depth - 1
        node = following
    for element in reversed(deep):
        element.unwrap()


def select(node: Node, css: str) -> list[Node]:
    """All elements below `node` (and `node` itself) that match, each once, in document order.

    Raises:
        SelectorError: `css` is not a selector.
    """
    try:
        matches: list[Node] = node.css(css)
    except SelectolaxError as error:
        raise SelectorError(f"{css!r} is not a CSS selector") from error
    # An element that several selectors of a list match is found several times.
    return matches if len(matches) < 2 or "," not in css else list({each.mem_id: each for each in matches}.values())


def first(node: Node, css: str) -> Node | None:
    """The first of `select`, sooner."""
    try:
        found: Node | None = node.css_first(css)
    except SelectolaxError as error:
        raise SelectorError(f"{css!r} is not a CSS selector") from error
    return found


def with_id(node: Node, identity: str) -> Node | None:
    """The element below `node` with an id; None for an empty one."""
    return first(node, f'[id="{identity}"]') if identity and '"' not in identity else None


def has_elements(node: Node) -> bool:
    """Whether an element holds anything beside one text."""
    inside = node.child
    return inside is not None and (not inside.is_text_node or inside.next is not None)


def outermost(node: Node, css: str) -> list[Node]:
    """The matches that lie in no other match."""
    matches = select(node, css)
    keys = {key(match) for match in matches}
    return [match for match in matches if not is_within(match, keys)]


def ancestors(node: Node) -> Iterator[Node]:
    """The elements around `node`, innermost first."""
    above = node.parent
    while above is not None and above.tag != "-document":
        yield above
        above = above.parent


def is_within(node: Node, around: Container[int]) -> bool:
    """Whether an element around `node` has one of these keys."""
    return any(key(above) in around for above in ancestors(node))


def children(node: Node) -> Iterator[Node]:
    """Elements and texts directly below `node`; comments are left out."""
    return (child for child in node.iter(include_text=True) if not child.is_comment_node)


def elements(node: Node) -> Iterator[Node]:
    """The elements directly below `node`."""
    return (child for child in node.iter() if not child.is_comment_node)


def named_children(node: Node) -> Iterator[tuple[str, Node]]:
    """As `children`, each with its `tag`."""
    for child in node.iter(include_text=True):
        name = child.tag or ""
        if name != "-comment":
            yield ("" if name == "-text" else name), child


def previous(node: Node) -> Node | None:
    """The element or text before `node`, past comments and blank texts; None for the first."""
    before = node.prev
    while before is not None and (before.is_comment_node or (before.is_text_node and not own_text(before).strip())):
        before = before.prev
    return before


def following(node: Node) -> Node | None:
    """The element or text after `node`, past comments and blank texts; None for the last."""
    after = node.next
    while after is not None and (after.is_comment_node or (after.is_text_node and not own_text(after).strip())):
        after = after.next
    return after


def all_before(node: Node) -> Iterator[Node]:
    """The elements and texts before `node`, the nearest first, past comments and blank texts."""
    before = previous(node)
    while before is not None:
        yield before
        before = previous(before)


def all_following(node: Node) -> Iterator[Node]:
    """The elements and texts after `node`, past comments and blank texts."""
    after = following(node)
    while after is not None:
        yield after
        after = following(after)


def comments(node: Node) -> Iterator[str]:
    """The texts of the comments directly below `node`."""
    return (child.comment_content or "" for child in node.iter(include_text=True) if child.is_comment_node)


key: Callable[[Node], int] = attrgetter("mem_id")
"""A key of a node: equal for every reference to the same node of one document. A function would take twice as long."""


def tag(node: Node) -> str:
    """The element's name in lower case; empty for a text."""
    name = node.tag or ""
    return "" if name == "-text" else name


def own_text(node: Node) -> str:
    """The text of a text node."""
    return node.text_content or ""


def text(node: Node) -> str:
    """All text below `node`, unchanged."""
    return node.text(deep=True)


def words(node: Node) -> str:
    """All text below `node` on one line, without invisible characters."""
    return squeezed(text(node))


def letters(node: Node, *, digits: bool = True) -> int:
    """How many letters and digits an element has."""
    written = text(node)
    count = len(written.encode("ascii", "ignore").translate(None, _NO_LETTERS if digits else _NO_WORDS))
    if written.isascii():
        return count
    return count + sum(map(str.isalnum if digits else str.isalpha, _NOT_ASCII.findall(written)))


def letters_of(written: str) -> str:
    """The letters and digits of a text."""
    return "".join(letters_of_lines(written))


def letters_of_lines(written: str) -> list[str]:
    """The letters and digits of each line of a text."""
    some = written.encode("utf-8", "surrogatepass").translate(None, _NOT_IN_LINES).decode("utf-8", "surrogatepass")
    # The expression takes much longer, and few lines need it.
    return [line if line.isascii() else _NO_LETTER.sub("", line) for line in some.split("\n")]


def attribute(node: Node, name: str) -> str:
    """An attribute's value, empty when it is absent or has none."""
    return node.attrs.get(name) or ""


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
    return " ".join(visible(words).split())


def visible(words: str) -> str:
    """Text without invisible characters."""
    if not words.isascii():
        for character in _INVISIBLE:
            words = words.replace(character, "")
    return words


def to_markdown(html: str) -> str:
    """CommonMark with tables, fenced code and `-` bullets, without surrounding blank lines."""
    return (convert(html, _OPTIONS).content or "").strip("\n").rstrip(_SPACE)
