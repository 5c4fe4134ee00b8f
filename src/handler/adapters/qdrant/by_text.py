"""Searches without a vector, for both stores: by words, or by what was typed so far in titles and headings.

Imported when a question asks for one.
"""

from collections.abc import Iterable

from handler.adapters.qdrant import query
from handler.adapters.qdrant.payload import Hit, Scored
from handler.adapters.qdrant.text_search import TextSearch
from handler.config.payload_keys import TITLES_KEY
from handler.core.errors import NoTextIndex
from handler.core.model import Search


def key(search: Search, by_text: TextSearch | None, collection: str) -> str:
    """The payload key whose text index ranks the search.

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


def best(points: Iterable[Scored], search: Search) -> list[Hit]:
    """The best points by BM25 and then by id. Their score is 0: they have no similarity."""
    hits = [
        Hit(query.identity(point.id), 0.0, point.payload, getattr(point, "vector", None), point.score)
        for point in points
    ]
    hits.sort(key=lambda hit: (-(hit.fused or 0.0), isinstance(hit.id, str), hit.id))
    return hits[: search.top_k]
