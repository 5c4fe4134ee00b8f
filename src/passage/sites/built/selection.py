"""Chooses among a site's pages: one version, the wanted language, and each text once."""

from collections.abc import Iterator
from functools import partial

from passage.sites.built.candidates import Candidate, Stored, spoken_text
from passage.sites.built.copies import Reasons, duplicates, lists
from passage.sites.built.editions import named, natural, speaks
from passage.sites.model import Page, SiteError

_SAME_TEXT = 0.8
"""A page that shares this much of its text with the original is not a translation."""


def left_out(candidates: list[Candidate], stored: Stored, language: str | None, version: str | None) -> Iterator[str]:
    """Why each page is not wanted, empty for one that is. Lists take the longest to find: each is given when found.

    Raises:
        SiteError: no page is in the requested language or version.
    """
    reasons: dict[str, str] = {}
    for step in (
        _not_in_pagefind,
        partial(_other_version, version=version),
        _stand_ins,
        duplicates,
        partial(_untranslated, stored=stored),
        partial(_other_language, language=language),
    ):
        reasons |= dict(step([candidate for candidate in candidates if candidate.file not in reasons]))
    others = lists([candidate for candidate in candidates if candidate.file not in reasons], stored)
    yield from (reasons[each.file] if each.file in reasons else next(others) for each in candidates)


def _not_in_pagefind(candidates: list[Candidate]) -> Reasons:
    marked = any(candidate.in_pagefind for candidate in candidates)
    yield from ((each.file, "left out of the site's search") for each in candidates if marked and not each.in_pagefind)


def _other_version(candidates: list[Candidate], version: str | None) -> Reasons:
    if version is not None:
        if not any(candidate.edition.version == version for candidate in candidates):
            versions = named(candidate.edition.version for candidate in candidates)
            raise SiteError(f"No page is of the version {version}. The site's versions: {versions}.")
        yield from ((each.file, "other version") for each in candidates if each.edition.version != version)
        return
    versioned = [candidate for candidate in candidates if candidate.edition.version]
    newest = None
    if versioned and all(candidate.edition.outdated for candidate in versioned):
        newest = max((candidate.edition.version for candidate in versioned), key=natural)
    for candidate in candidates:
        if candidate.edition.outdated and candidate.edition.version != newest:
            yield candidate.file, "other version"


def _stand_ins(candidates: list[Candidate]) -> Reasons:
    """Pages that say themselves that they stand in for a translation."""
    yield from ((candidate.file, "untranslated") for candidate in candidates if candidate.edition.untranslated)


def _other_language(candidates: list[Candidate], language: str | None) -> Reasons:
    if language is None:
        return
    spoken = [candidate for candidate in candidates if speaks(candidate.edition.language, language)]
    if candidates and not spoken:
        languages = named(candidate.edition.language for candidate in candidates)
        raise SiteError(f"No page is in the language {language}. The site's languages: {languages}.")
    yield from ((each.file, "other language") for each in candidates if each not in spoken)


def _untranslated(candidates: list[Candidate], stored: Stored) -> Reasons:
    """Untranslated pages: those in a language's folder with the text of the default language's page.

    Titles of notes and links may be translated by the theme, so most lines count, not all.
    """
    by_file = {candidate.file: candidate for candidate in candidates}
    for candidate in candidates:
        folders = candidate.file.split("/")
        others = [by_file.get("/".join(folders[:at] + folders[at + 1 :])) for at in range(len(folders) - 1)]
        for original in filter(None, others):
            if original.edition.language == candidate.edition.language:
                continue
            if _shared(stored.page(candidate), stored.page(original)) >= _SAME_TEXT:
                yield candidate.file, "untranslated"
                break


def _shared(page: Page, original: Page) -> float:
    """The share of a page's text, from 0 to 1, that is word for word on another page."""
    lines = [line for line in spoken_text(page).split("\n") if any(map(str.isalpha, line))]
    known = set(spoken_text(original).split("\n"))
    length = sum(map(len, lines))
    return sum(len(line) for line in lines if line in known) / length if length else 0.0
