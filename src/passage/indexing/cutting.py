"""Cuts a site's pages with its workers, so that an unchanged page is not cut again."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pydantic import TypeAdapter

from passage.indexing.chunks import Chunk, cut
from passage.sites.model import Note, Page
from passage.sites.result_cache import key_of
from passage.sites.workers import Item, Workers

_page = TypeAdapter(Page)
_chunks = TypeAdapter(list[Chunk])


def cut_by(workers: Workers, reads: Iterable[Page | Note], model: str) -> Iterator[tuple[Page | Note, Sequence[Chunk]]]:
    """What a reader gives, in its order, each page with its chunks.

    Args:
        model: see `passage.indexing.chunks.cut`.
    """
    waiting: deque[Page | Note] = deque()

    def items() -> Iterator[Item[bytes]]:
        for read in reads:
            waiting.append(read)
            if isinstance(read, Page):
                written = _page.dump_json(replace(read, account=None))
                yield Item(written, len(written), key_of(b"chunks", model.encode(), written))

    for result in workers.run(_cut, model, items()):
        while not isinstance(waiting[0], Page):
            yield waiting.popleft(), ()
        yield waiting.popleft(), _chunks.validate_json(result)
    yield from ((note, ()) for note in waiting)


def _cut(model: str, page: bytes) -> bytes:
    return _chunks.dump_json(list(cut([_page.validate_json(page)], model)))
