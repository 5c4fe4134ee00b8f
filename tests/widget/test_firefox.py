"""The main path in Firefox: open the dialog, ask, choose a passage, follow it, and find it marked."""

from collections.abc import Iterator

import pytest

from browser import firefox
from widget.driver import html
from widget.servers import Server, Site, answer, passage
from widget.test_links import PAGE, ROUTER, ROUTERS, SENTENCE

ROOT = "document.querySelector('passage-chat').shadowRoot"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[firefox.Tab]:
    browser = firefox.find()
    if browser is None:
        pytest.skip("needs Firefox: `apt-get install firefox-esr`, or PASSAGE_FIREFOX=/path/to/one")
    with firefox.browsing(browser, tmp_path_factory.mktemp("firefox")) as driven:
        yield driven


@pytest.mark.parametrize("way", ["this page", "a router", "a full load"])
def test_main_path(way: str, tab: firefox.Tab, fake: Server, site: Site) -> None:
    path = "/guide/" if way == "this page" else "/next/"
    fake.answer = lambda _: answer(passage("A model.", f"{site.url}/no/"), passage(SENTENCE, f"{site.url}{path}#part"))
    head = f"<script>addEventListener('DOMContentLoaded', () => {{ {ROUTER} {ROUTERS['Material']} }})</script>"
    body = PAGE if way == "this page" else f"<main><h1>Guide</h1></main><template id=next>{PAGE}</template>"
    site.put("/guide/", html({"endpoint": fake.url}, body=body, head=head if way == "a router" else ""))
    site.put("/next/", html(None, body=PAGE))
    tab.open(f"{site.url}/guide/")
    tab.click(f"{ROOT}.querySelector('.launcher')")
    tab.press(*"what follows a twin", "Enter")
    assert tab.until(f"{ROOT}.querySelector('.hit .text')?.textContent") == "A model."
    tab.press("ArrowDown", "ArrowDown")
    assert tab.until(f"{ROOT}.querySelector('[aria-selected=true] .text').textContent") == SENTENCE
    tab.press("Enter")
    tab.until(f"location.pathname === '{path}' && location.hash === '#part'")
    if way != "a full load":  # there, Firefox itself marks the text
        marked = "[...CSS.highlights.get('passage-match') ?? []].map(String).join()"
        assert tab.until(marked) == SENTENCE
        assert tab.until(f"[{ROOT}.querySelector('dialog').open]") == [False]
    here = "document.querySelector('#here')?.getBoundingClientRect().top"
    tab.until(f"{here} > 0 && {here} < innerHeight")
