"""docs/reliability.md: writes it from a run, and reads its tables again."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from tools.faults.cells import LAMBDA_SECONDS, MESSAGE, SECONDS, Cell
from tools.faults.kinds import FAULTS

HEADINGS = ("fault", "status", "code", "who acts", "calls", "seconds", "next question", "message lost")
SOAK = "## 30,000 questions in one container"
INTRODUCTION = """# Reliability

Each service of the function fails in each of {faults} ways. The tables show what came of it: {cells} cells, and in
{lost} of them a message was lost. `make faults` runs them and writes this page. A short form runs in CI and fails when
a cell changes.

A server between the function and the service plays the fault (`tools/faults`). Each cell is a new container, whose
first question meets the fault. A question has {seconds:.0f} seconds, a message {message:.0f}, and the function
{most:.0f}: a time in bold is longer.

- **status**: of the answer over HTTP. For a destination of replies, whether the message *returned* to its queue or was
  *deleted* from it.
- **code**: see [error codes](operations.md#error-codes). With status 200, it is in the log only.
- **who acts**: the *operator* has something to set; *nobody* where the service recovers by itself.
- **calls**: requests that reached the service, those of the second attempt included.
- **next question**: what it got when the service worked again.
- **message lost**: a message from a queue meets the same fault, and is delivered again if it returned. *No*, if its
  reply arrived in the end. It arrives *twice* where the destination took it and its confirmation did not come through.

Run on {day}.
"""


def page(tables: Iterable[str], soak: str) -> str:
    """The whole page.

    Args:
        tables: the section of each service.
        soak: the last section.
    """
    sections = list(tables)
    cells = [row for each in sections for row in rows(each).values()]
    lost = sum("**lost**" in cell["message lost"] for cell in cells)
    head = INTRODUCTION.format(
        faults=len(FAULTS),
        cells=len(cells),
        lost=lost or "none",
        seconds=SECONDS,
        message=SECONDS * MESSAGE,
        most=LAMBDA_SECONDS,
        day=datetime.now(UTC).date(),
    )
    return "\n".join([head, *(each.rstrip("\n") + "\n" for each in (*sections, soak))])


def table(service: str, cells: Iterable[Cell]) -> str:
    """The section of one service."""
    lines = ["| " + " | ".join(row) + " |" for row in (HEADINGS, ["---"] * len(HEADINGS), *map(shown, cells))]
    return "\n".join([f"## {service}", "", *lines]) + "\n"


def shown(cell: Cell) -> tuple[str, ...]:
    """A cell as a row of the page."""
    code = f"`{cell.code}`" if cell.code else ""
    return (
        *(cell.fault, cell.status, code, cell.acts, str(cell.calls), _seconds(cell.seconds)),
        *(re.sub(r"\b([A-Z]+_[A-Z_]+)\b", r"`\1`", cell.next), cell.queued),
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds < LAMBDA_SECONDS else f"**{seconds:.1f}**"


def section(text: str, heading: str) -> str:
    """The part of a page from a heading to the next one."""
    found = re.search(rf"^{re.escape(heading)}$.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def rows(table: str) -> dict[str, dict[str, str]]:
    """The rows of a service's section, by fault."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    found = [[part.strip() for part in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: dict(zip(HEADINGS, row, strict=True)) for row in found}
