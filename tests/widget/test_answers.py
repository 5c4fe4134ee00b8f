"""The widget against `passage serve` from another origin."""

import re
from typing import Any

import pytest

from handler.config import profiles
from widget.conftest import Visit
from widget.servers import Server, answer, passage

TWIN = "What is a digital twin?"


@pytest.mark.parametrize("profile", profiles.names())
def test_passages_of_every_contract_are_shown(profile: str, api: str, visit: Visit) -> None:
    widget = visit({"endpoint": api, "profile": profile}).open().ask(TWIN)
    assert widget.hits.first.locator(".fit").inner_text() == "Strong match"
    for hit in widget.hits.all():
        address, fragment = (hit.get_attribute("href") or "").split(":~:text=")
        page, _, section = address.removeprefix("https://physical-ai.example/").partition("#")
        # The section's title gives its anchor; it comes from the answer, or from the anchor.
        assert re.sub(r"[^a-z0-9]+", "-", hit.locator(".title").inner_text().lower()).strip("-") == section
        assert page.endswith("/")
        assert fragment
    assert "twin" in widget.hits.locator("mark").all_inner_texts()
    assert widget.violations() == []


@pytest.mark.parametrize("profile", profiles.names())
def test_question_within_a_part_of_the_site(profile: str, api: str, visit: Visit) -> None:
    part = "https://physical-ai.example/ros2/"
    widget = visit({"endpoint": api, "profile": profile, "within": part}).open().ask("What is a transform?")
    widget.hits.first.wait_for()
    assert [hit for hit in widget.hits.all() if not (hit.get_attribute("href") or "").startswith(part)] == []


@pytest.mark.parametrize(
    ("fits", "shown"),
    [
        (["strong", "good", "weak", "none"], ["Strong match", "Good match", "Loosely related"]),
        (["none", "none"], []),
        ([None, "best"], []),  # an index without noise; a word of another version
    ],
)
def test_fit_is_shown_in_words(fits: list[Any], shown: list[str], fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*[passage("A twin.", fit=fit) for fit in fits])
    widget = visit({"endpoint": fake.url}).open().ask(TWIN)
    widget.hits.first.wait_for()
    assert widget.hits.locator(".fit").all_inner_texts() == shown
    unclear = ["No clear answer. The nearest passages:"] if fits[0] == "none" else []
    assert widget.page.locator("passage-chat .lead").all_inner_texts() == unclear
    heard = widget.page.locator("passage-chat [role=status]").inner_text()
    assert heard == " ".join([*unclear, f"{len(fits)} passages"])


def test_nonsense_has_no_clear_answer(api: str, visit: Visit) -> None:
    widget = visit({"endpoint": api}).open().ask("Who painted the Mona Lisa?")
    widget.hits.first.wait_for()
    assert widget.page.locator("passage-chat .lead").inner_text() == "No clear answer. The nearest passages:"
    assert widget.violations() == []


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("What is a digital twin?", ["twins", "digital"]),
        ("How are cameras calibrated?", ["calibration", "camera", "camera"]),
        ("SKIP_BRIDGE in C++", ["SKIP_BRIDGE", "C++"]),
        ("assert_ x", ["assert_"]),
        ("机器人 传感器", ["机器"]),
    ],
)
def test_words_of_the_question_are_marked(question: str, marked: list[str], fake: Server, visit: Visit) -> None:
    text = "Twins are digital. The calibration of a camera. Set SKIP_BRIDGE in C++ code. Use assert_ here. 机器人。"
    text += " Run cameracalibrator."
    fake.answer = lambda _: answer(passage(text))
    widget = visit({"endpoint": fake.url}).open().ask(question)
    widget.hits.first.wait_for()
    found = widget.hits.locator("mark").all_inner_texts()
    assert [word.casefold() for word in found if word] == [word.casefold() for word in marked]


SIGNS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def test_question_with_any_sign_in_a_word_is_answered(fake: Server, visit: Visit) -> None:
    """A sign can have a meaning in the pattern that finds the words, as `-` and `+` do."""
    question = " ".join(f"wo{sign}rd" for sign in SIGNS)
    fake.answer = lambda _: answer(passage(f"It says {question} and more."))
    widget = visit({"endpoint": fake.url}).open().ask(question)
    widget.hits.first.wait_for()
    assert widget.hits.locator("mark").all_inner_texts() == question.split()


