"""The widget in sites that their own generators built: examples/ of Docusaurus, MkDocs, VitePress, Starlight and HTML.

Run by `make test-sites`, which installs the generators first.
"""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from conftest import ROOT
from programs import run

EXAMPLES = ROOT / "examples"
WIDGET = ROOT / "web" / "passage-chat.js"
API = "https://passage.example"
SITE = "https://kettle.example"
"""The addresses in the examples, both with one scheme. Nothing is there: the tests answer for them."""


@dataclass(frozen=True)
class Generator:
    """Where an example's files are, and what its pages are like.

    Attributes:
        script: where its owner puts the widget's script.
        built: the folder with the built pages.
        switch: the page's own theme switch; empty for none.
        section: the address of the section that the answer names.
        shortcut: opens the widget.
        is_ready: JavaScript, whether the page's own scripts have taken it over.
        has_router: whether its router takes the links of the site.
        key: a key that the page acts on, and JavaScript that tells whether it did.
    """

    script: str
    built: str
    switch: str = ""
    section: str = "/schedules/#delete-all-schedules"
    shortcut: str = "Control+k"
    is_ready: str = "true"
    has_router: bool = True
    key: tuple[str, str] = ("", "false")


GENERATORS = {
    "docusaurus": Generator(
        "static",
        "build",
        switch="button[class*=toggleButton]",
        section="/schedules#delete-all-schedules",
        is_ready="document.documentElement.dataset.hasHydrated === 'true'",
    ),
    "vitepress": Generator(
        "docs/public",
        "docs/.vitepress/dist",
        switch=".VPSwitchAppearance",
        section="/schedules.html#delete-all-schedules",
        shortcut="Control+j",
        is_ready="'__vue_app__' in document.querySelector('#app')",
        key=("/", "!!document.querySelector('.VPLocalSearchBox')"),
    ),
    "starlight": Generator("public", "dist", switch="starlight-theme-select select", has_router=False),
    "mkdocs": Generator(
        "docs",
        "site",
        switch="label[for^=__palette]",
        # Until it has the sitemap, Material leaves links to the browser.
        is_ready="performance.getEntriesByType('resource').some(({name}) => name.endsWith('/sitemap.xml'))",
        key=("n", "location.pathname.includes('schedules')"),
    ),
    "plain-html": Generator(".", ".", section="/#descale-the-kettle", has_router=False),
}
Built = tuple[Generator, Path]


def only(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("built", names, indirect=True)


routed = only(*(name for name, generator in GENERATORS.items() if generator.has_router))


@pytest.fixture(scope="module")
def _sites() -> None:
    """Builds every site, two at a time."""
    for name, generator in GENERATORS.items():
        script = EXAMPLES / name / generator.script / WIDGET.name
        script.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(WIDGET, script)
    run("make", "-s", "-j2", "-C", ROOT, "sites")


@pytest.fixture(scope="module", params=GENERATORS)
def built(_sites: None, request: pytest.FixtureRequest) -> Built:
    """A site's generator, and the folder with its built pages."""
    generator = GENERATORS[request.param]
    return generator, EXAMPLES / request.param / generator.built


@pytest.fixture
def page(built: Built, driven: Browser) -> Iterator[Page]:
    """The first page, with an API that answers. An error of the page or a warning of the widget fails the test."""
    generator, folder = built
    said: list[str] = []
    context = driven.new_context(color_scheme="light", locale="en-GB")
    page = context.new_page()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)

    def answer(route: Route) -> None:
        passage = {
            "chunk_text": "Hold the button for ten seconds until the ring blinks red.",
            "url": SITE + generator.section,
            "chunk_id": "1_0",
            "relevance_score": 0.8,
        }
        route.fulfill(
            body=json.dumps({"query": "", "k": 5, "results": [passage], "total_results": 1}),
            headers={"Access-Control-Allow-Origin": "*", "Content-Type": "application/json"},
        )

    def serve(route: Route) -> None:
        file = folder / unquote(urlsplit(route.request.url).path).strip("/")
        file = file / "index.html" if file.is_dir() else file
        route.fulfill(path=file) if file.is_file() else route.fulfill(status=404)

    page.route(f"{API}/**", answer)
    context.route(f"{SITE}/**", serve)
    _load(page, built)
    yield page
    context.close()
    assert [each for each in said if "404" not in each] == []


