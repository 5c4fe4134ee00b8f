"""Finds the text and the language of a code block, for the markup of every known theme."""

import re
from collections.abc import Container, Iterator
from itertools import islice

from passage.sites import html
from passage.sites.html import Node

LINES = ".ec-line, .token-line, span.line, [data-line]"
"""Selectors of a line in themes. Some themes write no line breaks between lines."""

_LANGUAGE = re.compile(r"(?:language|lang|highlight|highlight-source|brush:?)-([\w+#.-]+)")
_NO_LANGUAGE = {"default", "none", "plaintext", "plain", "no-highlight", "nohighlight", "notranslate", "undefined"}
_NUMBERS = re.compile(r"ln|lnt|lineno|linenos|(code-?)?line-?numbers?", re.IGNORECASE)
"""Classes of line numbers, in several highlighters."""
_LEVELS = 4
"""The most levels above a `pre` that are searched for its language."""
_ON_ITS_OWN_LINE = frozenset({"div", "li", "p", "tr"})
_TABLE_PARTS = ("table", "tbody", "tr", "td")


def language(pre: Node) -> str:
    """The block's language as its HTML names it, empty where it names none."""
    code = html.first(pre, "code")
    around = (node for node in html.ancestors(pre) if html.tag(node) not in _TABLE_PARTS)  # of a table of line numbers
    for node in [*([code] if code else []), pre, *islice(around, _LEVELS)]:
        for named in _named(node):
            name = re.split(r"[,{\s]", named, maxsplit=1)[0].lower()
            if name in _NO_LANGUAGE:
                return ""
            if name:
                return name
    return "mermaid" if "mermaid" in html.classes(pre) else ""


def _named(node: Node) -> list[str]:
    attributes = [html.attribute(node, name) for name in ("data-lang", "data-language")]
    classes = html.classes(node)
    return [
        *filter(None, attributes),
        *(found[1] for each in classes if (found := _LANGUAGE.fullmatch(each))),
        *(classes[1:2] if classes[:1] in (["sourceCode"], ["hljs"]) and html.tag(node) in ("pre", "code") else ()),
    ]


def source(pre: Node, dropped: Container[int]) -> str:
    """The code, line by line, without line numbers and the theme's tools."""
    lines = html.outermost(pre, LINES)
    written = _text(pre, dropped)
    if written.strip("\n").count("\n") + 1 < len(lines) and _all_text_in_lines(lines, pre, dropped):
        written = "\n".join(_text(line, dropped).removesuffix("\n") for line in lines)
    return "\n".join(line.rstrip("\r") for line in written.strip("\n").split("\n"))


def _text(node: Node, dropped: Container[int]) -> str:
    parts = []
    for child in html.children(node):
        if html.key(child) in dropped:
            continue
        if not html.tag(child):
            parts.append(html.own_text(child))
        elif html.tag(child) == "br":
            parts.append("\n")
        elif html.tag(child) in _ON_ITS_OWN_LINE and (text := _text(child, dropped)):
            begun = parts and not parts[-1].endswith("\n")
            parts.append(("\n" if begun else "") + text + ("" if text.endswith("\n") else "\n"))
        elif _is_line(child):
            text = _text(child, dropped)
            after = child.next
            broken = text.endswith("\n") or after is None or html.text(after).startswith("\n")
            parts.append(text if broken else f"{text}\n")  # a style sheet makes the element a block
        else:
            parts.append(_text(child, dropped))
    return "".join(parts).replace("\u200b", "")


def _is_line(node: Node) -> bool:
    """Whether an inline element is a line. Prism calls the first line of a request a token, too."""
    names = html.classes(node)
    return "token" not in names and any(name.endswith(("-line", "_line")) for name in names)


def line_numbers(pre: Node) -> Iterator[Node]:
    """Elements at the beginning of the lines whose numbers rise by one, parted from the code by a space or a style.

    A block of nothing but rising numbers beside another one is a column of line numbers as a whole.
    """
    numbered = [node for node in html.select(pre, "span, small, i, a, div") if _is_number(node)]
    for found in ([node for node in numbered if _is_parted(node)], [node for node in numbered if _is_unselected(node)]):
        numbers = [int(html.text(node)) for node in found]
        rise = bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        if rise and (len(numbers) > 1 or _is_unselected(found[0])) and any(map(str.isalpha, html.text(pre))):
            yield from found
    if _is_column(pre):
        yield pre


def _is_number(node: Node) -> bool:
    words, before = html.text(node), node.prev
    while before is not None and not html.text(before):
        before = before.prev
    begins = before is None or html.text(before).endswith("\n")
    return words.strip().isdecimal() and len(words) < 9 and begins


def _is_parted(node: Node) -> bool:
    words, after = html.text(node), node.next
    return words != words.strip() or (after is not None and html.text(after)[:1].isspace())


def _is_unselected(node: Node) -> bool:
    """Whether a style keeps a number out of what a reader copies, or its class says what it is."""
    return "user-select:none" in html.attribute(node, "style").replace(" ", "") or any(
        _NUMBERS.fullmatch(name) for name in html.classes(node)
    )


def _is_column(pre: Node) -> bool:
    numbers = html.text(pre).split()
    cell = next((above for above in html.ancestors(pre) if html.tag(above) == "td"), None)
    following = html.following(cell) if cell is not None else None
    if following is None or not all(map(str.isdecimal, numbers)) or html.first(following, "pre") is None:
        return False
    return (
        numbers == [str(number) for number in range(int(numbers[0]), int(numbers[0]) + len(numbers))]
        if numbers
        else False
    )


def _all_text_in_lines(lines: list[Node], pre: Node, dropped: Container[int]) -> bool:
    together = "".join(_text(line, dropped) for line in lines)
    return "".join(together.split()) == "".join(_text(pre, dropped).split())
