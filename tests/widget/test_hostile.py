"""Hostile passages: scripts, event handlers, odd links, very long words and direction controls change nothing."""

import json
from typing import Any

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
    for button in widget.page.get_by_role("button", name="Whole passage").all()[::-1]:
        button.click()
    widget.page.evaluate(
        """() => { addEventListener('click', event => event.preventDefault(), true);
            for (const each of document.querySelector('passage-chat').shadowRoot.querySelectorAll('.passage *'))
                each.click(); }"""
    )
    found: dict[str, Any] = widget.page.evaluate(LOOK)
    return found


def test_hostile_texts_are_shown_as_text(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*[passage(f"{attack}\n\nMore words about it.") for attack in ATTACKS.values()])
    requests: list[str] = []
    widget = visit({"endpoint": fake.url})
    widget.page.on("request", lambda request: requests.append(request.url))
    shown = _shown(widget.open().ask("what is a twin"))
    assert widget.hits.count() == len(ATTACKS)
    assert set(shown["tags"]) <= ALLOWED
    assert shown["handlers"] == []
    assert shown["hacked"] is None
    assert set(shown["links"]) == {"https:"}
    assert [url for url in requests if not url.startswith(fake.url)] == []


def test_links_that_are_not_http_are_dropped(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*[passage(f"[A twin]({link}) and more.\n\nAnd more words.", link) for link in LINKS])
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    assert _shown(widget)["links"] == []
    for hit in widget.hits.all():
        hit.click()
    assert widget.page.evaluate("window.hacked ?? null") is None
    assert widget.page.url.endswith("/guide/")


def test_disguised_script_link_is_a_path(fake: Server, visit: Visit) -> None:
    links = ["&#106;avascript:window.hacked=1", "java\tscript:window.hacked=1"]
    fake.answer = lambda _: answer(*[passage(f"[A twin]({link}) and more.\n\nAnd more words.") for link in links])
    shown = _shown(visit({"endpoint": fake.url}).open().ask("what is a twin"))
    assert (sorted(shown["links"]), shown["hacked"]) == (["http:"] * 2 + ["https:"] * 2, None)


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
    found = {"chunk_text": f"{override} text", "similarity_score": 0.5, "fit": "good", "metadata": fields}
    body = {"results": [found]}
    fake.answer = lambda _: cors(Reply(json.dumps(body)))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    title, fit = (widget.hits.locator(name).bounding_box() for name in (".title", ".fit"))
    assert title
    assert fit
    assert title["x"] + title["width"] <= fit["x"]
    isolated = "each => getComputedStyle(each).unicodeBidi"
    assert [widget.hits.locator(name).evaluate(isolated) for name in (".title", ".text")] == ["isolate", "isolate"]


def test_pathological_markdown_is_shown_at_once(fake: Server, visit: Visit) -> None:
    texts = [
        "*" * 9_000,
        "**a " * 3_000,
        "[" * 9_000,
        "`" * 9_000,
        "|" * 9_000,
        "> " * 5_000,
        "_a_" * 3_000,
        "a" * 9_000,
    ]
    fake.answer = lambda _: answer(*[passage(f"A twin.\n\n{text}") for text in texts])
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    assert widget.hits.count() == len(texts)


ODD = [None, 7, "text", [], {}, {"chunk_text": 7}, {"chunk_text": "A model.", "url": {}, "section_headers": [7, None]}]


def test_odd_results_break_nothing(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: cors(Reply(json.dumps({"results": [*ODD, passage("A twin.")]})))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    assert widget.hits.locator(".text").all_inner_texts() == ["A model.", "A twin."]