def _load(page: Page, built: Built) -> None:
    page.goto(f"{SITE}/")
    page.wait_for_function(built[0].is_ready)


def _open(page: Page, built: Built) -> Locator:
    page.keyboard.press(built[0].shortcut)
    dialog = page.locator("passage-chat dialog")
    expect(dialog).to_be_visible()
    return dialog


def _ask(page: Page, built: Built) -> Locator:
    _open(page, built)
    page.keyboard.type("delete schedules")
    page.keyboard.press("Enter")
    hit = page.locator("passage-chat a.hit")
    expect(hit).to_have_count(1)
    return hit


def _darken(page: Page, built: Built) -> None:
    switch = built[0].switch
    if not switch:
        page.emulate_media(color_scheme="dark")
    elif "select" in switch:
        page.locator(switch).first.select_option("dark")
    else:
        page.locator(f"{switch}:visible").first.click()


def _wait_for_page(page: Page, title: str) -> None:
    page.wait_for_function("title => document.querySelector('h1')?.textContent.includes(title)", arg=title)


def _go_to_schedules(page: Page) -> None:
    page.locator("main a, article a", has_text="Schedules").first.click()
    _wait_for_page(page, "Schedules")


def test_script_runs_once_and_the_page_takes_over(page: Page, built: Built) -> None:
    """Trap 21: no hydration error and no second run, which both speak in the console. The widget is in the body."""
    expect(page.locator("passage-chat")).to_have_count(1)
    assert page.locator("passage-chat").evaluate("element => element.parentElement.localName") == "body"
    assert page.locator("script[src*=passage-chat]").count() == 1


def test_shortcut_opens_one_dialog_that_answers(page: Page, built: Built) -> None:
    _ask(page, built)
    assert page.locator("dialog[open], [role=dialog]:visible, .VPLocalSearchBox").count() == 1


@only("vitepress")
def test_shortcut_of_the_sites_search_opens_one_dialog(page: Page, built: Built) -> None:
    """Trap 3: if both want Ctrl K, the site's own search has it, whoever listened first."""

    def without_shortcut(route: Route) -> None:
        home = (built[1] / "index.html").read_text("utf-8")
        route.fulfill(body=home.replace(' data-shortcut="mod+j"', ""), content_type="text/html")

    page.route(f"{SITE}/", without_shortcut)
    _load(page, built)
    expect(page.locator("passage-chat .launcher kbd")).to_have_text("Ctrl K")
    page.keyboard.press("Control+k")
    expect(page.locator(".VPLocalSearchBox")).to_be_visible()
    expect(page.locator("passage-chat dialog")).to_be_hidden()


def test_typing_in_the_widget_moves_no_page(page: Page, built: Built) -> None:
    """Trap 2. The page acts on its key as soon as the widget is closed."""
    key, has_acted = built[0].key
    look = "JSON.stringify([location.href, document.title, scrollX, scrollY])"
    before = page.evaluate(look)
    _open(page, built)
    page.keyboard.type("s/n.,")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(100)
    expect(page.locator("passage-chat input")).to_have_value("s/n.,")
    assert page.evaluate(look) == before
    assert not page.evaluate(has_acted)
    if key:
        page.keyboard.press("Escape")
        page.keyboard.press(key)
        page.wait_for_function(has_acted)


def test_result_is_a_link_that_the_router_opens(page: Page, built: Built) -> None:
    """Traps 22 and 23: Ctrl click opens a tab; a plain click changes the page without a load and marks the passage."""
    generator, _ = built
    hit = _ask(page, built)
    page.evaluate("window.isSame = true")
    anchor = generator.section.partition("#")[2]
    assert (hit.get_attribute("href") or "").startswith(f"{SITE}{generator.section}:~:text=Hold")
    with page.context.expect_page() as opened:
        hit.click(modifiers=["ControlOrMeta"])
    opened.value.wait_for_url(re.compile(f"#{anchor}"))
    opened.value.close()
    hit.click()
    page.wait_for_function("anchor => location.hash === '#' + anchor", arg=anchor)
    expect(page.locator(f"#{anchor}")).to_be_in_viewport()
    if generator.has_router:
        page.wait_for_function("CSS.highlights.has('passage-match')")
        assert page.evaluate("window.isSame")


