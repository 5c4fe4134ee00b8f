"""Chooses an answer's passages among the candidates: one a text or section, a few a page, diverse, from an offset.

Pure functions. Imported when a question asks for one of these.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from math import hypot, inf
from operator import mul

from handler.core.model import Passage, PointId, Search, Selection, Vector

if sys.version_info >= (3, 12):
    from math import sumprod
else:

    def sumprod(p: Vector, q: Vector, /) -> float:
        """The dot product."""
        return float(sum(map(mul, p, q)))


LAST = 200
"""How far a caller can page. Every page is cut from the same list of this many passages."""

POOL_FACTOR = 2
"""Candidates per requested passage where a rule may drop some of them."""

LEAST_OVERLAP = 20
"""The fewest characters that count as the overlap of two chunks. Fewer can be equal by chance."""

CODE_SEAM = re.compile(r"\n[ \t]*(`{3,}|~{3,})\n\n[ \t]*\*\(continues\)\*\s+\*\(continued\)\*\n\n[ \t]*\1[^\n]*\n")
"""Where `passage index` cut a long code block: from a part's closing fence to the opening one of the next."""

BREAK = "\n\n"
"""Stands between chunks that do not overlap: a blank line, as between two blocks of Markdown."""


def pool(search: Search, selection: Selection, candidates: int, *, reranked: bool) -> Search:
    """The search that finds enough candidates to choose from.

    The number does not depend on the offset: pages of different pools could repeat or miss a passage.

    Args:
        candidates: how many to find for a rule that may drop some.
        reranked: whether a reranker sets the number itself, as each candidate costs.
    """
    size = search.top_k
    if reranked:
        pass
    elif selection.diversity:
        size = max(size, candidates)
    elif selection.offset is not None:
        size = LAST
    elif selection.max_per_page is not None or selection.unique or selection.by_section:
        size = max(size * POOL_FACTOR, candidates)
    return replace(search, top_k=size, with_vectors=search.with_vectors or selection.diversity > 0)


def select(
    candidates: Sequence[Passage], selection: Selection, top_k: int, relevance: Callable[[Passage], float]
) -> tuple[tuple[Passage, ...], dict[PointId, str]]:
    """Choose at most `top_k` of the candidates; with them, why each of the others is dropped.

    Args:
        candidates: best first, none twice; with vectors where diversity is asked for.
        relevance: the score by which the candidates are ordered.
    """
    dropped: dict[PointId, str] = {}
    kept: Sequence[Passage] = candidates
    if selection.unique:
        # White space does not count.
        kept = few_each(kept, 1, lambda each: " ".join(each.text.split()), "same text as {first}", dropped)
    if selection.diversity:
        kept = diversify(kept, selection.diversity, relevance)
    if selection.by_section:
        kept = few_each(kept, 1, lambda each: (each.url, each.headings), "more than 1 of its section", dropped)
    if selection.max_per_page is not None:
        most = selection.max_per_page
        kept = few_each(kept, most, lambda each: page_of(each.url), f"more than {most} of its page", dropped)
    first = selection.offset or 0
    dropped |= {passage.id: "before the offset" for passage in kept[:first]}
    dropped |= {passage.id: "after the last result" for passage in kept[first + top_k :]}
    return tuple(kept[first : first + top_k]), dropped


def few_each(
    passages: Sequence[Passage],
    most: int,
    group: Callable[[Passage], Hashable],
    reason: str,
    dropped: dict[PointId, str],
) -> list[Passage]:
    """At most `most` passages of each group, the best ones; the others are added to `dropped` with the reason.

    Args:
        reason: may name the best passage's id as `{first}`.
    """
    groups: dict[Hashable, list[PointId]] = defaultdict(list)
    kept = []
    for passage in passages:
        ids = groups[group(passage)]
        ids.append(passage.id)
        if len(ids) <= most:
            kept.append(passage)
        else:
            dropped[passage.id] = reason.format(first=ids[0])
    return kept


def page_of(url: str) -> str:
    """A URL without its fragment."""
    return url.partition("#")[0]


def diversify(
    passages: Sequence[Passage], diversity: float, relevance: Callable[[Passage], float]
) -> Sequence[Passage]:
    """The passages by maximal marginal relevance (Carbonell and Goldstein, 1998).

    Each next passage has the most `(1 - diversity) * relevance - diversity * similarity`: its relevance, scaled to
    0…1 over the passages, and its greatest cosine to a passage before it. A passage without a vector resembles none.
    """
    if not diversity or len(passages) < 2:
        return passages
    scores = [relevance(passage) for passage in passages]
    low, span = min(scores), (max(scores) - min(scores)) or 1.0
    worth = [(1 - diversity) * (score - low) / span for score in scores]
    directions = [_direction(passage.vector) for passage in passages]
    nearest = [0.0] * len(passages)
    left = list(range(len(passages)))
    order: list[int] = []
    while left:
        # max() returns the first of equals, which is the more relevant one.
        best = max(left, key=lambda one: worth[one] - diversity * nearest[one])
        left.remove(best)
        order.append(best)
        chosen = directions[best]
        if chosen:
            for other in left:
                if directions[other]:
                    nearest[other] = max(nearest[other], sumprod(chosen, directions[other]))
    return [passages[one] for one in order]


def _direction(vector: Vector | None) -> Sequence[float]:
    """The vector at length 1; empty without one."""
    length = hypot(*vector) if vector else 0.0
    return [number / length for number in vector] if vector and length else []


def with_neighbors(passage: Passage, others: Sequence[Passage], reach: int) -> Passage:
    """The passage with the text of the chunks of its page, among `others`, that are at most `reach` positions away."""
    if passage.index is None:
        return passage
    run = consecutive([passage, *others], passage.index, page_of(passage.url), reach)
    return replace(passage, expanded=join([chunk.text for chunk in run]))


def consecutive(chunks: Iterable[Passage], index: int, page: str, reach: float = inf) -> list[Passage]:
    """The chunks of a page around the position `index`, in order and without a gap; none if that one is absent.

    At most `reach` before it, and after. Of several chunks at one position, the first counts.
    """
    at: dict[int, Passage] = {}
    for chunk in chunks:
        if chunk.index is not None and page_of(chunk.url) == page:
            at.setdefault(chunk.index, chunk)
    if index not in at:
        return []
    first = last = index
    while first - 1 in at and index - first < reach:
        first -= 1
    while last + 1 in at and last - index < reach:
        last += 1
    return [at[place] for place in range(first, last + 1)]


def join(texts: Sequence[str]) -> str:
    """Consecutive chunks as one text. An overlap appears once, and a code block that was cut is whole again."""
    whole = texts[0]
    for text in texts[1:]:
        shared = overlap(whole, text)
        whole = whole + text[shared:] if shared else whole.rstrip() + BREAK + text.lstrip()
    return CODE_SEAM.sub(BREAK, whole)


def overlap(before: str, after: str) -> int:
    """How many characters at the end of `before` begin `after`; 0 where they are too few to be an overlap."""
    most = min(len(before), len(after))
    start = after[:LEAST_OVERLAP]
    if most < LEAST_OVERLAP:
        return 0
    place = before.find(start, len(before) - most)
    while place >= 0:
        if after.startswith(before[place:]):
            return len(before) - place
        place = before.find(start, place + 1)
    return 0
