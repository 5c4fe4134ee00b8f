"""What an index holds, as agents are told it: the languages and versions of its passages, and its pages."""

from collections.abc import Iterable, Mapping, Sequence

from handler.core.deadline import Deadline, running
from handler.core.errors import PassageError
from handler.core.model import Passage
from handler.core.selection import page_of
from handler.service.services import Served

MOST_LABELS = 100
"""The most languages or versions that are listed, and the most characters of one."""

MOST_PAGES = 1_000

SECONDS = 2.0
"""The most that a list may wait for the store. It is shown without values then, also while the store is down."""


def labels(served: Served, names: Iterable[str], until: Deadline) -> Mapping[str, tuple[str, ...] | None]:
    """The values of filters that an index stores, empty where it stores no text; None where they are unknown.

    Args:
        names: filters of the profile.
    """
    return {name: _values(served, served.profile.filters[name], MOST_LABELS, until) for name in names}


def pages(served: Served, until: Deadline) -> tuple[str, ...]:
    """The URLs of an index's pages; none if there are more than `MOST_PAGES`, or the store cannot list them."""
    keys, displayable = served.profile.payload, served.retriever.displayable
    urls = _values(served, (keys.page or keys.url)[:1], MOST_PAGES, until) or ()
    found = sorted({page_of(url) for url in urls})
    return tuple(url for url in found if displayable is None or displayable(Passage(0, 0, "", url)))


def _values(served: Served, keys: Sequence[str], most: int, until: Deadline) -> tuple[str, ...] | None:
    try:
        with running(until.capped(SECONDS)):
            found = served.retriever.store.values(keys, most)
    except PassageError:
        return None
    if any(key not in found for key in keys):
        return None
    return tuple(sorted({value for key in keys for value in found[key]}))
