"""Reads an index for agents: a passage in its section, a page by its URL, the list of pages, and filters' values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from handler.core.deadline import Deadline, with_one_retry, within
from handler.core.errors import InvalidRequest, NotFound, PassageError
from handler.core.model import Passage, PointId
from handler.core.selection import consecutive, join, page_of
from handler.service.services import Served

REACH = 20
"""How many chunks before and after a passage its section can have."""

PAGE_CHUNKS = 200
"""The most chunks of a page that are read."""

MOST_LABELS = 100
"""The most languages or versions that are listed, and the most characters of one."""

MOST_PAGES = 1_000

SECONDS = 2.0
"""The most that a list may wait for the store. It is shown without values then, also while the store is down."""


@dataclass(frozen=True)
class Reading:
    """A part of a text.

    Attributes:
        passage: the one that was asked for, or the page's first.
        start, total: the part's place in the whole text and the length of that, in characters.
        previous, next: the ids of the chunks before and after the section; None where the page has none.
    """

    passage: Passage
    text: str
    start: int
    total: int
    previous: PointId | None = None
    next: PointId | None = None


def section(served: Served, passage: Passage, until: Deadline, *, start: int | None, most: int) -> Reading:
    """A passage with the chunks of its section around it.

    Args:
        start: where the part begins; None for the section's beginning or, if that is too far away, for the passage.
        most: the most characters of a part.

    Raises:
        InvalidRequest: `start` is beyond the text.
        PassageError: the store failed.
    """
    chunks = _around(served, passage, REACH, until) if passage.index is not None else [passage]
    at = next(number for number, chunk in enumerate(chunks) if chunk.index == passage.index)
    first, last = at, at + 1
    while first > 0 and _same_section(chunks[first - 1], passage):
        first -= 1
    while last < len(chunks) and _same_section(chunks[last], passage):
        last += 1
    whole = join([chunk.text for chunk in chunks[first:last]])
    if start is None:
        start = 0 if len(whole) <= most or first == at else max(0, whole.find(passage.text))
    previous = chunks[first - 1].id if first > 0 else None
    following = chunks[last].id if last < len(chunks) else None
    return Reading(passage, _part(whole, start, most), start, len(whole), previous, following)


def page(served: Served, url: str, until: Deadline, *, start: int, most: int) -> Reading:
    """A page by its URL, with or without a fragment or a final slash.

    Raises:
        NotFound: the index has no such page, or no positions of chunks.
        InvalidRequest: `start` is beyond the text.
        PassageError: the store failed.
    """
    keys, place = served.profile.payload, page_of(url)
    other = place.removesuffix("/") if place.endswith("/") else f"{place}/"
    # Stores look neighbors up by what a passage's payload has: the page's address or, in another's index, its URL.
    for address, field in product((place, other), ("page", "url")):
        for name, index in zip(keys.keys(field)[:1], keys.keys("index")[:1], strict=False):
            start_of_page = Passage(0, 0, "", address, index=0, payload={name: address, index: 0})
            chunks = _around(served, start_of_page, PAGE_CHUNKS, until)
            if chunks:
                whole = join([chunk.text for chunk in chunks])
                return Reading(chunks[0], _part(whole, start, most), start, len(whole))
    raise NotFound("The index has no page of that URL. Take a URL as search returns it.")


def _around(served: Served, passage: Passage, reach: int, until: Deadline) -> list[Passage]:
    """The chunks of the passage's page without a gap, in order; those that the contract cannot show are left out."""
    retriever = served.retriever
    with within(until):
        neighbors = with_one_retry(lambda: retriever.store.neighbors([(passage, reach)]), until, "store").passages
    shown = [chunk for chunk in neighbors if retriever.displayable is None or retriever.displayable(chunk)]
    chunks = [*([passage] if passage.text else []), *shown]
    return [] if passage.index is None else consecutive(chunks, passage.index, page_of(passage.url))


def _same_section(chunk: Passage, passage: Passage) -> bool:
    return (chunk.url, chunk.headings, chunk.section) == (passage.url, passage.headings, passage.section)


def _part(whole: str, start: int, most: int) -> str:
    if start and start >= len(whole):
        raise InvalidRequest(f"'start_index' is beyond the text: it must be less than {len(whole):,}.")
    return whole[start : start + most]


def labels(served: Served, names: Iterable[str], until: Deadline) -> Mapping[str, tuple[str, ...] | None]:
    """The values of the profile's filters `names` in the index: none where it stores no text, None where unknown."""
    return {name: _values(served, served.profile.filters[name], MOST_LABELS, until) for name in names}


def pages(served: Served, until: Deadline) -> tuple[str, ...]:
    """The URLs of an index's pages; none if there are more than `MOST_PAGES`, or the store cannot list them."""
    keys, displayable = served.profile.payload, served.retriever.displayable
    urls = _values(served, (keys.page or keys.url)[:1], MOST_PAGES, until) or ()
    found = sorted({page_of(url) for url in urls})
    return tuple(url for url in found if displayable is None or displayable(Passage(0, 0, "", url)))


def _values(served: Served, keys: Sequence[str], most: int, until: Deadline) -> tuple[str, ...] | None:
    try:
        with within(until.capped(SECONDS)):
            found = served.retriever.store.values(keys, most)
    except PassageError:
        return None
    if any(key not in found for key in keys):
        return None
    return tuple(sorted({value for key in keys for value in found[key]}))
