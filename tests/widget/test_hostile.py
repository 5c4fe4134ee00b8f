"""Hostile passages: scripts, event handlers, odd links, very long words and direction controls change nothing."""

import json
from typing import Any

import pytest

from widget.conftest import Visit
from widget.driver import Widget
from widget.servers import Reply, Server, answer, cors, passage

ATTACKS = {
    "script": "<script>window.hacked = 1</script> twin",
    "image": "<img src=x onerror='window.hacked = 1'> twin",
    "svg": "<svg onload='window.hacked = 1'></svg> twin",
    "in bold": "**<img src=x onerror=hacked=1>** twin",
    "in code": "`<img src=x onerror=hacked=1>` twin",
    "in a table": "| <img src=x onerror=hacked=1> | twin |\n|---|---|\n| <b onclick=hacked=1>a</b> | b |",
    "in a list": "- <img src=x onerror=hacked=1>\n- twin",
    "in a link": "[<img src=x onerror=hacked=1>](https://example.com/) twin",
    "closing tag": "</div></dialog></template><script>hacked=1</script> twin",
    "entity": "&lt;script&gt;hacked=1&lt;/script&gt; twin",
    "image syntax": "![x](https://evil.example/pixel.png) twin",
    "attribute": '[a](https://example.com/"onclick="hacked=1) twin',
}
LINKS = [
    "javascript:window.hacked=1",
    "JaVaScRiPt:window.hacked=1",
    "java\tscript:window.hacked=1",
    "&#106;avascript:window.hacked=1",
    "data:text/html,<script>hacked=1</script>",
    "vbscript:hacked",
    "blob:https://example.com/1",
    "file:///etc/passwd",
]
ALLOWED = {
    "div", "button", "span", "kbd", "svg", "path", "dialog", "h2", "input", "p", "a", "bdi", "mark",
    "strong", "em", "code", "pre", "ul", "ol", "li", "table", "tr", "th", "td", "blockquote",
}  # fmt: skip
LOOK = """() => {
    const all = [...document.querySelector('passage-chat').shadowRoot.querySelectorAll('*')];
    return {
        tags: [...new Set(all.map(({localName}) => localName))],
        handlers: all.flatMap(each => each.getAttributeNames()).filter(name => /^(on|style|src)/.test(name)),
        links: all.filter(each => each.hasAttribute('href')).map(each => each.protocol),
        hacked: window.hacked ?? null,
    };
}"""


def _shown(widget: Widget) -> dict[str, Any]:
    """Opens the whole passage, clicks all of it, and looks."""
    widget.hits.first.wait_for()
    if widget.tool("Whole passage").count():
        widget.tool("Whole passage").click()
    widget.page.evaluate(
        """() => { addEventListener('click', event => event.preventDefault(), true);
            for (const each of document.querySelector('passage-chat').shadowRoot.querySelectorAll('.passage *'))
                each.click(); }"""
    )
    found: dict[str, Any] = widget.page.evaluate(LOOK)
    return found


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_text_is_shown_as_text(attack: str, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage(f"{ATTACKS[attack]}\n\nMore words about it."))
    requests: list[str] = []
    widget = visit({"endpoint": fake.url})
    widget.page.on("request", lambda request: requests.append(request.url))
    shown = _shown(widget.open().ask("what is a twin"))
    assert set(shown["tags"]) <= ALLOWED
    assert shown["handlers"] in ([], ["style", "style"])  # the grid's row, set by script
    assert shown["hacked"] is None
    assert set(shown["links"]) == {"https:"}
    assert [url for url in requests if not url.startswith(fake.url)] == []


@pytest.mark.parametrize("link", LINKS)
def test_link_that_is_not_http_is_dropped(link: str, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage(f"[A twin]({link}) and more.\n\nAnd more words about it.", link))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    shown = _shown(widget)
    assert set(shown["links"]) <= ({"http:"} if link[0] == "&" or "\t" in link else set())  # these are relative paths
    widget.hits.first.click()
    assert widget.page.evaluate("window.hacked ?? null") is None
    assert widget.page.url.endswith("/guide/")


def test_hostile_titles_are_shown_as_text(fake: Server, visit: Visit) -> None:
    title = "<img src=x onerror=hacked=1>"
    fields = {"page_title": title, "section_headers": [title, f"{title} part"], "source_url": "https://example.com/"}
    body = {"results": [{"chunk_text": "A twin.", "similarity_score": 0.5, "metadata": fields}]}
    fake.answer = lambda _: cors(Reply(json.dumps(body)))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    assert widget.hits.locator(".title").inner_text() == f"{title} part"
    assert _shown(widget)["hacked"] is None


def test_long_words_and_many_columns_stay_inside(fake: Server, visit: Visit) -> None:
    columns = "|".join(f"column{number}" for number in range(40))
    text = f"{'twin' * 500}\n\n|{columns}|\n|{'---|' * 40}\n|{columns}|\n\n```\n{'x' * 3000}\n```"
    fake.answer = lambda _: answer(passage(text, "https://example.com/" + "a" * 600 + "/#" + "b" * 600))
    widget = visit({"endpoint": fake.url}, context={"viewport": {"width": 390, "height": 800}}).open().ask("twin")
    widget.tool("Whole passage").click()
    overflow = "each => each.scrollWidth - each.clientWidth"
    assert widget.body.evaluate(overflow) == 0
    assert widget.page.locator("passage-chat .panel").evaluate(overflow) == 0


def test_direction_controls_stay_in_their_title(fake: Server, visit: Visit) -> None:
    override = "\u202etwin \u2066\u202e"
    fields = {"page_title": override, "section_headers": [override], "source_url": "https://example.com/"}
    body = {"results": [{"chunk_text": f"{override} text", "similarity_score": 0.5, "metadata": fields}]}
    fake.answer = lambda _: cors(Reply(json.dumps(body)))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    title, fit = (widget.hits.locator(name).bounding_box() for name in (".title", ".fit"))
    assert title
    assert fit
    assert title["x"] + title["width"] <= fit["x"]
    isolated = "each => getComputedStyle(each).unicodeBidi"
    assert [widget.hits.locator(name).evaluate(isolated) for name in (".title", ".text")] == ["isolate", "isolate"]


@pytest.mark.parametrize(
    "text",
    ["*" * 9_000, "**a " * 3_000, "[" * 9_000, "`" * 9_000, "|" * 9_000, "> " * 5_000, "_a_" * 3_000, "a" * 9_000],
)
def test_pathological_markdown_is_shown_at_once(text: str, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage(f"A twin.\n\n{text}"))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.hits.first.wait_for(timeout=5_000)


@pytest.mark.parametrize(
    "item",
    [None, 7, "text", [], {}, {"chunk_text": 7}, {"chunk_text": "A twin.", "url": {}, "section_headers": [7, None]}],
    ids=str,
)
def test_odd_results_break_nothing(item: object, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: cors(Reply(json.dumps({"results": [item, passage("A twin.")]})))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    assert widget.hits.last.locator(".text").inner_text() == "A twin."
