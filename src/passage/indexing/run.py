"""Indexes a site: cut it, compare it with what the store holds, embed what is new, write what changed."""

import math
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from handler.config import models
from handler.config.profiles import Profile
from handler.core.ports import TextsAre
from passage.indexing import noise
from passage.indexing.cache_filler import BatchEmbedder, Filler, Text, batches
from passage.indexing.catalogue import Catalogue, Entry
from passage.indexing.cost import cost
from passage.indexing.cutting import Row, cut_by
from passage.indexing.left_out import TextCount
from passage.indexing.plan import Action, EmbeddingWork, Plan, choose
from passage.indexing.target import Advance, NewPoint, StoreState, Target, TargetError, WantedIndex
from passage.indexing.text_index import text_indexes
from passage.indexing.vector_cache import Vector, VectorCache, VectorKind
from passage.sites.model import Flaw, Note, Page, Site, SiteError
from passage.sites.workers import IN_THIS_PROCESS, Workers

WITHOUT_VECTORS = VectorKind("", "", 0)
"""The kind of an index that is searched by words alone."""

REFUSED = "has a passage with a word that the embedding service does not accept: it is left out"


class Watch(Protocol):
    """An observer of a run."""

    def show_plan(self, plan: Plan) -> None: ...

    def embedding(self, texts: int) -> Advance:
        """This many texts will be embedded; gives the function to report progress to."""

    def writing(self, points: int) -> Advance:
        """This many points will be written or deleted; gives the function to report progress to."""

    def waiting(self, place: str = "") -> None:
        """Another run must end first: it writes to `place`, or to the index."""

    def retrying(self, why: str, seconds: float) -> None:
        """A request to the embedding service failed; it is sent again after this time."""


class SiteEmbedder(BatchEmbedder, Protocol):
    """What `DocumentEmbedder` says of its vectors."""

    made_by: str
    model: str
    dimension: int
    texts_are: TextsAre


@dataclass(frozen=True, slots=True)
class CachedEmbedder:
    """An embedder, and the cache that keeps its vectors.

    Attributes:
        texts_per_minute: the account's limit; None where there is no limit.
        questions: embeds the questions that measure an index's noise; None where nobody measures it.
    """

    embedder: SiteEmbedder
    cache: VectorCache
    texts_per_minute: int | None = None
    questions: "CachedEmbedder | None" = None

    @property
    def kind(self) -> VectorKind:
        embedder = self.embedder
        return VectorKind(embedder.made_by, embedder.model, embedder.dimension, embedder.texts_are)

    @property
    def texts_per_call(self) -> int:
        return models.limits(self.embedder.model).texts_per_call

    def cost(self, texts: Iterable[Text]) -> EmbeddingWork:
        """What embedding these texts takes."""
        count = tokens = 0
        for text in texts:
            count, tokens = count + 1, tokens + text.tokens
        kind, rate = self.kind, self.texts_per_minute
        return EmbeddingWork(
            texts=count,
            tokens=tokens,
            calls=math.ceil(count / self.texts_per_call),
            model=kind.model,
            cost=cost(kind.model, kind.provider, tokens),
            minutes=count / rate if rate else 0.0,
        )

    def missing(self, texts: Iterable[Text]) -> list[Text]:
        """The texts without a vector in the cache."""
        by_key = {text.key: text for text in texts}
        return [by_key[key] for key in self.cache.missing(by_key)]

    def vectors(self, texts: Sequence[Text], watch: Watch) -> list[Vector]:
        """The vectors of these texts without those that the service does not accept; embeds what is missing.

        Raises:
            EmbeddingError: a text could not be embedded.
        """
        missing = self.missing(texts)
        if missing:
            self.cache.refuse(self.fill(missing, watch, watch.embedding(len(missing))))
        return [vector for vector in self.cache.get(text.key for text in texts).values() if vector]

    def fill(self, texts: Iterable[Text], watch: Watch, progress: Advance) -> Collection[bytes]:
        """Put a vector for each text into the cache, one run at a time.

        Returns:
            The keys of texts that the service does not accept.

        Raises:
            EmbeddingError: a text could not be embedded.
        """
        with self.cache.embedding(lambda: watch.waiting(f"the vector cache in {self.cache.folder}")):
            filler = Filler(self.embedder, self.cache, texts_per_minute=self.texts_per_minute, retrying=watch.retrying)
            for embedded in filler.fill(batches(texts, self.texts_per_call)):
                progress(embedded)
        return filler.refused


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """Options of a run.

    Attributes:
        dry_run: plan only; nothing is embedded or written.
        rebuild: write the index whole, even if little or nothing changed.
        report: the file that lists the text that is left out; None for none.
        workers: cut the pages.
    """

    dry_run: bool = False
    rebuild: bool = False
    report: Path | None = None
    workers: Workers = IN_THIS_PROCESS


