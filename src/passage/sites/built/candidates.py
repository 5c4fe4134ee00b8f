"""Pages before the selection: what its rules compare of each is in memory, its text in a temporary file."""

import re
import struct
import tempfile
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from operator import itemgetter
from typing import ClassVar, Self

from pydantic import ConfigDict, TypeAdapter

from passage.sites.built.editions import Edition
from passage.sites.built.furniture import DATE
from passage.sites.model import Page

ITEM = re.compile(r"^[ >]*(?:[-*+]|\d+[.)])[ ]+", re.MULTILINE)
"""The mark of a list's item."""
LINK = re.compile(r"(?:!\[|\[)((?:[^\]\\]++|\\.)*+)\]\(([^)\s]*)[^)]*\)")

_WORD = re.compile(r"\w+")
_WORDS_ONLY = bytes(code if _WORD.match(chr(code)) or code == 10 else 32 for code in range(256))
"""Makes a blank of each character of ASCII that is in no word, but for line breaks."""
_DATED = 200
"""A line with more characters is no date."""
CUT = re.compile(r"\s*\S*(\u2026|\.\.\.)\W*\Z")
"""The last word of a text that a list cuts short."""
_MOST_IN_MEMORY = 30_000_000
"""Bytes."""
_SIZES = struct.Struct("<QQ")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A readable page, before the selection. Lists of hashes are 64-bit numbers in a row: see `hashes`.

    Attributes:
        url: of the page, in the form of `bare`.
        canonical: its canonical link, empty where it has none.
        in_pagefind: it is marked for the site's own search.
        seen: the blocks of its text.
        heading_links: the hashes of the pages that its headings link to, in ascending order.
        links: the hashes of the pages that its content links to.
        headings: the hashes of its headings, without its title.
        text: a hash of its title and its text.
        longest: the words of its longest line without a link; empty where that is a date or is cut short.
        lines: the hashes of its lines' words, each once, in ascending order.
        line_lengths: the letters of each of them.
        place: of its text in the file of `Stored`: where its words begin, where the page begins, and where it ends.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    file: str
    title: str
    url: str
    edition: Edition
    canonical: str
    in_pagefind: bool
    seen: int
    heading_links: bytes
    links: bytes
    headings: bytes
    text: str
    longest: str
    lines: bytes
    line_lengths: bytes
    length: int
    place: tuple[int, int, int] = (0, 0, 0)


_candidate = TypeAdapter(Candidate)
_page = TypeAdapter(Page)


def bare(url: str) -> str:
    """A URL in normal form: two spellings of one page are equal."""
    url = url.partition("#")[0].partition("?")[0].removesuffix("index.html").removesuffix(".html").rstrip("/")
    return url.partition("://")[2]


def hash_of(text: str) -> int:
    """64 bits, equal for equal texts in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def hashes(packed: bytes) -> Sequence[int]:
    """The numbers of a list in a `Candidate`."""
    return memoryview(packed).cast("Q")


def contains(ascending: Sequence[int], number: int) -> bool:
    at = bisect_left(ascending, number)
    return at < len(ascending) and ascending[at] == number


def _in_a_row(numbers: Iterable[int]) -> bytes:
    return array("Q", numbers).tobytes()


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page as it was read.

    Attributes:
        canonical, in_pagefind: see `Candidate`.
        links, heading_links: the pages that its content and its headings link to, as `bare` URLs.
    """

    page: Page
    file: str
    edition: Edition
    canonical: str
    in_pagefind: bool
    links: frozenset[str] = frozenset()
    heading_links: frozenset[str] = frozenset()

    def dump(self) -> bytes:
        """What `Stored.add` takes."""
        page = self.page
        spoken = [without_targets(section.markdown) for section in page.sections]
        lines, words = _words(page, spoken)
        told = "\n".join((f"{len(page.title)}:{page.title}", *spoken))
        headings = {heading for section in page.sections for heading in section.headings} - {page.title}
        candidate = Candidate(
            file=self.file,
            title=page.title,
            url=bare(page.url),
            edition=self.edition,
            canonical=self.canonical,
            in_pagefind=self.in_pagefind,
            seen=page.account.seen if page.account else 0,
            heading_links=_in_a_row(sorted(map(hash_of, self.heading_links))),
            links=_in_a_row(map(hash_of, sorted(self.links))),
            headings=_in_a_row(map(hash_of, sorted(headings))),
            text=sha256(told.encode("utf-8", "surrogatepass")).hexdigest(),
            longest=_longest(page),
            lines=_in_a_row(lines),
            line_lengths=_in_a_row(lines.values()),
            length=sum(lines.values()),
        )
        first = _candidate.dump_json(candidate)
        return b"".join((_SIZES.pack(len(first), len(words)), first, words, _page.dump_json(page)))


