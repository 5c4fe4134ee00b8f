"""Cuts a site's pages with its workers, so that an unchanged page is not cut again."""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import TypeAdapter

from handler.config.profiles import Profile
from passage.indexing import payloads
from passage.indexing.chunks import Chunk, cut
from passage.indexing.vector_cache import VectorKind
from passage.sites.model import Note, Page
from passage.sites.result_cache import key_of
from passage.sites.workers import Item, Workers

_page = TypeAdapter(Page)
_chunk = TypeAdapter(Chunk)


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk with what the catalogue compares of it. The workers make it, and the chunk is decoded where it is used.

    Attributes:
        point: its id in the store.
        tokens: the most that the model reads of it.
        key: of its text in the vector cache.
        body: the chunk as JSON.
    """

    point: int
    tokens: int
    key: bytes
    body: bytes

    def chunk(self) -> Chunk:
        return _chunk.validate_json(self.body)


def cut_by(
    workers: Workers, reads: Iterable[Page | Note], profile: Profile, kind: VectorKind
) -> Iterator[tuple[Page | Note, Sequence[Row]]]:
    """What a reader gives, in its order, each page with its chunks."""
    waiting: deque[Page | Note] = deque()
    context = (profile.embedding.for_texts, kind)

    def items() -> Iterator[Item[bytes]]:
        for read in reads:
            waiting.append(read)
            if isinstance(read, Page):
                written = _page.dump_json(replace(read, account=None))
                yield Item(written, len(written), key_of(b"chunks", repr(context).encode(), written))

    for result in workers.run(_cut, context, items()):
        while not isinstance(waiting[0], Page):
            yield waiting.popleft(), ()
        facts, *bodies = result.split(b"\n")
        rows = zip(json.loads(facts), bodies, strict=True)
        yield (
            waiting.popleft(),
            [Row(point, tokens, bytes.fromhex(key), body) for (point, tokens, key), body in rows],
        )
    yield from ((note, ()) for note in waiting)


def _cut(context: tuple[str, VectorKind], page: bytes) -> bytes:
    """The chunks of a page, each on a line, below a line with the other values of their rows."""
    model, kind = context
    chunks = list(cut([_page.validate_json(page)], model))
    facts = [(payloads.point_id(chunk), chunk.tokens, kind.key(chunk.embedded_text).hex()) for chunk in chunks]
    return b"\n".join((json.dumps(facts).encode(), *map(_chunk.dump_json, chunks)))
