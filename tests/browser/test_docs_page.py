"""The page at /docs, in a real browser that has no network but this machine."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from browser import chromium
from conftest import EVERY_PROFILE
from handler.entrypoints.http.routes import document
from serving import served

# The page needs neither a store nor an embedding service.
ENVIRONMENT = {
    "COHERE_API_KEY": "test",
    "COHERE_BASE_URL": "http://127.0.0.1:9",
    "QDRANT_URL": "http://127.0.0.1:9",
    "PROFILES": EVERY_PROFILE,
}

SHOWN = """
document.querySelector('.opblock') && [...document.querySelectorAll('.opblock')].map(each =>
    each.querySelector('.opblock-summary-method').textContent + ' ' + each.querySelector('[data-path]').dataset.path)
"""
HEALTH = '.opblock:has([data-path="/health"])'
ANSWER = f"document.querySelector('{HEALTH} .live-responses-table .response-col_description pre')?.textContent"


def test_every_operation_is_shown_without_the_network(browser: str, tmp_path: Path) -> None:
    async def look(url: str) -> tuple[list[str], chromium.Page]:
        async with chromium.browsing(browser, tmp_path) as page:
            await page.open(url)
            return await page.until(SHOWN), page

    with served(ENVIRONMENT) as url:
        shown, page = asyncio.run(look(f"{url}/docs"))
    paths = document("query-response")["paths"]
    assert sorted(shown) == sorted(f"{method.upper()} {path}" for path, methods in paths.items() for method in methods)
    asked = [urlsplit(request) for request in page.requests]
    assert {place.netloc for place in asked if place.scheme != "data"} == {urlsplit(url).netloc}
    # The icon is what a browser asks every site for; there is none.
    assert [complaint for complaint in page.complaints if "/favicon.ico" not in complaint] == []


@pytest.mark.parametrize("base", ["", "/search/v1"], ids=["root", "base path"])
def test_an_operation_can_be_tried_from_the_page(base: str, browser: str, tmp_path: Path) -> None:
    async def attempt(url: str) -> tuple[str, chromium.Page]:
        async with chromium.browsing(browser, tmp_path) as page:
            await page.open(url)
            for button in (".opblock-summary-control", ".try-out__btn", ".execute"):
                await page.click(f"{HEALTH} {button}")
            return await page.until(ANSWER), page

    with served(ENVIRONMENT | {"BASE_PATH": base}) as url:
        answer, page = asyncio.run(attempt(f"{url}{base}/docs"))
    assert '"status": "ok"' in answer
    assert f"{url}{base}/health" in page.requests
