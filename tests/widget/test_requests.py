"""What the widget sends, and when: pauses, cancelled questions, the cache, and nothing before a reader types."""

import json
import threading
import time

from widget.conftest import Visit
from widget.servers import Reply, Request, Server, Site, answer, cors, passage


def test_twenty_quick_keys_send_one_question(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A twin."))
    widget = visit({"endpoint": fake.url, "profile": "my profile", "count": "7"}).open()
    widget.type("what is a twin made ", every=50)
    widget.hits.first.wait_for()
    (sent,) = (each for each in fake.requests if "search" not in each.query)  # titles come while one types
    assert (sent.method, sent.path) == ("GET", "/profiles/my%20profile/query")
    assert sent.query == {
        "question": "what is a twin made",
        "order": "relevance",
        "fit": "true",
        "titles": "true",
        "k": "7",
    }
    own = {"x-api-key", "content-type", "authorization", "cookie"}
    assert own & {name.lower() for name in sent.headers} == set()


def test_version_and_part_of_the_site_are_sent(fake: Server, site: Site, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A twin."))
    options = {"version": "2.1", "within": "/docs/api/", "only-language": "de"}
    visit({"endpoint": fake.url, **options}).open().ask("what is a twin").hits.first.wait_for()
    (sent,) = fake.requests
    filters = {"source_url": {"prefix": f"{site.url}/docs/api/"}}
    assert (sent.query["version"], json.loads(sent.query["filters"]), sent.query["language"]) == ("2.1", filters, "de")


def test_short_and_blank_questions_are_not_sent(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url}).open()
    for text in ("ab", "      ", " a "):
        widget.ask(text)
        widget.page.wait_for_timeout(400)
    assert fake.requests == []


def test_known_question_is_answered_from_the_cache(fake: Server, visit: Visit) -> None:
    fake.answer = lambda sent: answer(passage(f"Answer to {sent.query['question']}."))
    widget = visit({"endpoint": fake.url}).open()
    for question in ("first", "second", " first ", "first"):
        widget.ask(question)
        widget.page.get_by_text(f"Answer to {question.strip()}.").first.wait_for()
    assert fake.asked() == ["first", "second"]


def test_later_answer_to_an_older_question_is_dropped(fake: Server, visit: Visit) -> None:
    def _answer(sent: Request) -> Reply:
        question = sent.query["question"]
        return answer(passage(f"Answer to {question}."), delay=0.6 if question == "older" else 0.2)

    fake.answer = _answer
    widget = visit({"endpoint": fake.url}).open()
    widget.ask("older")
    widget.ask("newer")
    widget.page.get_by_text("Answer to newer.").first.wait_for()
    widget.page.wait_for_timeout(600)
    assert widget.hits.locator(".text").all_inner_texts() == ["Answer to newer."]
    assert fake.asked() == ["older", "newer"]


def test_answer_while_typing_leaves_the_next_question(fake: Server, visit: Visit) -> None:
    released = threading.Event()

    def _answer(sent: Request) -> Reply:
        question = sent.query["question"]
        if question == "what is a twin":
            released.wait(20)
        return answer(passage(f"Answer to {question}."))

    fake.answer = _answer
    widget = visit({"endpoint": fake.url}, context={"locale": "en-GB"}).open().ask("what is a twin")
    widget.page.clock.install()
    widget.page.clock.pause_at(time.time() + 60)
    widget.input.press_sequentially(" made")
    released.set()
    widget.page.get_by_text("Answer to what is a twin.").first.wait_for()
    widget.page.clock.run_for(400)
    widget.page.get_by_text("Answer to what is a twin made.").first.wait_for()


def test_closing_cancels_the_question(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(delay=1)
    widget = visit({"endpoint": fake.url}).open()
    with widget.page.expect_event("requestfailed") as cancelled:
        widget.ask("what is a twin")
        widget.page.keyboard.press("Escape")
    assert cancelled.value.failure == "net::ERR_ABORTED"
    widget.open()
    assert widget.first.count() == 0


def test_enter_asks_without_a_pause_and_ask_on_enter_only_then(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A twin."))
    widget = visit({"endpoint": fake.url, "ask-on": "enter"}).open()
    widget.input.fill("what is a twin")
    widget.page.wait_for_timeout(500)
    assert fake.requests == []
    widget.input.press("Enter")
    widget.hits.first.wait_for()


def test_key_is_sent_as_header(fake: Server, visit: Visit) -> None:
    headers = {"Access-Control-Allow-Headers": "x-api-key"}
    fake.answer = lambda sent: cors(Reply(headers=headers)) if sent.method == "OPTIONS" else answer(passage("A twin."))
    widget = visit({"endpoint": f"{fake.url}/", "key": "k-1"}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    assert [request.headers.get("x-api-key") for request in fake.requests if request.method == "GET"] == ["k-1"]


def test_nothing_is_sent_or_stored_before_typing(fake: Server, site: Site, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url, "questions": "What is a twin?"}).open()
    widget.page.keyboard.press("ArrowDown")
    widget.page.keyboard.press("Escape")
    assert fake.requests == []
    stored = "[document.cookie, localStorage.length, sessionStorage.length]"
    assert widget.page.evaluate(stored) == ["", 0, 0]
    assert [request.path for request in site.requests] == ["/guide/", "/web/passage-chat.js"]


def test_events_tell_the_site_what_happened(fake: Server, visit: Visit) -> None:
    record = """window.told = [];
    for (const name of ['open', 'answer', 'fault', 'feedback', 'close'])
        addEventListener(`passage-${name}`, ({detail}) =>
            told.push([name, detail.question ?? detail.helpful ?? null]));"""
    fake.answer = lambda _: answer(passage("A twin."))
    widget = visit({"endpoint": fake.url}, before=record).open().ask("what is a twin")
    widget.tool("Helpful").click()
    widget.page.keyboard.press("Escape")
    assert widget.page.evaluate("told") == [
        ["open", None],
        ["answer", "what is a twin"],
        ["feedback", True],
        ["close", None],
    ]


def test_print_hides_the_widget(fake: Server, visit: Visit) -> None:
    widget = visit({"endpoint": fake.url})
    widget.page.emulate_media(media="print")
    assert not widget.launcher.is_visible()
