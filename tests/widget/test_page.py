"""The widget in a site's page: its styles, themes, scrolling, policies, routers, and scripts loaded twice."""

from typing import Any

import pytest

from conftest import ROOT
from widget.conftest import Visit
from widget.driver import Widget, html
from widget.servers import WEB, Server, Site, answer, passage

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
TALL = "<main><h1>Guide</h1><div id=tall style='height: 3000px'>Tall.</div></main>"
MANY = [passage(f"Passage {number} of a twin. " * 8) for number in range(12)]


def _box(widget: Widget, selector: str) -> dict[str, Any]:
    box: dict[str, Any] = widget.page.locator(f"passage-chat {selector}").first.evaluate(
        "each => each.getBoundingClientRect().toJSON()"
    )
    return box


# Phones


@pytest.mark.parametrize("root_size", ["62.5%", "150%"])
def test_tap_focuses_an_input_that_ios_does_not_zoom(root_size: str, fake: Server, visit: Visit) -> None:
    head = f"<style>html {{ font-size: {root_size} }}</style>"
    # The focus must be there when the tap's own task ends.
    before = """addEventListener('click', () => { window.inTask = document.activeElement.localName; });"""
    widget = visit({"endpoint": fake.url}, head=head, before=before, context=PHONE)
    widget.launcher.tap()
    assert widget.page.evaluate("inTask") == "passage-chat"
    assert widget.focus == "input"
    assert float(widget.input.evaluate("input => parseFloat(getComputedStyle(input).fontSize)")) >= 16
    assert "rem" not in (WEB / "src" / "style.css").read_text("utf-8").replace("remove", "")


def test_everything_is_reachable_above_a_phones_keyboard(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*MANY)
    # A keyboard shrinks the visual viewport alone, which no browser offers to tests.
    before = """const viewport = new EventTarget();
        Object.assign(viewport, {scale: 1, height: innerHeight, offsetTop: 0});
        Object.defineProperty(window, 'visualViewport', {value: viewport});"""
    widget = visit({"endpoint": fake.url}, body=TALL, before=before, context=PHONE).open().ask("what is a twin")
    widget.hits.first.wait_for()
    widget.page.evaluate(
        "Object.assign(visualViewport, {height: 400, offsetTop: 30}).dispatchEvent(new Event('resize'))"
    )
    assert (_box(widget, "dialog")["top"], _box(widget, "dialog")["bottom"]) == (30, 430)
    widget.hits.last.scroll_into_view_if_needed()
    assert _box(widget, ".hit >> nth=-1")["bottom"] <= 430
    assert 30 <= _box(widget, ".head .icon >> nth=-1")["top"] <= 400
    widget.page.evaluate(
        "Object.assign(visualViewport, {height: innerHeight, offsetTop: 0}).dispatchEvent(new Event('resize'))"
    )
    assert _box(widget, "dialog")["bottom"] == 844


@pytest.mark.parametrize("width", range(320, 420, 20))
def test_thumbs_stay_side_by_side_at_the_end_of_their_line(width: int, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("How to get one.\n\n```sh\napt-get install twin\n```"))
    widget = visit({"endpoint": fake.url}, context=PHONE | {"viewport": {"width": width, "height": 844}})
    widget.open().ask("install a twin").hits.first.wait_for()
    up, down, row = (_box(widget, each) for each in (".thumb", ".thumb + .thumb", ".buttons"))
    assert (up["top"], down["right"]) == (down["top"], row["right"])


@pytest.mark.parametrize("place", [".head", ".body", ".foot"])
@pytest.mark.parametrize("count", [1, 12])
def test_page_below_does_not_scroll(place: str, count: int, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*MANY[:count])
    widget = visit({"endpoint": fake.url}, body=TALL)
    widget.page.evaluate("scrollTo(0, 500)")
    widget.open().ask("what is a twin").hits.first.wait_for()
    widget.page.locator(f"passage-chat {place}").hover()
    for _ in range(3):
        widget.page.mouse.wheel(0, 4000)
    widget.page.mouse.move(5, 5)
    widget.page.mouse.wheel(0, 400)
    widget.page.keyboard.press("PageDown")
    widget.page.wait_for_timeout(100)
    assert widget.page.evaluate("scrollY") == 500


