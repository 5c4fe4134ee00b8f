"""Checks which expected documents the searched collection has."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from handler.adapters.qdrant import payload as payloads
from handler.config import profiles
from handler.config.profiles import Profile
from passage.api import Api, Request, Unreachable
from passage.evaluation.asking import Asker
from passage.evaluation.run import Hit
from passage.evaluation.service import Served
from passage.evaluation.suite import Expected, Question, UrlName, page, url_names, wanted_name
from passage.indexing.copying import Scroll

URL_FIELDS = ("source_url", "url")
"""The filters of the shipped profiles that name a page."""

Known = Callable[[Expected], bool | None]
"""Whether the collection has a document; None where that cannot be checked."""


class Documents:
    """The documents of many passages, for many look-ups: has what `Hit.matches` matches for one of the passages."""

    def __init__(self, hits: Iterable[Hit]) -> None:
        self._ids: set[str] = set()
        self._chunks: set[str] = set()
        self._urls: set[UrlName] = set()
        for hit in hits:
            self._ids.add(hit.id)
            self._chunks.add(hit.chunk_id)
            if hit.url:
                self._urls |= url_names(hit.url)

    def has(self, expected: Expected) -> bool:
        """Whether one of the passages belongs to the document."""
        value, kind = expected.value, expected.kind
        return (
            (kind in ("id", "any") and value in self._ids)
            or (kind in ("chunk", "any") and value in self._chunks)
            or (kind in ("url", "any") and wanted_name(value) in self._urls)
        )


def in_api(asker: Asker, served: Served) -> Known:
    """Asks the API: for a chunk by its id, or for the passages of a URL by a filter, where the API offers one."""

    def known(expected: Expected) -> bool | None:
        if expected.kind == "url" or expected.value.startswith(("http://", "https://", "/")):
            return _filtered(asker, served, expected)
        try:
            status = fetch(asker.api, served, expected.value)[0]
        except Unreachable:
            return None
        return {200: True, 404: False}.get(status)

    return known


def _filtered(asker: Asker, served: Served, expected: Expected) -> bool | None:
    """Whether a search within the document's own URLs finds it; None where that cannot be asked."""
    fields = served.fields.get("filters", {}).get("properties", {})
    field = next((name for name in URL_FIELDS if _takes_prefix(fields.get(name))), None)
    if field is None or expected.value.startswith("/"):
        return None
    for condition in _own_urls(expected.value):
        answer = asker.ask(served, Question("document", expected.value), {"filters": {field: condition}})
        if answer.error:
            return None
        if any(hit.matches(expected) for hit in answer.results):
            return True
    return False


def _own_urls(url: str) -> list[Any]:
    """Conditions that only passages of a document meet: no other page can take the places in the answer.

    A page is stored with or without a slash at its end, and its sections have a fragment.
    """
    pages = [page(url), f"{page(url)}/"]
    fragment = url.partition("#")[2]
    if fragment:
        return [[f"{each}#{fragment}" for each in pages]]
    return [pages, *({"prefix": f"{each}#"} for each in pages)]


def _takes_prefix(schema: Any) -> bool:
    options = schema.get("anyOf", ()) if isinstance(schema, dict) else ()
    return any("prefix" in option.get("properties", {}) for option in options)


def fetch(api: Api, served: Served, identity: str) -> tuple[int, float | None]:
    """Fetch a chunk by its id: the status, and the milliseconds that the API reports.

    Raises:
        Unreachable: no answer came.
    """
    reply = api.ask(Request("GET", f"{served.path}/chunks/{quote(identity, safe='')}"))
    body = reply.json()
    took = body.get("retrieval_time_ms") if isinstance(body, dict) else None
    return reply.status, float(took) if isinstance(took, int | float) else None


def in_points(scroll: Scroll, profile: Profile, contract: str) -> Known:
    """Compares with every point of an index, which is read at the first question."""

    @cache
    def documents() -> Documents:
        return Documents(hit for batch in scroll(False) for point in batch for hit in _shown(point, profile, contract))

    return lambda expected: documents().has(expected)


def _shown(point: Any, profile: Profile, contract: str) -> list[Hit]:
    """A point with the ids that the profile's contract shows for it."""
    read = payloads.read([payloads.Hit(point.id, 0.0, point.payload)], profile.payload).passages
    return [
        Hit(
            rank=1,
            id=str(passage.id),
            chunk_id=f"{passage.id}_{passage.index or 0}" if contract == "query_response" else passage.chunk_id or "",
            url=passage.url,
            title="",
            score=0.0,
            text="",
        )
        for passage in read
    ]


def in_local_index(root: Path, served: Served, environ: Mapping[str, str]) -> Known | None:
    """The check for an index of `passage index` on this machine; None where the function uses another store."""
    from handler.config.settings import CollectionSettings  # noqa: PLC0415 - only a local target needs it
    from passage.indexing.copying import edge_source  # noqa: PLC0415 - as above

    if environ.get("STORE") != "qdrant_edge" or not environ.get("EDGE_INDEX_PATH"):
        return None
    profile = profiles.deployed(served.profile, CollectionSettings.from_env(environ))

    def scroll(with_vectors: bool) -> Any:
        with edge_source(root, profile) as source:
            yield from source.scroll(with_vectors)

    return in_points(scroll, profile, served.contract)
