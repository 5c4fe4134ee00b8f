"""Finds pages whose text stands on other pages: duplicates, and lists that repeat what they link to."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from passage.sites.built.editions import Edition
from passage.sites.model import Page, Section

LIST_FOLDERS = re.compile(
    r"([a-z]{2}(-[a-z]{2,4})?/)?(tags?|categor(y|ies)|authors?|series|archives?)(/.*|\.html)", re.IGNORECASE
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

_ITEM = re.compile(r"^[ >]*(?:[-*+]|\d+[.)])[ ]+", re.MULTILINE)
"""The mark of a list's item."""
_LINK = re.compile(r"!?\[((?:[^\]\\]|\\.)*)\]\(([^)\s]*)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A readable page, before the selection.

    Attributes:
        canonical: its canonical link, empty where it has none.
        in_pagefind: it is marked for the site's own search.
        links: the pages that its content links to, as `bare` URLs.
        heading_links: those of them that its headings link to.
    """

    page: Page
    file: str
    edition: Edition
    canonical: str
    in_pagefind: bool
    links: frozenset[str] = frozenset()
    heading_links: frozenset[str] = frozenset()

    @property
    def url(self) -> str:
        """Its URL in the form of `bare`."""
        return bare(self.page.url)


def bare(url: str) -> str:
    """A URL in normal form: two spellings of one page are equal."""
    url = url.partition("#")[0].partition("?")[0].removesuffix("index.html").removesuffix(".html").rstrip("/")
    return url.partition("://")[2]


def spoken_text(page: Page) -> str:
    """The page's text without the addresses of links, which differ between copies."""
    return "\n".join(_LINK.sub(r"\1", section.markdown) for section in page.sections)


def duplicates(candidates: list[Candidate]) -> Reasons:
    """Duplicates of another page: by URL, by canonical link, or by the same title and words.

    Of pages with the same words, the original is the one that another page's heading links to, and not at a list's
    address.
    """
    urls = {candidate.url for candidate in candidates}
    titled = {url for each in candidates for url in each.heading_links if url != each.url}
    taken: set[str] = set()
    told: dict[tuple[str, str], Candidate] = {}
    for candidate in sorted(candidates, key=lambda each: _original_first(each, titled)):
        canonical = bare(candidate.canonical)
        text = (candidate.page.title, spoken_text(candidate.page))
        if candidate.url in taken:
            yield candidate.file, "another file has its URL"
            continue
        taken.add(candidate.url)
        if canonical and canonical != candidate.url and canonical in urls:
            yield candidate.file, "duplicate"
        elif (other := told.setdefault(text, candidate)) is not candidate:
            same = other.edition.language == candidate.edition.language
            yield candidate.file, "duplicate" if same else "untranslated"


def _original_first(candidate: Candidate, titled: set[str]) -> tuple[bool, bool, bool, str]:
    """The default language's page before those in a language's folder, which may be copies of it."""
    language = candidate.edition.language.lower()
    folders = [part.lower() for part in candidate.file.split("/")[:-1]]
    translated = bool(language) and any(part in (language, language.partition("-")[0]) for part in folders)
    return translated, candidate.url not in titled, LIST_FOLDERS.fullmatch(candidate.file) is not None, candidate.file


def lists(candidates: list[Candidate]) -> Reasons:
    """Pages all of whose text stands on other pages, beside a link to each or below its title, or whole.

    A page whose text stands on one other page is a list only if its heading links to that page: a chapter stands on
    the page with the whole book, too.
    """
    by_url = {candidate.url: candidate for candidate in candidates}
    by_title: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_title.setdefault(candidate.page.title, []).append(candidate)
    texts = _Texts(candidates)
    sums = set(_sums(candidates, texts))
    for candidate in candidates:
        if candidate.url in sums:
            yield candidate.file, "copy of other pages"
            continue
        headings = {heading for section in candidate.page.sections for heading in section.headings}
        named = [other for heading in headings - {candidate.page.title} for other in by_title.get(heading, ())]
        linked = [by_url[url] for url in candidate.links if url in by_url]
        sources = {other.url: other for other in (*linked, *named) if other is not candidate}
        if sources and (_repeats(candidate, sources, texts) or _begins_with_another(candidate, sources, texts)):
            yield candidate.file, "list of pages"


def _sums(candidates: Sequence[Candidate], texts: "_Texts") -> Iterator[str]:
    """The URLs of pages that hold several other pages whole, and next to nothing else: `all.html`, a page to print."""
    usual = median(texts.lengths.values()) if texts.lengths else 0
    for candidate in candidates:
        if texts.lengths[candidate.url] < usual * _FEWEST_PARTS:
            continue
        others = {line: texts.pages_with(line) - {candidate.url} for line in _spoken_lines(candidate)}
        shared: Counter[str] = Counter()
        for line, urls in others.items():
            shared.update(dict.fromkeys(urls, len(line)))
        parts = {url for url, length in shared.items() if length >= texts.lengths[url] * _ALONE}
        covered = sum(len(line) for line, urls in others.items() if urls & parts)
        if len(parts) >= _FEWEST_PARTS and covered >= texts.lengths[candidate.url] * _WHOLE:
            yield candidate.url


def _spoken_lines(candidate: Candidate) -> set[str]:
    """The words of a page's lines, each once."""
    texts = (_ITEM.sub("", _LINK.sub(r"\1", section.markdown)) for section in candidate.page.sections)
    return {words for text in texts for line in text.split("\n") if (words := _words(line))}


class _Texts:
    """The words of a site's pages, by line and whole.

    Attributes:
        lengths: the letters of each page's lines, each line counted once.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.lengths: dict[str, int] = {}
        self._holders: dict[str, set[str]] = {}
        self._whole: dict[str, str] = {}
        for candidate in candidates:
            lines = _spoken_lines(candidate)
            self.lengths[candidate.url] = sum(map(len, lines))
            for line in lines:
                self._holders.setdefault(line, set()).add(candidate.url)

    def pages_with(self, line: str) -> set[str]:
        """The URLs of the pages with a line of these words."""
        return self._holders.get(line, set())

    def holders(self, line: tuple[str, ...], sources: Mapping[str, Candidate]) -> set[str]:
        """The URLs of the sources with a line; where it is a line of none, of those that hold it in a longer one."""
        found = {url for form in line for url in self._holders.get(form, ())} & sources.keys()
        return found or {url for url, source in sources.items() if self._holds(source, line)}

    def _holds(self, source: Candidate, line: tuple[str, ...]) -> bool:
        if source.url not in self._whole:
            self._whole[source.url] = _all_words(source.page)
        return any(f" {form} " in self._whole[source.url] for form in line)


def _repeats(candidate: Candidate, sources: Mapping[str, Candidate], texts: _Texts) -> bool:
    """Whether each line of a page stands on one of `sources`, by their URLs."""
    covered = dict.fromkeys(sources, 0)
    needed: set[str] = set()
    whole = 0
    for line in _lines(candidate.page.sections, sources):
        holders = texts.holders(line, sources)
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


def _begins_with_another(candidate: Candidate, sources: Mapping[str, Candidate], texts: _Texts) -> bool:
    """Whether a page has no title of its own, as a blog's front page: its first heading names another page, links to
    it, and is followed by that page's text.
    """
    title = candidate.page.title
    named = {url: other for url, other in sources.items() if other.page.title == title}
    below = [section for section in candidate.page.sections if section.headings[:1] == (title,)]
    lines = list(_lines(below, named)) if named.keys() & candidate.heading_links else []
    return bool(lines) and all(texts.holders(line, named) for line in lines)


def _lines(sections: Iterable[Section], sources: Mapping[str, Candidate]) -> Iterator[tuple[str, ...]]:
    """The words of each line that is not all links: with the words of links to `sources`, and without them."""
    for section in sections:
        for line in _ITEM.sub("", section.markdown).split("\n"):
            alone = _LINK.sub(lambda link: "" if bare(link[2]) in sources else link[1], line)
            forms = {_words(_LINK.sub(r"\1", line)), _words(alone)}
            if all(forms) and _words(_LINK.sub("", line)):
                yield tuple(forms)


def _all_words(page: Page) -> str:
    path: tuple[str, ...] = ()
    parts = [page.title]
    for section in page.sections:
        parts += [heading for heading in section.headings if heading not in path]
        path = section.headings
        parts.append(_LINK.sub(r"\1", section.markdown))
    return f" {_words(' '.join(parts))} "


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
