"""Cuts a block that is too large for a passage: tables at rows, lists at items, text at sentences.

Code is cut only beyond 8 KB, at blank lines.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from semantic_text_splitter import TextSplitter

from passage.indexing.blocks import SIGNATURE, MarkdownBlock, Measure, blocks, has_words
from passage.indexing.packing import pack

PREPARED_CHARACTERS = 20_000
"""The longest text for the splitter: its time grows with the square of unstructured text."""

CODE_CHARACTERS = 8_192
"""The most characters of a code block, without its fences, or a signature that stays whole in one passage."""

CONTINUES, CONTINUED = "*(continues)*", "*(continued)*"
"""Stand below and above the parts of a longer code block."""

_FENCE_LINE = re.compile(r"([ \t]*)(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+|$)")
_OPENS = re.compile(rf"(?:{_ITEM.pattern})*[ \t]*(?P<fence>`{{3,}}|~{{3,}})")
"""The begin of code, also behind the marks of items."""
_CELL = re.compile(r"(?<!\\)\|")
_DEEPEST = 8
"""Blocks nested deeper in lists and quotes are cut as text."""
_Cutter = Callable[[MarkdownBlock, int, Measure], Iterator[MarkdownBlock]]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of code or a row of a table."""

    text: str
    size: int
    leads: bool = False


