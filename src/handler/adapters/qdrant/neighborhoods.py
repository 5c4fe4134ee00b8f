"""Where the chunks around a passage are stored, for both stores. Imported when a question asks for neighbors."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from handler.adapters.qdrant.filters import condition_json
from handler.adapters.qdrant.payload import CHUNK_FIELDS
from handler.config.payload_keys import Payload
from handler.config.profiles import Profile
from handler.core.conditions import Condition, Prefix, Range
from handler.core.model import Passage
from handler.core.selection import page_of

COPIES = 4
"""A site that was indexed again under new ids has each chunk several times, and copies take the places of neighbors."""

ROOM = 500
"""The most chunks that room is made for: Qdrant Cloud can limit a search."""


def around(wanted: Sequence[tuple[Passage, int]], profile: Profile, *, sections: bool = True) -> dict[str, Any]:
    """The filter for the chunks around passages; without conditions where no passage has a position.

    A store compares each point with every condition, so passages of one page share theirs.

    Args:
        wanted: passages, each with how many chunks before and after it to find.
        sections: whether to find a page's sections by the beginning of their URL, where no payload key has the address
            of the page alone.
    """
    spans: dict[tuple[tuple[str, tuple[Condition, ...]], str], list[tuple[int, int]]] = defaultdict(list)
    for passage, reach in wanted:
        key, url = _key(passage, "index", passage.index, profile.payload), _url(passage, profile.payload)
        if key is not None and url is not None and passage.index is not None:
            spans[url, key].append((max(0, passage.index - reach), passage.index + reach))
    should = []
    for ((url_key, urls), key), each in spans.items():
        pages = [condition_json(url_key, url) for url in (urls if sections else urls[:1])]
        should.append({"must": [{"should": pages}, {"should": [condition_json(key, run) for run in _runs(each)]}]})
    return {"should": should}


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
    convert = CHUNK_FIELDS["url" if field == "page" else field]
    return next((path.key for path in keys.paths[field] if convert(path.value(passage.payload)) == wanted), None)
