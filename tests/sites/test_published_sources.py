"""The Markdown of a MkDocs site gives the pages that its build gives: URLs, anchors, text, code and tables.

The sources lie beside the built sites (see `test_published_sites`).
"""

from dataclasses import replace
from functools import cache

import pytest

from sites.reading import Reading, read
from sites.test_published_sites import BUILT, SITES, failures

MKDOCS = "mkdocs-lanternfish"
PAGES = list(SITES[MKDOCS].site["pages"]) if MKDOCS in SITES else []
REAL_SITES = {
    "mkdocs-httpx": None,
    "mkdocs-powertools": "https://docs.example.com/powertools",
}
"""Folders as their owners publish them, and the address of those that do not state it."""

DATA = BUILT.parent


@cache
def sources(name: str) -> Reading:
    return read(BUILT / f"{name}-source")


@pytest.mark.parametrize("page", PAGES or [""])
def test_mkdocs_sources_give_what_the_build_gives(page: str) -> None:
    if page:
        by_url = {each.url: each for each in sources(MKDOCS).pages.values()}
        facts = SITES[MKDOCS]
        everything = replace(facts, site={**facts.site, "exceptions": []})  # the sources name each code's language
        assert failures(everything, page, by_url) == []


def test_mkdocs_sources_leave_out_what_the_build_hides() -> None:
    if MKDOCS in SITES:
        assert set(sources(MKDOCS).skipped) == {"hidden", "tags"}
        assert sources(MKDOCS).unresolved == []


@pytest.mark.parametrize("name", REAL_SITES)
def test_a_real_folder_is_read_without_refusal(name: str) -> None:
    if (DATA / name).is_dir():
        reading = read(DATA / name, REAL_SITES[name])
        assert len(reading.pages) >= 14
        assert [skip for skip in reading.skipped.values() if skip.failed] == []