def in_parts(whole: Iterable[MarkdownBlock], limit: int, measure: Measure, depth: int = 0) -> Iterator[MarkdownBlock]:
    """Blocks that each fit into a passage, in order: at most `limit`, but for code and what leads to it.

    A title line is one block with what it names, and words that end with a colon with long code.
    """
    lead: MarkdownBlock | None = None
    for block in whole:
        if lead is not None and not (lead.kind == "title" or (block.kind == "code" and block.size > limit)):
            yield lead
            lead = None
        if (block.leads and block.size <= limit // 2) or (lead is not None and not has_words(block.text)):
            if lead is not None and lead.size + block.size > limit // 2:  # no room for what they name
                yield lead
                lead = None
            lead = block if lead is None else replace(_join(lead, block), kind=lead.kind, leads=True)
            continue
        parts = _fit(block, limit if lead is None else limit - lead.size, measure, depth)
        if lead is not None:
            yield _join(lead, next(parts))
            lead = None
        yield from parts
    if lead is not None:
        yield lead


def _join(lead: MarkdownBlock, block: MarkdownBlock) -> MarkdownBlock:
    text = f"{lead.text}{block.joint}{block.text}"
    return replace(block, text=text, size=lead.size + block.size, joint=lead.joint)


def _fit(block: MarkdownBlock, limit: int, measure: Measure, depth: int) -> Iterator[MarkdownBlock]:
    """The block itself if it fits; otherwise its parts, in order, each at most `limit`, or whole code."""
    if block.size <= limit:
        yield block
        return
    cutters: dict[str, _Cutter] = {
        "code": _code,
        "table": _table,
        "list": partial(_list, depth=depth),
        "quote": partial(_quote, depth=depth),
    }
    cutter = cutters.get(block.kind, _text) if depth < _DEEPEST else _text
    for number, part in enumerate(cutter(block, limit, measure)):
        yield replace(part, joint=block.joint) if number == 0 else part


def _code(block: MarkdownBlock, limit: int, measure: Measure) -> Iterator[MarkdownBlock]:
    """The block as it is; if it is longer than `CODE_CHARACTERS`, in parts, each in a fence with the language."""
    first, *lines = block.text.split("\n")
    fence = _FENCE_LINE.match(first)
    if fence is None:
        yield from _text(block, limit, measure)
        return
    indent, marks = fence[1], fence[2]
    if lines and lines[-1].strip().startswith(marks):
        lines.pop()
    parts = list(_code_parts(lines))
    if len(parts) < 2:
        yield block
        return
    for number, part in enumerate(parts):
        before = f"{indent}{CONTINUED}\n\n" if number else ""
        after = f"\n\n{indent}{CONTINUES}" if number < len(parts) - 1 else ""
        text = before + "\n".join([first, *part, f"{indent}{marks}"]) + after
        yield MarkdownBlock("code", text, measure(text))


def _code_parts(lines: list[str]) -> Iterator[list[str]]:
    """The lines in parts of at most `CODE_CHARACTERS`: each ends before a blank line, else at a line."""
    part: list[str] = []
    size = blank = 0  # of the part; the place of its last blank line
    for line in (each[at : at + CODE_CHARACTERS] for each in lines for at in range(0, len(each) or 1, CODE_CHARACTERS)):
        if part and size + len(line) > CODE_CHARACTERS:
            end = blank or len(part)
            yield part[:end]
            part = part[end + 1 if blank else end :]
            size, blank = sum(map(len, part)) + len(part), 0
        if not line.strip() and part:
            blank = len(part)
        part.append(line)
        size += len(line) + 1
    if part:
        yield part


def _table(block: MarkdownBlock, limit: int, measure: Measure) -> Iterator[MarkdownBlock]:
    """Pieces of a table, each with the header. A row that does not fit becomes text, one line for each cell."""
    lines = block.text.split("\n")
    header, rows = lines[:2], lines[2:]
    room = limit - measure("\n".join([*header, ""]))
    if room <= limit // 4:  # a header that fills the passage by itself
        yield from _text(block, limit, measure)
        return
    pending: list[_Line] = []
    for row in rows:
        line = _Line(row, measure(f"{row}\n"))
        if line.size <= room:
            pending.append(line)
            continue
        yield from _rows(header, pending, room, measure)
        pending = []
        if cells := "\n\n".join(_cells_with_names(header[0], row)):
            yield from _text(MarkdownBlock("text", cells, measure(cells)), limit, measure)
    yield from _rows(header, pending, room, measure)


def _rows(header: list[str], rows: Sequence[_Line], room: int, measure: Measure) -> Iterator[MarkdownBlock]:
    for begin, end in pack(rows, room):
        text = "\n".join([*header, *(row.text for row in rows[begin:end])])
        yield MarkdownBlock("table", text, measure(text))


def _cells_with_names(header: str, row: str) -> Iterator[str]:
    names = [cell.strip() for cell in _CELL.split(header.strip().strip("|"))]
    for number, cell in enumerate(_CELL.split(row.strip().removeprefix("|").removesuffix("|"))):
        if cell.strip():
            name = names[number] if number < len(names) else ""
            yield f"{name}: {cell.strip()}" if name else cell.strip()


def _list(block: MarkdownBlock, limit: int, measure: Measure, depth: int) -> Iterator[MarkdownBlock]:
    """The items. An item that does not fit becomes its blocks, the first with the item's mark."""
    items = _items(block.text)
    for number, item in enumerate(items):
        size = measure(item)
        joint = "\n" if number else "\n\n"
        if size <= limit:
            yield MarkdownBlock("list", item, size, joint)
            continue
        mark, content = _content(item)
        parts = in_parts(blocks(content, measure), limit - 4, measure, depth + 1)
        for position, part in enumerate(parts):
            if position:
                yield part
                continue
            first, *rest = part.text.split("\n")
            text = "\n".join([mark + first, *(f"{' ' * len(mark)}{line}" if line else line for line in rest)])
            yield MarkdownBlock("list", text, measure(text), joint)


def _items(text: str) -> list[str]:
    """A list's top-level items, each with its nested items."""
    items: list[list[str]] = []
    indent = len(text) - len(text.lstrip(" "))
    fence = ""
    for line in text.split("\n"):
        stripped = line.lstrip(" ")
        begins = not fence and len(line) - len(stripped) <= indent and _ITEM.match(line)
        if fence:
            fence = "" if stripped.startswith(fence) and not stripped.strip(fence[0]).strip() else fence
        elif opened := _OPENS.match(line):
            fence = opened["fence"]
        if begins or not items:
            items.append([])
        items[-1].append(line)
    return ["\n".join(item).rstrip() for item in items]


def _content(item: str) -> tuple[str, str]:
    """An item's mark and its content without the indent that the mark gives it."""
    marked = _ITEM.match(item)
    if marked is None:
        return "", item
    mark = marked[0]
    first, *rest = item[len(mark) :].split("\n")
    width = len(mark)
    return mark, "\n".join([first, *(line[min(width, len(line) - len(line.lstrip(" "))) :] for line in rest)])


def _quote(block: MarkdownBlock, limit: int, measure: Measure, depth: int) -> Iterator[MarkdownBlock]:
    """The blocks in a quotation, each quoted again."""
    content = "\n".join(re.sub(r"^ {0,3}> ?", "", line) for line in block.text.split("\n"))
    room = limit * 3 // 4  # each line gets its quotation mark again
    for part in in_parts(blocks(content, measure), room, measure, depth + 1):
        text = "\n".join(f"> {line}".rstrip() for line in part.text.split("\n"))
        quoted = MarkdownBlock("quote", text, measure(text))
        yield from [quoted] if quoted.size <= limit or part.size > room else _text(part, limit, measure)


def _text(block: MarkdownBlock, limit: int, measure: Measure) -> Iterator[MarkdownBlock]:
    """Text at its sentences, long sentences at words, long words anywhere; a signature whole."""
    if len(block.text) <= CODE_CHARACTERS and SIGNATURE.fullmatch(block.text):
        yield block
        return
    for number, (piece, size) in enumerate(_pieces(block.text, block.size, limit, measure)):
        yield MarkdownBlock("text", piece, size, " " if number else block.joint)


def _pieces(text: str, size: int, limit: int, measure: Measure) -> Iterator[tuple[str, int]]:
    """Pieces of similar length with their sizes, each at most `limit`. Only blanks at the cuts are dropped."""
    if size <= limit or len(text) == 1:
        yield text, size
        return
    if len(text) > PREPARED_CHARACTERS:
        parts = _divide(text)
    else:
        count = -(-size // limit)
        capacity = max(1, min(len(text) - 1, len(text) // count + len(text) // (count * 10)))
        parts = iter(TextSplitter(capacity).chunks(text))
    for part in parts:
        if part.strip():
            yield from _pieces(part, measure(part), limit, measure)


def _divide(text: str) -> Iterator[str]:
    """The text in parts short enough for the splitter, cut at the best places. Joined, they are the text."""
    start = 0
    while len(text) - start > PREPARED_CHARACTERS:
        end = start + PREPARED_CHARACTERS
        for boundary in ("\n\n", "\n", ". ", " "):
            place = text.rfind(boundary, start + PREPARED_CHARACTERS // 2, end)
            if place >= 0:
                end = place + len(boundary)
                break
        yield text[start:end]
        start = end
    yield text[start:]
