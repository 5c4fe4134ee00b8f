"""The widget by keyboard: composition, keys that the page wants, the shortcut, focus and the list of options."""

import json

import pytest

from widget.conftest import Visit
from widget.driver import Widget
from widget.servers import Server, answer, passage

TWO = answer(passage("A twin follows its asset.", "https://example.com/a/#one"), passage("A model."))


@pytest.fixture
def asked(fake: Server, visit: Visit) -> Widget:
    """The widget with two passages. It asks at Enter only, so a slow machine's pauses between keys ask nothing."""
    fake.answer = lambda _: TWO
    widget = visit({"endpoint": fake.url, "ask-on": "enter"}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    return widget


# Composition


def test_composition_sends_no_question_until_it_ends(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: TWO
    widget = visit({"endpoint": fake.url}).open()
    browser = widget.page.context.new_cdp_session(widget.page)
    for text in ("で", "でじ", "でじた", "でじたる"):
        browser.send("Input.imeSetComposition", {"text": text, "selectionStart": len(text), "selectionEnd": len(text)})
    widget.page.wait_for_timeout(500)  # longer than a pause in typing
    assert widget.input.input_value() == "でじたる"
    assert fake.asked() == []
    browser.send("Input.insertText", {"text": "デジタル"})
    widget.hits.first.wait_for()
    assert set(fake.asked()) == {"デジタル"}  # first for titles


@pytest.mark.parametrize("sign", [{"isComposing": True}, {"keyCode": 229}], ids=["isComposing", "keyCode 229"])
def test_key_during_composition_does_nothing(sign: dict[str, object], asked: Widget, fake: Server) -> None:
    asked.input.fill("another question")
    # All within one task: a pause in typing would ask.
    asked.input.evaluate(
        """(input, init) => ['Enter', 'ArrowDown', 'Escape'].forEach(
            key => input.dispatchEvent(new KeyboardEvent('keydown', {key, ...init})))""",
        {"bubbles": True, "composed": True, "cancelable": True, **sign},
    )
    assert asked.is_open
    assert asked.input.get_attribute("aria-activedescendant") is None
    assert fake.asked() == ["what is a twin"]


# Keys that the page wants

# Material looks at the active element, also in an open shadow root; VitePress at the event's target; Sphinx at the
# document's active element. Each acts on a key outside an input.
THEMES = {
    "material": """window.addEventListener('keydown', event => {
        let at = document.activeElement;
        if (at?.shadowRoot) at = at.shadowRoot.activeElement;
        if (!/INPUT|TEXTAREA/.test(at?.nodeName) && /^[fsnp/.,]$/.test(event.key)) document.title = 'moved';
    }, true);""",
    "vitepress": """window.addEventListener('keydown', event => {
        if (!/INPUT|TEXTAREA/.test(event.target.nodeName) && event.key === '/') document.title = 'moved';
    });""",
    "sphinx": """document.addEventListener('keydown', event => {
        if (/INPUT|TEXTAREA/.test(document.activeElement.nodeName)) return;
        if (['/', 'ArrowLeft', 'ArrowRight'].includes(event.key)) document.title = 'moved';
    });""",
    "keyup and keypress": """for (const name of ['keyup', 'keypress'])
        document.addEventListener(name, () => document.title = 'moved');""",
}


@pytest.mark.parametrize("theme", THEMES)
def test_typing_leaves_the_page_alone(theme: str, fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, before=THEMES[theme])
    widget.launcher.focus()
    widget.page.evaluate("document.querySelector('passage-chat').open()")
    widget.page.keyboard.type("s/n.,")
    widget.page.keyboard.press("ArrowLeft")
    widget.page.keyboard.press("ArrowRight")
    assert widget.input.input_value() == "s/n.,"
    assert widget.page.title() == "Guide"


# The shortcut


def test_shortcut_opens_and_closes(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url})
    widget.page.keyboard.press("Control+k")
    assert widget.is_open
    assert widget.focus == "input"
    widget.page.keyboard.press("Control+k")
    assert not widget.is_open


def test_other_keys_open_nothing(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url})
    for keys in ("Control+Shift+K", "Control+Alt+k", "Meta+k", "k", "/"):
        widget.page.keyboard.press(keys)
        assert not widget.is_open