def test_theme_switch_is_followed_within_a_frame(page: Page, built: Built) -> None:
    """Trap 14."""
    page.evaluate(
        """() => {
            window.shown = [];
            const { dataset } = document.querySelector('passage-chat').shadowRoot.querySelector('.root');
            const watch = new MutationObserver(() => requestAnimationFrame(() => shown.push(dataset.theme)));
            for (const root of [document.documentElement, document.body]) watch.observe(root, { attributes: true });
        }"""
    )
    _darken(page, built)
    expect(page.locator("passage-chat [data-theme=dark]")).to_have_count(1)
    if built[0].switch:
        page.wait_for_function("shown.length")
        assert page.evaluate("shown.at(-1)") == "dark"


def _with_and_without_the_widget(page: Page, built: Built, look: str) -> list[Any]:
    """What `look` gives after the widget was used and the theme switched, and again without the widget."""
    looks = []
    for has_widget in (True, False):
        if has_widget:
            _ask(page, built)
            page.keyboard.press("Escape")
        else:
            page.evaluate("localStorage.clear()")
            page.emulate_media(color_scheme="light")
            page.route(re.compile("/passage-chat.js"), lambda route: route.fulfill(content_type="text/javascript"))
            _load(page, built)
            assert page.locator("passage-chat").count() == 0
        _darken(page, built)
        page.wait_for_timeout(100)
        looks.append(page.evaluate(look))
    return looks


def test_widget_writes_no_attribute_of_the_page(page: Page, built: Built) -> None:
    """Trap 14."""
    look = """[document.documentElement, document.body].map(({attributes}) =>
        [...attributes].map(({name, value}) => `${name}=${value}`).sort())"""
    looks = _with_and_without_the_widget(page, built, look)
    assert looks[0] == looks[1]


@only("mkdocs")
def test_instant_navigation_replaces_no_node_of_ours(page: Page, built: Built) -> None:
    """Trap 20: Material empties the head of what the next page lacks, and replaces the container."""
    assert page.locator("[data-md-component=container]").count() == 1
    assert page.locator("head passage-chat, [data-md-component] passage-chat").count() == 0
    looks = _with_and_without_the_widget(page, built, "[...document.head.children].map(each => each.outerHTML)")
    assert looks[0] == looks[1]


# The page's listeners that the widget has added. Those in its own shadow root go with it.
COUNT_LISTENERS = """
window.listeners = 0;
const { addEventListener, removeEventListener } = EventTarget.prototype;
const isCounted = (target) => !(target instanceof AbortSignal) && !(target instanceof Element) &&
    new Error().stack.includes('passage-chat');
EventTarget.prototype.addEventListener = function (name, listener, options) {
    addEventListener.call(this ?? window, name, listener, options);
    if (!isCounted(this) || options?.once) return;
    listeners += 1;
    options?.signal?.addEventListener('abort', () => { listeners -= 1; });
};
EventTarget.prototype.removeEventListener = function (...all) {
    removeEventListener.apply(this ?? window, all);
    if (isCounted(this)) listeners -= 1;
};
"""


@routed
def test_twenty_navigations_keep_one_widget(page: Page, built: Built) -> None:
    """Trap 19: also after it was removed and put back. An open dialog closes when the route changes."""
    page.add_init_script(COUNT_LISTENERS)
    _load(page, built)
    before = page.evaluate("listeners")
    assert before > 0
    page.evaluate("window.isSame = true")
    for _ in range(10):
        _go_to_schedules(page)
        page.evaluate("history.back()")
        _wait_for_page(page, "Kettle")
    page.evaluate("() => { const at = document.querySelector('passage-chat'); at.remove(); document.body.append(at); }")
    expect(page.locator("passage-chat")).to_have_count(1)
    assert page.evaluate("[listeners, window.isSame]") == [before, True]
    dialog = _open(page, built)
    page.evaluate("history.forward()")
    expect(dialog).to_be_hidden()
    _ask(page, built)


@only("starlight")
def test_widget_is_on_the_next_page(page: Page, built: Built) -> None:
    """Trap 19, where each page is loaded."""
    _go_to_schedules(page)
    expect(page.locator("passage-chat")).to_have_count(1)
    _ask(page, built)
