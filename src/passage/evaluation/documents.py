"""Asks an API which expected documents its collection has."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from passage.api import Api, Request, Unreachable
from passage.evaluation.asking import Asker
from passage.evaluation.service import RemoteProfile
from passage.evaluation.suite import Expected, SuiteQuestion, page

URL_FIELDS = ("source_url", "url")
"""The filters of the shipped profiles that name a page."""

Known = Callable[[Expected], bool | None]
"""Whether the collection has a document; None where that cannot be checked."""


def in_api(asker: Asker, served: RemoteProfile) -> Known:
    """Asks the API: for a chunk by its id, or for the passages of a URL by a filter, where the API offers one."""

    def known(expected: Expected) -> bool | None:
        if expected.kind == "url" or expected.value.startswith(("http://", "https://", "/")):
            return _search_own_urls(asker, served, expected)
        try:
            status = fetch(asker.api, served, expected.value)[0]
        except Unreachable:
            return None
        return {200: True, 404: False}.get(status)

    return known


def _search_own_urls(asker: Asker, served: RemoteProfile, expected: Expected) -> bool | None:
    """Whether a search within the document's own URLs finds it; None where that cannot be asked."""
    options = served.fields.get("filters", {}).get("anyOf", ())  # an object, or null
    fields: dict[str, Any] = next((option["properties"] for option in options if "properties" in option), {})
    field = next((name for name in URL_FIELDS if _takes_prefix(fields.get(name))), None)
    if field is None or expected.value.startswith("/"):
        return None
    for condition in _own_urls(expected.value):
        answer = asker.ask(served, SuiteQuestion("document", expected.value), {"filters": {field: condition}})
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


def fetch(api: Api, served: RemoteProfile, identity: str) -> tuple[int, float | None]:
    """Fetch a chunk by its id: the status, and the milliseconds that the API reports.

    Raises:
        Unreachable: no answer came.
    """
    reply = api.ask(Request("GET", f"{served.path}/chunks/{quote(identity, safe='')}"))
    body = reply.json()
    took = body.get("retrieval_time_ms") if isinstance(body, dict) else None
    return reply.status, float(took) if isinstance(took, int | float) else None
