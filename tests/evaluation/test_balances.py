"""Balances tried on a run: the order of each, which are better, and what a run must have for it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from handler.core.fusion import fuse
from passage.evaluation.balances import rank_passages, try_balances
from passage.evaluation.run import Run, SavedAnswer, SavedHit
from passage.evaluation.suite import Expected, Suite, SuiteQuestion

WORDS = {"a": (1.0, 0.0), "b": (0.9, 0.1), "right": (0.0, 1.0)}
"""Passages with their parts by vectors and by words. The right one has the question's words."""
BOTH = {"right": (1.0, 1.0), "a": (0.5, 0.5)}


def explained(
    number: int, parts: Mapping[str, tuple[float, float]], **changes: Any
) -> tuple[SuiteQuestion, SavedAnswer]:
    """A question whose only right page is `right`, and what the search found, asked with the balance 0.9."""
    question = SuiteQuestion(f"q{number}", "What?", (Expected("https://s.example/right", "url"),))
    passages = [
        {
            "id": name,
            "url": f"https://s.example/{name}",
            "stages": {"fused": {"rank": 1, "score": 0.5, "vectors": vectors, "words": words}},
        }
        for name, (vectors, words) in parts.items()
    ]
    debug = {"mode": "hybrid", "balance": 0.9, "passages": passages, **changes}
    return question, SavedAnswer(question.id, (), 1.0, debug=debug)


def run_of(*pairs: tuple[SuiteQuestion, SavedAnswer]) -> Run:
    questions, answers = zip(*pairs, strict=True)
    return Run(Suite("suite", questions), answers, "local", "query-response", 10, 50)


def words_win(count: int) -> Run:
    return run_of(*(explained(number, WORDS) for number in range(count)))


def test_ranking_is_that_of_the_search() -> None:
    similarities, bm25 = {"a": 0.9, "b": 0.6, "c": 0.6, "d": 0.1}, {"d": 8.0, "c": 4.0, "b": 4.0}
    parts = {str(one): (found.vectors, found.words) for one, found in fuse(similarities, bm25, 0.5).items()}
    for balance in (0.0, 0.3, 0.5, 1.0):
        assert rank_passages(parts, balance) == list(fuse(similarities, bm25, balance))


def test_better_balances_are_named() -> None:
    found = try_balances(words_win(40))
    assert found is not None
    assert (found.current, found.was, found.unknown) == (0.9, 0.5, 0)
    assert [trial.balance for trial in found.better] == [0.0, 0.1, 0.2, 0.3, 0.4]
    assert found.better[0].value == 1.0


@pytest.mark.parametrize(
    "expected", [Expected("right_0"), Expected("right_0", "chunk"), Expected("right"), Expected("right", "id")]
)
def test_balances_are_tried_for_any_kind_of_document(expected: Expected) -> None:
    """`debug` shows a passage's point id and URL, and only the answer its chunk id."""
    pairs = []
    for question, answer in words_win(40).pairs():
        names = ("a", "right", "b", "d")
        hits = [
            SavedHit(at, name, f"{name}_0", f"https://s.example/{name}", "", 0.5, "")
            for at, name in enumerate(names, 1)
        ]
        pairs.append((replace(question, expected=(expected,)), replace(answer, results=tuple(hits))))
    found = try_balances(run_of(*pairs))
    assert found is not None
    assert found.better[0].value == 1.0 > found.was


def test_none_is_better_where_all_are_equal() -> None:
    found = try_balances(run_of(*(explained(number, BOTH) for number in range(40))))
    assert found is not None
    assert {trial.value for trial in found.trials} == {1.0}
    assert found.better == ()


def test_balance_that_helps_one_question_is_not_better() -> None:
    found = try_balances(run_of(explained(0, WORDS), *(explained(number, BOTH) for number in range(1, 40))))
    assert found is not None
    assert found.trials[0].value > found.was
    assert found.better == ()


@pytest.mark.parametrize(
    "run",
    [
        words_win(19),
        run_of(*((question, replace(answer, debug=None)) for question, answer in words_win(40).pairs())),
        run_of(*(explained(number, BOTH, mode="dense", balance=None) for number in range(40))),
        run_of(*((replace(question, expected=()), answer) for question, answer in words_win(40).pairs())),
    ],
    ids=["few questions", "not explained", "dense search", "no judgments"],
)
def test_run_without_enough_data_tries_none(run: Run) -> None:
    assert try_balances(run) is None


def test_passage_without_a_page_is_counted() -> None:
    run = words_win(40)
    for answer in run.answers:
        assert answer.debug is not None
        del answer.debug["passages"][1]["url"]
    found = try_balances(run)
    assert found is not None
    assert found.unknown == pytest.approx(1 / 3)
