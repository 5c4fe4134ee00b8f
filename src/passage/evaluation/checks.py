"""The other measurements of a run: wrong requests, repeated questions, retrieval by id, missing documents."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from passage.api import Api, Request, Unreachable
from passage.evaluation.asking import JSON, Asker
from passage.evaluation.run import SavedAnswer
from passage.evaluation.service import RemoteProfile
from passage.evaluation.suite import Expected, Suite, SuiteQuestion, page

SAMPLE = 10
"""How many answered questions are asked again, and how many of their passages are fetched by id."""

URL_FIELDS = ("source_url", "url")
"""The filters of the shipped profiles that name a page."""

Known = Callable[[Expected], bool | None]
"""Whether the collection has a document; None where that cannot be checked."""


def ask_wrongly(api: Api, served: RemoteProfile) -> Iterator[tuple[str, bool]]:
    """Requests that break a rule, each with whether the contract's error came back. None of them reaches a service."""
    text, path = served.text, f"{served.path}/query"
    bodies = {"blank question": {text: " "}, "no question": {}, "question that is a number": {text: 7}}
    if served.rejects_counts:
        bodies["no passages asked for"] = {text: "What is it?", served.count: 0}
    for name, fields in bodies.items():
        yield name, _is_refused(api, "POST", path, 400, json.dumps(fields).encode())
    yield "body that is not JSON", _is_refused(api, "POST", path, 400, b"{")
    yield "unknown profile", _is_refused(api, "POST", "/profiles/no-such-profile/query", 404, b"{}")
    yield "unknown chunk", _is_refused(api, "GET", f"{served.path}/chunks/0", 404)


def _is_refused(api: Api, method: str, path: str, status: int, body: bytes | None = None) -> bool:
    try:
        reply = api.ask(Request(method, path, headers=JSON if body else {}, body=body))
    except Unreachable:
        return False
    return reply.status == status and bool(reply.code)


def ask_again(
    asker: Asker, suite: Suite, answers: Sequence[SavedAnswer], find: Callable[[SuiteQuestion], RemoteProfile]
) -> Iterator[tuple[str, bool]]:
    """The first answered questions again, each with whether the passages and their order are the same."""
    answered = [pair for pair in zip(suite.questions, answers, strict=True) if pair[1].error is None]
    for question, before in answered[:SAMPLE]:
        after = asker.ask(find(question), question)
        if after.error is None:  # a failed request has no order to compare
            yield question.id, _names_of(before) == _names_of(after)


def _names_of(answer: SavedAnswer) -> list[tuple[str, str, str]]:
    return [(hit.id, hit.chunk_id, hit.url) for hit in answer.results]


def time_by_id(api: Api, served: RemoteProfile, answers: Sequence[SavedAnswer]) -> Iterator[float]:
    """Milliseconds of fetching the first passages of some answers by their ids."""
    identities = dict.fromkeys(hit.chunk_id or hit.id for answer in answers for hit in answer.results[:1])
    for identity in [each for each in identities if each][:SAMPLE]:
        try:
            _, took = fetch(api, served, identity)
        except Unreachable:
            continue
        if took is not None:
            yield took


def find_missing(suite: Suite, answers: Sequence[SavedAnswer], known: Known) -> tuple[dict[str, tuple[str, ...]], int]:
    """The expected documents that the collection lacks, by question, and how many could not be checked.

    A document that any answer has is not checked again. One that begins with `/` is looked for on the answers' host.
    """
    hits = [hit for answer in answers for hit in answer.results]
    answered = {name for hit in hits for name in hit.names}
    checked: dict[Expected, bool | None] = {}
    origin = next((f"{parts.scheme}://{parts.netloc}" for hit in hits if (parts := urlsplit(hit.url)).netloc), "")

    def exists(expected: Expected) -> bool | None:
        if expected not in checked:
            whole = replace(expected, value=origin + expected.value) if expected.value.startswith("/") else expected
            checked[expected] = not answered.isdisjoint(expected.names) or known(whole)
        return checked[expected]

    lacking: Mapping[str, tuple[str, ...]] = {
        question.id: tuple(expected.value for expected in question.relevant if exists(expected) is False)
        for question in suite.questions
    }
    unchecked = sum(1 for known_here in checked.values() if known_here is None)
    return {name: values for name, values in lacking.items() if values}, unchecked


def api_lookup(asker: Asker, served: RemoteProfile) -> Known:
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
