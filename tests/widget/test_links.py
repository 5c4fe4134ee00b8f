"""Where a passage leads: real links, text fragments on full loads, the site's router, and the mark in the page."""

from urllib.parse import unquote

import pytest

from widget.conftest import Visit
from widget.driver import Widget, html
from widget.servers import Server, Site, answer, passage

SENTENCE = "A twin, once built & well-fed, follows its asset."
HERE = SENTENCE.replace("&", "&amp;").replace("follows", "<em>follows</em>")
PAGE = f"""<main><h1>Next</h1><p>Before.</p><h2 id=part>Part</h2><p>Other words.</p>
    <div style='height: 3000px'></div><p id=here>{HERE}</p></main>"""

# A router of three kinds: it takes clicks on anchors of the page, in the capture phase or not.
ROUTER = """
const go = (event) => {
    const link = event.target.closest?.('a');
    if (event.defaultPrevented || !link || event.button || event.ctrlKey || event.metaKey) return;
    if (new URL(link.href).origin !== location.origin) return;
    event.preventDefault();
    history.pushState(null, '', link.href);
    window.routed = link.href;
    const { content } = document.getElementById('next');
    setTimeout(() => document.querySelector('main').replaceWith(content.cloneNode(true)), 60);
};
"""
ROUTERS = {
    "VitePress": "window.addEventListener('click', go, true)",
    "Material": "document.body.addEventListener('click', go)",
}

MARKED = "() => [...(CSS.highlights.get('passage-match') ?? [])].map(String).join()"


@pytest.fixture
def asked(fake: Server, site: Site, visit: Visit) -> Widget:
    """The widget with a passage of the page /next/."""
    return _ask(fake, site, visit)


def _ask(
    fake: Server, site: Site, visit: Visit, text: str = SENTENCE, path: str = "/next/#part", router: str = ""
) -> Widget:
    site.put("/next/", html(None, body=PAGE))
    fake.answer = lambda _: answer(passage(text, site.url + path))
    body = f"<main><h1>Guide</h1></main><template id=next>{PAGE}</template>"
    before = f"addEventListener('DOMContentLoaded', () => {{ {ROUTER} {router} }})" if router else ""
    widget = visit({"endpoint": fake.url}, body=body, before=before).open().ask("what follows a twin")
    widget.hits.first.wait_for()
    return widget


def _in_view(widget: Widget, selector: str) -> None:
    widget.page.wait_for_function(
        """selector => { const {top} = document.querySelector(selector).getBoundingClientRect();
            return top > -1 && top < innerHeight; }""",
        arg=selector,
    )


@pytest.mark.parametrize("modifier", ["ControlOrMeta", "middle"])
def test_modified_click_opens_a_tab(modifier: str, asked: Widget) -> None:
    with asked.page.context.expect_page() as opened:
        if modifier == "middle":
            asked.hits.first.click(button="middle")
        else:
            asked.hits.first.click(modifiers=["ControlOrMeta"])
    opened.value.wait_for_function("location.href.endsWith('/next/#part')")
    assert asked.is_open


def test_control_enter_opens_a_tab(asked: Widget) -> None:
    asked.page.keyboard.press("ArrowDown")
    with asked.page.context.expect_page() as opened:
        asked.page.keyboard.press("Control+Enter")
    opened.value.wait_for_function("location.href.endsWith('/next/#part')")


def test_link_has_anchor_and_encoded_text_fragment(asked: Widget) -> None:
    href = asked.hits.first.get_attribute("href") or ""
    address, fragment = href.split(":~:text=")
    assert address.endswith("/next/#part")
    assert set("-,& ") & set(fragment) == set()
    assert unquote(fragment) == SENTENCE


def test_long_sentence_is_named_by_its_ends(fake: Server, site: Site, visit: Visit) -> None:
    widget = _ask(fake, site, visit, "One two three four five six seven follows nine ten eleven twelve thirteen twin.")
    href = widget.hits.first.get_attribute("href") or ""
    ends = href.split(":~:text=")[1].split(",")
    assert [unquote(end) for end in ends] == ["One two three four five six", "ten eleven twelve thirteen twin."]


def test_passage_without_anchor_has_a_text_fragment(fake: Server, site: Site, visit: Visit) -> None:
    widget = _ask(fake, site, visit, path="/next/")
    assert "/next/#:~:text=A%20twin" in (widget.hits.first.get_attribute("href") or "")


def test_plain_click_without_a_router_scrolls_to_the_sentence(asked: Widget) -> None:
    with asked.page.expect_navigation():
        asked.hits.first.click()
    assert asked.page.evaluate("location.href").endswith("/next/#part")
    _in_view(asked, "#here")


