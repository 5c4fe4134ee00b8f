"""The widget in Chromium, on a page of another origin, against `sam local start-api`."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Route

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
