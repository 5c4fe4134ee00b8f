"""Finds code in Markdown, where directives, comments and expressions are plain text."""

import re
from collections.abc import Callable, Iterator

FENCE = re.compile(r"[ \t>]*(?:[-*+] +|\d{1,9}[.)] +)*(`{3,}|~{3,})([^\n]*)(?:\n|\Z)")
"""A line that opens a fence, perhaps in a list or a quotation."""

_TICKS = re.compile(r"`+")
_NEXT = re.compile(r"\n|(?=`)")
"""Where code may begin next: on a new line, or at backticks."""

_BLANK = re.compile(r"\n[ \t]*(?:\n|\Z)")


def fence_end(text: str, start: int) -> int | None:
    """The end of the fenced code that begins on the line at `start`; None where that line opens no fence."""
    opening = FENCE.match(text, start)
    if opening is None or (opening[1][0] == "`" and "`" in opening[2]):
        return None
    marks = opening[1]
    closing = re.compile(rf"^[ \t>]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*(?:\n|\Z)", re.MULTILINE)
    fence = closing.search(text, opening.end())
    return fence.end() if fence else len(text)


def span_end(text: str, start: int) -> int:
    """The end of the code span that begins at `start`; the position after its backticks where it is not closed."""
    opening = _TICKS.match(text, start)
    after = opening.end() if opening else start + 1
    blank = _BLANK.search(text, after)
    for closing in _TICKS.finditer(text, after, blank.start() if blank else len(text)):
        if opening and len(closing[0]) == len(opening[0]):
            return closing.end()
    return after


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces, each with whether it is code."""
    start = position = 0
    while position < len(text):
        end = None
        if position == 0 or text[position - 1] == "\n":
            end = fence_end(text, position)
        if end is None and text[position] == "`":
            end = span_end(text, position)
        if end is None:
            following = _NEXT.search(text, position)
            position = following.end() if following else len(text)
            continue
        if position > start:
            yield False, text[start:position]
        yield True, text[position:end]
        start = position = end
    if start < len(text):
        yield False, text[start:]


def outside(change: Callable[[str], str], text: str) -> str:
    """The text with `change` applied to each piece outside code."""
    return "".join(piece if is_code else change(piece) for is_code, piece in pieces(text))
