"""The demo in a browser: a question, and the panel that shows what happened."""

import json
import re
import shlex
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from conftest import ROOT
from demo.conftest import Visit

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
QUESTION = "What is a digital twin?"
LAUNCHER = "passage-chat .launcher"
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}

DEBUG: dict[str, Any] = {
    "profile": "query-response",
    "collection": "rag_embeddings",
    "model": "embed-v5.0-fast",
    "mode": "hybrid",
    "balance": 0.4,
    "embedding_cached": True,
    "times_ms": {"embedding": 14.2, "search": 6.5, "total": 21.3},
    "passages": [
        {
            "id": 1,
            "url": "https://a.example/one/#b",
            "stages": {
                "dense": {"rank": 7, "score": 0.5},
                "fused": {"rank": 1, "score": 0.8, "vectors": 0.5, "words": 1.0},
            },
        },
        {
            "id": 2,
            "url": "https://a.example/two/",
            "stages": {"dense": {"rank": 2, "score": 0.6}, "text": {"rank": 1, "score": 8.1}},
        },
        {
            "id": 3,
            "url": "https://a.example/three/#last",
            "dropped": "below the minimum score",
            "stages": {"dense": {"rank": 9, "score": 0.1}},
        },
    ],
}


def ask(page: Page, question: str = QUESTION) -> Page:
    """Asks with the widget and closes it."""
    page.locator("passage-chat .launcher").click()
    page.locator("passage-chat input").fill(question)
    page.locator("passage-chat input").press("Enter")
    page.locator("passage-chat [role=option] .title, passage-chat .state").first.wait_for(state="attached")
    page.locator(".story .question", has_text=question).wait_for(state="attached")
    page.keyboard.press("Escape")
    return page


def answering(body: Any, status: int = 200) -> Callable[[Page], None]:
    """Makes the API answer each question with `body`."""

    def fulfil(route: Route) -> None:
        route.fulfill(status=status, body=json.dumps(body), content_type="application/json")

    return lambda page: page.route("**/query?*", fulfil)


def test_question_is_explained_beside_the_book(visit: Visit) -> None:
    page = ask(visit("/digital-twins/asset-models/"))
    expect(page.locator("h1")).to_have_text("Asset Models")
    expect(page.locator(".status")).to_have_text("200")
    expect(page.locator(".row")).to_have_count(5)
    expect(page.locator(".row .title").first).not_to_be_empty()
    expect(page.locator(".side.dense .node")).to_have_count(5)
    expect(page.locator(".side.text .node").first).to_be_visible()
    expect(page.locator(".legend .embedding")).to_be_visible()
    page.get_by_text("Found, but not in the answer").click()
    expect(page.locator(".rest .name").first).to_have_attribute("title", re.compile("^https://physical-ai.example/"))
    expect(page.locator(".facts")).to_contain_text("query_response")
    expect(page.locator(".json")).to_contain_text('"chunk_text"')


def test_copied_curl_line_gets_the_same_answer(visit: Visit) -> None:
    page = ask(visit())
    shown = page.locator(".row .title").evaluate_all("rows => rows.map(row => row.title)")
    page.get_by_role("button", name="Copy the curl line").click()
    expect(page.get_by_role("button", name="Copy the curl line")).to_have_text("Copied")
    words = shlex.split(page.evaluate("navigator.clipboard.readText()").replace("\\\n", " "))
    assert words[:2] == ["curl", "-s"]
    answer = httpx.post(words[2], content=words[-1], headers={"Content-Type": "application/json"})
    assert [result["url"] for result in answer.json()["results"]] == shown


def test_result_opens_its_page_on_this_machine(visit: Visit, demo: str) -> None:
    page = visit()
    page.get_by_role("button", name=QUESTION).click()
    page.locator("passage-chat a[role=option]").first.click()
    page.wait_for_url(f"{demo}/digital-twins/**")
    expect(page.locator(":target")).to_have_count(1)


def test_picked_profile_answers_the_same_question(visit: Visit) -> None:
    page = ask(visit())
    page.get_by_label("Profile").select_option("ranked")
    expect(page.locator(".facts")).to_contain_text("textbook_passages")
    expect(page.locator(".story .question")).to_have_text(QUESTION)
    assert "profile=ranked" in page.url


def test_address_with_a_question_asks_it(visit: Visit) -> None:
    page = visit("/?q=What+is+a+servo%3F&profile=context")
    expect(page.locator(".story .question")).to_have_text("What is a servo?")
    expect(page.locator(".facts dd").first).to_have_text("context")


def test_thumb_is_counted_and_shown(visit: Visit, demo: str) -> None:
    page = visit()
    page.get_by_role("button", name=QUESTION).click()
    with page.expect_request(f"{demo}/feedback") as sent:
        page.locator("passage-chat .more .thumb").first.click()
    expect(page.locator(".judged")).to_have_text("Counted: helpful.")
    judged = sent.value.post_data_json
    assert judged["url"].startswith("https://physical-ai.example/"), "the API is told the site's URL"


