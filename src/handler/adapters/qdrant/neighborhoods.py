"""Where the chunks around a passage are stored, for both stores. Imported when a question asks for neighbors."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from handler.adapters.qdrant.payload import CHUNK_FIELDS, fields
from handler.config.payload_keys import Payload
from handler.config.profiles import Profile
from handler.core.conditions import Condition, Prefix, Range
from handler.core.model import Passage
from handler.core.selection import page_of

COPIES = 4
"""A site that was indexed again under new ids has each chunk several times, and copies take the places of neighbors."""

ROOM = 500
"""The most chunks that room is made for: Qdrant Cloud can limit a search."""


@dataclass(frozen=True)
class Neighborhood:
    """Where the chunks around one page's passages are stored.

    Attributes:
        url: a payload key and its alternatives: the page's address alone where it is stored, else the page's URL and
            the URLs of its sections.
        index: a payload key and the positions on the page, as runs with gaps between them.
    """

    url: tuple[str, tuple[Condition, ...]]
    index: tuple[str, tuple[Range, ...]]


def neighborhoods(wanted: Sequence[tuple[Passage, int]], profile: Profile) -> list[Neighborhood]:
    """Where the neighbors of passages are stored, page by page; a passage without a position has none.

    A store compares each point with every condition, so passages of one page share theirs.
    """
    spans: dict[tuple[tuple[str, tuple[Condition, ...]], str], list[tuple[int, int]]] = defaultdict(list)
    for passage, reach in wanted:
        key, url = _key(passage, "index", passage.index, profile.payload), _url(passage, profile.payload)
        if key is not None and url is not None and passage.index is not None:
            spans[url, key].append((max(0, passage.index - reach), passage.index + reach))
    return [Neighborhood(url, (key, _runs(each))) for (url, key), each in spans.items()]


def _runs(spans: Iterable[tuple[int, int]]) -> tuple[Range, ...]:
    """The positions of spans, first and last included, as few runs."""
    runs: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if runs and first <= runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], max(last, runs[-1][1]))
        else:
            runs.append((first, last))
    return tuple(Range(gte=first, lte=last) for first, last in runs)


def most_neighbors(wanted: Sequence[tuple[Passage, int]]) -> int:
    """How many chunks to ask for: those of the neighborhoods, the passages included, and room for copies."""
    chunks = sum(2 * reach + 1 for _, reach in wanted)
    return max(chunks, min(COPIES * chunks, ROOM))


def _url(passage: Passage, keys: Payload) -> tuple[str, tuple[Condition, ...]] | None:
    """The payload key that names a passage's page, and its values for the chunks of the page."""
    page = page_of(passage.url)
    key = _key(passage, "page", page, keys)
    if key is not None:
        return key, ((page,),)
    key = _key(passage, "url", passage.url, keys)
    return None if key is None else (key, ((page,), Prefix(f"{page}#")))


def _key(passage: Passage, field: str, wanted: str | int | None, keys: Payload) -> str | None:
    """The payload key that holds a field's value; None where it is not stored."""
    if wanted is None:
        return None
    convert = {field: CHUNK_FIELDS["url" if field == "page" else field]}
    for path in keys.paths[field]:
        if (fields(passage.payload, {field: (path,)}, convert) or {}).get(field) == wanted:
            return path.key
    return None
