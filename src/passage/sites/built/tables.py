"""What a table is: a grid that Markdown can write, or a frame that only lays out its contents."""

import re

from passage.sites import html
from passage.sites.html import Node

_CODE = re.compile(r"code|hljs|highlight", re.IGNORECASE)
"""Classes of a cell with a line of code."""

_FRAME = 2
"""The most rows of a table of several columns that only lays out its contents."""


def in_cell(node: Node) -> bool:
    """Whether a node stands in a table that Markdown can only write row by row."""
    return any(html.tag(above) == "table" and not is_frame(above) for above in html.ancestors(node))


def is_frame(table: Node) -> bool:
    """Whether a table only lays out its contents, as notes do: one row or column without a header or parameter
    (Asciidoctor), two rows with one text each beside empty cells or a picture (DocBook), or code below its title.
    """
    cells = [list(html.elements(row)) for row in _rows(table)]
    if not cells or html.first(table, "td.paramname") is not None:
        return False
    if len(cells) == _FRAME and list(map(html.tag, cells[0])) == ["th"] and html.first(table, "td pre"):
        cells = cells[1:]
    if len(cells) == 1 or all(len(row) == 1 for row in cells):
        return not any(html.tag(cell) == "th" for row in cells for cell in row)
    return (
        len(cells) <= _FRAME
        and len(cells[0]) > 1
        and all(sum(html.letters(cell) > 0 for cell in row) == 1 for row in cells)
    )


def code_lines(table: Node) -> list[Node]:
    """The code of each row, of a table that only sets numbers beside the lines of code; else empty."""
    cells = [list(html.elements(row)) for row in _rows(table)]
    if not cells or any(len(row) != 2 or html.tag(row[0]) != "td" for row in cells):
        return []
    lines = [html.first(row[1], "code, pre") or row[1] for row in cells]
    whole = all(html.text(row[1]).strip() == html.text(line).strip() for row, line in zip(cells, lines, strict=True))
    is_code = all(html.tag(line) in ("code", "pre") for line in lines) or _CODE.search(
        html.attribute(lines[0], "class")
    )
    single = not any("\n" in html.text(line).strip() for line in lines)
    return lines if whole and single and is_code and _are_numbered([row[0] for row in cells]) else []


def number_cells(table: Node) -> list[Node]:
    """The cells beside `code_lines`."""
    return [next(html.elements(row)) for row in _rows(table)] if code_lines(table) else []


def _are_numbered(cells: list[Node]) -> bool:
    """Whether cells hold numbers that rise by one: as text, or in an attribute that a style sheet shows."""
    texts = [html.text(cell).strip() for cell in cells]
    values = texts if any(texts) else [next(filter(str.isdecimal, _values(cell)), "") for cell in cells]
    first = int(values[0]) if values[0].isdecimal() and len(values[0]) < 9 else -1
    return first >= 0 and values == [str(first + at) for at in range(len(values))]


def _values(cell: Node) -> list[str]:
    return [value or "" for node in html.select(cell, "*") for value in node.attributes.values()]


def empty_header(table: Node) -> str:
    """A header for a table without one, in HTML: the converter would make one of its first row. Else empty."""
    cells = next((list(html.elements(row)) for row in _rows(table)), [])
    if html.first(table, "thead") is not None or all(html.tag(cell) == "th" for cell in cells):
        return ""
    spans = (html.attribute(cell, "colspan") for cell in cells)
    return f"<tr>{'<th></th>' * sum(int(span[:3]) if span.isdecimal() else 1 for span in spans)}</tr>"


def _rows(table: Node) -> list[Node]:
    """A table's own rows, without those of tables in its cells."""
    return [row for row in html.select(table, "tr") if _table_of(row) == html.key(table)]


def _table_of(row: Node) -> int:
    return next(html.key(above) for above in html.ancestors(row) if html.tag(above) == "table")
