"""The chatbot's page in Chromium, under the content security policy of examples/static-site."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT
from examples.chatbot_served import chatbot_served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

QUESTION = "Which stop category cuts the power at once?"
PICTURES = ROOT / ".passage" / "pictures"
HOSTILE: dict[str, Any] = {
    "passages": [
        {
            "title": "<img src=x onerror=alert(1)>",
            "section": "",
            "source_url": "javascript:alert(1)",
            "text": "<b>x</b>",
        }
    ],
    "notes": ["<script>alert(1)</script>"],
    "answer": [{"text": "<i>safe</i>", "passages": [1]}],
}


@pytest.fixture(scope="module")
def url(several_indexes: Any) -> Iterator[str]:
    with chatbot_served(several_indexes) as address:
        yield address


@pytest.fixture
def page(driven: "Browser", url: str) -> Iterator["Page"]:
    """The page, which must log nothing."""
    context = driven.new_context()
    opened = context.new_page()
    logged: list[str] = []
    opened.on("console", lambda message: logged.append(message.text))
    opened.on("pageerror", lambda error: logged.append(str(error)))
    opened.goto(url)
    yield opened
    context.close()
    assert [line for line in logged if "Failed to load resource" not in line] == []


def ask(page: "Page", question: str = QUESTION) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")


def fulfil(page: "Page", path: str, status: int, body: Any) -> None:
    page.route(f"**/{path}", lambda route: route.fulfill(status=status, body=json.dumps(body)))


def test_passages_come_first_and_the_answer_leads_to_them(page: "Page") -> None:
    held: list[Route] = []
    page.route("**/answer", lambda route: held.append(route))  # noqa: PLW0108 - Playwright refuses a builtin
    ask(page)
    page.locator("li").nth(4).wait_for()
    page.get_by_role("status").get_by_text("The answer is being written").wait_for()
    assert page.locator(".answer").count() == 0
    held[0].continue_()
    page.get_by_role("link", name="Passage 1").first.click()
    assert page.locator("li:target").inner_text().startswith("Emergency stop")
    assert page.locator(".answer").inner_text().startswith("Category 0: cut power to the actuators at once.")
    assert page.get_by_role("status").inner_text() == ""
    ask(page, "What is a digital twin?")
    page.locator("article").nth(1).wait_for()
    assert page.locator("h2").all_inner_texts() == ["What is a digital twin?", QUESTION]
    ids = page.locator("li").evaluate_all("all => all.map(each => each.id)")
    assert len(set(ids)) == len(ids)


def test_text_of_others_stays_text(page: "Page") -> None:
    fulfil(page, "passages", 200, HOSTILE)
    fulfil(page, "answer", 200, HOSTILE)
    ask(page)
    page.locator(".answer").wait_for()
    assert page.locator(".answer").inner_text().startswith("<i>safe</i>")
    assert page.locator("article :is(img, script, b, i, li a)").count() == 0


@pytest.mark.parametrize(
    ("path", "status", "body", "said"),
    [
        ("passages", 503, {"error": "The search does not work."}, "The search does not work."),
        ("passages", 429, {"message": "Too Many Requests"}, "Too many questions at the moment. Try again in a minute."),
        ("answer", 503, {"message": "Service Unavailable"}, "The service does not work at the moment."),
        ("answer", 504, "no object", "The service does not work at the moment."),
    ],
)
def test_failure_is_said_plainly(path: str, status: int, body: Any, said: str, page: "Page") -> None:
    fulfil(page, path, status, body)
    ask(page)
    page.get_by_role("status").get_by_text(said, exact=True).wait_for()
    assert page.locator("li").count() == (5 if path == "answer" else 0)


def test_page_that_is_offline_says_so(page: "Page") -> None:
    page.route("**/passages", lambda route: route.abort())
    ask(page)
    page.get_by_role("status").get_by_text("cannot be reached").wait_for()


def test_newer_question_replaces_one_that_waits(page: "Page") -> None:
    page.route("**/passages", lambda route: None if "first" in (route.request.post_data or "") else route.continue_())
    ask(page, "the first question")
    ask(page)
    page.locator(".answer").wait_for()
    assert page.locator("h2").all_inner_texts() == [QUESTION]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_page_fits_and_can_be_read(width: int, scheme: Any, driven: "Browser", url: str) -> None:
    page = driven.new_page(viewport={"width": width, "height": 850}, color_scheme=scheme)
    page.goto(url)
    ask(page)
    page.locator(".answer").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".cite").first.evaluate("each => each.getBoundingClientRect().height") >= 22
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"chatbot, {width}, {scheme}.png")
    page.close()
