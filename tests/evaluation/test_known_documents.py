"""Which expected documents a collection has, by the API and in answers."""

import json
from typing import Any

import httpx
import pytest

from handler.config import profiles
from passage.api import ApiReply, HttpApi, Request
from passage.evaluation.asking import Asker
from passage.evaluation.checks import api_lookup, find_missing
from passage.evaluation.run import SavedAnswer, SavedHit
from passage.evaluation.service import RemoteProfile, find_profile
from passage.evaluation.suite import Expected, Suite, SuiteQuestion
from passage.indexing.pacing import Pace
from passage.sites.markdown import find_site
from passage.sites.model import Page
from textbook import TEXTBOOK

PREFIX = {"anyOf": [{"type": "string"}, {"properties": {"prefix": {"type": "string"}}}]}
SERVED = RemoteProfile(
    "query-response",
    "query_response",
    "c",
    "m",
    text="text",
    count="k",
    most=100,
    fields={"filters": {"anyOf": [{"properties": {"source_url": PREFIX}}, {"type": "null"}]}},
)
SITE = "https://site.example"
CHILDREN = [f"{SITE}/guide/page-{number}/#part" for number in range(60)]


class Site:
    """An API that searches passages by their URLs alone, in the order given, and keeps to a request's filter."""

    def __init__(self, urls: list[str]) -> None:
        self._urls = urls

    def ask(self, request: Request) -> ApiReply:
        fields = json.loads(request.body or b"{}")
        wanted = fields["filters"]["source_url"]
        found = [url for url in self._urls if url.startswith(wanted["prefix"])] if "prefix" in wanted else wanted
        results = [
            {"chunk_text": "T", "url": url, "chunk_id": "7_0", "relevance_score": 0.5}
            for url in self._urls
            if url in found
        ]
        body = {"query": "q", "k": 1, "total_results": 1, "timestamp": "", "results": results[: fields["k"]]}
        return ApiReply(200, {}, json.dumps(body), 1.0)


def known_to(api: Any, about: RemoteProfile = SERVED) -> Any:
    return api_lookup(Asker(api, Pace(None, sleep=lambda _: False), passages=50), about)


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        ("/guide", "/guide"),
        ("/guide/", "/guide"),
        ("/guide/#start", "/guide"),
        ("/guide#start", "/guide/"),
        ("/guide#start", "/guide#start"),
        ("/guide/#start", "/guide#start"),
        ("/", ""),
        ("/#start", "/"),
    ],
)
def test_page_with_many_pages_below_it_is_known(stored: str, wanted: str) -> None:
    """An answer has room for 50 passages, and all of them can be of the pages below."""
    assert known_to(Site([*CHILDREN, SITE + stored]))(Expected(SITE + wanted)) is True


@pytest.mark.parametrize("wanted", ["/guide", "/guide/page", "/guide/page-1#other", "/guide/page-1/more", ""])
def test_url_that_only_begins_like_a_page_is_not_known(wanted: str) -> None:
    assert known_to(Site(CHILDREN))(Expected(SITE + wanted)) is False


@pytest.mark.parametrize("profile", profiles.names())
def test_every_page_of_the_site_is_known_to_the_api(api_url: str, profile: str) -> None:
    urls = [page.url for page in find_site(TEXTBOOK).read() if isinstance(page, Page)][::8]
    with httpx.Client() as client:
        api = HttpApi(api_url, None, client.request)
        known = known_to(api, find_profile(api, profile))
        assert [url for url in urls if not known(Expected(url))] == []
        assert known(Expected("https://physical-ai.example/no/such/page/")) is False


def a_hit(url: str) -> SavedHit:
    return SavedHit(rank=1, id="7", chunk_id="7_0", url=url, title="", score=0.5, text="")


def test_documents_of_a_large_suite_are_checked_in_time() -> None:
    """1,000 questions with 50 passages each took two minutes when each document was compared with each passage."""
    numbers = range(1000)
    questions = tuple(SuiteQuestion(f"q{number}", "?", (Expected(f"{SITE}/no/{number}"),)) for number in numbers)
    hits = [a_hit(url) for url in CHILDREN[:50]]
    answers = [SavedAnswer(f"q{number}", tuple(hits), 1.0) for number in numbers]
    lacking, unchecked = find_missing(Suite("suite", questions), answers, lambda _: False)
    assert (len(lacking), unchecked) == (1000, 0)
