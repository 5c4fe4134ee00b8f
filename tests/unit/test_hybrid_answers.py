"""Every contract's promise about order holds after a hybrid search, whose list is not sorted by score."""

from dataclasses import replace
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit, read
from handler.config import profiles
from handler.contracts import registry
from handler.contracts.fields import clip
from handler.core.fusion import fuse
from unit.asking import answered, every_profile
from unit.strategies import bounded, passages
from unit.test_reranked_answers import SCORES

SORTED = {"query-response", "ranked", "chunks"}
"""The profiles whose seeds (000, 003, 004) promise descending scores."""


def fused(held: list[Hit]) -> list[Hit]:
    """The points as a hybrid search finds them: in this order, whatever their scores."""
    return [replace(hit, fused=1 / rank) for rank, hit in enumerate(held, start=1)]


@every_profile
@given(data=st.data(), count=st.integers(3, 8))
@bounded
def test_answer_has_the_best_of_the_fused_list_in_its_order(name: str, data: st.DataObject, count: int) -> None:
    profile = profiles.load(name)
    held = fused(data.draw(passages(profile, min_size=2).flatmap(st.permutations)))
    body: dict[str, Any] = answered(name, held, **{profile.query.count.names[0]: count})
    results, score = SCORES[name]
    best = [clip(passage.score) for passage in read(held, profile.payload).passages[:count]]
    expected = sorted(best, reverse=True) if name in SORTED else best
    assert [result[score] for result in body[results]] == expected


@every_profile
def test_contract_declares_the_order_its_seed_promises(name: str) -> None:
    assert registry.find(profiles.load(name)).order == ("score" if name in SORTED else "relevance")


scores = st.floats(-1, 1, width=32) | st.sampled_from([-0.5, 0.0, 0.25, 0.9])
two_lists = st.tuples(
    st.dictionaries(st.integers(1, 20), scores, min_size=1),
    st.dictionaries(st.integers(1, 20), st.floats(0, 40, width=32) | st.sampled_from([0.0, 7.5])),
)


@given(lists=two_lists, balance=st.floats(0, 1), shuffled=st.randoms())
@bounded
def test_fused_scores_are_0_to_1_and_in_one_order(
    lists: tuple[dict[int, float], dict[int, float]], balance: float, shuffled: Any
) -> None:
    """Whatever order the lists have. Balance 1 is the order of the cosines, balance 0 that of BM25."""
    cosines = {**dict.fromkeys(lists[1], 0.1), **lists[0]}
    bm25 = lists[1]
    fused = fuse(cosines, bm25, balance)
    assert fused.keys() == cosines.keys()
    assert all(0 <= part <= 1 for one in fused.values() for part in one)
    order = list(fused)
    assert order == sorted(fused, key=lambda one: (-fused[one].score, -cosines[one], one))
    items = list(cosines.items())
    shuffled.shuffle(items)
    assert list(fuse(dict(items), dict(reversed(bm25.items())), balance)) == order
    by_cosine = sorted(cosines, key=lambda one: (-cosines[one], one))
    assert list(fuse(cosines, bm25, 1)) == list(fuse(cosines, {}, balance)) == by_cosine
    found = list(fuse(cosines, bm25, 0))
    assert [bm25.get(one, 0) for one in found] == sorted((bm25.get(one, 0) for one in found), reverse=True)


@pytest.mark.parametrize(
    ("similarities", "bm25", "expected"),
    [
        ({1: 0.8, 2: 0.2, 3: 0.5}, {3: 10.0, 2: 5.0}, {3: (0.8, 0.5, 1.0), 1: (0.4, 1.0, 0.0), 2: (0.3, 0.0, 0.5)}),
        ({1: -0.5, 2: -0.1}, {}, {2: (0.4, 1.0, 0.0), 1: (0.0, 0.0, 0.0)}),
        ({2: 0.3, 1: 0.3}, {}, {1: (0.4, 1.0, 0.0), 2: (0.4, 1.0, 0.0)}),
        ({1: 0.3}, {1: 2.0}, {1: (1.0, 1.0, 1.0)}),
        ({1: 250.0, 2: 50.0, "a": 150.0}, {}, {1: (0.4, 1.0, 0.0), "a": (0.2, 0.5, 0.0), 2: (0.0, 0.0, 0.0)}),
        ({1: 0.5, 2: nan}, {2: 3.0}, {2: (0.6, 0.0, 1.0), 1: (0.4, 1.0, 0.0)}),
        ({}, {}, {}),
    ],
    ids=["both", "negative", "equal", "one", "dot products", "no similarity", "nothing"],
)
def test_score_is_the_balanced_sum_of_both_parts(similarities: Any, bm25: Any, expected: Any) -> None:
    fused = fuse(similarities, bm25, 0.4)
    assert list(fused) == list(expected)
    assert all(tuple(fused[one]) == pytest.approx(parts) for one, parts in expected.items())
