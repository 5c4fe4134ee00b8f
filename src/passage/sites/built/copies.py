"""Finds pages whose text stands on other pages: duplicates, and lists that repeat what they link to."""

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, pairwise
from statistics import median

from passage.sites.built.candidates import ITEM, LINK, Candidate, Stored, bare, contains, hash_of, hashes, words_of
from passage.sites.built.furniture import DATE
from passage.sites.model import Section

LIST_FOLDERS = re.compile(
    r"([a-z]{2}(-[a-z]{2,4})?/)?(tags?|categor(y|ies)|authors?|series|archives?)(/.*|\.html)", re.IGNORECASE
)
"""The usual addresses of lists: of a tag, a category, an author."""

Reasons = Iterator[tuple[str, str]]
"""Files that are left out, each with why."""

_ALONE = 0.9
"""A page with this share of another one's text holds it alone: the rest are lines of a menu."""

_CUT = re.compile(r"\s*\S*(\u2026|\.\.\.)\W*\Z")
"""The last word of a text that a list cuts short."""

_DATED = 200
"""A line with more characters is no date."""

_WHOLE = 0.97
"""The share of a page's text that must stand on other pages for it to be their sum."""
_FEWEST_PARTS = 3
"""The fewest pages that one page repeats whole."""


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


def _original_first(candidate: Candidate, titled: set[int]) -> tuple[bool, bool, bool, str]:
    """The default language's page before those in a language's folder, which may be copies of it."""
    language = candidate.edition.language.lower()
    folders = [part.lower() for part in candidate.file.split("/")[:-1]]
    translated = bool(language) and any(part in (language, language.partition("-")[0]) for part in folders)
    is_list = LIST_FOLDERS.fullmatch(candidate.file) is not None
    return translated, hash_of(candidate.url) not in titled, is_list, candidate.file


def lists(candidates: list[Candidate], stored: Stored) -> Reasons:
    """Pages all of whose text stands on other pages, beside a link to each or below its title, or whole.

    A page whose text stands on one other page is a list only if its heading links to that page: a chapter stands on
    the page with the whole book, too.
    """
    by_url = {hash_of(candidate.url): candidate for candidate in candidates}
    by_title: dict[int, list[Candidate]] = {}
    for candidate in candidates:
        by_title.setdefault(hash_of(candidate.title), []).append(candidate)
    sums = set(_sums(candidates))
    for candidate in candidates:
        if candidate.url in sums:
            yield candidate.file, "copy of other pages"
            continue
        named = [other for heading in hashes(candidate.headings) for other in by_title.get(heading, ())]
        linked = [by_url[url] for url in hashes(candidate.links) if url in by_url]
        sources = {other.url: other for other in (*linked, *named) if other is not candidate}
        if sources and (_repeats(candidate, sources, stored) or _begins_with_another(candidate, sources, stored)):
            yield candidate.file, "list of pages"


def _sums(candidates: Sequence[Candidate]) -> Iterator[str]:
    """The URLs of pages that hold several other pages whole, and next to nothing else: `all.html`, a page to print."""
    usual = median(candidate.length for candidate in candidates) if candidates else 0
    shared = _shared(candidates)
    longer = [
        at
        for at, candidate in enumerate(candidates)
        if candidate.length >= usual * _FEWEST_PARTS
        and sum(length for line, length in _lengths(candidate) if contains(shared, line)) >= candidate.length * _WHOLE
    ]
    holders: dict[int, array[int]] = {
        line: array("I") for at in longer for line in hashes(candidates[at].lines) if contains(shared, line)
    }
    for at, candidate in enumerate(candidates if longer else ()):
        for line in hashes(candidate.lines):
            if line in holders:
                holders[line].append(at)
    for at in longer:
        covered: Counter[int] = Counter()
        for line, length in _lengths(candidates[at]):
            for other in holders.get(line, ()):
                covered[other] += length
        del covered[at]
        parts = {other for other, length in covered.items() if length >= candidates[other].length * _ALONE}
        told = sum(length for line, length in _lengths(candidates[at]) if not parts.isdisjoint(holders.get(line, ())))
        if len(parts) >= _FEWEST_PARTS and told >= candidates[at].length * _WHOLE:
            yield candidates[at].url