@pytest.mark.parametrize("router", ROUTERS)
def test_router_takes_the_click_and_the_sentence_is_marked(router: str, fake: Server, site: Site, visit: Visit) -> None:
    widget = _ask(fake, site, visit, router=ROUTERS[router])
    widget.hits.first.click()
    widget.page.wait_for_function("CSS.highlights.has('passage-match')")
    assert widget.page.evaluate("routed") == f"{site.url}/next/#part"
    assert widget.page.evaluate(MARKED) == SENTENCE
    assert widget.page.locator("#here").inner_html().count("<") == 2
    _in_view(widget, "#here")
    assert not widget.is_open
    assert widget.host.evaluate("host => host.childElementCount") == 0


OWN = """addEventListener('passage-navigate', event => {
    event.preventDefault();
    history.pushState(null, '', event.detail.url);
    document.querySelector('main').replaceWith(document.getElementById('next').content.cloneNode(true));
})"""


def test_event_lets_the_site_navigate(fake: Server, site: Site, visit: Visit) -> None:
    widget = _ask(fake, site, visit)
    widget.page.evaluate(OWN)
    widget.hits.first.click()
    widget.page.wait_for_function("CSS.highlights.has('passage-match')")
    assert widget.page.evaluate(MARKED) == SENTENCE


@pytest.mark.parametrize("path", ["/next/#100%", "/next/#%ff", "/next/#part", "/next/"])
@pytest.mark.parametrize("taken", [True, False])
def test_sentence_is_marked_whatever_the_anchor(path: str, taken: bool, fake: Server, site: Site, visit: Visit) -> None:
    widget = _ask(fake, site, visit, path=path, router=ROUTERS["Material"])
    if taken:
        widget.page.evaluate(OWN)
    widget.hits.first.click()
    widget.page.wait_for_function("CSS.highlights.has('passage-match')")
    assert widget.page.evaluate(MARKED) == SENTENCE
    assert widget.focus == "launcher"


def test_missing_sentence_leads_to_the_heading(fake: Server, site: Site, visit: Visit) -> None:
    widget = _ask(fake, site, visit, "Words that follow no twin on the page.", router=ROUTERS["Material"])
    widget.page.clock.install()
    widget.hits.first.click()
    widget.page.wait_for_function("document.getElementById('part')")
    widget.page.evaluate("scrollTo(0, 3000)")
    widget.page.clock.run_for(6_000)
    _in_view(widget, "#part")
    assert widget.page.evaluate(MARKED) == ""


ROW = "| Word | Means |\n|---|---|\n| a twin | what *follows* its asset |"


def _row(*, spaced: bool) -> str:
    gap = "\n" if spaced else ""
    cells = gap.join(["<td>a twin</td>", "<td>what <em>follows</em> its asset</td>"])
    return PAGE.replace(f"<p id=here>{HERE}</p>", f"<table><tr><th>Word<th>Means<tr id=here>{cells}</table>")


@pytest.mark.parametrize("spaced", [True, False])
def test_row_of_a_table_is_marked(spaced: bool, fake: Server, site: Site, visit: Visit) -> None:
    """Between cells, a page may have white space or none."""
    fake.answer = lambda _: answer(passage(ROW, f"{site.url}/guide/#part"))
    widget = visit({"endpoint": fake.url}, body=_row(spaced=spaced)).open().ask("what follows a twin")
    widget.hits.first.click()
    widget.page.wait_for_function("CSS.highlights.has('passage-match')")
    assert "".join(widget.page.evaluate(MARKED).split()) == "atwinwhatfollowsitsasset"
    _in_view(widget, "#here")


@pytest.mark.parametrize("spaced", [True, False])
def test_link_to_a_row_leads_to_it_on_a_full_load(spaced: bool, fake: Server, site: Site, visit: Visit) -> None:
    """A browser finds no text that crosses cells: the link names the row's ends."""
    widget = _ask(fake, site, visit, ROW)
    assert unquote(widget.hits.first.get_attribute("href") or "").endswith("text=a twin,what follows its asset")
    site.put("/next/", html(None, body=_row(spaced=spaced)))
    widget.hits.first.click()
    widget.page.wait_for_function("location.pathname === '/next/'")
    _in_view(widget, "#here")


REDRAW = "document.querySelector('main').outerHTML = document.querySelector('main').outerHTML"


def test_sentence_is_marked_again_when_the_page_is_drawn_again(fake: Server, site: Site, visit: Visit) -> None:
    """Material replaces the nodes of the current page after a click on one of its links."""
    fake.answer = lambda _: answer(passage(SENTENCE, f"{site.url}/guide/#part"))
    widget = visit({"endpoint": fake.url}, body=PAGE).open().ask("what follows a twin")
    widget.hits.first.click()
    for _ in range(2):
        widget.page.wait_for_function(f"({MARKED})()")
        widget.page.evaluate(f"scrollTo(0, 0); {REDRAW}")
    widget.page.wait_for_function(f"({MARKED})()")
    assert widget.page.evaluate(MARKED) == SENTENCE
    _in_view(widget, "#here")