@pytest.mark.parametrize(
    ("shortcut", "keys", "is_open"),
    [
        ("mod+j", "Control+j", True),
        ("mod+j", "Control+k", False),
        ("mod+shift+p", "Control+Shift+P", True),
        ("/", "/", True),
        ("mod+k /", "/", True),
        (" /  mod+k ", "Control+k", True),
        ("none", "Control+k", False),
    ],
)
def test_shortcut_can_be_chosen(shortcut: str, keys: str, is_open: bool, fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url, "shortcut": shortcut})
    widget.page.keyboard.press(keys)
    assert widget.is_open is is_open


@pytest.mark.parametrize(("name", "code"), [("л", "KeyK"), ("K", "KeyK"), ("k", "KeyV")])
def test_shortcut_without_latin_letters_is_a_place(name: str, code: str, fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url})
    press = "init => dispatchEvent(new KeyboardEvent('keydown', {...init, ctrlKey: true, cancelable: true}))"
    widget.page.evaluate(press, {"key": "x", "code": "KeyK"})
    assert not widget.is_open
    widget.page.evaluate(press, {"key": name, "code": code})
    assert widget.is_open


def test_single_key_is_typed_in_the_dialog(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url, "shortcut": "/ mod+k"})
    assert widget.launcher.locator("kbd").inner_text() == "/"
    assert widget.launcher.get_attribute("aria-keyshortcuts") == "/ Control+k"
    for key in "/a/":
        widget.page.keyboard.press(key)
    assert widget.input.input_value() == "a/"
    widget.page.keyboard.press("Control+k")
    assert not widget.is_open


@pytest.mark.parametrize("is_first", [True, False], ids=["listens first", "listens last"])
def test_shortcut_taken_by_the_site_opens_one_dialog(is_first: bool, fake: Server, visit: Visit) -> None:
    own = "addEventListener('keydown', event => event.ctrlKey && event.key === 'k' && event.preventDefault())"
    widget = visit({"endpoint": fake.url}, before=own if is_first else "")
    if not is_first:
        widget.page.evaluate(own)
    widget.page.keyboard.press("Control+k")
    assert not widget.is_open


def test_shortcut_in_the_sites_own_dialog_opens_no_second(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, body="<main><h1>Guide</h1><dialog id=own><button>x</button></dialog></main>")
    widget.page.evaluate("own.showModal()")
    widget.page.keyboard.press("Control+k")
    assert not widget.is_open


EDITORS = {
    "input": "<input id=at>",
    "textarea": "<textarea id=at></textarea>",
    "select": "<select id=at><option>k</select>",
    "contenteditable": "<div id=at contenteditable tabindex=0><p>text</p></div>",
    "shadow root": "<div id=at><template shadowrootmode=open><input></template></div>",
}


@pytest.mark.parametrize("shortcut", ["mod+k", "/"])
def test_shortcut_in_an_editor_is_the_editors(shortcut: str, fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url, "shortcut": shortcut})
    for editor in EDITORS.values():
        widget.page.evaluate(
            """html => { document.querySelector('main').setHTMLUnsafe(html);
                const at = document.getElementById('at');
                (at.shadowRoot?.querySelector('input') ?? at).focus(); }""",
            editor,
        )
        widget.page.keyboard.press("Control+k" if shortcut == "mod+k" else shortcut)
        assert not widget.is_open


# Focus


def test_tab_stays_in_the_dialog(asked: Widget) -> None:
    for keys in ("Tab", "Shift+Tab"):
        seen = []
        for _ in range(12):
            asked.page.keyboard.press(keys)
            seen.append(asked.focus)
        assert {"input", "icon", "tool", "tool thumb"} <= set(seen) <= {
            "input", "icon", "icon clear", "tool", "tool thumb"
        }  # fmt: skip


@pytest.mark.parametrize("way", ["Escape", "button", "backdrop", "shortcut", "result"])
def test_focus_returns_to_where_it_was(way: str, fake: Server, visit: Visit) -> None:
    here = "#part"
    body = f"<main><h1>Guide</h1><button id=before>x</button><h2 id=part>Part</h2><a href={here}>y</a></main>"
    widget = visit({"endpoint": fake.url}, body=body)
    fake.answer = lambda _: answer(passage("A twin follows its asset.", widget.page.url + here))
    widget.page.focus("#before")
    widget.page.keyboard.press("Control+k")
    widget.ask("what is a twin").hits.first.wait_for()
    match way:
        case "button":
            widget.page.get_by_role("button", name="Close").click()
        case "backdrop":
            widget.page.mouse.click(5, 5)
        case "result":
            widget.hits.first.click()
        case _:
            widget.page.keyboard.press("Control+k" if way == "shortcut" else way)
    assert not widget.is_open
    assert widget.focus == "before"


