"""`passage index` in the test's own process: the run, the cache and the embedder are the real ones."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from handler.config.profiles import Profile
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.embedding import DocumentEmbedder, document_embedder
from passage.indexing.plan import Plan
from passage.indexing.run import CachedEmbedder, IndexOptions, Watch, index_site
from passage.indexing.target import Advance, Target
from passage.indexing.vector_cache import VectorCache
from passage.sites.model import Site


def embedder_at(url: str, profile: Profile, key: str = "test") -> DocumentEmbedder:
    """What embeds a profile's texts with Cohere's API at an address."""
    return document_embedder(profile, {"COHERE_API_KEY": key, "COHERE_BASE_URL": url})


@dataclass(frozen=True)
class Outcome:
    """A run's result, in chunks."""

    pages: int
    chunks: int
    embedded: int
    removed: int
    changed: bool

    @classmethod
    def of(cls, plan: Plan) -> "Outcome":
        return cls(plan.pages.now, plan.points.now, plan.texts, plan.points.removed, plan.action != "nothing")


class Silent:
    """A watch without a listener, or with the given one."""

    def __init__(
        self, *, embedding: Callable[[int], None] = lambda _: None, waiting: Callable[[], None] = lambda: None
    ) -> None:
        self._embedding = embedding
        self._waiting = waiting

    def show_plan(self, plan: Plan) -> None: ...

    def embedding(self, texts: int) -> Advance:
        self._embedding(texts)
        return lambda _: None

    def writing(self, points: int) -> Advance:
        return lambda _: None

    def waiting(self, place: str = "") -> None:
        self._waiting()

    def retrying(self, why: str, seconds: float) -> None: ...


def index_to(
    target: Target,
    site: Site,
    profile: Profile,
    embedder: DocumentEmbedder,
    *,
    watch: Watch | None = None,
    options: IndexOptions | None = None,
    cache: Path | None = None,
    noise: bool = False,
) -> Plan:
    """Index a site. Without a `cache` folder, no vector is cached for the next run.

    Args:
        noise: whether to measure the index's noise, as the command does: 96 more texts to embed.
    """
    with tempfile.TemporaryDirectory() as folder, VectorCache(cache or Path(folder)) as opened:
        asking = embedder.for_questions(profile.embedding.model)
        try:
            questions = CachedEmbedder(asking, opened) if noise else None
            embedding = CachedEmbedder(embedder, opened, questions=questions)
            return index_site(site, profile, target, embedding, watch or Silent(), options or IndexOptions())
        finally:
            asking.close()
            embedder.close()


def index_edge(
    site: Site,
    profile: Profile,
    root: Path,
    embedder: DocumentEmbedder,
    watch: Watch | None = None,
    *,
    noise: bool = False,
) -> Outcome:
    """Index a site for the Edge store."""
    return Outcome.of(index_to(EdgeIndex(root, profile), site, profile, embedder, watch=watch, noise=noise))
