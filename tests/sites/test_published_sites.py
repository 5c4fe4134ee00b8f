"""Built sites give every heading, anchor, code block, table, label and URL that they publish, and nothing else.

`pages/` holds one page a generator, written by hand with the structure of its theme. Sites that the real generators
built are read as well where they lie beside the checkout (`../shared/data/built`, or the folder that
PASSAGE_BUILT_SITES names).
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from passage.indexing.chunks import cut
from passage.sites.model import Page, Skip
from sites.facts import SKIPPED_KINDS, BuiltFacts, built_facts, code_blocks, links, rows, words

OWN = Path(__file__).parent / "pages"
BUILT = Path(os.environ.get("PASSAGE_BUILT_SITES", ROOT.parent / "shared" / "data" / "built"))
SITES = {
    facts.name: facts
    for folder in (OWN, BUILT)
    if (folder / "expected.json").is_file()
    for facts in built_facts(folder)
}
PAGES = [(name, page) for name, facts in SITES.items() for page in facts.site["pages"]]


@cache
def read(name: str) -> tuple[dict[str, Page], dict[str, Skip]]:
    """A site's pages by URL and its skipped files by path."""
    found = SITES[name].read()
    return (
        {page.url: page for page in found if isinstance(page, Page)},
        {skip.path: skip for skip in found if isinstance(skip, Skip)},
    )


def failures(facts: BuiltFacts, name: str, pages: dict[str, Page]) -> list[str]:
    """Everything that one page lacks or has wrong.

    Args:
        pages: what was read, by URL.
    """
    expected, place = facts.everything["pages"][name], facts.site["pages"][name]
    page = pages.get(place["url"])
    if page is None:
        return [f"no page has the URL {place['url']}"]
    answered = "\n\n".join(chunk.text for chunk in cut([page]))
    shown = f"{words(answered)} {' '.join(heading for part in page.sections for heading in part.headings)} {page.title}"
    missing: list[str] = []
    if page.title != expected["title"]:
        missing.append(f"title {page.title!r}")
    missing += _anchors(page, place["anchors"], shown)
    missing += [f"paragraph {each!r}" for each in expected["paragraphs"] if words(each) not in shown]
    missing += [f"label {each!r}" for each in expected["tab_labels"] if f"**{each}**" not in answered]
    missing += [f"title {each!r}" for each in expected["block_titles"] if f"**{each}**" not in answered]
    missing += [f"inline {each!r}" for each in expected["inline_code"] if words(each) not in shown]
    missing += [f"alt {each!r}" for each in expected["image_alt"] if words(each) not in shown]
    missing += _code(facts, name, expected["code"], answered)
    found = rows(answered)
    missing += [
        f"row {row}" for table in expected["tables"] for row in table if [words(cell) for cell in row] not in found
    ]
    if not facts.excepted("TeX is not in"):
        missing += [f"TeX {each!r}" for each in expected["tex"] if each not in answered]
    if not facts.excepted("mermaid"):
        missing += [
            f"diagram {each!r}" for each in expected["mermaid"] if ("mermaid", each) not in code_blocks(answered)
        ]
    missing += _links(facts, expected["links"], answered)
    return missing


def _anchors(page: Page, anchors: list[tuple[str, str | None]], shown: str) -> list[str]:
    own = [(section.headings[-1] if section.headings else page.title, section.anchor) for section in page.sections]
    missing = [f"heading {title!r}" for title, _ in anchors if title not in shown]
    return missing + [
        f"{title!r} at #{anchor}"
        for title, anchor in anchors
        if any(title == heading for heading, _ in own) and anchor and (title, anchor) not in own
    ]


def _code(facts: BuiltFacts, name: str, blocks: list[dict[str, str]], answered: str) -> list[str]:
    found = code_blocks(answered)
    texts = [text for _, text in found]
    together = "\n".join(texts)
    missing = []
    for block in blocks:
        if block["language"] == "diff" and facts.excepted(name, "diff"):
            lines = [line.lstrip("+-").strip() for line in block["text"].split("\n")]
            missing += [f"line {line!r}" for line in lines if line not in together]
        elif len(block["text"]) > 1_000:  # cut into several fences
            missing += [f"line {line!r}" for line in block["text"].split("\n") if line not in together.split("\n")]
        elif block["text"] not in texts:
            missing.append(f"code {block['text']!r}")
        elif not facts.excepted("the language is not in") and (block["language"], block["text"]) not in found:
            missing.append(f"language {block['language']!r} of {block['text']!r}")
    return missing


def _links(facts: BuiltFacts, expected: list[dict[str, str]], answered: str) -> list[str]:
    found = dict(links(answered))
    missing = []
    for link in expected:
        name, _, anchor = link["to"].partition("#")
        published = facts.site["pages"].get(name)
        url, _, place = found.get(words(link["text"]), "").partition("#")
        right = url == published["url"] if published else url.startswith(f"{facts.site['base_url']}")
        if not right or bool(anchor) != bool(place):
            missing.append(f"link {link['text']!r} leads to {url}#{place}")
    return missing


@pytest.mark.parametrize(("name", "page"), PAGES)
def test_a_published_page_is_read_whole(name: str, page: str) -> None:
    assert failures(SITES[name], page, read(name)[0]) == []


@pytest.mark.parametrize("name", SITES)
def test_pages_that_are_not_meant_to_be_found_are_skipped(name: str) -> None:
    pages, skipped = read(name)
    kinds: dict[str, str] = SITES[name].site["kinds"]
    wrongly_read = [file for file, kind in kinds.items() if any(each in kind for each in SKIPPED_KINDS)]
    assert [file for file in wrongly_read if file not in skipped] == []
    wanted = [file for file, kind in kinds.items() if not any(each in kind for each in SKIPPED_KINDS)]
    # Pages in a language's folder that nobody has translated are not marked as such in every kind.
    assert [file for file in wanted if file in skipped and skipped[file].reason != "untranslated"] == []
    assert [file for file in wanted if file in skipped and "other language" not in kinds[file]] == []
    assert len(pages) + len(skipped) == len(kinds)


@pytest.mark.parametrize("name", SITES)
def test_no_text_of_the_theme_and_nothing_hidden_is_answered(name: str) -> None:
    facts: dict[str, Any] = SITES[name].everything
    unwanted = [
        *facts["never"],
        *facts["only_after_javascript"],
        facts["must_not_answer"],
        facts["only_in_version_1.0"],
    ]
    for chunk in cut(read(name)[0].values()):
        told = f"{chunk.embedded_text}\n{chunk.text}"
        assert [text for text in unwanted if text in told] == [], chunk.url