def test_key_after_closing_is_not_the_inputs(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url})
    widget.page.keyboard.press("Control+k")
    focus = "host => { host.close(); return host.shadowRoot.activeElement?.localName ?? 'none'; }"
    assert widget.host.evaluate(focus) == "none"


def test_focus_goes_to_the_heading_if_its_place_is_gone(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, body="<main><h1 id=top>Guide</h1><button id=before>x</button></main>")
    widget.page.focus("#before")
    widget.page.keyboard.press("Control+k")
    widget.page.evaluate("before.remove()")
    widget.page.keyboard.press("Escape")
    assert widget.focus == "top"
    widget.page.evaluate("document.activeElement.blur()")
    assert widget.page.locator("#top").get_attribute("tabindex") is None


def test_escape_closes_and_keeps_the_text(asked: Widget) -> None:
    asked.page.keyboard.press("Escape")
    assert not asked.is_open
    asked.open()
    assert asked.input.input_value() == "what is a twin"
    assert asked.input.evaluate("input => [input.selectionStart, input.selectionEnd]") == [0, 14]


# The list


def _combobox(widget: Widget) -> tuple[str | None, str | None, bool]:
    """What the input says: whether it is expanded, the active option, and whether both ids are in its root."""
    found: bool = widget.input.evaluate(
        """input => ['aria-controls', 'aria-activedescendant'].every(name =>
            !input.hasAttribute(name) || !!input.getRootNode().getElementById(input.getAttribute(name)))"""
    )
    return input_attribute(widget, "aria-expanded"), input_attribute(widget, "aria-activedescendant"), found


def input_attribute(widget: Widget, name: str) -> str | None:
    return widget.input.get_attribute(name)


def test_combobox_is_expanded_only_with_options(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}).open()
    assert widget.input.get_attribute("role") == "combobox"
    assert _combobox(widget) == ("false", None, True)
    fake.answer = lambda _: TWO
    widget.ask("what is a twin").hits.first.wait_for()
    assert _combobox(widget) == ("true", None, True)
    fake.answer = lambda _: answer()
    widget.ask("something else").first.wait_for()
    assert _combobox(widget) == ("false", None, True)


def test_arrows_choose_an_option_and_wrap(asked: Widget) -> None:
    def chosen(key: str) -> int | None:
        asked.page.keyboard.press(key)
        _, active, found = _combobox(asked)
        assert found
        selected = [option.get_attribute("aria-selected") for option in asked.options.all()]
        assert selected.count("true") == (active is not None)
        return None if active is None else selected.index("true")

    assert [chosen(key) for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp")] == [0, 1, None, 1]
    asked.page.keyboard.type("s")
    assert _combobox(asked)[1] is None


def test_enter_opens_the_chosen_passage(asked: Widget) -> None:
    asked.page.evaluate(
        "addEventListener('passage-navigate', event => { event.preventDefault(); window.to = event.detail.url; })"
    )
    asked.page.keyboard.press("ArrowDown")
    asked.page.keyboard.press("Enter")
    assert not asked.is_open
    assert asked.page.evaluate("window.to") == "https://example.com/a/#one"


def test_suggested_question_is_asked_by_keyboard(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: TWO
    widget = visit({"endpoint": fake.url, "questions": "What is a twin? | Who uses it?"}).open()
    assert [option.inner_text() for option in widget.options.all()] == ["What is a twin?", "Who uses it?"]
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        widget.page.keyboard.press(key)
    widget.hits.first.wait_for()
    assert widget.input.input_value() == "Who uses it?"
    assert fake.asked() == ["Who uses it?"]


def test_earlier_questions_can_be_asked_again_and_forgotten(asked: Widget, fake: Server) -> None:
    asked.page.get_by_role("button", name="Clear the question").click()
    assert [option.inner_text() for option in asked.options.all()] == ["what is a twin"]
    asked.page.reload()
    asked.open().options.first.click()
    asked.hits.first.wait_for()
    asked.input.fill("")
    asked.page.get_by_role("button", name="Forget these questions").click()
    assert asked.options.count() == 0
    assert json.loads(asked.page.evaluate("JSON.stringify(Object.values(sessionStorage))")) in ([], ["[]"])
