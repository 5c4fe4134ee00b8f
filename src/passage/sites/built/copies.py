"""Finds pages whose text stands on other pages: duplicates, and lists that repeat what they link to."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from statistics import median

from passage.sites.built.candidates import ITEM, LINK, Candidate, Stored, bare, hash_of, hashes, words_of
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
    titled = {url for each in candidates for url in each.heading_links if url != each.url}
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


def _original_first(candidate: Candidate, titled: set[str]) -> tuple[bool, bool, bool, str]:
    """The default language's page before those in a language's folder, which may be copies of it."""
    language = candidate.edition.language.lower()
    folders = [part.lower() for part in candidate.file.split("/")[:-1]]
    translated = bool(language) and any(part in (language, language.partition("-")[0]) for part in folders)
    return translated, candidate.url not in titled, LIST_FOLDERS.fullmatch(candidate.file) is not None, candidate.file


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
    # A site has a million lines: they are sorted, because a set of them takes more memory.
    ordered = sorted(chain.from_iterable(hashes(candidate.lines) for candidate in candidates))
    shared = {line for line, following in pairwise(ordered) if line == following}
    del ordered
    longer = [
        candidate
        for candidate in candidates
        if candidate.length >= usual * _FEWEST_PARTS
        and sum(length for line, length in _lengths(candidate) if line in shared) >= candidate.length * _WHOLE
    ]
    wanted = {line for candidate in longer for line in hashes(candidate.lines)} & shared
    holders: dict[int, list[Candidate]] = {}
    for candidate in candidates if longer else ():
        for line in hashes(candidate.lines):
            if line in wanted:
                holders.setdefault(line, []).append(candidate)
    for candidate in longer:
        others = {
            line: {each.url: each for each in holders.get(line, ()) if each is not candidate}
            for line in hashes(candidate.lines)
        }
        covered: Counter[str] = Counter()
        for line, length in _lengths(candidate):
            covered.update(dict.fromkeys(others[line], length))
        whole = {url: each.length for holding in others.values() for url, each in holding.items()}
        parts = {url for url, length in covered.items() if length >= whole[url] * _ALONE}
        told = sum(length for line, length in _lengths(candidate) if others[line].keys() & parts)
        if len(parts) >= _FEWEST_PARTS and told >= candidate.length * _WHOLE:
            yield candidate.url


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
        found = set()
        for number in map(hash_of, line):
            for url, lines in self._lines.items():
                at = bisect_left(lines, number)
                if at < len(lines) and lines[at] == number:
                    found.add(url)
        return found or {url for url, source in self._sources.items() if self._holds(source, line)}

    def _holds(self, source: Candidate, line: tuple[str, ...]) -> bool:
        whole = self._stored.words(source)
        return any(f" {form} ".encode() in whole for form in line)


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
        return bool((alone | needed) & candidate.heading_links)
    return whole > 0


def _begins_with_another(candidate: Candidate, sources: Mapping[str, Candidate], stored: Stored) -> bool:
    """Whether a page has no title of its own, as a blog's front page: its first heading names another page, links to
    it, and is followed by that page's text.
    """
    named = {url: other for url, other in sources.items() if other.title == candidate.title}
    if not named.keys() & candidate.heading_links:
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
