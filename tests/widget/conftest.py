"""Shared by the widget's tests: one browser, one site, one real API and one that misbehaves."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from serving import served_index
from widget.driver import Widget, html
from widget.servers import Server, Site, cors, running

Visit = Callable[..., Widget]


@pytest.fixture(scope="session")
def _site() -> Iterator[Site]:
    with running(Site()) as site:
        yield site  # type: ignore[misc]  # running() returns what it was given


@pytest.fixture
def site(_site: Site) -> Site:
    """A site without pages."""
    _site.pages.clear()
    _site.requests.clear()
    return _site


@pytest.fixture(scope="session")
def api(_site: Site, several_indexes: Path) -> Iterator[str]:
    """The address of the function as `passage serve` runs it: every profile, on another origin than the site's."""
    with served_index(several_indexes, ALLOWED_ORIGINS=_site.url) as url:
        yield url


@pytest.fixture(scope="session")
def _fake() -> Iterator[Server]:
    with running(Server()) as server:
        yield server


@pytest.fixture
def fake(_fake: Server) -> Server:
    """An API whose answers the test decides, with CORS headers; each answer is 404 until then."""
    _fake.requests.clear()
    _fake.answer = lambda _: cors(type(_fake).answer(_))
    return _fake


PLAIN: dict[str, Any] = {"viewport": {"width": 1200, "height": 800}, "locale": "en-GB"}


@pytest.fixture(scope="module")
def _plain(driven: Browser) -> BrowserContext:
    """The context of pages without wishes. Each page has a session storage of its own."""
    return driven.new_context(**PLAIN)


@pytest.fixture
def visit(driven: Browser, _plain: BrowserContext, site: Site) -> Iterator[Visit]:
    """Opens a page of the site with the widget. The test fails if a script of the page raised."""
    raised: list[str] = []
    opened: list[Page | BrowserContext] = []

    def _visit(
        options: dict[str, str] | None = None,
        *,
        path: str = "/guide/",
        headers: dict[str, str] | None = None,
        before: str = "",
        context: dict[str, Any] | None = None,
        **parts: str,
    ) -> Widget:
        made = driven.new_context(**PLAIN | context) if context else _plain
        page = made.new_page()
        opened.append(made if context else page)
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: raised.append(str(error)))
        if before:
            page.add_init_script(before)
        site.put(path, html(options, **parts), headers)
        page.goto(site.url + path)
        return Widget(page)

    yield _visit
    for each in opened:
        each.close()
    assert raised == []
