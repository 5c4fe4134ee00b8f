"""Finds pages whose text stands on other pages: duplicates, and lists that repeat what they link to."""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence, Set
from itertools import pairwise
from statistics import median

from passage.sites.built.candidates import (
    CUT,
    ITEM,
    LINK,
    Candidate,
    Stored,
    bare,
    contains,
    hash_of,
    hashes,
    says_more,
    words_of,
)
from passage.sites.model import Section

_LANGUAGE = re.compile("[a-z]{2}(-[a-z]{2,4})?")
LIST_FOLDERS = re.compile(
    rf"({_LANGUAGE.pattern}/)?(tags?|categor(y|ies)|authors?|series|archives?)(/.*|\.html)", re.IGNORECASE
)
"""The usual addresses of lists: of a tag, a category, an author."""

Reasons = Iterator[tuple[str, str]]
"""Files that are left out, each with why."""

_ALONE = 0.9
"""A page with this share of another one's text holds it alone: the rest are lines of a menu."""

_WHOLE = 0.97
"""The share of a page's text that must stand on other pages for it to be their sum."""
_FEWEST_PARTS = 3
"""The fewest pages that one page repeats whole."""
_RARE = 100
"""A line on more pages is no sign that one of them repeats another. A large site has lines on thousands."""
_PAGE = (1 << 20) - 1
"""The low bits of a number, which hold a page's place; the others are of a line's hash. No site has so many pages."""


def duplicates(candidates: list[Candidate]) -> Reasons:
    """Duplicates of another page: by URL, by canonical link, or by the same title and words.

    Of pages with the same words, the original is the one that another page's heading links to, and not at a list's
    address.
    """
    urls = {candidate.url for candidate in candidates}
    titled = {url for each in candidates for url in {*hashes(each.heading_links)} - {hash_of(each.url)}}
    taken: set[str] = set()
    told: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=lambda each: _original_first(each, titled)):
        canonical = bare(candidate.canonical)
        if candidate.url in taken:
            yield candidate.file, "another file has its URL"
            continue
        taken.add(candidate.url)
        if canonical and canonical != candidate.url and canonical in urls:
            yield candidate.file, "duplicate"
        elif (other := told.setdefault(candidate.text, candidate)) is not candidate:
            same = other.edition.language == candidate.edition.language
            yield candidate.file, "duplicate" if same else "untranslated"


def _original_first(candidate: Candidate, titled: set[int]) -> tuple[int, bool, bool, str]:
    """Pages in no language's folder come first: those in such a folder may be copies of them. Then come pages
    in the folder of their own language.
    """
    language = candidate.edition.language.lower()
    own = {language, language.partition("-")[0]}
    folders = {part for part in candidate.file.lower().split("/")[:-1] if part in own or _LANGUAGE.fullmatch(part)}
    translated = 0 if not folders else 1 if folders <= own else 2
    is_list = LIST_FOLDERS.fullmatch(candidate.file) is not None
    return translated, hash_of(candidate.url) not in titled, is_list, candidate.file


def lists(candidates: list[Candidate], stored: Stored) -> Iterator[str]:
    """For each page the reason to leave it out, empty for none.

    All text of such a page stands on other pages: beside a link to each, below its title, or whole.

    A page whose text stands on one other page is a list only if its heading links to that page: a chapter stands on
    the page with the whole book, too.
    """
    by_url = {hash_of(candidate.url): at for at, candidate in enumerate(candidates)}
    by_title: dict[int, list[int]] = {}
    for at, candidate in enumerate(candidates):
        by_title.setdefault(hash_of(candidate.title), []).append(at)
    lines = _Lines(candidates, stored)
    sums = set(_sums(candidates, lines))
    for at, candidate in enumerate(candidates):
        if at in sums:
            yield "copy of other pages"
            continue
        named = (other for heading in hashes(candidate.headings) for other in by_title.get(heading, ()))
        linked = (by_url[url] for url in hashes(candidate.links) if url in by_url)
        sources = {*linked, *named} - sums - {at}
        is_list = sources and (lines.are_repeated(candidate, sources) or lines.begins_with_another(candidate, sources))
        yield "list of pages" if is_list else ""


def _sums(candidates: Sequence[Candidate], lines: "_Lines") -> Iterator[int]:
    """The pages that hold several other pages whole, and next to nothing else: `all.html`, a page to print."""
    usual = median(candidate.length for candidate in candidates) if candidates else 0
    for at, candidate in enumerate(candidates):
        if candidate.length < usual * _FEWEST_PARTS:
            continue
        measured = dict(zip(hashes(candidate.lines), hashes(candidate.line_lengths), strict=True))
        counts = {line: lines.count(line) for line in measured}
        if sum(measured[line] for line, count in counts.items() if count == 1) > candidate.length * (1 - _WHOLE):
            continue
        possible = {page for line, count in counts.items() if 1 < count <= _RARE for page in lines.pages(line)} - {at}
        smaller = (page for page in possible if candidates[page].length < candidate.length * _ALONE)  # no second copy
        parts = {page for page in smaller if _held(candidates[page], measured) >= candidates[page].length * _ALONE}
        if len(parts) >= _FEWEST_PARTS:
            told = sum(length for line, length in measured.items() if not parts.isdisjoint(lines.pages(line)))
            if told >= candidate.length * _WHOLE:
                yield at


