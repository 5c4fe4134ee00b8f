"""The option `only-language`: against `passage serve` with a site in two languages, and with sites that state none."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Request

from handler.config import profiles
from indexed import embedder_at, index_edge
from passage.sites.model import Page, Section
from serving import served_index
from tools.doubles import cohere_emulator
from widget.conftest import Visit
from widget.driver import Widget
from widget.servers import Reply, Server, Site, answer, failed, passage
from widget.servers import Request as Sent

SEVERAL = "query-response"
"""The profile of the site in two languages. The other profiles' collections state no language."""
PAGES = {
    "de": {"haus": "Das Haus am See hat eine rote Tür.", "boot": "Das Boot liegt am Ufer."},
    "en": {"house": "The house by the lake has a red door.", "boat": "The boat lies on the shore."},
}
QUESTION = "Häuser lake"


@dataclass(frozen=True)
class Pages:
    """A site whose pages state their languages, or none."""

    stated: bool
    nothing_found: str = "no pages"

    def read(self) -> Iterator[Page]:
        for language, pages in PAGES.items():
            for name, text in pages.items():
                url = f"https://e.org/{language}/{name}/"
                yield Page(name, url, name.title(), (Section((), text),), language if self.stated else "")


@pytest.fixture(scope="module")
def languages(_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the function over these collections."""
    root: Path = tmp_path_factory.mktemp("languages")
    with cohere_emulator() as cohere:
        for profile in map(profiles.load, profiles.names()):
            embedder = embedder_at(cohere.url, profile)
            index_edge(Pages(stated=profile.name == SEVERAL), profile, root, embedder)
    with served_index(root, ALLOWED_ORIGINS=_site.url) as url:
        yield url


def _sent(widget: Widget) -> list[str]:
    """Records the language of each question that the widget sends; empty where it sends none."""
    sent: list[str] = []

    def _record(request: Request) -> None:
        query = parse_qs(urlsplit(request.url).query)
        if "question" in query:
            sent.append(query.get("language", [""])[0])

    widget.page.on("request", _record)
    return sent


def _folders(widget: Widget) -> set[str]:
    """The languages of the pages that the passages are from."""
    widget.hits.first.wait_for()
    return {(hit.get_attribute("href") or "").split("/")[3] for hit in widget.hits.all()}


@pytest.mark.parametrize("language", PAGES)
@pytest.mark.parametrize("given", ["page", "tag"])
def test_passages_are_in_the_language(given: str, language: str, languages: str, visit: Visit) -> None:
    options = {"endpoint": languages, "only-language": "page" if given == "page" else language}
    widget = visit(options, root=f"lang={language if given == 'page' else 'fr'}")
    sent = _sent(widget)
    assert _folders(widget.open().ask(QUESTION)) == {language}
    assert sent == [language]


def test_question_without_the_option_is_asked_in_every_language(languages: str, visit: Visit) -> None:
    widget = visit({"endpoint": languages}, root="lang=de")
    sent = _sent(widget)
    assert _folders(widget.open().ask(QUESTION)) == {"de", "en"}
    assert sent == [""]


@pytest.mark.parametrize("profile", profiles.names())
def test_language_that_no_passage_has_hides_nothing(profile: str, languages: str, visit: Visit) -> None:
    options = {"endpoint": languages, "profile": profile, "only-language": "page"}
    widget = visit(options, root="lang=fr")
    sent = _sent(widget)
    assert _folders(widget.open().ask(QUESTION)) == {"de", "en"}
    assert sent == ["fr", ""]


@pytest.mark.parametrize(("root", "expected"), [("lang=''", [""]), (f"lang={'x' * 101}", ["x" * 101, ""])])
def test_language_that_the_api_refuses_hides_nothing(
    root: str, expected: list[str], languages: str, visit: Visit
) -> None:
    widget = visit({"endpoint": languages, "only-language": "page"}, root=root)
    sent = _sent(widget)
    assert _folders(widget.open().ask(QUESTION)) == {"de", "en"}
    assert sent == expected


def test_store_that_cannot_filter_by_language_hides_nothing(fake: Server, visit: Visit) -> None:
    """As Qdrant Cloud without a payload index on it, in strict mode."""

    def _answer(sent: Sent) -> Reply:
        return failed(500) if "language" in sent.query else answer(passage("A twin."))

    fake.answer = _answer
    widget = visit({"endpoint": fake.url, "only-language": "page"}).open().ask("what is a twin")
    widget.hits.first.wait_for()


@pytest.mark.parametrize("status", [429, 503])
def test_busy_api_is_not_asked_twice(status: int, fake: Server, visit: Visit) -> None:
    fake.answer = lambda _: failed(status)
    widget = visit({"endpoint": fake.url, "only-language": "page"}).open().ask("what is a twin")
    widget.first.wait_for()
    assert len(fake.asked()) == 1


def test_page_that_changes_its_language_asks_again_in_it(languages: str, visit: Visit) -> None:
    """A router that goes to another language's page changes `lang` without a load."""
    widget = visit(
        {"endpoint": languages, "only-language": "page"},
        root="lang=en",
        head="<script src=/web/languages/de.js></script>",
    )
    assert _folders(widget.open().ask(QUESTION)) == {"en"}
    widget.page.keyboard.press("Escape")
    widget.page.evaluate("document.documentElement.lang = 'de'")
    widget.page.get_by_role("button", name="Fragen").wait_for()
    assert _folders(widget.open().ask(QUESTION)) == {"de"}