def _shared(candidates: Sequence[Candidate]) -> Sequence[int]:
    """The lines of several pages, in ascending order.

    A site has a million lines, so they are sorted in parts, one after the other: together they take much memory.
    """
    shared = array("Q")
    ends = [part << 61 for part in range(9)]
    for first, end in pairwise(ends):
        lines = (hashes(candidate.lines) for candidate in candidates)
        ordered = sorted(chain.from_iterable(each[bisect_left(each, first) : bisect_left(each, end)] for each in lines))
        twice = (line for line, following in pairwise(ordered) if line == following)
        shared.extend(line for line, _ in groupby(twice))
    return shared


def _lengths(candidate: Candidate) -> Iterator[tuple[int, int]]:
    """Each line of a page, by its hash, with its letters."""
    return zip(hashes(candidate.lines), hashes(candidate.line_lengths), strict=True)


class _Sources:
    """The pages that a page links to or names, and their lines."""

    def __init__(self, sources: Mapping[str, Candidate], stored: Stored) -> None:
        self._sources = sources
        self._stored = stored
        self._lines = {url: hashes(source.lines) for url, source in sources.items()}

    def holders(self, line: tuple[str, ...]) -> set[str]:
        """The URLs of the sources with a line; where it is a line of none, of those that hold it in a longer one."""
        numbers = [hash_of(form) for form in line]
        found = {url for number in numbers for url, lines in self._lines.items() if contains(lines, number)}
        forms = [f" {form} ".encode() for form in line]
        return found or {url for url, source in self._sources.items() if self._holds(source, forms)}

    def _holds(self, source: Candidate, forms: Sequence[bytes]) -> bool:
        whole = self._stored.words(source)
        return any(form in whole for form in forms)


def _repeats(candidate: Candidate, sources: Mapping[str, Candidate], stored: Stored) -> bool:
    """Whether each line of a page stands on one of `sources`, by their URLs."""
    texts = _Sources(sources, stored)
    covered = dict.fromkeys(sources, 0)
    needed: set[str] = set()
    whole = 0
    for line in _lines(stored.page(candidate).sections, sources):
        holders = texts.holders(line)
        if not holders:
            return False
        needed |= holders if len(holders) == 1 else set()
        length = max(map(len, line))
        whole += length
        for url in holders:
            covered[url] += length
    alone = {url for url, length in covered.items() if length >= whole * _ALONE}
    if alone or len(needed) == 1:
        return _names(candidate, alone | needed)
    return whole > 0


def _names(candidate: Candidate, urls: Iterable[str]) -> bool:
    """Whether a heading of a page links to one of these."""
    links = hashes(candidate.heading_links)
    return any(contains(links, hash_of(url)) for url in urls)


def _begins_with_another(candidate: Candidate, sources: Mapping[str, Candidate], stored: Stored) -> bool:
    """Whether a page has no title of its own, as a blog's front page: its first heading names another page, links to
    it, and is followed by that page's text.
    """
    named = {url: other for url, other in sources.items() if other.title == candidate.title}
    if not _names(candidate, named):
        return False
    texts = _Sources(named, stored)
    sections = stored.page(candidate).sections
    lines = list(_lines((each for each in sections if each.headings[:1] == (candidate.title,)), named))
    return bool(lines) and all(map(texts.holders, lines))


def _lines(sections: Iterable[Section], sources: Mapping[str, Candidate]) -> Iterator[tuple[str, ...]]:
    """The words of each line that is no date and not all links: with the words of links to `sources`, and without.

    The longest come first: they are the likeliest to be on no other page.
    """
    for written in sorted((line for each in sections for line in each.markdown.split("\n")), key=len, reverse=True):
        line = ITEM.sub("", written)
        line = _CUT.sub("", line) if "\u2026" in line or "..." in line else line
        alone = LINK.sub(lambda link: "" if bare(link[2]) in sources else link[1], line)
        forms = {words_of(LINK.sub(r"\1", line)), words_of(alone)}
        rest = LINK.sub("", line)
        if all(forms) and words_of(rest if len(rest) > _DATED else DATE.sub("", rest)):
            yield tuple(forms)
