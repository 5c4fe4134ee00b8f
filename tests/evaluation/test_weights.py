"""Proposed weights: the fusion's formula, and what a run must have for a proposal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from handler.config.providers import Fusion
from passage.evaluation.run import Run, SavedAnswer, SavedHit
from passage.evaluation.suite import Expected, Suite, SuiteQuestion
from passage.evaluation.weights import fuse, propose

CURRENT: Mapping[str, Any] = {"weights": [1.0, 0.31], "k": 2}


def explained(
    number: int, dense: Sequence[str], text: Sequence[str], **changes: Any
) -> tuple[SuiteQuestion, SavedAnswer]:
    """A question whose only right page is `right`, and the lists of its two searches."""
    question = SuiteQuestion(f"q{number}", "What?", (Expected("https://s.example/right", "url"),))
    passages = [
        {
            "id": name,
            "url": f"https://s.example/{name}",
            "stages": {
                stage: {"rank": found.index(name) + 1, "score": 0.5}
                for stage, found in (("dense", dense), ("text", text))
                if name in found
            },
        }
        for name in dict.fromkeys((*dense, *text))
    ]
    debug = {"mode": "hybrid", "fusion": CURRENT, "passages": passages, **changes}
    return question, SavedAnswer(question.id, (), 1.0, debug=debug)


def run_of(*pairs: tuple[SuiteQuestion, SavedAnswer]) -> Run:
    questions, answers = zip(*pairs, strict=True)
    return Run(Suite("suite", questions), answers, "local", "query-response", 10, 50)


def words_win(count: int) -> Run:
    """A run in which only the search by words finds the right page."""
    return run_of(*(explained(number, ["a", "b", "c"], ["right", "d", "e"]) for number in range(count)))


def test_fusion_adds_the_weighted_reciprocal_ranks() -> None:
    dense, text = {"a": 1, "b": 2}, {"b": 1, "c": 2}
    assert fuse(dense, text, Fusion((1.0, 3.1), 1)) == ["b", "c", "a"]
    assert fuse(dense, text, Fusion((3.1, 1.0), 1)) == ["a", "b", "c"]


def test_equal_scores_are_ordered_by_id() -> None:
    assert fuse({"b": 1}, {"a": 1}, Fusion((1.0, 1.0), 1)) == ["a", "b"]


def test_weights_that_help_are_proposed() -> None:
    found = propose(words_win(40))
    assert found is not None
    assert found.current == Fusion((1.0, 0.31), 2)
    assert found.proposed.weights[1] > 1
    assert found.value == 1.0 > found.was
    assert found.is_better
    assert found.unknown == 0


@pytest.mark.parametrize(
    "expected", [Expected("right_0"), Expected("right_0", "chunk"), Expected("right"), Expected("right", "id")]
)
def test_weights_are_proposed_for_any_kind_of_document(expected: Expected) -> None:
    """`debug` shows a passage's point id and URL, and only the answer its chunk id."""
    pairs = []
    for question, answer in words_win(40).pairs():
        names = ("a", "right", "b", "d")
        hits = [
            SavedHit(at, name, f"{name}_0", f"https://s.example/{name}", "", 0.5, "")
            for at, name in enumerate(names, 1)
        ]
        pairs.append((replace(question, expected=(expected,)), replace(answer, results=tuple(hits))))
    found = propose(run_of(*pairs))
    assert found is not None
    assert found.value == 1.0 > found.was


def test_current_weights_stay_where_none_are_better() -> None:
    found = propose(run_of(*(explained(number, ["right", "a"], ["right", "b"]) for number in range(40))))
    assert found is not None
    assert (found.value, found.was, found.is_better) == (1.0, 1.0, False)


def test_weights_that_help_one_question_are_not_proposed() -> None:
    pairs = [explained(number, ["right", "a"], ["right", "b"]) for number in range(40)]
    pairs[3] = explained(3, ["a", "b", "c"], ["right", "d", "e"])
    found = propose(run_of(*pairs))
    assert found is not None
    assert found.value > found.was
    assert not found.is_better


@pytest.mark.parametrize(
    "run",
    [
        words_win(19),
        run_of(*((question, replace(answer, debug=None)) for question, answer in words_win(40).pairs())),
        run_of(*(explained(number, ["a"], [], mode="dense") for number in range(40))),
        run_of(*((replace(question, expected=()), answer) for question, answer in words_win(40).pairs())),
    ],
    ids=["few questions", "not explained", "dense search", "no judgments"],
)
def test_run_without_enough_data_gets_no_weights(run: Run) -> None:
    assert propose(run) is None


def test_passage_without_a_page_is_counted() -> None:
    run = words_win(40)
    for answer in run.answers:
        assert answer.debug is not None
        del answer.debug["passages"][1]["url"]
    found = propose(run)
    assert found is not None
    assert found.unknown == pytest.approx(1 / 6)