def test_chosen_passage_is_in_view_with_its_buttons(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*MANY)
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    for _ in range(5):
        widget.page.keyboard.press("ArrowDown")
    chosen, buttons = (_box(widget, f"[aria-selected=true]{place}") for place in ("", " + .more"))
    assert chosen["bottom"] == buttons["top"]
    assert buttons["bottom"] <= _box(widget, ".body")["bottom"]


def test_opening_shifts_nothing_and_closing_keeps_the_place(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, body=TALL)
    widget.page.evaluate("scrollTo(0, 700)")
    look = "JSON.stringify([tall.getBoundingClientRect(), scrollY, document.documentElement.outerHTML.length])"
    before = widget.page.evaluate(look)
    widget.open()
    assert widget.page.evaluate(look) == before
    widget.page.keyboard.press("Escape")
    assert widget.page.evaluate(look) == before


# Styles of the site


def test_dialog_is_above_the_highest_header(fake: Server, visit: Visit) -> None:
    head = "<style>header { position: fixed; inset: 0; z-index: 2147483647; background: red }</style>"
    widget = visit({"endpoint": fake.url}, head=head, body="<header>Site</header><main><h1>Guide</h1></main>")
    widget.page.keyboard.press("Control+k")
    box = _box(widget, ".input")
    at = widget.page.evaluate("([x, y]) => document.elementFromPoint(x, y).localName", [box["x"] + 50, box["y"] + 10])
    assert at == "passage-chat"


HOSTILE_CSS = """<style>
    * { color: red !important; font: 30px/3 cursive !important; letter-spacing: 9px !important;
        margin: 20px !important; border: 5px solid lime !important; display: block !important;
        text-transform: uppercase !important;
        opacity: .3 !important; visibility: hidden !important; box-sizing: content-box !important }
    body { text-align: right; word-spacing: 20px; text-indent: 40px; font-style: italic;
        white-space: pre; cursor: wait }
</style>"""
LOOK = """() => {
    const root = document.querySelector('passage-chat').shadowRoot;
    return [...root.querySelectorAll('*')].map(each => {
        const style = getComputedStyle(each);
        const names = ['color', 'font', 'letterSpacing', 'wordSpacing', 'textIndent', 'margin', 'border', 'display',
            'opacity', 'visibility', 'textAlign', 'textTransform', 'whiteSpace', 'cursor', 'width', 'height'];
        return [each.getAttribute('class') ?? each.localName, ...names.map(name => style[name])].join(' | ');
    });
}"""


