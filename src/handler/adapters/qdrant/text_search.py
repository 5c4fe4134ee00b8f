"""Searches by text, for both stores: the index that ranks, and the points of hybrid searches.

Qdrant ranks by BM25 since 1.20, over a payload's text index with `scoring`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from handler.adapters.qdrant.payload import Hit, Scored, Stored, identity, stages, threshold
from handler.config.payload_keys import RANKED_KEY, TITLES_KEY, is_ranked, ranked_key
from handler.config.profiles import Profile
from handler.core.errors import NoTextIndex
from handler.core.fusion import fuse
from handler.core.model import Noise, PointId, Search, Stage
from handler.core.words import indexed_words

LONGEST_PREFIX = 10
"""The characters of a word that a search in titles compares. Each beginning of a word is a term of the index."""

SPARE = 5
"""How many points a search finds beyond the requested ones. Qdrant orders equal scores at random, also at the end of a
list; Passage keeps those with the lowest ids."""


@dataclass(frozen=True)
class TextSearch:
    """How to search a collection by text and by vectors.

    Attributes:
        field: the payload key whose text index ranks.
        balance: how much vectors count against words, from 0 to 1.
        shards: of the collection. Each gives its own candidates.
        by_language: the keys that hold the text of one language each, with an index of their own.
        titles: whether titles have an index of their own.
    """

    field: str
    balance: float
    shards: int = 1
    by_language: frozenset[str] = frozenset()
    titles: bool = False

    @classmethod
    def of(
        cls, profile: Profile, indexes: Mapping[str, Mapping[str, Any] | None], embedded_by: str = "", shards: int = 1
    ) -> "TextSearch | None":
        """How to search a collection that has these payload indexes; None if no text has an index with scoring.

        Args:
            indexes: the parameters of each index in Qdrant's REST form, by payload key.
            embedded_by: the service that embedded the texts, which the balance depends on; empty if it is not known.
        """
        ranking = [key for key, index in indexes.items() if index and index.get("scoring") is True]
        field = next((key for key in (RANKED_KEY, *profile.payload.keys("text")) if key in ranking), None)
        if field is None:
            return None
        languages = frozenset(key for key in ranking if is_ranked(key) and key not in (RANKED_KEY, TITLES_KEY))
        return cls(field, profile.search.balance_for(embedded_by), shards, languages, TITLES_KEY in ranking)

    def key(self, search: Search) -> str:
        """The payload key that ranks a search: the language's own if its filter names one language, else `field`.

        The filter keeps passages of other languages out anyway, so the language's index lacks none of the answer.
        """
        named = search.filters.get("language")
        keys = {ranked_key(str(value)) for value in named} if isinstance(named, tuple) else set()
        return keys.pop() if len(keys) == 1 and keys <= self.by_language else self.field


def definition(language: str, tokenizer: str = "word") -> dict[str, Any]:
    """A text index in Qdrant's REST form (Qdrant, API reference, "Create payload index").

    Args:
        language: Qdrant's name for the stemmer and stop words; empty for none.
        tokenizer: Qdrant's name. With "prefix", each word is found by its beginning, as in `retr` for Retries.
    """
    words: dict[str, Any] = {"type": "text", "tokenizer": tokenizer, "lowercase": True, "ascii_folding": True}
    words["scoring"] = True
    if tokenizer == "prefix":
        words |= {"min_token_len": 1, "max_token_len": LONGEST_PREFIX}
    if language:
        words["stemmer"] = {"type": "snowball", "language": language}
        words["stopwords"] = {"languages": [language]}
    return words


def asked_words(key: str, question: str) -> str:
    """A question in the form in which a text index under that key has its words: Passage's own, or as it is."""
    return indexed_words(question) if is_ranked(key) else question


def noise_of(profile: Profile, stored: object) -> Noise | None:
    """The noise of a collection: the profile's, else the one stored with it; None without either.

    Args:
        stored: as `passage index` wrote it. It holds for the model that embedded its questions.
    """
    if profile.noise is not None:
        return Noise(profile.noise.p50, profile.noise.p90)
    if not isinstance(stored, Mapping) or stored.get("model") != profile.embedding.model:
        return None
    p50, p90 = stored.get("p50"), stored.get("p90")
    return Noise(p50, p90) if isinstance(p50, float) and isinstance(p90, float) else None


def field_without_vector(search: Search, by_text: TextSearch | None, collection: str) -> str:
    """The payload key whose text index ranks a search without a vector.

    Raises:
        NoTextIndex: the collection has none.
    """
    if by_text is not None and search.by == "words":
        return by_text.key(search)
    if by_text is not None and by_text.titles:
        return TITLES_KEY
    raise NoTextIndex(
        f"The collection '{collection}' cannot be searched by {search.by}: it has no text index with scoring for that. "
        "`passage index` writes one; docs/search.md says how to add one to another collection.",
        upstream="store",
    )


def candidates(search: Search, least: int) -> int:
    """How many points a search by words or by vectors finds to choose from, at least `least`."""
    return max(least, search.top_k + SPARE)


def fuse_points(
    dense: Sequence[Scored], by_words: Sequence[Scored], similar: Iterable[Scored], search: Search, balance: float
) -> tuple[list[Hit], Mapping[str, Stage]]:
    """The best points of a hybrid search, best first, each with its similarity as its score; and the stages.

    Args:
        dense, by_words: what the searches by vectors and by words found, best first.
        similar: the similarities of what words found.
        balance: see `handler.core.fusion`.
    """
    points = {point.id: point for point in (*by_words, *dense)}
    # A point may be written between two searches. Without a similarity it is skipped, like any invalid point.
    similarities = {point.id: point.score for point in (*similar, *dense)}
    ranked = fuse(
        {key: similarities.get(key, math.nan) for key in points},
        {point.id: point.score for point in by_words},
        balance,
    )
    least = threshold(search.score_threshold)
    above = (
        _hit(points[key], similarities.get(key, math.nan), one.score)
        for key, one in ranked.items()
        if least is None or similarities.get(key, math.nan) > least
    )
    hits = list(islice(above, search.top_k))
    if not search.explain:
        return hits, {}
    parts: Stage = tuple((identity(key), one._asdict()) for key, one in ranked.items())
    return hits, {**stages({"dense": dense, "text": by_words}), "fused": parts}


def best_by_words(points: Iterable[Scored], search: Search) -> list[Hit]:
    """The best points of a search by words, by BM25 and then by id. Their score is 0: they have no similarity."""
    hits = [_hit(point, 0.0, point.score) for point in points]
    hits.sort(key=lambda hit: (-(hit.fused or 0.0), isinstance(hit.id, str), hit.id))
    return hits[: search.top_k]


def _hit(point: Scored, similarity: float, score: float) -> Hit:
    return Hit(identity(point.id), similarity, point.payload, getattr(point, "vector", None), score)


def holders(words: Sequence[str], found: Iterable[Sequence[Stored]], most: int) -> Mapping[str, frozenset[PointId]]:
    """The points that have each word, without words that more than `most` points have.

    Args:
        found: for each word, points that have it: one more than `most`, or all.
    """
    return {
        word: frozenset(identity(point.id) for point in points)
        for word, points in zip(words, found, strict=True)
        if len(points) <= most
    }
