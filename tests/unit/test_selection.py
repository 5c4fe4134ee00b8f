"""The choice of an answer's passages: what must hold for any candidates and any options."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.core.model import Passage, Search, Selection
from handler.core.selection import (
    LAST,
    LEAST_OVERLAP,
    diversify,
    join,
    overlap,
    page_of,
    pool,
    select,
    with_neighbors,
)

WORDS = st.lists(st.integers(0, 10**6).map(lambda number: f"w{number:x}"), min_size=30, max_size=80, unique=True)


@st.composite
def candidates(draw: st.DrawFn) -> list[Passage]:
    """Passages by descending score, on a few pages, some with equal texts."""
    size = draw(st.integers(0, 12))
    scores = sorted(draw(st.lists(st.floats(-1, 1), min_size=size, max_size=size)), reverse=True)
    vectors = st.tuples(*[st.floats(-1, 1, width=16)] * 3)
    return [
        Passage(
            id=number,
            score=score,
            text=draw(st.sampled_from(["one", "two ", " two", "three", f"own {number}"])),
            url=f"https://x.example/{draw(st.integers(0, 3))}#{draw(st.integers(0, 2))}",
            headings=draw(st.sampled_from([("A",), ("A", "B")])),
            vector=draw(st.none() | vectors),
        )
        for number, score in enumerate(scores)
    ]


selections = st.builds(
    Selection,
    offset=st.none() | st.integers(0, 15),
    max_per_page=st.none() | st.integers(1, 3),
    diversity=st.floats(0, 1),
    unique=st.booleans(),
    by_section=st.booleans(),
)


def score(passage: Passage) -> float:
    return passage.score


@given(given=candidates(), selection=selections, top_k=st.integers(1, 15))
def test_no_passage_twice_and_every_rule_holds(given: list[Passage], selection: Selection, top_k: int) -> None:
    selected, dropped = select(given, selection, top_k, score)
    ids = [passage.id for passage in selected]
    assert len(set(ids)) == len(ids) <= top_k
    assert set(ids) <= {passage.id for passage in given}
    assert set(ids) | dropped.keys() == {passage.id for passage in given}, "each other one has a reason"
    assert not set(ids) & dropped.keys()
    if selection.max_per_page is not None:
        pages = [page_of(passage.url) for passage in selected]
        assert all(pages.count(page) <= selection.max_per_page for page in pages)
    if selection.by_section:
        sections = [(passage.url, passage.headings) for passage in selected]
        assert len(set(sections)) == len(sections)
    if selection.unique:
        texts = [passage.text.split() for passage in selected]
        assert all(texts.count(text) == 1 for text in texts)


@given(given=candidates(), selection=selections, top_k=st.integers(1, 6))
def test_offset_pages_have_no_repeats_and_no_gaps(given: list[Passage], selection: Selection, top_k: int) -> None:
    def page(offset: int, size: int) -> list[Passage]:
        return list(select(given, _at(selection, offset), size, score)[0])

    whole = page(0, 100)
    pages = [passage for offset in range(0, len(whole) + top_k, top_k) for passage in page(offset, top_k)]
    assert pages == whole


def _at(selection: Selection, offset: int) -> Selection:
    return Selection(offset, selection.max_per_page, selection.diversity, selection.unique)


@given(given=candidates())
def test_diversity_0_keeps_the_order(given: list[Passage]) -> None:
    assert list(diversify(given, 0.0, score)) == given
    assert list(select(given, Selection(), 100, score)[0]) == given


@given(given=candidates(), diversity=st.floats(0, 1, exclude_max=True))
def test_diversity_permutes_and_keeps_the_most_relevant_first(given: list[Passage], diversity: float) -> None:
    ordered = diversify(given, diversity, score)
    assert sorted(passage.id for passage in ordered) == [passage.id for passage in given]  # type: ignore[type-var]  # ids are integers here
    if given:
        assert ordered[0].score == given[0].score


def test_diversity_prefers_a_different_passage() -> None:
    def passage(number: int, score: float, *vector: float) -> Passage:
        return Passage(id=number, score=score, text="", url="", vector=vector)

    first, same, other = passage(1, 1.0, 1, 0), passage(2, 0.9, 1, 0.01), passage(3, 0.5, 0, 1)
    last = passage(4, 0.0, 1, 1)
    assert [one.id for one in diversify([first, same, other, last], 0.1, score)][:2] == [1, 2]
    assert [one.id for one in diversify([first, same, other, last], 0.5, score)][:2] == [1, 3]


@given(words=WORDS, data=st.data())
def test_joined_chunks_repeat_nothing_and_miss_nothing(words: list[str], data: st.DataObject) -> None:
    """A text cut with overlaps, as indexers cut it, comes back whole."""
    cuts = sorted(data.draw(st.sets(st.integers(12, len(words) - 12), max_size=3)))
    shared = data.draw(st.integers(LEAST_OVERLAP // 2, 11))
    starts = [0, *(cut - shared for cut in cuts)]
    ends = [*cuts, len(words)]
    chunks = [" ".join(words[start:end]) for start, end in zip(starts, ends, strict=True)]
    if all(end - start > shared for start, end in zip(starts, ends, strict=True)):
        assert join(chunks) == " ".join(words)


@given(before=st.text(max_size=60), after=st.text(max_size=60))
def test_joined_text_contains_every_chunk(before: str, after: str) -> None:
    whole = join([before, after])
    assert before.rstrip() in whole
    assert after.lstrip() in whole
    assert overlap(before, after) in (0, *range(LEAST_OVERLAP, 61))


@given(index=st.integers(0, 9), reach=st.integers(1, 3), held=st.sets(st.integers(0, 9)))
def test_neighbors_are_the_consecutive_chunks_of_the_page(index: int, reach: int, held: set[int]) -> None:
    def chunk(at: int, page: str = "a") -> Passage:
        return Passage(id=f"{page}{at}", score=0, text=f"chunk {at} of {page}.", url=f"{page}#s{at}", index=at)

    others = [chunk(at, page) for at in held for page in ("a", "b")]
    expanded = with_neighbors(chunk(index), others, reach).expanded
    assert expanded is not None
    texts = expanded.split("\n\n")
    numbers = [int(text.split()[1]) for text in texts]
    assert index in numbers
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert all(text.endswith("of a.") for text in texts)
    for at in (index - 1, index + 1):
        assert (at in numbers) == (at in held)
    assert all(abs(at - index) <= reach for at in numbers)


def test_passage_without_a_position_has_no_neighbors() -> None:
    passage = Passage(id=1, score=1, text="a", url="u")
    assert with_neighbors(passage, [passage], 3) is passage


@pytest.mark.parametrize(
    ("selection", "reranked", "size"),
    [
        (Selection(neighbors=2), False, 5),
        (Selection(max_per_page=1), False, 50),
        (Selection(unique=True), True, 5),
        (Selection(diversity=0.5), False, 50),
        (Selection(diversity=0.5, offset=10), False, 50),
        (Selection(offset=10, unique=True), False, LAST),
    ],
)
def test_pool_size(selection: Selection, reranked: bool, size: int) -> None:
    search = pool(Search(top_k=5), selection, 50, reranked=reranked)
    assert search.top_k == size
    assert search.with_vectors == (selection.diversity > 0)


@given(offset=st.integers(0, LAST), other=st.integers(0, LAST), top_k=st.integers(1, 100), selection=selections)
def test_pool_is_the_same_for_every_offset(offset: int, other: int, top_k: int, selection: Selection) -> None:
    search = Search(top_k=top_k)
    one = pool(search, _at(selection, offset), 50, reranked=False)
    assert one == pool(search, _at(selection, other), 50, reranked=False)
    assert math.isfinite(one.top_k)
