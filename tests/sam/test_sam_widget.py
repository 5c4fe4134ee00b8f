"""The widget in Chromium, on a page of another origin, against `sam local start-api`."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from handler.config import profiles
from widget.driver import Widget, html
from widget.servers import WEB

ORIGIN = "http://localhost:3000"
"""The origin that the template allows. Nothing listens there: the tests serve its pages."""
TWIN = "What is a digital twin?"

Visit = Callable[..., Widget]


@pytest.fixture
def visit(api: str, driven: Browser) -> Iterator[Visit]:
    """Opens a page with the widget. The test fails if a script of the page raised."""
    raised: list[str] = []
    context = driven.new_context(viewport={"width": 1200, "height": 800}, locale="en-GB")
    # Pages that a test serves count as another network's, which Chromium lets call this machine only when allowed.
    context.grant_permissions(["local-network-access"])

    def serve(route: Route, page: str) -> None:
        script = route.request.url.endswith(".js")
        route.fulfill(
            body=(WEB / "passage-chat.js").read_text(encoding="utf-8") if script else page,
            content_type="text/javascript" if script else "text/html; charset=utf-8",
        )

    def _visit(**options: str) -> Widget:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: raised.append(str(error)))
        body = html({"endpoint": api, **{name.replace("_", "-"): value for name, value in options.items()}})
        page.route(f"{ORIGIN}/**", lambda route: serve(route, body))
        page.goto(f"{ORIGIN}/guide/")
        return Widget(page)

    yield _visit
    context.close()
    assert raised == []


def _instead(page: Page, reply: Callable[[Route], Any]) -> None:
    """Answer the next questions instead of the API, as the network or a gateway in front would."""
    page.route("**/query?**", reply)


@pytest.mark.parametrize("profile", profiles.names())
def test_sam_answers_of_every_contract_are_shown(profile: str, visit: Visit) -> None:
    widget = visit(profile=profile).open().ask(TWIN)
    assert "twin" in widget.hits.first.locator(".title").inner_text().lower()
    assert "twin" in widget.hits.locator("mark").all_inner_texts()
    assert widget.violations() == []


def test_sam_counts_a_thumb_after_its_preflight(visit: Visit) -> None:
    widget = visit(profile="ranked").open().ask(TWIN)
    with widget.page.expect_response(lambda response: response.request.method == "POST") as sent:
        widget.tool("Helpful").click()
    assert sent.value.status == 204


def test_sam_refusals_are_told_apart(visit: Visit) -> None:
    unknown = visit(profile="nobody").open().ask(TWIN)
    unknown.first.wait_for()
    assert unknown.first.inner_text() == "The search is not set up correctly."
    long = visit(profile="ranked", max_length="100000").open().ask("twin " * 300)
    long.first.wait_for()
    assert long.first.inner_text() == "The search did not accept this question."


def test_sam_question_too_long_is_not_sent(visit: Visit) -> None:
    widget = visit(max_length="20").open().ask("why " * 6)
    assert widget.first.inner_text() == "This question is too long: 23 of 20 characters."


def test_sam_question_can_time_out_and_be_retried(visit: Visit) -> None:
    widget = visit(timeout="0.01").open().ask(TWIN)
    widget.first.wait_for()
    assert widget.first.inner_text() == "The search took too long."
    assert widget.input.input_value() == TWIN


def test_sam_slow_answer_shows_a_message(visit: Visit) -> None:
    widget = visit().open()
    held: list[Route] = []
    _instead(widget.page, lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks a function it is given
    widget.page.clock.install()
    widget.ask(TWIN)
    widget.page.clock.run_for(4_100)
    note = widget.page.locator("passage-chat .foot > span").first
    assert note.inner_text() == "Still searching. This takes longer than usual."
    held[-1].continue_()
    widget.hits.first.wait_for()


def test_sam_newer_question_cancels_the_older(visit: Visit) -> None:
    widget = visit().open()
    _instead(widget.page, lambda route: None if "sensor" in route.request.url else route.continue_())
    with widget.page.expect_request("**sensor**"):
        widget.ask("What is a sensor?")
    with widget.page.expect_event("requestfailed") as cancelled:
        widget.ask(TWIN)
    assert cancelled.value.failure == "net::ERR_ABORTED"
    widget.page.locator("passage-chat [aria-busy=false] .hit").first.wait_for()
    assert "twin" in widget.hits.locator("mark").all_inner_texts()


def test_sam_throttled_then_answered(visit: Visit) -> None:
    widget = visit().open()
    throttled = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After", "Retry-After": "1"}
    body = json.dumps({"message": "Too Many Requests"})
    _instead(widget.page, lambda route: route.fulfill(status=429, body=body, headers=throttled))
    widget.ask(TWIN).first.wait_for()
    assert widget.first.inner_text() == "Too many questions at once."
    widget.page.unroute("**/query?**")
    widget.page.locator("passage-chat button[aria-disabled=false]", has_text="Try again").click()
    widget.hits.first.wait_for()


def test_sam_offline_then_online(visit: Visit) -> None:
    widget = visit().open()
    widget.page.context.set_offline(True)
    widget.ask(TWIN).first.wait_for()
    assert widget.first.inner_text() == "You are offline."
    widget.page.context.set_offline(False)
    widget.retry.click()
    widget.hits.first.wait_for()


def test_sam_nothing_found_shows_a_message(visit: Visit) -> None:
    widget = visit().open()

    def _without_passages(route: Route) -> None:
        real = route.fetch()
        route.fulfill(response=real, json={**real.json(), "results": [], "total_results": 0})

    _instead(widget.page, _without_passages)
    widget.ask(TWIN).first.wait_for()
    assert widget.first.inner_text() == "Nothing on this site fits this question."
