"""Every state of the dialog: what it says, what a screen reader hears, what axe finds, and that nothing shifts."""

import json
import re
import threading
import time
from collections.abc import Callable
from email.utils import formatdate

import pytest

from widget.conftest import Visit
from widget.driver import Widget
from widget.servers import Reply, Request, Server, answer, cors, failed, passage

FOUND = answer(
    passage("A **twin** follows its asset.\n\n- one\n- two\n\n```py\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |")
)

# Records what a screen reader would hear, and layout shifts. Shifts right after a key count here, too.
RECORD = """
window.heard = []; window.shifted = 0;
addEventListener('passage-open', ({target}) => {
    const status = target.shadowRoot.querySelector('[role=status]');
    new MutationObserver(() => status.textContent && heard.push(status.textContent))
        .observe(status, {childList: true, characterData: true, subtree: true});
}, {once: true});
new PerformanceObserver(list => list.getEntries().forEach(({value}) => shifted += value))
    .observe({type: 'layout-shift', buffered: true});
"""


def heard(widget: Widget) -> list[str]:
    """What a screen reader heard since the dialog opened."""
    return list(widget.page.evaluate("heard"))


FAULTS: dict[str, tuple[Callable[[Request], Reply | None], str]] = {
    "429": (lambda _: failed(429, headers={"Retry-After": "40"}), "Too many questions at once."),
    "503": (lambda _: failed(503), "The search is not available at the moment."),
    "500": (lambda _: failed(500), "The search is not available at the moment."),
    "504": (lambda _: failed(504), "The search took too long."),
    "400": (lambda _: failed(400), "The search did not accept this question."),
    "403": (lambda _: failed(403), "The search is not set up correctly."),
    "404": (lambda _: failed(404), "The search is not set up correctly."),
    "dropped connection": (lambda _: None, "The search cannot be reached."),
    "no CORS headers": (lambda _: Reply('{"results": []}'), "The search cannot be reached."),
    "broken JSON": (lambda _: cors(Reply('{"results": [')), "The search sent an answer that cannot be read."),
    "unknown JSON": (lambda _: cors(Reply('{"answer": 42}')), "The search sent an answer that cannot be read."),
    "HTML": (lambda _: cors(Reply("<h1>Hello</h1>")), "The search sent an answer that cannot be read."),
    "HTML with 502": (lambda _: cors(Reply("<h1>Bad</h1>", 502)), "The search is not available at the moment."),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_one_sentence_and_can_be_retried(fault: str, fake: Server, visit: Visit) -> None:
    fake.answer, sentence = FAULTS[fault]
    widget = visit({"endpoint": fake.url}, before=RECORD).open().ask("what is a twin")
    widget.first.wait_for()
    assert widget.first.inner_text() == sentence
    assert widget.input.input_value() == "what is a twin"
    assert widget.options.count() == 0
    assert [line.startswith(sentence) for line in heard(widget)] == [True]
    if fault in ("429", "503"):  # all others look like 503
        assert widget.violations() == []
    if fault == "429":
        assert widget.retry.get_attribute("aria-disabled") == "true"
        return
    fake.answer = lambda _: FOUND
    widget.retry.click()
    widget.hits.first.wait_for()
    assert widget.focus == "input"


def test_refused_question_shows_the_reason(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: failed(400)
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.first.wait_for()
    assert widget.then.inner_text() == "The service said no."


def waits(widget: Widget) -> int:
    """How many seconds the dialog says that are left."""
    found = re.fullmatch(r"You can try again in (\d+) s\.", widget.then.inner_text())
    assert found
    return int(found[1])


@pytest.mark.parametrize("is_date", [False, True])
def test_retry_after_is_counted_down(is_date: bool, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: failed(429, headers={"Retry-After": formatdate(time.time() + 60) if is_date else "60"})
    widget = visit({"endpoint": fake.url}).open()
    widget.page.clock.install()
    widget.ask("what is a twin").first.wait_for()
    before = waits(widget)
    assert 40 < before <= 60
    widget.retry.click(force=True)
    widget.page.clock.run_for(5_000)
    assert waits(widget) <= before - 5
    widget.ask("another question")
    assert widget.first.inner_text() == "Too many questions at once."
    fake.answer = lambda _: FOUND
    assert fake.asked() == ["what is a twin"]
    widget.page.clock.run_for(60_000)
    assert widget.then.inner_text() == "Your question is still here."
    widget.retry.click()
    widget.hits.first.wait_for()
    assert fake.asked() == ["what is a twin", "another question"]


def test_closed_dialog_sends_nothing_when_the_wait_is_over(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: failed(429, headers={"Retry-After": "3"})
    widget = visit({"endpoint": fake.url}).open()
    widget.page.clock.install()
    widget.ask("what is a twin").first.wait_for()
    widget.input.fill("another question")
    widget.page.keyboard.press("Escape")
    widget.page.clock.run_for(6_000)
    widget.page.wait_for_timeout(300)
    assert fake.asked() == ["what is a twin"]
    widget.open()
    assert widget.then.inner_text() == "Your question is still here."


def test_offline_has_its_own_message(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}, context={"offline": False}).open()
    widget.page.context.set_offline(True)
    widget.ask("what is a twin").first.wait_for()
    assert widget.first.inner_text() == "You are offline."
    assert widget.violations() == []


def test_slow_answer_shows_a_message(fake: Server, visit: Visit) -> None:
    released = threading.Event()
    fake.answer = lambda _: FOUND if released.wait(20) else None
    widget = visit({"endpoint": fake.url}).open()
    widget.page.clock.install()
    widget.ask("what is a twin")
    note = widget.page.locator("passage-chat .foot > span").first
    assert note.inner_text() == "Searching…"
    assert widget.violations() == []
    widget.page.clock.run_for(4_100)
    assert note.inner_text() == "Still searching. This takes longer than usual."
    released.set()
    widget.hits.first.wait_for()
    assert note.inner_text() == "Passages of this site, word for word"


def test_question_is_given_up_after_the_timeout(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(delay=2)
    widget = visit({"endpoint": fake.url, "timeout": "0.3"}).open().ask("what is a twin")
    widget.first.wait_for()
    assert widget.first.inner_text() == "The search took too long."


def test_nothing_found_shows_a_message(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer()
    widget = visit({"endpoint": fake.url}, before=RECORD).open().ask("what is a twin")
    widget.first.wait_for()
    assert heard(widget) == ["Nothing on this site fits this question."]
    assert widget.retry.count() == 0
    assert widget.violations() == []


def test_ranked_no_results_is_nothing_found(fake: Server, visit: Visit) -> None:
    body = {"status": "error", "results": [], "error": {"code": "NO_RESULTS", "message": "Nothing matches."}}
    fake.answer = lambda _: cors(Reply(json.dumps(body)))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.first.wait_for()
    assert widget.first.inner_text() == "Nothing on this site fits this question."


def test_too_long_question_is_not_sent(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url, "max-length": "20"}).open().ask("why " * 6)
    assert widget.first.inner_text() == "This question is too long: 23 of 20 characters."
    assert fake.asked() == []
    assert widget.violations() == []


def test_each_answer_is_heard_once(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: FOUND
    widget = visit({"endpoint": fake.url}, before=RECORD).open()
    for question in ("what is a twin", "who has a twin"):
        widget.input.fill("")
        widget.type(question, every=10)
        widget.page.locator("passage-chat [aria-busy=false] .hit").first.wait_for()
    assert heard(widget) == ["1 passage", "1 passage"]


def test_results_pass_axe_and_nothing_shifts(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(
        *[passage("A twin follows its asset. " * 9, fit=fit) for fit in ("strong", "good", "weak")]
    )
    widget = visit({"endpoint": fake.url, "questions": "What is a twin?"}, before=RECORD)
    assert widget.violations() == []
    widget.open()
    assert widget.violations() == []
    widget.ask("what is a twin").hits.first.wait_for()
    assert [fit.inner_text() for fit in widget.page.locator("passage-chat .fit").all()] == [
        "Strong match",
        "Good match",
        "Loosely related",
    ]
    widget.page.keyboard.press("ArrowDown")
    assert widget.violations() == []
    assert widget.page.evaluate("shifted") == 0


def test_buttons_follow_their_result_and_have_names_of_their_own(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*[passage(f"A twin. {FOUND.body}") | {"title": name} for name in ("One", "Two")])
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    tree = widget.page.locator("passage-chat .found > :not([role=listbox])")
    assert tree.evaluate_all("all => all.map(each => each.classList[0])") == ["hit", "more"] * 2
    names = widget.page.locator("passage-chat .tool").evaluate_all("all => all.map(each => each.ariaLabel)")
    assert len(names) == len(set(names)) == 8
    for name in ("One Good match", "Two Good match"):
        assert widget.page.get_by_role("option", name=name, exact=True).count() == 1


def test_code_of_a_passage_can_be_copied_alone(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("**Debian**\n\n```sh\napt-get update\napt-get install twin\n```"))
    widget = visit({"endpoint": fake.url}, context={"permissions": ["clipboard-read", "clipboard-write"]})
    widget.open().ask("install twin on debian")
    widget.tool("Copy code").click()
    widget.tool("Copied").wait_for()
    assert widget.page.evaluate("navigator.clipboard.readText()") == "apt-get update\napt-get install twin"


def test_passage_shown_whole_has_no_button_for_it(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(
        passage("A twin follows its asset."), passage("First words. A twin follows its asset.")
    )
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    assert widget.hits.locator(".text").all_inner_texts() == [
        "A twin follows its asset.",
        "… A twin follows its asset.",
    ]
    assert [widget.tool("Whole passage", index).count() for index in (0, 1)] == [0, 1]


def test_whole_passage_is_rendered_and_passes_axe(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: FOUND
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.tool("Whole passage").click()
    whole = widget.page.locator("passage-chat .passage")
    assert [whole.locator(tag).inner_text() for tag in ("strong", "pre", "th >> nth=1")] == ["twin", "x = 1", "b"]
    assert whole.locator("li").all_inner_texts() == ["one", "two"]
    assert widget.violations() == []
    widget.tool("Less").click()
    assert not whole.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_look_passes_axe(scheme: str, language: str, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: FOUND
    widget = visit(
        {"endpoint": fake.url, "language": language},
        head='<script src="/web/languages/ar.js"></script>',
        context={"color_scheme": scheme},
    ).open()
    widget.ask("what is a twin").hits.first.wait_for()
    widget.page.keyboard.press("ArrowDown")
    widget.page.locator("passage-chat .tool").first.click()
    assert widget.violations() == []


# Copy and thumbs


def test_copy_gives_text_and_address(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A **twin**.", "https://example.com/a/#one"))
    widget = visit({"endpoint": fake.url}, context={"permissions": ["clipboard-read", "clipboard-write"]})
    widget.open().ask("what is a twin")
    widget.tool("Copy").click()
    widget.tool("Copied").wait_for()
    assert widget.page.evaluate("navigator.clipboard.readText()") == "A **twin**.\n\nhttps://example.com/a/#one"
    assert widget.status.inner_text() == "Copied"


def test_thumb_sends_a_verdict_without_the_question(fake: Server, visit: Visit) -> None:
    allowed = {"Access-Control-Allow-Headers": "content-type", "Access-Control-Allow-Methods": "POST"}
    fake.answer = lambda sent: FOUND if sent.query else cors(Reply(status=204, headers=allowed))
    widget = visit({"endpoint": fake.url, "profile": "ranked"}).open().ask("what is a twin")
    with widget.page.expect_response("**/feedback"):
        widget.tool("Not helpful").click()
    sent = next(request for request in fake.requests if request.method == "POST")
    assert json.loads(sent.body) == {
        "profile": "ranked", "url": "https://example.com/guide/page/#part", "chunk_id": "1_0", "helpful": False
    }  # fmt: skip
    assert widget.tool("Not helpful").get_attribute("aria-pressed") == "true"
    assert widget.tool("Helpful").get_attribute("aria-pressed") == "false"


def test_real_api_counts_a_thumb(api: str, visit: Visit) -> None:
    widget = visit({"endpoint": api, "profile": "ranked"}).open().ask("what is a digital twin")
    with widget.page.expect_response("**/feedback") as sent:
        widget.tool("Helpful").click()
    assert sent.value.status == 204


def test_thumbs_vanish_if_the_api_takes_none(fake: Server, visit: Visit) -> None:
    allowed = {"Access-Control-Allow-Headers": "content-type"}
    fake.answer = lambda sent: (
        FOUND if sent.query else cors(Reply(status=204 if sent.method == "OPTIONS" else 404, headers=allowed))
    )
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.tool("Helpful").click()
    widget.tool("Helpful").wait_for(state="detached")
    widget.ask("another question")
    widget.page.locator("passage-chat [aria-busy=false] .hit").first.wait_for()
    assert widget.page.locator("passage-chat .thumb").count() == 0
