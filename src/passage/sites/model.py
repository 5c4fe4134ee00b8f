"""The model that every reader of a site gives: pages in sections, and skipped files with the reason."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol


class SiteError(Exception):
    """The source cannot be indexed; the message names the missing part or the faulty file."""


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading, down to the next heading.

    Attributes:
        headings: the titles above the text, outermost first, in plain words; empty before the first heading.
        markdown: the text as Markdown, without the heading. Links are absolute where the reader knows the page's URL.
        anchor: the heading's id as the site published it, empty where it has none. It is never computed.
    """

    headings: tuple[str, ...]
    markdown: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """The blocks of visible text in one file of HTML: paragraphs, items, cells, code, lines.

    Attributes:
        kept: how many are in the page's sections, titles or headings.
        left_out: how many are left out by each rule.
        lost: how many are neither. A reader has none, but for its faults.
        named: the rule and the text of each block, and of parts of kept blocks, that are left out or lost (`LOST`);
            empty for a page that is left out.
    """

    kept: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    lost: int = 0
    named: tuple[tuple[str, str], ...] = ()

    @property
    def seen(self) -> int:
        return self.kept + sum(self.left_out.values()) + self.lost


LOST = "no rule"
"""The rule of blocks that are lost."""


@dataclass(frozen=True, slots=True)
class Page:
    """One published page.

    Attributes:
        path: relative to the site's folder, without the suffix; its first folder is the page's chapter.
        url: of the published page, without an anchor.
        title: in plain words; never empty.
        language: as the site states it (`en`, `pt-BR`), empty where it does not.
        version: as the site states it, empty where it does not.
        account: of its text; None where the source has none of its own beside its sections.
    """

    path: str
    url: str
    title: str
    sections: tuple[Section, ...]
    language: str = ""
    version: str = ""
    account: Account | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Skip:
    """A file that gives no page.

    Attributes:
        path: relative to the site's folder.
        reason: a few words; files are counted by it, so it is equal for all files of one kind.
        failed: the page could not be read because of an error. `--strict` refuses such a site.
        account: of its text; None where it was not read.
    """

    path: str
    reason: str
    failed: bool = False
    account: Account | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A part of a page, or a setting, that only the site's own build can resolve. The page is read without it.

    Attributes:
        path: relative to the site's folder.
        what: a few words; parts are counted by it, so it is equal for all parts of one kind.
    """

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Flaw:
    """A page that was read, although its file is damaged. `--strict` refuses such a site.

    Attributes:
        path: relative to the site's folder.
        what: a few words that follow the path in a sentence.
    """

    path: str
    what: str


Note = Skip | Unresolved | Flaw
"""What a reader reports besides pages."""


class Site(Protocol):
    """The source of `passage index`. Each kind has a reader: a built site, a folder of Markdown, …"""

    @property
    def nothing_found(self) -> str:
        """The message for a site without text: the searched place, and the files searched for."""

    def read(self) -> Iterator[Page | Note]:
        """Every page, and what there is to report, in a stable order.

        May be called again.

        Raises:
            SiteError: the whole source cannot be read.
        """


def unreadable(path: str, error: Exception) -> Skip:
    """The skip of a page whose file is gone, or that a library could not read."""
    why = error.strerror if isinstance(error, OSError) else ""
    why = why or f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return Skip(path, f"cannot be read: {why}", failed=True)


def readable_name(path: str) -> str:
    """A title for a page that has none: the file's name in words, the folder's for an index page."""
    *folders, name = path.split("/")
    if name.lower() in ("index", "readme") and folders:
        name = folders[-1]
    words = " ".join(name.replace("-", " ").replace("_", " ").split())
    return words[:1].upper() + words[1:] if words else path
