"""The sample site and its question suite: whole, and in step with each other."""

import json
import re

import pytest

from conftest import TEXTBOOK
from passage.sites.markdown import find_site, read_pages

PAGES = {page.path: page for page in read_pages(find_site(TEXTBOOK, None))}
QUESTIONS = [
    json.loads(line) for line in (TEXTBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines() if line.strip()
]


def test_the_site_is_as_large_as_a_real_one_and_written_as_one() -> None:
    assert len(PAGES) >= 40
    with_code = [page for page in PAGES.values() if "```" in page.markdown]
    with_tables = [page for page in PAGES.values() if re.search(r"^\|.*\|$", page.markdown, re.MULTILINE)]
    with_lists = [page for page in PAGES.values() if re.search(r"^(-|\d+\.) ", page.markdown, re.MULTILINE)]
    for kind in (with_code, with_tables, with_lists):
        assert len(kind) >= len(PAGES) / 3
    assert all(re.search(r"^## ", page.markdown, re.MULTILINE) for page in PAGES.values())


def test_every_link_between_pages_leads_to_one() -> None:
    for page in PAGES.values():
        folder = page.path.split("/")[:-1]
        for target in re.findall(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)", page.markdown):
            parts = list(folder)
            for part in target.removesuffix(".md").split("/"):
                if part == "..":
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            assert "/".join(parts) in PAGES, f"{page.path} links to {target}"


def test_there_are_enough_questions_each_with_a_name_of_its_own() -> None:
    assert len(QUESTIONS) >= 60
    assert len({question["name"] for question in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["name"])
def test_a_question_names_pages_there_are_and_words_they_hold(question: dict[str, object]) -> None:
    assert str(question["query_text"]).strip()
    expected = question["expected_doc_ids"]
    assert isinstance(expected, list)
    assert expected
    text = " ".join(PAGES[path].markdown for path in expected).lower()
    for keyword in question["expected_keywords"]:  # type: ignore[attr-defined]  # a list, as the next line needs
        assert str(keyword).lower() in text
