"""Titles while someone types: at once, without a question, and with the choice kept when the passages follow."""

import threading
import time

import pytest

from widget.conftest import Visit
from widget.driver import Widget
from widget.servers import Reply, Request, Server, answer, failed, passage

TITLES = [
    passage("A.", "https://e.org/retry/#retry") | {"title": "Retry policy", "headings": []},
    passage("B.", "https://e.org/retry/#retry") | {"title": "Retry policy", "headings": []},
    passage("C.", "https://e.org/jobs/#after") | {"title": "Jobs", "headings": ["Retries after a fault"]},
]
FOUND = [passage("Retry twice.", f"https://e.org/{name}/", score) for name, score in (("a", 0.9), ("b", 0.8))]


def _asked(sent: Request) -> bool:
    return sent.query.get("search") != "titles"


@pytest.fixture
def typed(fake: Server, visit: Visit) -> Widget:
    """The widget after `retr` was typed, at a clock that stands 150 ms after the last key."""
    fake.answer = lambda sent: answer(*(FOUND if _asked(sent) else TITLES))
    # The clock is the context's: other tests' pages must not stand still.
    widget = visit({"endpoint": fake.url}, context={"locale": "en-GB"}).open()
    widget.page.clock.install()
    widget.page.clock.pause_at(time.time() + 60)
    widget.input.press_sequentially("retr")
    widget.page.clock.run_for(150)
    widget.options.nth(1).wait_for()
    return widget


def test_titles_come_before_the_pause_is_over(typed: Widget, fake: Server) -> None:
    assert [each.split(" \u203a ") for each in typed.options.all_inner_texts()] == [
        ["Retry policy"],
        ["Jobs", "Retries after a fault"],
    ]
    assert [request.query["search"] for request in fake.requests] == ["titles"]
    typed.page.clock.run_for(400)
    typed.hits.first.wait_for()
    assert typed.options.count() == 4
    assert [_asked(request) for request in fake.requests] == [False, True]
    typed.page.clock.resume()
    assert typed.violations() == []


@pytest.mark.parametrize(("downs", "chosen"), [(2, "e.org/jobs/#after"), (0, None)])
def test_choice_survives_the_answer(downs: int, chosen: str | None, typed: Widget) -> None:
    for _ in range(downs):
        typed.page.keyboard.press("ArrowDown")
    typed.page.clock.run_for(400)
    typed.hits.first.wait_for()
    selected = typed.page.locator("passage-chat [aria-selected=true]")
    assert [each.get_attribute("title") for each in selected.all()] == ([chosen] if chosen else [])
    assert typed.input.get_attribute("aria-activedescendant") == (selected.get_attribute("id") if chosen else None)


def test_title_leads_to_its_section(typed: Widget) -> None:
    typed.page.evaluate(
        "addEventListener('passage-navigate', event => { event.preventDefault(); to = event.detail.url })"
    )
    typed.page.keyboard.press("ArrowDown")
    typed.page.keyboard.press("Enter")
    assert typed.page.evaluate("to") == "https://e.org/retry/#retry"


def test_other_question_takes_the_titles_away(typed: Widget) -> None:
    typed.ask("something else").hits.first.wait_for()
    assert typed.options.count() == 2


def test_api_without_titles_is_asked_for_them_once(fake: Server, visit: Visit) -> None:
    fake.answer = lambda sent: answer(*FOUND) if _asked(sent) else failed(400)
    widget = visit({"endpoint": fake.url}).open()
    for text in ("retr", "y it"):
        widget.input.press_sequentially(text)
        widget.page.wait_for_timeout(600)
    assert [_asked(request) for request in fake.requests] == [False, True, True]


def test_titles_of_a_real_index(api: str, visit: Visit) -> None:
    widget = visit({"endpoint": api}).open()
    title = widget.page.locator("passage-chat .question", has_text="What Is a Digital Twin").first

    def typed() -> bool:
        widget.input.fill("")
        widget.input.press_sequentially("digi")
        widget.page.wait_for_timeout(1_000)
        return title.is_visible()

    assert any(typed() for _ in range(20)), "titles that come after the passages are not shown: a busy machine"


def test_first_wait_is_a_skeleton_later_ones_old_passages(fake: Server, visit: Visit) -> None:
    released = threading.Event()

    def _answer(_: Request) -> Reply:
        released.wait(20)
        released.clear()
        return answer(*FOUND)

    fake.answer = _answer
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    skeleton = widget.page.locator("passage-chat .wait")
    assert skeleton.is_visible()
    released.set()
    widget.hits.first.wait_for()
    assert skeleton.count() == 0
    colour = "each => getComputedStyle(each).color"
    before = widget.hits.first.evaluate(colour)
    widget.ask("another question")
    assert skeleton.count() == 0
    assert widget.hits.first.evaluate(colour) != before
    assert widget.violations() == []
    released.set()


@pytest.mark.parametrize("history", ["on", "off"])
def test_questions_of_earlier_visits_are_kept_if_wanted(history: str, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*FOUND)
    widget = visit({"endpoint": fake.url, "history": history}, context={"locale": "en-GB"})
    widget.open().ask("what is a twin").hits.first.wait_for()
    again = widget.page.context.new_page()
    again.goto(widget.page.url)
    later = Widget(again).open()
    assert later.options.all_inner_texts() == (["what is a twin"] if history == "on" else [])
    again.close()
