"""Splits a section's Markdown into blocks (paragraphs, lists, code, tables), in order, without losing text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from pyromark import Options, events_with_range

Kind = Literal["text", "title", "code", "table", "list", "quote"]

_DIRECTIVE = (
    r"(?:!!!|\?\?\?\+?)[ \t]+[\w-]+(?:[ \t]+inline(?:[ \t]+end)?)?(?:[ \t]+\"[^\"\n]*\")?"
    r"|===!?[ \t]+\"[^\"\n]*\""
)
"""The first line of an admonition or a tab in Python-Markdown, without its text, which may follow on the same line."""
_BOLD = re.compile(r"\*\*[^*\n]+\*\*")
_TITLE_LINE = re.compile(rf"{_BOLD.pattern}|#{{1,6}} .+|{_DIRECTIVE}")
SIGNATURE = re.compile(r"(`+)(?!`)(?:[^`\n]|(?!\1(?!`))`++)+\1(?!`)")
"""A paragraph that is one line of code, as an API's signature is.

Its group is not possessive: in Python 3.11.2, it would find none."""
_NO_WORDS = re.compile(
    rf"^[ \t>]*(?:```.*|~~~.*|:::[ \t]*\w*|{_DIRECTIVE}|[|:*_=+\s-]+)$"
    r"|<!--[\s\S]*?-->|</?[A-Za-z][^>\n]*>|!\[[^\]\n]*\]\([^)\n]*\)",
    re.MULTILINE,
)
_WORDS_AND_TARGET = (
    r"((?:[^\[\]\\]++|\\.|\[[^\[\]]*+\])*+)\]"
    r"\((?:<[^>\n]*>|(?:[^()\s]++|\([^()\s]*\))*+)(?:\s+\"[^\"\n]*\")?\)"
)
_BEGINS_WITH_WORD = re.compile(r"^[ \t>*+|-]*[^\W_]", re.MULTILINE)
_LINK = re.compile(
    r"`(`*)(?:(?!`\1)[^\n])+`\1"  # a link in code is code
    rf"|!\[{_WORDS_AND_TARGET}|\[{_WORDS_AND_TARGET}"
    r"|<br>"  # between lines in a table's cell
)
"""Each alternative begins with its sign, so that the search goes from sign to sign: it takes a fifth of the time."""
_FENCE = re.compile(r"(^[ \t>]*(?:```|~~~)[\s\S]*?^[ \t>]*(?:```|~~~)[ \t]*$)", re.MULTILINE)


Measure = Callable[[str], int]
"""Measures a text, in tokens of the limit."""


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A piece of Markdown that is best left whole.

    Attributes:
        kind: a "title" is one line that names what follows: in bold, a heading, a directive, or code before all else.
        text: as it is written, without the blank lines around it.
        size: in tokens of the limit.
        joint: the text between the previous block and this one.
        leads: it introduces the next block: a title, or words that end with a colon.
    """

    kind: Kind
    text: str
    size: int
    joint: str = "\n\n"
    leads: bool = False


def blocks(markdown: str, measure: Measure) -> Iterator[MarkdownBlock]:
    """The top-level blocks of `markdown`."""
    lines = markdown.split("\n")
    starts = list(_starts(markdown))
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, "text"))  # the parser gives no blocks for link definitions
    fences = [first for first, kind in starts if kind == "code" and first]
    titles: set[tuple[int, Kind]] = {(first - 1, "text") for first in fences if _BOLD.fullmatch(lines[first - 1])}
    for (first, kind), (last, _) in pairwise([*sorted({*starts, *titles}), (len(lines), "text")]):
        text = trim("\n".join(lines[first:last]))
        if text:
            joint = "\n\n" if first == 0 or not lines[first - 1].strip() else "\n"
            is_title = kind == "text" and bool(_TITLE_LINE.fullmatch(text) or (not first and SIGNATURE.fullmatch(text)))
            leads = is_title or (kind == "text" and text.rstrip("*_ ").endswith((":", "\uff1a")))
            yield MarkdownBlock("title" if is_title else kind, text, measure(text), joint, leads)


def _starts(markdown: str) -> Iterator[tuple[int, Kind]]:
    """The number of each top-level block's first line, and its kind."""
    written = markdown.encode("utf-8", "replace")
    line = place = end = 0
    for event, span in events_with_range(written.decode(), options=Options.ENABLE_TABLES):  # spans are in bytes
        if not end <= span["start"] < span["end"]:
            continue  # in the block before; a missing cell of its last row is empty and has the place behind it
        line += written.count(b"\n", place, span["start"])
        place, end = span["start"], span["end"]
        match event:
            case {"Start": {"CodeBlock": {"Fenced": _}}}:
                yield line, "code"
            case {"Start": {"Table": _}}:
                yield line, "table"
            case {"Start": {"List": _}}:
                yield line, "list"
            case {"Start": {"BlockQuote": _}}:
                yield line, "quote"
            case _:
                yield line, "text"


def has_words(text: str) -> bool:
    """Whether it has text besides fences, table rules, directives, pictures and links with a sign alone."""
    if "<" not in text and _BEGINS_WITH_WORD.search(text):
        return True
    code = _FENCE.search(text)
    if code and "".join(code[1].split("\n")[1:-1]).strip():
        return True
    rest = _NO_WORDS.sub(" ", text).strip()
    return any(map(str.isalnum, without_addresses(text))) if "](" in rest else bool(rest)


def without_addresses(markdown: str) -> str:
    """Links become their words, pictures their descriptions and `<br>` a space; code is unchanged."""
    return _spoken(markdown) if "](" in markdown or "<br>" in markdown else markdown


@lru_cache(maxsize=1_000)  # a passage is measured, and written
def _spoken(markdown: str) -> str:
    parts = _FENCE.split(markdown) if "```" in markdown or "~~~" in markdown else [markdown]
    return "".join(part if number % 2 else _LINK.sub(_words, part) for number, part in enumerate(parts))


def _words(link: re.Match[str]) -> str:
    if link.lastindex is None:
        return " "
    return link[0] if link.lastindex == 1 else link[link.lastindex]


def trim(text: str) -> str:
    """Without the blank lines around it; the first line's indent stays, which may make it code."""
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""