def test_ranks_of_both_stages_are_drawn(visit: Visit) -> None:
    urls = [passage["url"] for passage in DEBUG["passages"][:2]]
    results = [{"chunk_text": "One.", "url": url, "relevance_score": 0.5} for url in urls]
    page = ask(visit(before=answering({"results": results, "debug": DEBUG})))
    assert page.locator(".side.dense .node text").all_text_contents() == ["2", "7"]
    assert page.locator(".side.text .node text").all_text_contents() == ["1"]
    expect(page.locator(".row .score").first).to_have_attribute("title", "both, fused 1. (meaning 0.50, words 1.00)")
    expect(page.locator(".row .share").first).to_have_attribute("style", "--share: 20%; --second: 60%;")
    expect(page.locator(".legend .embedding")).to_contain_text("cached")
    page.get_by_text("Found, but not in the answer: 1").click()
    expect(page.locator(".fold")).to_contain_text("Why: below the minimum score.")
    expect(page.locator(".rest .name")).to_have_text("https://a.example/three/#last")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, {"error": "'text' is too long."}, "'text' is too long."),
        (503, {"error": {"code": "X", "message": "The store is down."}}, "The store is down."),
        (200, {"results": []}, "Nothing in the index fits this question."),
    ],
)
def test_answer_without_passages_is_told(status: int, body: Any, said: str, driven: Any, demo: str) -> None:
    page = driven.new_page()
    answering(body, status)(page)
    page.goto(demo)
    page.locator("passage-chat .launcher").wait_for()
    ask(page)
    expect(page.locator(".fault")).to_have_text(said)
    expect(page.locator(".status")).to_have_text(str(status))
    page.close()


def test_hostile_answer_is_shown_as_text(visit: Visit) -> None:
    bad = "<img src=x onerror=alert(1)>"
    result = {"chunk_text": bad, "url": "javascript:alert(1)", "title": bad, "headings": [bad], "score": 0.5}
    page = ask(visit(before=answering({"results": [result], "warnings": [bad]})))
    expect(page.locator(".row .title")).to_have_text(bad)
    expect(page.locator(".warning")).to_have_text(bad)
    assert page.locator("#story img, #story a").count() == 0


def test_phone_shows_the_panel_once_the_widget_closes(visit: Visit) -> None:
    page = ask(visit(**PHONE))
    expect(page.locator(".story")).to_be_visible()
    expect(page.locator(".article")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("button", name="Page", exact=True).click()
    expect(page.locator(".article")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("context", [{}, PHONE], ids=["desktop", "phone"])
def test_page_and_dialog_are_one_product(context: dict[str, Any], visit: Visit) -> None:
    """One font, no button over the text, and no word beside the logo that a first look does not understand."""
    page = ask(visit("/digital-twins/asset-models/", **context))
    fonts = page.locator(".article p, .story, passage-chat .panel").evaluate_all(
        "all => [...new Set(all.map(each => getComputedStyle(each).fontFamily))]"
    )
    assert len(fonts) == 1
    inside = "([inner, outer]) => inner.top >= outer.top && inner.bottom <= outer.bottom"
    boxes = [
        page.locator(each).evaluate("each => each.getBoundingClientRect().toJSON()") for each in (LAUNCHER, "header")
    ]
    assert page.evaluate(inside, boxes)
    assert "rofile" not in page.locator("header").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, visit: Visit) -> None:
    """The dark theme changes only colours, so that only their rule is run again."""
    page = ask(visit("/digital-twins/asset-models/", color_scheme=scheme))
    page.evaluate(AXE.read_text("utf-8"))
    rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    found = page.evaluate(
        "async options => (await axe.run(document, { resultTypes: ['violations'], ...options })).violations"
        ".map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])",
        rules,
    )
    assert found == []


SURFACES = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 25, 29)"}


@pytest.mark.parametrize("scheme", SURFACES)
def test_theme_button_switches_page_and_widget(scheme: str, visit: Visit) -> None:
    page = visit(color_scheme=scheme)
    expect(page.locator("body")).to_have_css("background-color", SURFACES[scheme])
    other = next(each for each in SURFACES if each != scheme)
    for theme in (other, scheme):
        page.get_by_role("button", name="Switch between light and dark").click()
        expect(page.locator("body")).to_have_css("background-color", SURFACES[theme])
        expect(page.locator("passage-chat .root")).to_have_attribute("data-theme", theme)


def test_page_in_arabic_is_right_to_left_but_not_its_code(visit: Visit) -> None:
    page = visit("/ros2/nodes/")
    page.locator(".article").evaluate("article => article.prepend('مرحبا')")
    expect(page.locator(".article")).to_have_css("direction", "rtl")
    expect(page.locator(".article pre").first).to_have_css("direction", "ltr")
    expect(page.locator("#panel")).to_have_css("direction", "ltr")
