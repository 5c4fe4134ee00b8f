"""The sample site and its question suite are complete and match each other."""

import json
import re

import pytest

from conftest import TEXTBOOK
from passage.sites.markdown import find_site
from passage.sites.model import Page

PAGES = {
    page.path: (TEXTBOOK / "docs" / f"{page.path}.md").read_text(encoding="utf-8")
    for page in find_site(TEXTBOOK, None).read()
    if isinstance(page, Page)
}
"""The source of each page that is published."""
QUESTIONS = [
    json.loads(line) for line in (TEXTBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines() if line.strip()
]


def test_textbook_has_40_pages_with_code_tables_and_lists() -> None:
    assert len(PAGES) >= 40
    with_code = [page for page in PAGES.values() if "```" in page]
    with_tables = [page for page in PAGES.values() if re.search(r"^\|.*\|$", page, re.MULTILINE)]
    with_lists = [page for page in PAGES.values() if re.search(r"^(-|\d+\.) ", page, re.MULTILINE)]
    for kind in (with_code, with_tables, with_lists):
        assert len(kind) >= len(PAGES) / 3
    assert all(re.search(r"^## ", page, re.MULTILINE) for page in PAGES.values())


def test_every_link_between_pages_leads_to_one() -> None:
    for path, page in PAGES.items():
        folder = path.split("/")[:-1]
        for target in re.findall(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)", page):
            parts = list(folder)
            for part in target.removesuffix(".md").split("/"):
                if part == "..":
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            assert "/".join(parts) in PAGES, f"{path} links to {target}"


def test_suite_has_enough_questions_with_unique_names() -> None:
    assert len(QUESTIONS) >= 60
    assert len({question["name"] for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["name"])
def test_questions_name_existing_pages_and_their_words(question: dict[str, object]) -> None:
    assert str(question["query_text"]).strip()
    expected = question["expected_doc_ids"]
    assert isinstance(expected, list)
    assert expected
    text = " ".join(PAGES[path] for path in expected).lower()
    for keyword in question["expected_keywords"]:  # type: ignore[attr-defined]  # a list, as the next line needs
        assert str(keyword).lower() in text
