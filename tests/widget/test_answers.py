"""The widget against `passage serve` from another origin."""

import re

import pytest

from handler.config import profiles
from widget.conftest import Visit
from widget.servers import Server, answer, passage

TWIN = "What is a digital twin?"


@pytest.mark.parametrize("profile", profiles.names())
def test_passages_of_every_contract_are_shown(profile: str, api: str, visit: Visit) -> None:
    widget = visit({"endpoint": api, "profile": profile}).open().ask(TWIN)
    assert widget.hits.first.locator(".fit").inner_text() == "Best match"
    for hit in widget.hits.all():
        address, fragment = (hit.get_attribute("href") or "").split(":~:text=")
        page, _, section = address.removeprefix("https://physical-ai.example/").partition("#")
        # The section's title gives its anchor; it comes from the answer, or from the anchor.
        assert re.sub(r"[^a-z0-9]+", "-", hit.locator(".title").inner_text().lower()).strip("-") == section
        assert page.endswith("/")
        assert fragment
    assert "twin" in widget.hits.locator("mark").all_inner_texts()
    assert widget.violations() == []


@pytest.mark.parametrize(
    ("scores", "fits"),
    [
        ([0.9, 0.8, 0.6, 0.1], ["Best match", "Good match", "Related", "Loosely related"]),
        ([0.5, 0.2, 0.4], ["Best match", "Related", "Related"]),  # the order follows more than the score
        ([0.1, 0.05], ["Loosely related", "Loosely related"]),
    ],
)
def test_fit_is_shown_in_words(scores: list[float], fits: list[str], fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: answer(*[passage("A twin.", score=score) for score in scores])
    widget = visit({"endpoint": fake.url}).open().ask(TWIN)
    widget.hits.first.wait_for()
    assert widget.hits.locator(".fit").all_inner_texts() == fits


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
    assert widget.page.locator("passage-chat mark").all_inner_texts() == question.split()


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
    "a bar in a sentence": ("A digital twin | a copy.", "A digital twin | a copy."),
}


@pytest.mark.parametrize("text", SNIPPETS)
def test_snippet_is_readable(text: str, fake: Server, visit: Visit) -> None:
    given, shown = SNIPPETS[text]
    fake.answer = lambda _: answer(passage(given))
    widget = visit({"endpoint": fake.url}).open().ask(TWIN)
    assert widget.hits.first.locator(".text").inner_text() == shown
