"""Chooses among a site's pages: one version, the wanted language, and each text once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from passage.sites.built.editions import Edition, named, speaks
from passage.sites.model import Page, SiteError, Skip

_LINK_TARGET = re.compile(r"\]\([^)\s]*\)")

_SAME_TEXT = 0.8
"""A page that shares this much of its text with the original is not a translation."""

_Reasons = Iterator[tuple[str, str]]
"""Files that are left out, each with why."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A readable page, before the selection.

    Attributes:
        canonical: its canonical link, empty where it has none.
        in_pagefind: it is marked for the site's own search.
    """

    page: Page
    file: str
    edition: Edition
    canonical: str
    in_pagefind: bool


def select(candidates: list[Candidate], language: str | None, version: str | None) -> Iterator[Page | Skip]:
    """The wanted pages, in the order of their files, and the others with the reason.

    Raises:
        SiteError: no page is in the requested language or version.
    """
    reasons: dict[str, str] = {}
    for step in (
        _not_in_pagefind,
        partial(_other_version, version=version),
        _stand_ins,
        _copies,
        _untranslated,
        partial(_other_language, language=language),
    ):
        reasons |= dict(step([candidate for candidate in candidates if candidate.file not in reasons]))
    for candidate in candidates:
        reason = reasons.get(candidate.file)
        yield Skip(candidate.file, reason) if reason else candidate.page


def _not_in_pagefind(candidates: list[Candidate]) -> _Reasons:
    marked = any(candidate.in_pagefind for candidate in candidates)
    yield from ((each.file, "left out of the site's search") for each in candidates if marked and not each.in_pagefind)


def _other_version(candidates: list[Candidate], version: str | None) -> _Reasons:
    if version is not None:
        if not any(candidate.edition.version == version for candidate in candidates):
            versions = named(candidate.edition.version for candidate in candidates)
            raise SiteError(f"No page is of the version {version}. The site's versions: {versions}.")
        yield from ((each.file, "other version") for each in candidates if each.edition.version != version)
        return
    versioned = [candidate for candidate in candidates if candidate.edition.version]
    newest = None
    if versioned and all(candidate.edition.outdated for candidate in versioned):
        newest = max((candidate.edition.version for candidate in versioned), key=_natural)
    for candidate in candidates:
        if candidate.edition.outdated and candidate.edition.version != newest:
            yield candidate.file, "other version"


def _natural(version: str) -> list[tuple[int, int, str]]:
    """A sort key that places 10.0 after 9.1."""
    return [(int(part), 1, "") if part.isdigit() else (0, 0, part) for part in re.findall(r"\d+|[a-z]+", version)]


def _stand_ins(candidates: list[Candidate]) -> _Reasons:
    """Pages that say themselves that they stand in for a translation."""
    yield from ((candidate.file, "untranslated") for candidate in candidates if candidate.edition.untranslated)


def _other_language(candidates: list[Candidate], language: str | None) -> _Reasons:
    if language is None:
        return
    spoken = [candidate for candidate in candidates if speaks(candidate.edition.language, language)]
    if candidates and not spoken:
        languages = named(candidate.edition.language for candidate in candidates)
        raise SiteError(f"No page is in the language {language}. The site's languages: {languages}.")
    yield from ((each.file, "other language") for each in candidates if each not in spoken)


def _copies(candidates: list[Candidate]) -> _Reasons:
    """Duplicates of another page: by URL, by canonical link, or by the same title and words."""
    urls = {_bare(candidate.page.url) for candidate in candidates}
    taken: set[str] = set()
    told: dict[tuple[str, str], Candidate] = {}
    for candidate in sorted(candidates, key=_original_first):
        url = _bare(candidate.page.url)
        canonical = _bare(candidate.canonical)
        text = (candidate.page.title, _spoken_text(candidate.page))
        if url in taken:
            yield candidate.file, "another file has its URL"
            continue
        taken.add(url)
        if canonical and canonical != url and canonical in urls:
            yield candidate.file, "duplicate"
        elif (other := told.setdefault(text, candidate)) is not candidate:
            same = other.edition.language == candidate.edition.language
            yield candidate.file, "duplicate" if same else "untranslated"


def _untranslated(candidates: list[Candidate]) -> _Reasons:
    """Untranslated pages: those in a language's folder with the text of the default language's page.

    Titles of notes and links may be translated by the theme, so most lines count, not all.
    """
    by_file = {candidate.file: candidate for candidate in candidates}
    for candidate in candidates:
        folders = candidate.file.split("/")
        others = [by_file.get("/".join(folders[:at] + folders[at + 1 :])) for at in range(len(folders) - 1)]
        for original in filter(None, others):
            if original.edition.language != candidate.edition.language and _shared(candidate, original) >= _SAME_TEXT:
                yield candidate.file, "untranslated"
                break


def _shared(candidate: Candidate, original: Candidate) -> float:
    """The share of a page's text, from 0 to 1, that is word for word on another page."""
    lines = [line for line in _spoken_text(candidate.page).split("\n") if any(map(str.isalpha, line))]
    known = set(_spoken_text(original.page).split("\n"))
    length = sum(map(len, lines))
    return sum(len(line) for line in lines if line in known) / length if length else 0.0


def _original_first(candidate: Candidate) -> tuple[bool, str]:
    """The default language's page before those in a language's folder, which may be copies of it."""
    language = candidate.edition.language.lower()
    folders = [part.lower() for part in candidate.file.split("/")[:-1]]
    return bool(language) and any(part in (language, language.partition("-")[0]) for part in folders), candidate.file


def _spoken_text(page: Page) -> str:
    """The page's text without the addresses of links, which differ between copies."""
    return "\n".join(_LINK_TARGET.sub("]", section.markdown) for section in page.sections)


def _bare(url: str) -> str:
    """A URL in normal form: two spellings of one page are equal."""
    url = url.partition("#")[0].partition("?")[0].removesuffix("index.html").removesuffix(".html").rstrip("/")
    return url.partition("://")[2]