# A closed part of the page, as generators build them. Each has a script that opens the second part.
SHOW = "onclick=\"const [a, b] = document.querySelectorAll('.panel'); b.hidden = !(a.hidden = true)\""
PANELS = "<div class=panel role=tabpanel>1</div><div class=panel role=tabpanel id=b aria-labelledby=tb hidden>{}</div>"
TABS = "<div role=tablist><button role=tab>A</button><button role=tab id=tb {}>B</button></div>"
RADIO = """<style>.block {{ display: none }} input:nth-of-type(1):checked ~ .blocks > :nth-child(1),
    input:nth-of-type(2):checked ~ .blocks > :nth-child(2) {{ display: block }}</style>
    <div><input type=radio name=r checked><input type=radio name=r><div class=blocks><div class=block>One</div>
    <div class=block><details><summary>Inner</summary>{}</details></div></div></div>"""
LABELS = """<style>.panel {{ display: none }} input:checked + label + .panel {{ display: block }}</style>
    <div><input type=radio name=r id=r1 checked><label for=r1>A</label><div class=panel>One</div>
    <input type=radio name=r id=r2><label for=r2>B</label><div class=panel>{}</div></div>"""
CLOSED = {
    "details": "<details><summary>More</summary>{}</details>",
    "details in details": "<details><summary>More</summary><details><summary>Most</summary>{}</details></details>",
    "tabs by name": TABS.format(SHOW) + PANELS,
    "tabs by number": TABS.format(SHOW).replace("id=tb", "") + f"<div>{PANELS.replace('aria-labelledby=tb', '')}</div>",
    "tabs whose script is late": f"""{TABS.format("")}{PANELS}<script>setTimeout(() => tb.onclick = () => {{{{
        const [a, b] = document.querySelectorAll('.panel'); b.hidden = !(a.hidden = true); }}}}, 700)</script>""",
    "Material, VitePress": RADIO,
    "sphinx-design": LABELS,
}


@pytest.mark.parametrize("is_load", [False, True], ids=["this page", "full load"])
@pytest.mark.parametrize("kind", CLOSED)
def test_closed_part_of_the_page_is_opened(kind: str, is_load: bool, fake: Server, site: Site, visit: Visit) -> None:
    path = "/next/" if is_load else "/guide/"
    fake.answer = lambda _: answer(passage(SENTENCE, f"{site.url}{path}#part"))
    body = PAGE.replace(f"<p id=here>{HERE}</p>", CLOSED[kind].format(f"<p id=here>{HERE}</p>"))
    site.put("/next/", html({"endpoint": fake.url}, body=body))
    widget = visit({"endpoint": fake.url}, body="" if is_load else body).open().ask("what follows a twin")
    widget.hits.first.click()
    widget.page.locator("#here").wait_for()
    _in_view(widget, "#here")
    widget.page.wait_for_function("CSS.highlights.has('passage-match')")
    assert widget.page.evaluate("[location.pathname, sessionStorage['passage-match'] ?? null]") == [path, None]


def test_passage_of_the_same_page_is_marked(fake: Server, site: Site, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage(SENTENCE, f"{site.url}/guide/#part"))
    widget = visit({"endpoint": fake.url}, body=PAGE).open().ask("what follows a twin")
    widget.hits.first.click()
    widget.page.wait_for_function("CSS.highlights.has('passage-match')")
    assert widget.page.evaluate(MARKED) == SENTENCE
    _in_view(widget, "#here")
    # The next passage takes the mark away.
    widget.page.evaluate("addEventListener('passage-navigate', event => event.preventDefault())")
    fake.answer = lambda _: answer(passage("Elsewhere.", "https://example.com/"))
    widget.open().ask("something else")
    widget.page.get_by_text("Elsewhere.").first.click()
    assert widget.page.evaluate(MARKED) == ""


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://example.com/docs/arm-setup/#first-steps", "example.com/docs/arm-setup/#first-steps"),
        ("https://example.com/", "example.com"),
        ("https://example.com/%D8%AF%D9%84%DB%8C%D9%84/", "example.com/دلیل"),
        ("https://example.com/%ff/", "example.com/%ff"),
    ],
)
def test_address_says_where_a_link_leads(url: str, address: str, fake: Server, visit: Visit) -> None:
    """It is the title, too, where the answer has none."""
    fake.answer = lambda _: answer(passage("A twin.", url))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    assert widget.hits.locator(".title").inner_text() == widget.hits.get_attribute("title") == address