def index_site(
    site: Site, profile: Profile, target: Target, embedding: CachedEmbedder | None, watch: Watch, options: IndexOptions
) -> Plan:
    """Update the target's index to the site's current content and give the result.

    A killed run can be repeated: it pays for each text once and leaves the same index.

    Args:
        embedding: None for an index without vectors.

    Raises:
        SiteError: the site has no text, or a file in it is at fault.
        EmbeddingError: a text could not be embedded.
        TargetError: the server could not be read or written.
        OSError: the index on disk could not be written.
    """
    with target.lock(watch.waiting):
        while True:
            plan, refused = _index_once(site, profile, target, embedding, watch, options)
            if not refused or embedding is None:
                return plan
            embedding.cache.refuse(refused)  # so the next pass leaves their passages out


def _index_once(
    site: Site, profile: Profile, target: Target, embedding: CachedEmbedder | None, watch: Watch, options: IndexOptions
) -> tuple[Plan, Collection[bytes]]:
    """One pass: its plan, and the keys of texts that the service does not accept. With any, nothing was written."""
    refused: Collection[bytes] = ()
    kind = WITHOUT_VECTORS if embedding is None else embedding.kind
    with Catalogue(profile) as catalogue:
        refusals = frozenset() if embedding is None else embedding.cache.refused()
        with nullcontext() if options.report is None else options.report.open("w", encoding="utf-8") as report:
            text = TextCount(report)
            cut_pages = cut_by(options.workers, site.read(), profile, kind)
            skipped = tuple(_read(cut_pages, catalogue, refusals, text))
            options.workers.stop()
        if not len(catalogue):
            raise SiteError(site.nothing_found)
        wanted = WantedIndex(
            profile=profile,
            digest=catalogue.digest,
            points=len(catalogue),
            embedded_by=kind.provider,
            text_indexes=text_indexes(profile, catalogue.languages),
        )
        run = _Run(catalogue, target, wanted, target.compare(wanted, catalogue.ids()), embedding)
        plan = replace(run.plan(options, skipped), text=text)
        watch.show_plan(plan)
        if not options.dry_run:
            refused = run.carry_out(plan, watch)
            if not refused:
                run.measure_noise(watch)
    return plan, refused


def _read(
    site: Iterable[tuple[Page | Note, Sequence[Row]]],
    catalogue: Catalogue,
    refused: Collection[bytes],
    text: TextCount,
) -> Iterator[Note]:
    """Put the site's chunks into the catalogue; gives the skipped files and parts."""
    try:
        for read, rows in site:
            text.add(read)
            if not isinstance(read, Page):
                yield read
                continue
            yield from (Flaw(row.chunk().url, REFUSED) for row in rows if row.key in refused)
            catalogue.add(read, (row for row in rows if row.key not in refused))
    except (FileNotFoundError, NotADirectoryError) as error:  # a whole folder; one page is left out
        raise SiteError(f"{error.filename or 'The site'} cannot be read: {error.strerror}.") from error


