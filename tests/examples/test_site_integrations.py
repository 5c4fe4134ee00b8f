"""The widget in sites that their own generators built: examples/ of Docusaurus, MkDocs, VitePress, Starlight and HTML.

Run by `make test-sites`, which installs the generators first.
"""

import functools
import http.server
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from conftest import ROOT

EXAMPLES = ROOT / "examples"
WIDGET = ROOT / "web" / "passage-chat.js"
API = "https://passage.example"
"""The address in the examples. Nothing is there: the tests answer for it."""


@dataclass(frozen=True)
class Generator:
    """How an example is built, and what its pages are like.

    Attributes:
        script: where its owner puts the widget's script.
        built: the folder with the built pages.
        switch: the page's own theme switch; empty for none.
        section: the address of the section that the answer names.
    """

    script: str
    built: str
    switch: str = ""
    section: str = "/schedules/#delete-all-schedules"


GENERATORS = {
    "docusaurus": Generator("static", "build", "button[class*=toggleButton]", "/schedules#delete-all-schedules"),
    "vitepress": Generator(
        "docs/public", "docs/.vitepress/dist", ".VPSwitchAppearance", "/schedules.html#delete-all-schedules"
    ),
    "starlight": Generator("public", "dist", "starlight-theme-select select"),
    "mkdocs": Generator("docs", "site", "label[for=__palette_1]"),
    "plain-html": Generator(".", ".", section="/#descale-the-kettle"),
}


def _build(name: str, folder: Path) -> None:
    if name == "plain-html":
        return
    if name == "mkdocs":
        command = [str(Path(sys.executable).parent / "mkdocs"), "build", "--quiet", "--strict"]
    else:
        command = ["make", "-s", "-C", str(ROOT), f"example-{name}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture(scope="module", params=GENERATORS)
def built(request: pytest.FixtureRequest) -> Iterator[tuple[Generator, str]]:
    """A site as its generator built it, and its address."""
    generator, folder = GENERATORS[request.param], EXAMPLES / request.param
    script = folder / generator.script / WIDGET.name
    script.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(WIDGET, script)
    _build(request.param, folder)
    handler = functools.partial(_Quiet, directory=str(folder / generator.built))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield generator, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def page(built: tuple[Generator, str], driven: Browser) -> Iterator[Page]:
    """The first page, with an API that answers. Any error of the page fails the test."""
    generator, url = built
    errors: list[str] = []
    context = driven.new_context(color_scheme="light", locale="en-GB")
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)

    def answer(route: Route) -> None:
        passage = {
            "chunk_text": "Hold the button for ten seconds until the ring blinks red.",
            "url": url + generator.section,
            "chunk_id": "1_0",
            "relevance_score": 0.8,
        }
        route.fulfill(
            body=json.dumps({"query": "", "k": 5, "results": [passage], "total_results": 1}),
            headers={"Access-Control-Allow-Origin": "*", "Content-Type": "application/json"},
        )

    page.route(f"{API}/**", answer)
    page.goto(f"{url}/", wait_until="networkidle")
    yield page
    context.close()
    assert [error for error in errors if "favicon" not in error and "404" not in error] == []


def _ask(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("delete schedules")
    page.keyboard.press("Enter")
    expect(page.locator("passage-chat .hit")).to_have_count(1)


def test_page_has_the_widget_once(page: Page) -> None:
    expect(page.locator("passage-chat")).to_have_count(1)
    assert page.locator("passage-chat").evaluate("element => element.parentElement.localName") == "body"


def test_shortcut_opens_one_dialog_that_answers(page: Page) -> None:
    _ask(page)
    assert page.locator("dialog[open], [role=dialog]:visible").count() == 1


def test_result_leads_to_its_section(page: Page, built: tuple[Generator, str]) -> None:
    _ask(page)
    page.locator("passage-chat .hit a, passage-chat a.hit").first.click()
    anchor = built[0].section.partition("#")[2]
    page.wait_for_function("anchor => location.hash === '#' + anchor", arg=anchor)
    expect(page.locator(f"#{anchor}")).to_be_in_viewport()


def test_widget_follows_the_theme_switch(page: Page, built: tuple[Generator, str]) -> None:
    switch = built[0].switch
    if not switch:
        page.emulate_media(color_scheme="dark")
    elif "select" in switch:
        page.locator(switch).first.select_option("dark")
    else:
        page.locator(f"{switch}:visible").first.click()
    expect(page.locator("passage-chat [data-theme=dark]")).to_have_count(1)


def test_widget_stays_after_navigation(page: Page, built: tuple[Generator, str]) -> None:
    link = page.locator("main a, article a", has_text="Schedules").first
    if link.count() == 0:
        assert built[0].built == "."  # the one-page example has no second page
        return
    link.click()
    page.wait_for_function("() => location.pathname.includes('schedules')")
    expect(page.locator("passage-chat")).to_have_count(1)
    _ask(page)
