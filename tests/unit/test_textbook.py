"""The sample site and its question suite are complete and match each other."""

import re

from conftest import TEXTBOOK
from passage.evaluation.suites.files import read_suite
from passage.sites.markdown import find_site
from passage.sites.model import Page

PAGES = {
    page.path: (TEXTBOOK / "docs" / f"{page.path}.md").read_text(encoding="utf-8")
    for page in find_site(TEXTBOOK, None).read()
    if isinstance(page, Page)
}
"""The source of each page that is published."""
SUITE = read_suite(TEXTBOOK / "suite.toml")
KINDS = {"plain", "paraphrase", "typo", "single word", "keywords", "other language", "long", "off-topic"}


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


def test_suite_has_150_questions_and_every_kind() -> None:
    assert len(SUITE.questions) >= 150
    assert {tag for question in SUITE.questions for tag in question.tags} == KINDS
    assert sum("off-topic" in question.tags for question in SUITE.questions) >= 30


def test_no_question_is_asked_twice() -> None:
    assert len({question.text.casefold() for question in SUITE.questions}) == len(SUITE.questions)


def test_long_questions_have_about_1000_characters() -> None:
    assert all(900 <= len(question.text) <= 1100 for question in SUITE.questions if "long" in question.tags)


def test_off_topic_questions_alone_expect_no_page() -> None:
    for question in SUITE.questions:
        off_topic = "off-topic" in question.tags or question.id == "long-off-topic-garden"
        assert question.answerable is not off_topic, question.id
        assert bool(question.expected) is not off_topic, question.id


def test_questions_name_existing_pages_and_their_words() -> None:
    for question in SUITE.questions:
        named = [expected.value.strip("/") or "index" for expected in question.expected]
        assert set(named) <= PAGES.keys(), question.id
        text = " ".join(PAGES[path] for path in named).lower()
        assert all(keyword.lower() in text for keyword in question.keywords), question.id