class Stored:
    """The words and the texts of pages; those of a large site in a temporary file. Use it as a context manager."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_MOST_IN_MEMORY)  # noqa: SIM115 - closed by `__exit__`
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, dumped: bytes) -> Candidate:
        """Keep a page."""
        first, words = _SIZES.unpack_from(dumped)
        rest = memoryview(dumped)[_SIZES.size + first :]
        begin = self._end
        self._file.seek(begin)
        self._file.write(rest)
        self._end += len(rest)
        candidate = _candidate.validate_json(dumped[_SIZES.size : _SIZES.size + first])
        return replace(candidate, place=(begin, begin + words, self._end))

    def words(self, candidate: Candidate) -> bytes:
        """All words of a page, each between blanks."""
        begin, end, _ = candidate.place
        return self._read(begin, end)

    def page(self, candidate: Candidate) -> Page:
        _, begin, end = candidate.place
        return _page.validate_json(self._read(begin, end))

    def _read(self, begin: int, end: int) -> bytes:
        self._file.seek(begin)
        return self._file.read(end - begin)


def without_targets(markdown: str) -> str:
    """Markdown with the words of links alone: their addresses differ between copies."""
    return LINK.sub(itemgetter(1), markdown) if "](" in markdown else markdown


def spoken_text(page: Page) -> str:
    return "\n".join(without_targets(section.markdown) for section in page.sections)


def _words(page: Page, spoken: Sequence[str]) -> tuple[dict[int, int], bytes]:
    """The letters of each of a page's lines, by the hash of its words; and all words, each between blanks.

    `spoken` are the texts of its sections, without the links' targets.
    """
    path: tuple[str, ...] = ()
    lines: set[str] = set()
    parts = [words_of(page.title)]
    for section, written in zip(page.sections, spoken, strict=True):
        parts += [words_of(heading) for heading in section.headings if heading not in path]
        path = section.headings
        for line, words in zip(written.split("\n"), _words_of_lines(written), strict=True):
            parts.append(words)
            numbered = words[:1].isdecimal() and ITEM.match(line)  # the marks of other items have no words
            lines.add(words_of(ITEM.sub("", line)) if numbered else words)
    numbers = dict(sorted((hash_of(line), len(line)) for line in lines if line))
    return numbers, f" {' '.join(filter(None, parts))} ".encode()


def _longest(page: Page) -> str:
    lines = (line for each in page.sections for line in each.markdown.split("\n") if "](" not in line)
    line = ITEM.sub("", max(lines, key=len, default=""))
    return words_of(line) if says_more(line) and not CUT.search(line) else ""


def says_more(line: str) -> bool:
    """Whether a line is more than a date."""
    return bool(words_of(line if len(line) > _DATED else DATE.sub("", line)))


def words_of(text: str) -> str:
    """A text's words, in lower case, with one blank between them."""
    return " ".join(filter(None, _words_of_lines(text)))


def _words_of_lines(text: str) -> list[str]:
    lower = text.lower()
    if lower.isascii():  # a third of the time
        return [" ".join(line.split()) for line in lower.encode().translate(_WORDS_ONLY).decode().split("\n")]
    return [" ".join(_WORD.findall(line)) for line in lower.split("\n")]
