"""The demo of the sample textbook, and a browser."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from conftest import TEXTBOOK
from passage.local.demo import add_demo
from passage.local.demo.book import Book
from serving import served_index

Visit = Callable[..., Page]


@pytest.fixture(scope="session")
def book() -> Book:
    return Book.of(TEXTBOOK)


@pytest.fixture(scope="session")
def demo(book: Book, several_indexes: Path) -> Iterator[str]:
    """The URL of the demo, as `make run` serves it."""
    with served_index(several_indexes, lambda app: add_demo(app, book, ["What is a digital twin?"])) as url:
        yield url


@pytest.fixture
def visit(driven: Browser, demo: str) -> Iterator[Visit]:
    """Opens a page of the demo. The test fails if the page wrote an error or a warning, such as one of its policy."""
    complaints: list[str] = []
    contexts = []

    def open_page(path: str = "/", *, before: Callable[[Page], None] = lambda _: None, **context: Any) -> Page:
        made = driven.new_context(**{"viewport": {"width": 1440, "height": 900}, "locale": "en-GB", **context})
        contexts.append(made)
        made.grant_permissions(["clipboard-read", "clipboard-write"], origin=demo)
        page = made.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        before(page)
        page.goto(demo + path)
        page.locator("#profile:enabled").wait_for(state="attached")
        page.locator("passage-chat .launcher").wait_for()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
