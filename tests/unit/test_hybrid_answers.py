"""Every contract's promise about order holds after a hybrid search, whose list is not sorted by score."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit, best_fused, candidates, read
from handler.config import profiles
from handler.contracts import registry
from handler.contracts.fields import clip
from handler.core.model import Search
from unit.asking import NAMES, answered
from unit.strategies import bounded, passages
from unit.test_reranked_answers import SCORES

every_profile = pytest.mark.parametrize("name", NAMES)
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


points = st.dictionaries(st.integers(1, 50), st.sampled_from([0.5, 1.0, 1.5]), min_size=1).map(
    lambda scores: list(scores.items())
)


@given(points=points, top_k=st.integers(1, 10), shuffled=st.randoms())
@bounded
def test_equal_fused_scores_are_in_the_order_of_ids(points: list[tuple[int, float]], top_k: int, shuffled: Any) -> None:
    similar = {identity: identity / 100 for identity, _ in points}
    found = [Hit(identity, score, {}) for identity, score in points]
    expected = [(hit.id, hit.fused) for hit in best_fused(found, similar, Search(top_k))]
    shuffled.shuffle(found)
    assert [(hit.id, hit.fused) for hit in best_fused(found, similar, Search(top_k))] == expected
    assert expected == [(i, s) for i, s in sorted(points, key=lambda one: (-one[1], one[0]))][:top_k]


@pytest.mark.parametrize(
    ("search", "least", "lists"),
    [(Search(5), 50, (50, 10)), (Search(100), 50, (105, 105)), (Search(5, score_threshold=0.3), 50, (50, 100))],
)
def test_lists_are_long_enough_for_what_is_asked(search: Search, least: int, lists: tuple[int, int]) -> None:
    assert candidates(search, least) == lists
