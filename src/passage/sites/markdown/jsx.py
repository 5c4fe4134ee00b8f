"""Reads JSX tags and expressions where they stand in Markdown."""

import re
from dataclasses import dataclass

_NAME = re.compile(r"<(/?)([A-Za-z][\w.:-]*|(?=\s*>))")
_ATTRIBUTE = re.compile(r"\s+([A-Za-z_:@#v][\w.:@-]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(?=\{)))?")
_SPREAD = re.compile(r"\s*(?=\{)")
_STRING = re.compile(r"""\s*["'`]([^"'`$\\]*)["'`]\s*\Z""")
_END = re.compile(r"\s*(/?)>")
_PAIRS = {"}": "{", ")": "(", "]": "["}
_LONGEST = 20_000
"""The most characters of one expression; a bracket still open after them is text."""
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag.

    Attributes:
        name: empty for a fragment.
        attributes: those with a text; `className` is called `class`.
        end: the position after it.
    """

    name: str
    closing: bool
    self_closing: bool
    attributes: dict[str, str]
    end: int


def tag_at(text: str, start: int) -> Tag | None:
    """The tag that begins at `start`; None where `<` begins no tag."""
    opening = _NAME.match(text, start)
    if opening is None:
        return None
    attributes: dict[str, str] = {}
    position = opening.end()
    while True:
        if end := _END.match(text, position):
            return Tag(opening[2], bool(opening[1]), bool(end[1]), attributes, end.end())
        if spread := _SPREAD.match(text, position):
            after = expression_end(text, spread.end())
        elif found := _ATTRIBUTE.match(text, position):
            after = found.end()
            name = "class" if found[1] == "className" else found[1]
            value = found[2] if found[2] is not None else found[3]
            if value is None and text[after : after + 1] == "{":
                after = expression_end(text, begin := after)
                literal = _STRING.fullmatch(text[begin + 1 : after - 1]) if after else None
                value = literal[1] if literal else None
            if value is not None:
                attributes[name] = value
        else:
            return None
        if after is None:
            return None
        position = after


def expression_end(text: str, start: int) -> int | None:
    """The position after the bracket that closes the one at `start`; None where it stays open."""
    open_brackets: list[str] = []
    position = start
    last = min(len(text), start + _LONGEST)
    while position < last:
        sign = text[position]
        if sign in "{([":
            open_brackets.append(sign)
        elif sign in _PAIRS:
            if not open_brackets or open_brackets.pop() != _PAIRS[sign]:
                return None
            if not open_brackets:
                return position + 1
        elif sign in "\"'`":
            position = _string_end(text, position)
            continue
        elif found := _COMMENT.match(text, position):
            position = found.end()
            continue
        position += 1
    return None


def _string_end(text: str, start: int) -> int:
    """The position after a string. If the line ends first, the mark is an apostrophe: the position after it."""
    mark = text[start]
    position = start + 1
    while position < len(text) and (text[position] != "\n" or mark == "`"):
        if text[position] == "\\":
            position += 1
        elif text[position] == mark:
            return position + 1
        position += 1
    return start + 1