def _held(page: Candidate, lines: Container[int]) -> int:
    """The letters of a page's lines that are among others."""
    return sum(
        length for line, length in zip(hashes(page.lines), hashes(page.line_lengths), strict=True) if line in lines
    )


class _Lines:
    """The lines of a site, and the pages where each stands, by their place among the candidates."""

    def __init__(self, candidates: Sequence[Candidate], stored: Stored) -> None:
        self._candidates = candidates
        self._stored = stored
        self._found = array("Q")  # a line and a page in each number, in ascending order: see `_PAGE`
        # A site has a million lines, so they are sorted in parts: together they take much memory.
        for first, end in pairwise(part << 61 for part in range(9)):
            self._found.extend(
                sorted(
                    (line & ~_PAGE) + at
                    for at, lines in enumerate(hashes(candidate.lines) for candidate in candidates)
                    for line in lines[bisect_left(lines, first) : bisect_left(lines, end)]
                )
            )

    def count(self, line: int) -> int:
        """How many pages have a line, by its hash."""
        begin, end = self._span(line)
        return end - begin

    def pages(self, line: int) -> list[int]:
        """The pages with a line, by its hash."""
        begin, end = self._span(line)
        return [each & _PAGE for each in self._found[begin:end]]

    def _span(self, line: int) -> tuple[int, int]:
        begin = bisect_left(self._found, line & ~_PAGE)
        return begin, bisect_right(self._found, line | _PAGE, begin)

    def _holders(self, line: Iterable[str], sources: Set[int]) -> set[int]:
        """The sources with a line; where it is a line of none, those that hold it in a longer one."""
        having = {page for form in line for page in self.pages(hash_of(form))} & sources
        return having or {page for page in sources if self._holds(page, line)}

    def _holds(self, page: int, line: Iterable[str]) -> bool:
        whole = self._stored.words(self._candidates[page])
        return any(f" {form} ".encode() in whole for form in line)

    def are_repeated(self, candidate: Candidate, sources: Set[int]) -> bool:
        """Whether each line of a page stands on one of `sources`."""
        if candidate.longest and not self._holders([candidate.longest], sources):
            return False  # as below, without a look at its text
        covered: Counter[int] = Counter()
        needed: set[int] = set()
        whole = 0
        for line in _lines(self._stored.page(candidate).sections, self._urls(sources)):
            holders = self._holders(line, sources)
            if not holders:
                return False
            needed |= holders if len(holders) == 1 else set()
            length = max(map(len, line))
            whole += length
            covered.update(dict.fromkeys(holders, length))
        alone = {page for page, length in covered.items() if length >= whole * _ALONE}
        if alone or len(needed) == 1:
            return self._are_named(candidate, alone | needed)
        return whole > 0

    def begins_with_another(self, candidate: Candidate, sources: Set[int]) -> bool:
        """Whether a page has no title of its own, as a blog's front page: its first heading names another page, links
        to it, and is followed by that page's text.
        """
        named = {page for page in sources if self._candidates[page].title == candidate.title}
        if not self._are_named(candidate, named):
            return False
        sections = (each for each in self._stored.page(candidate).sections if each.headings[:1] == (candidate.title,))
        lines = list(_lines(sections, self._urls(named)))
        return bool(lines) and all(self._holders(line, named) for line in lines)

    def _urls(self, pages: Iterable[int]) -> set[str]:
        return {self._candidates[page].url for page in pages}

    def _are_named(self, candidate: Candidate, pages: Iterable[int]) -> bool:
        """Whether a heading of a page links to one of these."""
        links = hashes(candidate.heading_links)
        return any(contains(links, hash_of(url)) for url in self._urls(pages))


def _lines(sections: Iterable[Section], sources: Container[str]) -> Iterator[tuple[str, ...]]:
    """The words of each line that is no date and not all links: with the words of links to `sources`, and without.

    The longest come first: they are the likeliest to be on no other page.
    """
    for written in sorted((line for each in sections for line in each.markdown.split("\n")), key=len, reverse=True):
        line = ITEM.sub("", written)
        line = CUT.sub("", line) if "\u2026" in line or "..." in line else line
        alone = LINK.sub(lambda link: "" if bare(link[2]) in sources else link[1], line)
        forms = {words_of(LINK.sub(r"\1", line)), words_of(alone)}
        if all(forms) and says_more(LINK.sub("", line)):
            yield tuple(forms)
