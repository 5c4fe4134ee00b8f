"""Indexes a site: only what changed is embedded, and an index that would not change is not touched."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from handler.config.profiles import Profile
from passage.indexing import payloads
from passage.indexing.chunks import Chunk, cut
from passage.indexing.edge_index import EdgeIndex, Point, Stored, comparable, manifest
from passage.indexing.tokens import limits_for
from passage.sites.model import Page, Site, SiteError, Skip


class Embedder(Protocol):
    @property
    def provider(self) -> str:
        """Whose vectors these are. Those of one provider do not compare with another's."""

    def embed(self, texts: Sequence[str], progress: Callable[[int], None]) -> list[list[float]]: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an indexing run did. `removed` counts chunks that were there and are not any more."""

    pages: int
    chunks: int
    embedded: int
    removed: int
    changed: bool
    skipped: tuple[Skip, ...] = ()


def index_site(
    site: Site,
    profile: Profile,
    root: Path,
    embedder: Embedder,
    progress: Callable[[int, int], Callable[[int], None]],
    waiting: Callable[[], None] = lambda: None,
) -> Outcome:
    """Bring `root`'s index for `profile` to what the site says now.

    Args:
        progress: given how many chunks will be embedded, and of how many; gives what is told of each batch done.
        waiting: called when another run has to end first.

    Raises:
        SiteError: the site has no text, or a file in it is at fault.
        OSError: the index cannot be written.
    """
    index = EdgeIndex(root, profile)
    with index.locked(waiting):
        read = list(site.read())
        pages = [page for page in read if isinstance(page, Page)]
        skipped = tuple(skip for skip in read if isinstance(skip, Skip))
        chunks = _identified(cut(pages, limits_for(profile.embedding.for_texts)))
        if not chunks:
            raise SiteError(site.nothing_found)
        before = index.manifest()
        description = manifest(profile, _digest(chunks, profile), len(chunks), embedder.provider)
        if before == description and index.holds(list(chunks)):
            return Outcome(len(pages), len(chunks), embedded=0, removed=0, changed=False, skipped=skipped)
        there = index.points(list(chunks))
        stored: dict[int, Stored] = {}
        if comparable(before, description):
            dimension = profile.collection.dimension  # whatever the manifest says, the engine takes no other
            stored = {point: known for point, known in there.items() if len(known.vector) == dimension}
        new = [point for point in chunks if point not in stored]
        vectors: list[list[float]] = []
        if new:
            vectors = embedder.embed([chunks[point].embedded_text for point in new], progress(len(new), len(chunks)))
        fresh = dict(zip(new, vectors, strict=True))
        index.replace(_points(chunks, stored, fresh, profile), description)
    had = (before or {}).get("points")
    removed = max(0, had - len(there)) if isinstance(had, int) else 0
    return Outcome(len(pages), len(chunks), embedded=len(new), removed=removed, changed=True, skipped=skipped)


def _identified(chunks: Iterable[Chunk]) -> dict[int, Chunk]:
    """The chunks by their points' ids."""
    identified: dict[int, Chunk] = {}
    for chunk in chunks:
        other = identified.setdefault(payloads.point_id(chunk), chunk)
        if other is not chunk:  # one in millions of sites, and then it must not pass in silence
            raise SiteError(f"Two chunks share an id, on {other.url} and {chunk.url}: change a word in one of them.")
    return identified


def _points(
    chunks: dict[int, Chunk], stored: dict[int, Stored], fresh: dict[int, list[float]], profile: Profile
) -> list[Point]:
    """Every chunk as a point; one that was there keeps its vector and the time it was first indexed."""
    now = int(time.time())
    points = []
    for number, (identity, chunk) in enumerate(chunks.items(), start=1):
        known = stored.get(identity)
        since = payloads.first_indexed(known.payload, profile) if known else None
        vector = known.vector if known else fresh[identity]
        content = payloads.payload(chunk, number, profile, now if since is None else since)
        points.append(Point(identity, vector, content))
    return points


def _digest(chunks: dict[int, Chunk], profile: Profile) -> str:
    """A hash of all that the index would hold, times left out."""
    content: list[Any] = [
        [point, payloads.payload(chunk, number, profile, 0)] for number, (point, chunk) in enumerate(chunks.items(), 1)
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
