"""Formats a run's figures for the terminal and for docs/performance.md."""

from collections.abc import Sequence

from benchmarks import goals
from benchmarks.asking import ROOT
from benchmarks.results import Results
from benchmarks.tables import sections, table

PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- written by `make bench ARGS=--write` -->", "<!-- up to here -->"


def verdicts(found: Sequence[goals.Verdict]) -> str:
    rows = [[each.figure, each.goal, each.measured, "met" if each.met else "**MISSED**", each.how] for each in found]
    return table(["figure", "goal", "measured", "", "which is"], rows)


def machine(results: Results) -> str:
    """When and on what, in a line."""
    at = results.machine
    containers = f", {results.rounds} containers of each function at each latency" if results.functions else ""
    return (
        f"{results.date}: {at.cores} cores, {at.architecture}, Python {at.python}{containers}; "
        f"load average {at.load_before:.1f} before and {at.load_after:.1f} after."
    )


def part(results: Results) -> str:
    """The generated part of docs/performance.md, between its marks."""
    found = [f"{machine(results)}\n", verdicts(goals.judged(results))]
    found.append("\n![Cold start, warm latency and search time, as bars and lines](performance.svg)")
    found += [f"\n### {heading}\n\n{content}" for heading, content in sections(results)]
    return "\n".join(found)


def placed(page: str, content: str) -> str:
    """The page with `content` between its marks.

    Raises:
        ValueError: it has not each mark once, in their order.
    """
    before, _, rest = page.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark or page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"{PAGE.name} must have the lines {BEGIN} and {END} once each, in this order")
    return f"{before}{BEGIN}\n\n{content}\n\n{END}{after}"
