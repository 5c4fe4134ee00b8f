"""The values of payload keys in an Edge index, which has no payload index to count them. No search needs this."""

from collections.abc import Sequence
from typing import Any

import qdrant_edge

from handler.adapters.qdrant.payload import CHUNK_FIELDS, fields
from handler.config.payload_keys import KeyPath
from handler.config.profiles import Profile

MOST_PAGES = 10_000
"""The most pages that are read."""


def request(profile: Profile, keys: Sequence[str]) -> qdrant_edge.ScrollRequest:
    """Asks for the first chunk of each page: the page's others have the same language, version and address."""
    first: list[Any] = [
        qdrant_edge.FieldCondition(key, match=qdrant_edge.MatchValue(0)) for key in profile.payload.index[:1]
    ]
    outer = [KeyPath.of(key).outer for key in keys]
    return qdrant_edge.ScrollRequest(
        limit=MOST_PAGES + 1, filter=qdrant_edge.Filter(must=first), with_payload=outer, with_vector=False
    )


def read(pages: Sequence[qdrant_edge.Record], keys: Sequence[str], most: int) -> dict[str, tuple[str, ...]]:
    """The texts of each key, sorted; without keys that have more than `most`, and without all on too many pages."""
    if len(pages) > MOST_PAGES:
        return {}
    paths, texts = {key: (KeyPath.of(key),) for key in keys}, dict.fromkeys(keys, CHUNK_FIELDS["text"])
    stored = [fields(page.payload or {}, paths, texts) or {} for page in pages]
    found = {key: sorted({each[key] for each in stored if key in each}) for key in keys}
    return {key: tuple(values) for key, values in found.items() if len(values) <= most}