@dataclass(frozen=True, slots=True)
class _Run:
    """Values that planning and writing share."""

    catalogue: Catalogue
    target: Target
    wanted: WantedIndex
    held: StoreState
    embedding: CachedEmbedder | None

    def plan(self, options: IndexOptions, skipped: tuple[Note, ...]) -> Plan:
        catalogue, held = self.catalogue, self.held
        if held.complete and not options.rebuild:
            pages, points = catalogue.pages().all_kept(), catalogue.points().all_kept()
            asked = self._questions("nothing")
            return Plan(self.target.where, "nothing", "", pages, points, skipped, questions=asked)
        catalogue.compare(self.target.stored_points())
        points = catalogue.points()
        action = choose(points, editable=held.editable and not options.rebuild)
        if action == "replace":
            catalogue.skip_written(self.target.written_points(self.wanted))
        return Plan(
            where=self.target.where,
            action=action,
            note=held.note,
            pages=catalogue.pages(),
            points=points,
            skipped=skipped,
            embedding=self.embedding.cost(self._texts(action, self.embedding)) if self.embedding else EmbeddingWork(),
            questions=self._questions(action),
            words_only=self.embedding is None,
        )

    def _questions(self, action: Action) -> EmbeddingWork:
        """The questions to embed before the index's noise can be measured."""
        asked = self.embedding and self.embedding.questions
        if asked is None or (action == "nothing" and self._is_measured(asked)):
            return EmbeddingWork()
        return asked.cost(asked.missing(noise.texts(asked.kind)))

    def _is_measured(self, asked: CachedEmbedder) -> bool:
        return self.target.noise().get("of") == noise.identity(self.wanted.digest, asked.kind)

    def measure_noise(self, watch: Watch) -> None:
        """Ask the index the questions that it does not answer, unless that was done, and keep the quantiles in it."""
        asked = self.embedding and self.embedding.questions
        if asked is None or self._is_measured(asked):
            return
        cosines = self.target.best_cosines(asked.vectors(list(noise.texts(asked.kind)), watch))
        if cosines:
            of = noise.identity(self.wanted.digest, asked.kind)
            self.target.keep_noise(noise.measured(cosines, asked.kind, of))

    def carry_out(self, plan: Plan, watch: Watch) -> Collection[bytes]:
        """Embed and write. Gives the keys of texts that the service does not accept; then nothing is written."""
        if plan.action == "nothing":
            self.target.refresh(self.wanted)
            return ()
        if plan.texts and self.embedding is not None:
            texts = self._texts(plan.action, self.embedding)
            refused = self.embedding.fill(texts, watch, watch.embedding(plan.texts))
            if refused:
                return refused
        ranked = {index.field for index in self.wanted.text_indexes}
        entries = self.catalogue.entries(plan.action, int(time.time()), ranked)
        points = _points(entries, self.target, self.embedding.cache if self.embedding else None)
        advance = watch.writing(plan.to_write)
        if plan.action == "edit":
            self.target.edit(self.wanted, points, self.catalogue.gone(), advance)
        else:
            self.target.replace(self.wanted, points, advance)
        return ()

    def _texts(self, action: Action, embedding: CachedEmbedder) -> Iterator[Text]:
        return self.catalogue.texts(action, embedding.cache.missing, stored_vectors=self.held.comparable)


def _points(entries: Iterable[list[Entry]], target: Target, cache: VectorCache | None) -> Iterator[NewPoint]:
    """Each entry with the vector of its text, from the cache or from the store; without one where there is no cache."""
    for batch in entries:
        if cache is None:
            yield from (NewPoint(entry.point, (), entry.payload) for entry in batch)
            continue
        cached = cache.get(entry.key for entry in batch)
        others = [entry.point for entry in batch if entry.key not in cached]
        stored = target.vectors(others) if others else {}
        for entry in batch:
            vector = cached.get(entry.key) or stored.get(entry.point)
            if not vector:
                raise TargetError(f"The vector of point {entry.point} in {target.where} cannot be read. Run it again.")
            yield NewPoint(entry.point, vector, entry.payload)
