"""The measures of rankings: each known trap of metric libraries is a test."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passage.evaluation.measures import MeasureError, measure
from passage.evaluation.suite import HIGHEST_GRADE

DISCOUNT = [1 / math.log2(rank + 1) for rank in range(1, 11)]


def value(name: str, judgments: dict[str, dict[str, int]], rankings: dict[str, list[str]]) -> float:
    return measure(judgments, rankings)[name].mean


def test_order_given_counts_not_the_page_names() -> None:
    # trec_eval breaks ties by name, descending: "z" would be first for equal scores.
    assert value("MRR", {"q": {"a": 1}}, {"q": ["a", "z", "y"]}) == 1
    assert value("MRR", {"q": {"z": 1}}, {"q": ["a", "b", "z"]}) == pytest.approx(1 / 3)


def test_order_survives_more_results_than_float32_tells_apart() -> None:
    ranking = [f"d{number:04}" for number in range(3000)]
    assert value("MRR", {"q": {"d2999": 1}}, {"q": ranking}) == pytest.approx(1 / 3000)


def test_gain_is_linear_in_the_grade() -> None:
    ideal = 3 + DISCOUNT[1]
    assert value("nDCG@10", {"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}) == pytest.approx((1 + 3 * DISCOUNT[1]) / ideal)


@pytest.mark.parametrize("name", ["\ud800", "a\x00b", "", "\N{HANGUL SYLLABLE GA}", " "])
def test_any_text_may_name_a_question_and_a_page(name: str) -> None:
    assert measure({name: {name: 1}}, {name: ["a", name]})["MRR"].values == {name: 0.5}


def test_names_that_differ_after_a_nul_are_two_pages() -> None:
    assert value("MRR", {"q": {"a\x00b": 1}}, {"q": ["a\x00c", "a\x00b"]}) == 0.5


def test_question_with_only_grade_0_is_left_out_and_named() -> None:
    measures = measure({"q": {"a": 1}, "off": {"a": 0}}, {"q": ["a"], "off": ["a"]})
    assert measures.left_out == ("off",)
    assert measures["nDCG@10"].mean == 1


def test_page_found_twice_counts_at_its_first_place() -> None:
    assert value("nDCG@10", {"q": {"a": 1, "b": 1}}, {"q": ["a", "a", "a", "b"]}) == 1
    assert value("recall@5", {"q": {"b": 1}}, {"q": ["a"] * 7 + ["b"]}) == 1


def test_error_of_a_judged_question_is_refused_by_name() -> None:
    with pytest.raises(MeasureError, match=r"1 of 2 questions got an error.*\(r\)"):
        measure({"q": {"a": 1}, "r": {"b": 1}}, {"q": ["a"]}, errors=["r"])


def test_error_of_an_off_topic_question_changes_no_mean() -> None:
    assert measure({"q": {"a": 1}, "off": {}}, {"q": ["a"]}, errors=["off"])["MRR"].mean == 1


def test_no_relevant_page_at_all_is_refused() -> None:
    with pytest.raises(MeasureError, match="no question has a relevant page"):
        measure({"off": {"a": 0}}, {"off": ["a"]})


pages = st.sampled_from("abcdefgh")
judgments = st.dictionaries(st.text("qrst", min_size=1), st.dictionaries(pages, st.integers(0, 3)), min_size=1)


@given(judgments, st.data())
def test_each_judged_question_has_one_value_from_0_to_1(judged: dict[str, dict[str, int]], data: st.DataObject) -> None:
    rankings = {question: data.draw(st.lists(pages)) for question in judged if data.draw(st.booleans())}
    relevant = [question for question, grades in judged.items() if any(grades.values())]
    if not relevant:
        return
    measures = measure(judged, rankings)
    assert sorted([*measures.questions, *measures.left_out]) == sorted(judged)
    for measured in measures.measured:
        assert list(measured.values) == relevant
        assert all(0 <= each <= 1 + 1e-12 for each in measured.values.values())


@given(st.lists(pages, unique=True), st.sets(pages, min_size=1))
def test_values_agree_with_the_definitions(ranking: list[str], relevant: set[str]) -> None:
    measures = measure({"q": dict.fromkeys(relevant, 1)}, {"q": ranking}, k=3)
    found = [page in relevant for page in ranking]
    ideal = sum(DISCOUNT[: len(relevant)])
    assert measures["hit@3"].mean == any(found[:3])
    assert measures["recall@3"].mean == pytest.approx(sum(found[:3]) / len(relevant))
    assert measures["MRR"].mean == pytest.approx(1 / (found.index(True) + 1) if any(found) else 0)
    assert measures["nDCG@10"].mean == pytest.approx(
        sum(d for d, hit in zip(DISCOUNT, found, strict=False) if hit) / ideal
    )


def test_highest_grade_is_measured() -> None:
    """trec_eval crashes at a grade of 2^33."""
    best = measure({"q": {"a": 1, "b": HIGHEST_GRADE}}, {"q": ["b", "a"]})
    assert best["nDCG@10"].mean == 1.0
