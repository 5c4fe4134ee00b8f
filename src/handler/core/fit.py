"""How well passages fit a question: `strong`, `good`, `weak` or `none`. Imported when a question asks for it.

A fit is the sum of two parts (docs/quality.md, "No clear answer", has the measured values behind the numbers here): the
place of the passage's cosine in the index's noise, 0 at its median and 1 at its 90th percentile; and `WORDS` times the
share of the question's rare words that stand in the passage.
"""

import re
from collections.abc import Mapping, Sequence

from handler.core.model import Fit, Noise, Passage, PointId
from handler.core.words import indexed_words

FITS: tuple[Fit, ...] = ("none", "weak", "good", "strong")
STRONG, GOOD, WEAK = 4.0, 2.75, 0.75
"""The least sums. A quarter of the rare words is `weak`, all of them are `good`, whatever the cosine is."""

WORDS = 3.0

RARE = 40
"""A word is rare if at most this many passages have it."""

MOST_WORDS, MOST_OF_BATCH = 32, 320
"""The most words of one question, and of a batch, that are looked up: each is a search of its own for the store."""

LEAST_BYTES = 4
"""A word that no passage has counts from this length in UTF-8. Shorter ones may be stop words, which no index has."""

LEAST_WIDTH = 0.001
"""The least difference of the two cosines that make a place: in a tiny index they can be equal."""

_WORD = re.compile(r"\w+(?:[.'_-]\w+)*")

Holders = Mapping[str, frozenset[PointId]]
"""The points that have a word. A word of more than `RARE` points is absent."""


def words(question: str) -> list[str]:
    """The question's words, each once, lower case, at most `MOST_WORDS`. Pairs stand for words without spaces."""
    found = _WORD.findall(question.lower())
    parts = (part for word in found for part in ([word] if word.isascii() else indexed_words(word).split()))
    return list(dict.fromkeys(parts))[:MOST_WORDS]


def fits(question: str, passages: Sequence[Passage], noise: Noise, holders: Holders) -> list[Fit]:
    """The fit of each passage of one answer, in its order; none is worse than one below it."""
    telling = [
        holders[word]
        for word in words(question)
        if word in holders and (holders[word] or len(word.encode()) >= LEAST_BYTES)
    ]
    places = _places(passages, noise)
    least: Fit = "none"
    upwards: list[Fit] = []
    for passage in reversed(passages):
        held = sum(passage.id in points for points in telling) / max(len(telling), 1)
        least = max(least, _name(places[passage.id] + WORDS * held), key=FITS.index)
        upwards.append(least)
    return upwards[::-1]


def _places(passages: Sequence[Passage], noise: Noise) -> Mapping[PointId, float]:
    """The place of each passage's cosine, by id: at least 0, and that of each passage the search ranks below it."""
    width = max(noise.p90 - noise.p50, LEAST_WIDTH)
    ranked = passages
    if all(passage.cosine is None for passage in passages):  # not reranked: an answer may be in the order of scores
        ranked = sorted(passages, key=lambda each: each.score if each.fused is None else each.fused, reverse=True)
    places: dict[PointId, float] = {}
    place = 0.0
    for passage in reversed(ranked):
        cosine = passage.score if passage.cosine is None else passage.cosine
        place = places[passage.id] = max(place, (cosine - noise.p50) / width)
    return places


def _name(total: float) -> Fit:
    return "strong" if total >= STRONG else "good" if total >= GOOD else "weak" if total >= WEAK else "none"