def test_lines_of_code_in_a_cell_are_lines(fake: Server, visit: Visit) -> None:
    table = "| Run | Use |\n| --- | --- |\n| `a`<br>`b` | `<br>` |"
    fake.answer = lambda _: answer(passage(f"The twins of a mill.\n\n{table}\n\nMore words about it."))
    widget = visit({"endpoint": fake.url}).open().ask("what is a twin")
    widget.hits.first.wait_for()
    widget.page.get_by_role("button", name="Whole passage").click()
    assert widget.page.locator("passage-chat td").all_inner_texts() == ["a\nb", "<br>"]


TABLE = """| Kind | To the twin | To the robot |
| :-- | --- | --: |
| Model | manual | |
| `Digital` twin | each a\\|b | |
"""
SNIPPETS = {
    "the cells after their columns' names": (f"Says little.\n\n{TABLE}", "Digital twin · To the twin: each a|b"),
    "without outer pipes": ("Kind | To\n--- | ---\ndigital twin | robot\nmodel | -", "digital twin · To: robot"),
    "cut, without a head": ("| model | none |\n| digital twin | manual |", "digital twin · manual"),
    "prose before a table": (f"A digital twin is a copy.\n\n{TABLE}", "A digital twin is a copy."),
    "lines of code": (
        "Says little.\n\n```\nimport x\ntwin(\n  digital)\n\n  run()\n```",
        "twin(\n  digital)\n\n  run()",
    ),
    "a sentence and the next": ("Less. A digital twin runs. It is a copy.", "… A digital twin runs. It is a copy."),
    "the command below a tab's label": (
        "How to get one.\n\n**Digital twin**\n\n```sh\napt-get install twin\n```\n\n**Model**\n\n```\nbrew\n```",
        "apt-get install twin",
    ),
    "a short sentence and the code below it": (
        "Some words.\n\nRun the digital twin:\n\n```\ntwin --up\n```\n\nThen wait.",
        "… Run the digital twin:\ntwin --up",
    ),
    "no mark of an admonition": (
        "Words.\n\n> **note**\n>\n> A digital twin copies in one direction.\n\n**warning**\n\nMore.",
        "… A digital twin copies in one direction.",
    ),
    "a label alone": ("**Digital twin**", "Digital twin"),
    "a bar in a sentence": ("A digital twin | a copy.", "A digital twin | a copy."),
}


@pytest.mark.parametrize("text", SNIPPETS)
def test_snippet_is_readable(text: str, fake: Server, visit: Visit) -> None:
    given, shown = SNIPPETS[text]
    fake.answer = lambda _: answer(passage(given))
    widget = visit({"endpoint": fake.url}).open().ask(TWIN)
    assert widget.hits.first.locator(".text").inner_text() == shown


def test_whole_passage_has_marks_and_names_its_place(fake: Server, visit: Visit) -> None:
    text = "First words. A **digital** twin follows.\n\n| `twin` | b |\n|---|---|\n| c | d |"
    fake.answer = lambda _: answer(passage(text) | {"title": "Guide", "headings": ["Models", "Twins"]})
    widget = visit({"endpoint": fake.url}).open().ask(TWIN)
    widget.tool("Whole passage").click()
    whole = widget.page.locator("passage-chat .passage")
    assert whole.locator("mark").all_inner_texts() == ["digital", "twin", "twin"]
    assert whole.locator("strong mark, code mark").count() == 2
    assert widget.hits.get_attribute("title") == "example.com/guide/page/#part"


def test_passages_of_one_page_stand_together(fake: Server, visit: Visit) -> None:
    urls = ("https://e.org/a#1", "https://e.org/b#1", "https://e.org/a#2", "https://e.org/c")
    fake.answer = lambda _: answer(*[passage("A twin.", url) | {"title": url[-3:]} for url in urls])
    widget = visit({"endpoint": fake.url}).open().ask(TWIN)
    widget.hits.first.wait_for()
    assert widget.hits.locator(".title").all_inner_texts() == ["a#1", "a#2", "b#1", "g/c"]
    assert widget.page.locator("passage-chat .same .title").all_inner_texts() == ["a#2"]


def test_half_a_character_hides_no_passage(fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(passage("A digital \ud83d twin."), passage("Another twin."))
    widget = visit({"endpoint": fake.url}).open().ask(TWIN)
    widget.hits.nth(1).wait_for()
    assert "digital%20%EF%BF%BD%20twin" in (widget.hits.first.get_attribute("href") or "")