def test_site_styles_leave_the_widget_unchanged(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A twin follows its asset."))
    looks = []
    for head in ("", HOSTILE_CSS):
        widget = visit({"endpoint": fake.url}, head=head)
        widget.page.evaluate("document.querySelector('passage-chat').open()")
        widget.ask("what is a twin").hits.first.wait_for()
        looks.append(widget.page.evaluate(LOOK))
    assert looks[0] == looks[1]


def test_variables_and_parts_change_the_look(fake: Server, visit: Visit) -> None:
    head = """<style>passage-chat { --passage-accent: rgb(1, 2, 3) }
        passage-chat::part(launcher) { border-radius: 1px }</style>"""
    widget = visit({"endpoint": fake.url}, head=head)
    look = "each => [getComputedStyle(each).backgroundColor, getComputedStyle(each).borderRadius]"
    assert widget.launcher.evaluate(look) == ["rgb(1, 2, 3)", "1px"]


def test_right_to_left_page_mirrors_the_widget(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, root="lang=he dir=rtl").open()
    assert _box(widget, ".launcher")["x"] < 600
    assert _box(widget, ".head .icon >> nth=-1")["x"] < _box(widget, ".input")["x"]


def test_path_reads_from_the_right_whatever_its_language(fake: Server, visit: Visit) -> None:
    """The sign between two titles is the page's: inside a title in English, it would be at its wrong end."""
    fake.answer = lambda _: answer(passage("A twin.") | {"title": "Outer", "headings": ["Inner", "Last"]})
    widget = visit({"endpoint": fake.url}, root="lang=he dir=rtl").open().ask("what is a twin")
    widget.hits.first.wait_for()
    outer, inner = (each.bounding_box() or {} for each in widget.hits.first.locator(".path bdi").all())
    assert inner["x"] + inner["width"] + 5 < outer["x"]


def test_reduced_motion_has_no_animation(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(delay=2)
    widget = visit({"endpoint": fake.url}, context={"reduced_motion": "reduce"}).open().ask("what is a twin")
    assert widget.page.evaluate("document.querySelector('passage-chat').shadowRoot.getAnimations()") == []


def test_forced_colors_show_focus_and_choice(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*MANY[:2])
    widget = visit({"endpoint": fake.url}, context={"forced_colors": "active"}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    widget.page.keyboard.press("ArrowDown")
    chosen, other = (hit.evaluate("each => getComputedStyle(each).borderLeftColor") for hit in widget.hits.all())
    assert chosen != other
    assert widget.page.locator("passage-chat .head").evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    assert widget.violations() == []


# Themes

THEMES = {
    "Docusaurus, Starlight, PyData": ("html", "data-theme", "dark", "light"),
    "Furo": ("body", "data-theme", "dark", "light"),
    "Material, Zensical": ("body", "data-md-color-scheme", "slate", "default"),
    "VitePress": ("html", "class", "dark", ""),
    "mdBook": ("html", "class", "navy sidebar-visible", "light sidebar-visible"),
    "Bootstrap": ("html", "data-bs-theme", "dark", "light"),
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("generator", THEMES)
def test_theme_switch_is_followed_within_a_frame(generator: str, scheme: str, fake: Server, visit: Visit) -> None:
    place, name, dark, light = THEMES[generator]
    head = "<meta name=generator content='VitePress v1.6.4'>" if generator == "VitePress" else ""
    widget = visit({"endpoint": fake.url}, head=head, context={"color_scheme": scheme})
    switch = """([place, name, value]) => new Promise(done => {
        document.querySelector(place).setAttribute(name, value);
        const outer = document.documentElement.outerHTML;
        requestAnimationFrame(() => done([
            document.querySelector('passage-chat').shadowRoot.querySelector('.root').dataset.theme,
            outer === document.documentElement.outerHTML,
        ]));
    })"""
    for value, theme in ((dark, "dark"), (light, "light"), (dark, "dark")):
        assert widget.page.evaluate(switch, [place, name, value]) == [theme, True]


@pytest.mark.parametrize(("root", "head"), [("", ""), ("data-theme=auto", ""), ("class=dark-sidebar", "")])
def test_page_without_a_theme_follows_the_system(root: str, head: str, fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, root=root, head=head, context={"color_scheme": "dark"})
    theme = "document.querySelector('passage-chat').shadowRoot.querySelector('.root').dataset.theme"
    assert widget.page.evaluate(theme) == "dark"
    widget.page.emulate_media(color_scheme="light")
    widget.page.wait_for_function(f"{theme} === 'light'")


def test_theme_attribute_overrules_the_page(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url, "theme": "light"}, root="data-theme=dark")
    theme = "document.querySelector('passage-chat').shadowRoot.querySelector('.root').dataset.theme"
    assert widget.page.evaluate(theme) == "light"


# Policies

TRUSTED_TYPES = "require-trusted-types-for 'script'"


def test_strict_policy_reports_nothing_in_a_full_session(api: str, visit: Visit) -> None:
    policy = f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src {api}; {TRUSTED_TYPES}"
    before = """window.refused = [];
        addEventListener('securitypolicyviolation', ({effectiveDirective, sourceFile}) =>
            sourceFile.includes('passage-chat') && refused.push(effectiveDirective));"""
    widget = visit(
        {"endpoint": api, "profile": "ranked", "questions": "Which stop category cuts the power at once?"},
        headers={"Content-Security-Policy": policy},
        before=before,
        context={"permissions": ["clipboard-write"]},
    )
    widget.page.keyboard.press("Control+k")
    widget.options.first.click()
    widget.hits.first.wait_for()
    widget.tool("Whole passage").click()
    widget.tool("Copy").click()
    with widget.page.expect_response("**/feedback"):
        widget.tool("Helpful").click()
    widget.page.keyboard.press("ArrowDown")
    widget.page.evaluate(
        """() => { document.querySelector('main').append(' A twin follows its asset.');
            addEventListener('passage-navigate', event => event.preventDefault()); }"""
    )
    widget.hits.first.click()
    assert widget.page.evaluate("refused") == []


# Scripts


def test_script_loaded_twice_warns_once_and_changes_nothing(fake: Server, site: Site, visit: Visit) -> None:
    other = (WEB / "passage-chat.js").read_text("utf-8").replace('"0.1.0"', '"9.9.9"')
    site.put("/other/passage-chat.js", other)
    said: list[str] = []
    widget = visit({"endpoint": fake.url})
    widget.page.on("console", lambda message: said.append(message.text))
    for src in ("/other/passage-chat.js", "/web/passage-chat.js"):
        widget.page.evaluate(
            """([src, endpoint]) => new Promise(done => {
                const script = document.createElement('script');
                Object.assign(script, {src, onload: done});
                script.dataset.endpoint = endpoint;
                document.body.append(script);
            })""",
            [src, fake.url],
        )
    assert said == ["passage-chat: version 9.9.9 was loaded, but version 0.1.0 is already running and stays."]
    assert widget.host.count() == 1
    widget.page.keyboard.press("Control+k")
    assert widget.is_open


def test_two_widgets_keep_their_state_apart(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A twin."))
    body = f"<main><h1>Guide</h1></main><passage-chat endpoint={fake.url} profile=a></passage-chat>"
    body += f"<passage-chat endpoint={fake.url} profile=b position=start></passage-chat>"
    body += "<script src=/web/passage-chat.js></script>"
    widget = visit(None, body=body)
    page = widget.page
    opened = "[...document.querySelectorAll('passage-chat')].map(each => each.isOpen)"
    page.keyboard.press("Control+k")
    assert page.evaluate(opened) == [True, False]
    page.keyboard.type("what is a twin")
    page.keyboard.press("Enter")
    page.locator(".hit").wait_for()
    page.keyboard.press("Escape")
    page.locator(".launcher").last.click()
    assert page.evaluate(opened) == [False, True]
    texts = "[...document.querySelectorAll('passage-chat')].map(each => each.shadowRoot.querySelector('input').value)"
    assert page.evaluate(texts) == ["what is a twin", ""]
    ids = page.evaluate(
        """[...document.querySelectorAll('passage-chat')]
            .flatMap(each => [...each.shadowRoot.querySelectorAll('[id]')].map(({id}) => id))"""
    )
    assert len(ids) == len(set(ids)) > 2


@pytest.mark.parametrize(
    "script",
    [
        "<script type=module src='/web/passage-chat.js' data-endpoint={url}></script>",
        "<script src='/web/passage-chat.js?endpoint={url}&profile=ranked'></script>",
        "<script src='/web/passage-chat.js?endpoint={one_slash}'></script>",
        "<script async src='/web/passage-chat.js' data-endpoint={url}></script>",
        "<script>setTimeout(() => document.body.append(Object.assign(document.createElement('script'),"
        " {{src: '/web/passage-chat.js?endpoint={url}'}})))</script>",
        "<passage-chat endpoint={url}></passage-chat><script type=module>import '/web/passage-chat.js'</script>",
    ],
    ids=["module", "query", "query without a slash, as MkDocs leaves it", "async", "inserted", "element"],
)
def test_address_is_found_however_the_script_is_loaded(script: str, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A twin."))
    script = script.format(url=fake.url, one_slash=fake.url.replace("//", "/"))
    visit(None, body=f"<main><h1>Guide</h1></main>{script}").open().ask("what is a twin").hits.first.wait_for()


@pytest.mark.parametrize("body", ["", "<passage-chat></passage-chat>"], ids=["script alone", "element"])
def test_missing_address_is_one_console_error(body: str, site: Site, visit: Visit) -> None:
    said: list[str] = []
    widget = visit(None)
    widget.page.on("console", lambda message: said.append(message.text))
    site.put("/empty/", html({}, body=f"<main><h1>Guide</h1>{body}</main>"))
    widget.page.goto(f"{site.url}/empty/")
    widget.page.keyboard.press("Control+k")
    assert len(said) == 1
    assert said[0].startswith("passage-chat: the API address is missing.")
    assert widget.page.locator("h1").inner_text() == "Guide"
    assert widget.launcher.count() == 0


def test_changed_attribute_is_taken_up(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A twin."))
    widget = visit({"endpoint": fake.url}).open()
    widget.input.fill("what")
    widget.page.keyboard.press("Escape")
    widget.page.evaluate("document.querySelector('passage-chat').setAttribute('profile', 'context')")
    widget.open()
    assert widget.input.input_value() == "what"
    widget.input.press("Enter")
    widget.hits.first.wait_for()
    assert fake.requests[-1].path == "/profiles/context/query"


def test_sites_own_button_opens_it(fake: Server, visit: Visit) -> None:
    body = "<main><h1>Guide</h1><button class=search><b>Search</b></button></main>"
    widget = visit({"endpoint": fake.url, "open-with": ".search", "button": "none"}, body=body)
    assert widget.launcher.count() == 0
    widget.page.locator(".search b").click()
    assert widget.is_open


def test_own_words_replace_english(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url, "strings": '{"ask": "Frag uns"}', "language": "de-AT"})
    assert widget.launcher.locator("span").inner_text() == "Frag uns"


# Routers

COUNT_LISTENERS = """
window.listeners = 0;
for (const target of [window, document]) {
    const add = target.addEventListener.bind(target), remove = target.removeEventListener.bind(target);
    target.addEventListener = (name, listener, options) => {
        if (options?.once) return add(name, listener, options);
        listeners += 1;
        options?.signal?.addEventListener('abort', () => listeners -= 1, {once: true});
        add(name, listener, options);
    };
    target.removeEventListener = (...all) => { listeners -= 1; remove(...all); };
}
"""


def test_client_navigations_keep_the_widget_and_its_listeners(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, before=COUNT_LISTENERS)
    before = widget.page.evaluate("listeners")
    widget.page.evaluate(
        """async () => {
            for (let page = 0; page < 20; page += 1) {
                history.pushState(null, '', `/page-${page}/`);
                const body = document.createElement('body');
                body.textContent = `Page ${page}`;
                if (page % 2) document.body.replaceWith(body);
                else document.querySelector('main')?.replaceChildren(`Page ${page}`);
                await new Promise(done => setTimeout(done, 10));
            }
        }"""
    )
    assert widget.host.count() == 1
    widget.page.evaluate(
        "() => { const at = document.querySelector('passage-chat'); at.remove(); document.body.append(at); }"
    )
    assert widget.page.evaluate("listeners") == before
    widget.page.keyboard.press("Control+k")
    assert widget.is_open


# htmx puts the next page's nodes into the body before it removes the old ones; the tag runs again with them.
REPLACED = {
    "innerHTML": "document.body.innerHTML = next",
    "replaceChildren": "document.body.replaceChildren('Next')",
    "one by one": "[...document.body.childNodes].forEach(each => each.remove()); document.body.append('Next')",
    "removeChild": "document.body.removeChild(document.querySelector('passage-chat'))",
    "the whole page": "document.documentElement.innerHTML = `<head></head><body>${next}</body>`",
    "document.write": "{ document.open(); document.write('<p>Next'); setTimeout(() => document.close(), 99) }",
    "htmx": """{
        const old = [...document.body.childNodes];
        const script = Object.assign(document.createElement('script'), {src: document.querySelector('script').src});
        script.dataset.endpoint = endpoint; script.dataset.questions = 'Of the next page?';
        document.body.prepend('Next', script);
        old.forEach(each => document.body.removeChild(each));
        await new Promise(resolve => { script.onload = resolve });
    }""",
}


@pytest.mark.parametrize("way", REPLACED)
def test_widget_is_there_after_the_content_is_replaced(way: str, fake: Server, visit: Visit) -> None:
    said: list[str] = []
    widget = visit({"endpoint": fake.url})
    widget.page.on("console", lambda message: said.append(message.text))
    for _ in range(2):
        swap = f"async endpoint => {{ const next = '<main><h1>Next</h1></main>'; {REPLACED[way]} }}"
        widget.page.evaluate(swap, fake.url)
        widget.host.wait_for(state="attached")
    widget.launcher.wait_for()
    widget.page.keyboard.press("Control+k")
    assert widget.is_open
    if way == "htmx":
        widget.page.get_by_text("Of the next page?").wait_for()
    assert widget.host.count() == 1
    assert said == []


def test_removed_widget_stays_away(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, before=COUNT_LISTENERS)
    widget.page.evaluate("document.querySelector('passage-chat').remove()")
    widget.page.keyboard.press("Control+k")
    assert widget.host.count() == 0
    assert widget.page.evaluate("listeners") == 0


@pytest.mark.parametrize("way", ["history.pushState(null, '', '/next/')", "history.back()"])
def test_route_change_closes_the_dialog(way: str, fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url})
    widget.page.evaluate("history.pushState(null, '', '/here/')")
    widget.open()
    widget.page.evaluate(way)
    widget.dialog.wait_for(state="hidden")
    assert not widget.is_open


def test_changed_hash_leaves_the_dialog_open(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}).open()
    widget.page.evaluate("history.replaceState(null, '', '#section')")
    assert widget.is_open


def test_instant_navigation_of_material_keeps_the_widget(fake: Server, visit: Visit) -> None:
    body = "<div data-md-component=container><main><h1>Guide</h1></main></div>"
    widget = visit({"endpoint": fake.url}, body=body, head="<meta name=a content=b>", before=COUNT_LISTENERS)
    nodes = widget.page.evaluate(
        "[document.head.childElementCount, document.querySelectorAll('main passage-chat').length]"
    )
    widget.open()
    widget.page.keyboard.press("Escape")
    # As Material does: children of the head that the next page lacks go, the container is replaced.
    widget.page.evaluate(
        """() => {
            history.pushState(null, '', '/next/');
            const next = document.createElement('div');
            next.dataset.mdComponent = 'container';
            next.textContent = 'Next';
            document.querySelector('[data-md-component=container]').replaceWith(next);
        }"""
    )
    assert widget.page.evaluate("document.head.childElementCount") == nodes[0]
    assert nodes[1] == 0
    widget.open()
    assert widget.input.evaluate("input => getComputedStyle(input).fontSize") == "17px"


def test_hydrated_page_keeps_its_own_tree(fake: Server, visit: Visit) -> None:
    # As React does: compare what the server sent with the tree in the container, after scripts ran.
    body = "<div id=__docusaurus><main><h1>Guide</h1></main></div>"
    before = """addEventListener('DOMContentLoaded', () =>
        window.tree = document.getElementById('__docusaurus').outerHTML.replaceAll('"', ''));"""
    widget = visit({"endpoint": fake.url}, body=body, before=before)
    assert widget.page.evaluate("tree") == body
    assert widget.host.evaluate("host => host.parentElement.localName") == "body"
    assert widget.host.count() == 1


def test_readme_and_docs_name_every_option() -> None:
    documented = (ROOT / "docs" / "widget.md").read_text("utf-8")
    source = (WEB / "src" / "options.js").read_text("utf-8")
    names = source.split("NAMES = [")[1].split("]")[0].replace("'", "").replace(",", " ").split()
    assert [name for name in names if f"`data-{name}`" not in documented] == []
