"""Intervals, the comparison of two runs, and the proposed threshold."""

import math
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passage.evaluation import intervals
from passage.evaluation.compare import compare, compare_pairs, compare_several, holm, randomisation
from passage.evaluation.intervals import bootstrap, estimate, share
from passage.evaluation.measured_run import propose_threshold
from passage.evaluation.measures import Measures, measure


def measures(hits: str) -> Measures:
    """A run whose question `i` finds its page first if `hits[i]` is `+`, third if it is `~`, else never."""
    rankings = {"+": ["page"], "~": ["x", "y", "page"], "-": ["x"]}
    questions = {f"q{number}": rankings[hit] for number, hit in enumerate(hits)}
    return measure({question: {"page": 1} for question in questions}, questions)


def test_share_has_wilsons_interval() -> None:
    interval = share(99, 100)
    assert (round(interval.low, 3), round(interval.high, 3)) == (0.946, 0.998)


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert bootstrap([0.5] * 20) == (0.5, 0.5)
    assert estimate([0.5] * 20).low == 0.5


def test_large_suite_needs_little_memory() -> None:
    """All resamples of 1,000 questions at once take 600 MB."""
    values = [0.1, -0.2, 0.3, 0.0] * 250
    compare_pairs("MRR", {"q": 1.0}, {"q": 0.0})  # imports the libraries
    tracemalloc.start()
    try:
        assert randomisation(values) < 0.05
        bootstrap(values)
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("number", [7, 40])
def test_size_of_a_batch_changes_no_result(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    values = [(place % 7 - 2) / 10 for place in range(number)]
    before = randomisation(values), bootstrap(values)
    monkeypatch.setattr(intervals, "DRAWN", 333)
    assert (randomisation(values), bootstrap(values)) == before


def test_difference_counts_wins_ties_and_losses() -> None:
    compared = {each.measure: each for each in compare(measures("++++~-"), measures("+~~-+-"))}["MRR"]
    assert (compared.wins, compared.ties, compared.losses) == (3, 2, 1)
    assert compared.difference.value == pytest.approx((2 / 3 + 2 / 3 + 1 - 2 / 3) / 6)
    assert compared.verdict == "cannot be decided"


def test_six_differing_questions_can_be_decided_and_five_cannot() -> None:
    five = compare(measures("+" * 30), measures("-" * 5 + "+" * 25))[0]
    assert (five.p, five.verdict) == (None, "cannot be decided")
    six = compare(measures("+" * 30), measures("-" * 6 + "+" * 24))[0]
    assert six.p == pytest.approx(2 / 64, abs=0.01)
    assert six.verdict == "better"
    assert compare(measures("-" * 6 + "+" * 24), measures("+" * 30))[0].verdict == "worse"


def test_balanced_differences_show_no_difference() -> None:
    assert compare(measures("+-" * 10), measures("-+" * 10))[0].verdict == "no difference shown"


def test_holm_of_a_known_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_several_runs_are_corrected_together() -> None:
    baseline = measures("-" * 7 + "+" * 20)
    alone = compare(measures("+" * 27), baseline)[0].p
    corrected = compare_several({"one": measures("+" * 27), "two": measures("+" * 27)}, baseline)["one"][0].p
    assert alone is not None
    assert corrected == pytest.approx(2 * alone)


def test_undecided_run_takes_no_part_in_the_correction() -> None:
    baseline = measures("-" * 7 + "+" * 20)
    rows = compare_several({"same": baseline, "better": measures("+" * 27)}, baseline)
    assert rows["same"][0].p is None
    assert rows["better"][0].p == compare(measures("+" * 27), baseline)[0].p


@given(st.lists(st.floats(0, 1), min_size=1))
def test_holm_is_never_below_the_p_given_and_keeps_the_order(given_p: list[float]) -> None:
    corrected = holm(given_p)
    assert all(p <= c <= 1 for p, c in zip(given_p, corrected, strict=True))
    ordered = [corrected[index] for index in sorted(range(len(given_p)), key=given_p.__getitem__)]
    assert ordered == sorted(ordered)


@pytest.mark.parametrize(("p", "shown"), [(None, ""), (0.0002, "< 0.001"), (0.001, "0.0010"), (0.0499, "0.0499")])
def test_p_is_shown_as_0_in_no_place(p: float | None, shown: str) -> None:
    assert replace(compare_pairs("m", {"q": 1.0}, {"q": 0.0}), p=p).shown_p == shown


def test_randomisation_of_one_sided_differences() -> None:
    # Of 2^10 signs, only all + and all - are as extreme.
    assert randomisation([1.0] * 10) == pytest.approx(2 / 1024, abs=0.001)


def test_swapped_runs_mirror_the_difference() -> None:
    values = {f"q{number}": number / 20 for number in range(20)}
    others = {f"q{number}": (number * 7 % 20) / 20 for number in range(20)}
    forth, back = compare_pairs("m", values, others), compare_pairs("m", others, values)
    assert (forth.wins, forth.losses) == (back.losses, back.wins)
    assert forth.difference.value == pytest.approx(-back.difference.value)


def test_threshold_keeps_95_of_100_own_questions() -> None:
    found = propose_threshold([number / 100 for number in range(1, 101)], [0.01, 0.04, 0.2])
    assert found.proposed.threshold == pytest.approx(0.06)
    assert found.proposed.kept == 0.95
    assert found.proposed.rejected == pytest.approx(2 / 3)


def test_no_off_topic_questions_give_no_rejected_share() -> None:
    found = propose_threshold([0.5, 0.6], [])
    assert found.proposed.rejected is None
    assert {point.rejected for point in found.curve} == {None}


def test_threshold_without_own_questions_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one question"):
        propose_threshold([], [0.1])


scores = st.lists(st.floats(0, 1), min_size=1, max_size=60)


@given(scores, scores)
def test_threshold_keeps_its_share_and_curves_are_monotonic(own: list[float], off: list[float]) -> None:
    found = propose_threshold(own, off)
    assert found.proposed.kept >= 0.95
    assert sum(score >= found.proposed.threshold + 0.002 for score in own) <= math.ceil(0.95 * len(own))
    kept = [point.kept for point in found.curve]
    rejected = [point.rejected or 0 for point in found.curve]
    assert kept == sorted(kept, reverse=True)
    assert rejected == sorted(rejected)
