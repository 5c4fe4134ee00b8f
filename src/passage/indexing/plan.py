"""The plan of a run: its actions and its cost, before anything is embedded or written."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from passage.indexing.left_out import TextCount
from passage.sites.model import Flaw, Note, Skip, Unresolved

Action = Literal["nothing", "edit", "replace"]

EDITED_SHARE = 0.5
"""The index is edited in place when at most this share of its points is written or deleted. Above it, a new index is
written beside the old one, so that every question sees a complete version."""


UNRESOLVED_SHOWN = 12
"""The most kinds of unresolved parts that are listed."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Counts of pages or points, by their change since the last run."""

    added: int
    changed: int
    unchanged: int
    removed: int

    @property
    def now(self) -> int:
        return self.added + self.changed + self.unchanged

    def all_kept(self) -> "Changes":
        """The same counts, all unchanged."""
        return Changes(0, 0, self.now, 0)


@dataclass(frozen=True, slots=True)
class EmbeddingWork:
    """What embedding some texts takes.

    Attributes:
        texts: how many have no vector in the cache or the store.
        tokens: of those texts, as estimated.
        cost: of those tokens in US dollars; None where the model's price is unknown.
        minutes: the least that embedding takes within the account's rate.
    """

    texts: int = 0
    tokens: int = 0
    calls: int = 0
    model: str = ""
    cost: float | None = None
    minutes: float = 0.0

    def line(self, what: str) -> str:
        """For people. `what` names the texts."""
        cost = "no price known" if self.cost is None else "free" if not self.cost else f"about ${self.cost:,.2f}"
        pace = f", {math.ceil(self.minutes)} minutes at least" if self.minutes >= 1 else ""
        return (
            f"Embed {_count(self.texts, what)} with {self.model}: about {_count(self.tokens, 'token')} in "
            f"{_count(self.calls, 'call')}, {cost}{pace}"
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, before it begins.

    Attributes:
        where: the target's name for people.
        note: the reason to write an existing index whole; may be empty.
        text: the counts of the text that was read and left out.
        questions: those that measure the index's noise.
        words_only: whether the index has no vectors.
    """

    where: str
    action: Action
    note: str
    pages: Changes
    points: Changes
    skipped: tuple[Note, ...]
    text: TextCount = field(default_factory=TextCount)
    embedding: EmbeddingWork = EmbeddingWork()
    questions: EmbeddingWork = EmbeddingWork()
    words_only: bool = False

    @property
    def texts(self) -> int:
        """The texts to embed, without the questions."""
        return self.embedding.texts

    @property
    def to_write(self) -> int:
        """Points that are written or deleted."""
        if self.action == "nothing":
            return 0
        changed = self.points.added + self.points.changed + self.points.removed
        return changed if self.action == "edit" else self.points.now

    def lines(self) -> Iterator[str]:
        """The plan for people."""
        yield f"{_changes(self.pages, 'page')}, {_changes(self.points, 'chunk')}"
        yield from skipped_lines(self.skipped, self.pages.now)
        yield from self.text.lines()
        if self.action == "nothing":
            yield f"Nothing to do: {self.where} is up to date."
        else:
            yield from self._describe_writing()
        if self.questions.texts:
            yield self.questions.line("question") + ", to measure what a poor fit is"

    def _describe_writing(self) -> Iterator[str]:
        verb = "Edit" if self.action == "edit" else "Write"
        why = f" ({self.note})" if self.note and self.action == "replace" else ""
        yield f"{verb} {self.where}: {_count(self.to_write, 'point')}{why}"
        if self.texts:
            yield self.embedding.line("text")
        else:
            yield "Embed nothing: " + ("the index has words only" if self.words_only else "every vector is there")


def choose(points: Changes, *, editable: bool) -> Action:
    """Whether to edit the existing index or write a new one."""
    touched = points.added + points.changed + points.removed
    return "edit" if editable and touched <= EDITED_SHARE * points.now else "replace"


def skipped_lines(left_out: tuple[Note, ...], pages: int) -> Iterator[str]:
    """Files left out by reason, pages that could not be read or are damaged, and parts that only a build resolves."""
    skipped = [each for each in left_out if isinstance(each, Skip)]
    reasons: dict[str, list[str]] = {}
    for skip in skipped:
        if not skip.failed:
            reasons.setdefault(skip.reason, []).append(skip.path)
    if reasons:
        counted = ((reason, paths[0] if len(paths) == 1 else f"{len(paths):,}") for reason, paths in reasons.items())
        listed = ", ".join(f"{reason} ({which})" for reason, which in sorted(counted))
        yield f"{_count(sum(map(len, reasons.values())), 'file')} left out: {listed}"
    failed = [skip for skip in skipped if skip.failed]
    yield from (f"Warning: {skip.path} {skip.reason}" for skip in failed)
    if failed:
        yield f"{len(failed):,} of {pages + len(failed):,} pages could not be read."
    yield from (f"Warning: {each.path} {each.what}" for each in left_out if isinstance(each, Flaw))
    kinds = Counter(each.what for each in left_out if isinstance(each, Unresolved))
    if kinds:
        listed = ", ".join(f"{count:,} {what}" for what, count in kinds.most_common(UNRESOLVED_SHOWN))
        more = f" and {len(kinds) - UNRESOLVED_SHOWN:,} other kinds" if len(kinds) > UNRESOLVED_SHOWN else ""
        yield f"Not resolved: {listed}{more}"
        yield "Only the site's build resolves these. Build the site and index its output folder for the whole text."


def _changes(changes: Changes, what: str) -> str:
    parts = [
        f"{number:,} {word}"
        for number, word in (
            (changes.added, "added"),
            (changes.changed, "changed"),
            (changes.removed, "removed"),
            (changes.unchanged, "unchanged"),
        )
        if number
    ]
    return f"{_count(changes.now, what)} ({', '.join(parts)})"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
