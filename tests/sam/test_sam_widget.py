"""The widget in Chromium, on a page of another origin, against `sam local start-api`."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from conftest import ROOT

SITE = "http://localhost:3000"
"""The origin that the function allows by default. Nothing listens there: the browser gets the page from the test."""
SCRIPT = (ROOT / "web" / "passage-chat.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(api: str, driven: Browser) -> Iterator[Page]:
    html = (
        f'<!doctype html><html lang="en"><title>Site</title><main>Text</main><script src="/w.js" data-endpoint="{api}">'
    )

    def serve(route: Route) -> None:
        if route.request.url.endswith("/w.js"):
            route.fulfill(body=SCRIPT, content_type="text/javascript")
        else:
            route.fulfill(body=html, content_type="text/html")

    page = driven.new_page()
    page.route(f"{SITE}/**", serve)
    page.goto(f"{SITE}/")
    page.locator("passage-chat .launcher").click()
    yield page
    page.close()


def _ask(page: Page, question: str) -> None:
    page.locator("passage-chat input").fill(question)
    page.locator("passage-chat input").press("Enter")


def test_question_shows_passages(page: Page) -> None:
    _ask(page, "What is a digital twin?")
    expect(page.locator("passage-chat .hit").first).to_be_visible(timeout=30_000)


def test_question_that_is_too_long_says_so(page: Page) -> None:
    _ask(page, "twin " * 400)
    expect(page.locator("passage-chat .state .first")).to_contain_text("long")


def test_unreachable_api_says_so_and_keeps_the_question(page: Page) -> None:
    page.context.set_offline(True)
    _ask(page, "How do I tune a controller?")
    expect(page.locator("passage-chat .state .first")).to_be_visible()
    expect(page.locator("passage-chat input")).to_have_value("How do I tune a controller?")
    page.context.set_offline(False)


def test_thumb_is_counted(page: Page) -> None:
    _ask(page, "What is a digital twin?")
    page.locator("passage-chat .hit").first.wait_for()
    with page.expect_response("**/feedback") as sent:
        page.locator("passage-chat .more").first.get_by_role("button").nth(-2).click()
    assert sent.value.status == 204
