"""A drafted suite: which headings and sentences become questions."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passage.evaluation.drafting import draft_suite
from passage.evaluation.suite import Suite
from passage.evaluation.suites.files import read_suite
from passage.sites.model import Page, Section, SiteError, Skip


class Pages:
    """A site of the given pages."""

    nothing_found = "It holds nothing."

    def __init__(self, *pages: Page) -> None:
        self._pages = pages

    def read(self) -> Iterator[Page | Skip]:
        yield Skip("left-out.md", "a draft")
        yield from self._pages


def page(name: str, *sections: tuple[str, str]) -> Page:
    parts = tuple(Section((heading,) if heading else (), text) for heading, text in sections)
    return Page(name, f"https://site.example/{name}/", f"The page {name}", parts)


def asked(*pages: Page, number: int = 100) -> list[tuple[str, str]]:
    questions = read(draft_suite(Pages(*pages), number, "drafts").toml).questions
    return [(question.text, question.expected[0].value) for question in questions]


def read(toml: str) -> Suite:
    with TemporaryDirectory() as folder:
        path = Path(folder, "drafts.toml")
        path.write_text(toml, encoding="utf-8")
        return read_suite(path)


def test_headings_and_first_sentences_become_questions() -> None:
    text = "Run [the installer](https://x.example/a) with **care** first. Then restart it."
    assert asked(page("a", ("Install it", text))) == [
        ("The page a", "https://site.example/a/"),
        ("Run the installer with care first.", "https://site.example/a/"),
        ("Install it", "https://site.example/a/"),
    ]


def test_repeated_heading_is_skipped_on_all_pages() -> None:
    pages = [page(name, ("See also", ""), (f"About {name}", "")) for name in ("a", "b")]
    assert "See also" not in [text for text, _ in asked(*pages)]


@pytest.mark.parametrize(
    "text", ["```sh\nmake all of the things now\n```", "| a | b |", "- one\n- two", "Too short.", ""]
)
def test_text_without_a_sentence_gives_no_question(text: str) -> None:
    assert asked(page("a", ("", text))) == [("The page a", "https://site.example/a/")]


def test_short_suite_is_spread_over_the_site() -> None:
    pages = [page(f"p{number}", ("", "")) for number in range(10)]
    assert [url for _, url in asked(*pages, number=2)] == ["https://site.example/p0/", "https://site.example/p5/"]


def test_every_page_is_asked_before_any_twice() -> None:
    pages = [page(name, (f"More of {name}", "")) for name in ("a", "b", "c")]
    assert [url[-2] for _, url in asked(*pages, number=4)] == ["a", "b", "c", "a"]


@given(st.text(min_size=1))
def test_any_title_gives_valid_toml(title: str) -> None:
    site = Pages(Page("a", "https://site.example/a/", f"About {title}", ()))
    try:
        drafted = draft_suite(site, 1, title)
    except SiteError:
        return
    assert len(read(drafted.toml).questions) == 1


def test_site_without_headings_is_refused() -> None:
    with pytest.raises(SiteError, match="It holds nothing"):
        draft_suite(Pages(), 3, "drafts")
