"""Counts the text that a run saw, kept and left out, and lists what was left out in a file (`--report`)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from passage.sites.model import Note, Page, Skip

_TOLERATED = 0.03
"""The share of lost blocks above which the run warns."""


@dataclass(slots=True)
class TextCount:
    """The blocks of visible text of all pages.

    Attributes:
        file: of the list; None where none is written. A line is the page, the rule and the text, parted by tabs.
    """

    file: IO[str] | None = None
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    lost: int = 0

    def add(self, read: Page | Note) -> None:
        """Count a page or a file that was left out."""
        if isinstance(read, Page | Skip) and read.account is not None:
            self.kept += read.account.kept
            self.left_out.update(read.account.left_out)
            self.lost += read.account.lost
        if self.file is not None:
            self.file.writelines("\t".join(line) + "\n" for line in _list_named(read))

    def lines(self) -> Iterator[str]:
        """The counts for people; none where no page was counted."""
        left_out = self.left_out.total()
        if not (self.kept or left_out or self.lost):
            return
        rules = ", ".join(f"{rule} {count:,}" for rule, count in (+self.left_out).most_common())
        seen = self.kept + left_out + self.lost
        yield (
            f"Text: {seen:,} blocks seen, {self.kept:,} kept, {left_out:,} left out"
            + (f" ({rules})" if rules else "")
            + (f", {self.lost:,} lost" if self.lost else "")
        )
        if self.lost > _TOLERATED * seen:
            share = self.lost / seen
            yield f"Warning: {share:.1%} of the text is in no passage, and no rule left it out. --report FILE lists it."


def _list_named(read: Page | Note) -> Iterator[tuple[str, str, str]]:
    if isinstance(read, Skip):
        yield read.path, read.reason, f"{read.account.seen:,} blocks" if read.account else ""
    elif isinstance(read, Page):
        yield from ((read.path, rule, words) for rule, words in (read.account.named if read.account else ()))
