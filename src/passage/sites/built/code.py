"""Finds the text and the language of a code block, for the markup of every known theme."""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice

from passage.sites import html
from passage.sites.html import Node

LINES = ".ec-line, .token-line, span.line, [data-line]"
"""Selectors of a line in themes. Some themes write no line breaks between lines."""

_LANGUAGE = re.compile(r"(?:language|lang|highlight(?:-source)?|brush:?)-([\w+#.-]+)")
_NO_LANGUAGE = {"default", "none", "plaintext", "plain", "no-highlight", "nohighlight", "notranslate", "undefined"}
_NUMBERS = re.compile(r"ln|lnt|lineno|linenos|(code-?)?line-?numbers?", re.IGNORECASE)
"""Classes of line numbers, in several highlighters."""
_GLUED = re.compile(r"[\w\"'#@$<({\[/]")
"""The first character of code that is glued to the number of its line; "1." and "1," are words of a list."""
_NUMBERED = re.compile(r" *(\d+)\xa0")
"""The number of a line that is part of the code's text; rows of data are not parted by a no-break space."""
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
    listing = [line.rstrip("\r") for line in written.strip("\n").split("\n")]
    if all(line[:1] in ("", " ") for line in listing) and any(html.key(each) in dropped for each in _numbers(pre)):
        listing = [line[1:] for line in listing]  # the space between a number and its line
    return unnumbered("\n".join(listing))


def unnumbered(text: str) -> str:
    """Code without the numbers before its lines, where each line has one."""
    lines = text.strip("\n").split("\n")
    numbers = [_NUMBERED.match(line) for line in lines] if "\xa0" in lines[0] else [None]
    if [found and int(found[1]) for found in numbers] != list(range(1, len(lines) + 1)):
        return text
    return "\n".join(line.partition("\xa0")[2] for line in lines)


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
    if "display:block" in html.attribute(node, "style").replace(" ", ""):
        return True
    return html.tag(node) != "td" and "token" not in names and any(name.endswith(("-line", "_line")) for name in names)


def line_numbers(pre: Node) -> Iterator[Node]:
    """Elements at the beginning of the lines whose numbers rise by one, parted from the code by a space or a style.

    A block of nothing but rising numbers beside another one is a column of line numbers as a whole.
    """
    numbered = list(_numbers(pre))
    parted, marked = (list(filter(test, numbered)) for test in (_is_parted, _is_unselected))
    for found in (parted, marked, numbered if _begin_every_line(numbered, pre) else []):
        numbers = [int(html.text(node)) for node in found]
        rise = bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        if rise and (len(numbers) > 1 or _is_unselected(found[0])) and any(map(str.isalpha, html.text(pre))):
            yield from found
    yield from _columns(pre)


def _numbers(pre: Node) -> Iterator[Node]:
    return filter(_is_number, html.select(pre, "span, small, i, b, em, strong, a, div, td"))


def _is_number(node: Node) -> bool:
    words, before = html.text(node), node.prev
    while before is not None and not html.text(before):
        before = before.prev
    begins = before is None or html.text(before).endswith("\n")
    return words.strip().isdecimal() and len(words) < 9 and begins


def _begin_every_line(numbers: Sequence[Node], pre: Node) -> bool:
    """Whether numbers of one class stand at the beginning of each line, glued to its text."""
    lines = [line for line in html.text(pre).split("\n") if line.strip()]
    glued = all((after := node.next) is not None and _GLUED.match(html.text(after)) for node in numbers)
    return len(lines) == len(numbers) > 1 and glued and len({html.attribute(node, "class") for node in numbers}) == 1


def _is_parted(node: Node) -> bool:
    words, after = html.text(node), node.next
    return words != words.strip() or (after is not None and html.text(after)[:1].isspace())


def _is_unselected(node: Node) -> bool:
    """Whether a style keeps a number out of what a reader copies, or its class says what it is."""
    if html.tag(node) == "td" and html.following(node) is not None:
        return True
    return "user-select:none" in html.attribute(node, "style").replace(" ", "") or any(
        _NUMBERS.fullmatch(name) for name in html.classes(node)
    )


def _columns(pre: Node) -> Iterator[Node]:
    """The elements beside a block of code, or beside its cell or wrapper, that hold nothing but rising numbers."""
    for node in (pre, *islice(html.ancestors(pre), _LEVELS)):
        for beside in (html.previous(node), html.following(node)):
            if beside is not None and html.tag(beside) and (count := _count(beside)):
                lines = _text(pre, ()).strip("\n").count("\n") + 1
                column = html.first(beside, "pre") or beside
                if count in (lines, lines + 1) or html.text(column).rstrip().count("\n") + 1 == lines:
                    yield beside
        others = html.children(node.parent) if node.parent is not None else ()
        if any(html.text(each).strip() for each in others if html.key(each) != html.key(node)):
            break


def _count(node: Node) -> int:
    """How many numbers an element holds that rise by one, and nothing else; 0 where it holds something else."""
    numbers = node.text(deep=True, separator=" ").split()
    if not numbers or not all(map(str.isdecimal, numbers)) or len(numbers[0]) > 8:
        return 0
    rising = range(int(numbers[0]), int(numbers[0]) + len(numbers))
    return len(numbers) if numbers == list(map(str, rising)) else 0


def _all_text_in_lines(lines: list[Node], pre: Node, dropped: Container[int]) -> bool:
    together = "".join(_text(line, dropped) for line in lines)
    return "".join(together.split()) == "".join(_text(pre, dropped).split())
