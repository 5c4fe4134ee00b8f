"""The page that docs/deploy.md shows, in a real browser, on another origin than the API's."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from browser import chromium
from conftest import ROOT
from serving import served_index

API = "https://abcde12345.execute-api.eu-central-1.amazonaws.com/live"
FOUND = "(found => found.length && found)([...document.querySelectorAll('#found li')].map(each => each.textContent))"


@pytest.fixture(scope="module")
def shown() -> str:
    """The documentation's example."""
    (example,) = re.findall(r"^```html\n(.*?)^```", (ROOT / "docs" / "deploy.md").read_text("utf-8"), re.M | re.S)
    assert API in example
    return f"<!doctype html><link rel=icon href=data:,>{example}"


@asynccontextmanager
async def _site(page: list[str]) -> AsyncIterator[str]:
    """A site of one page."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=page[0], content_type="text/html")

    site = web.Application()
    site.router.add_get("/", answer)
    runner = web.AppRunner(site, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _asked(browser: str, profile: Path, example: str, index: Path, text: str) -> list[str]:
    page = [example]
    async with _site(page) as origin:
        with served_index(index, ALLOWED_ORIGINS=origin) as url:
            page[0] = example.replace(API, url)
            async with chromium.browsing(browser, profile) as tab:
                await tab.open(origin)
                await tab.until(
                    f"document.querySelector('input') && (document.querySelector('input').value = {text!r})"
                )
                await tab.click("button")
                return list(await tab.until(FOUND))


def test_page_shows_the_passages(browser: str, shown: str, textbook_index: Path, tmp_path: Path) -> None:
    found = asyncio.run(_asked(browser, tmp_path, shown, textbook_index, "Which stop category cuts power?"))
    assert len(found) == 5
    assert found[0].startswith("https://physical-ai.example/safety/emergency-stop/#stop-categories- **Category 0**")


def test_the_page_shows_why_there_is_no_answer(browser: str, shown: str, textbook_index: Path, tmp_path: Path) -> None:
    (found,) = asyncio.run(_asked(browser, tmp_path, shown, textbook_index, "   "))
    assert found.startswith("No answer: ")
    assert "Failed to fetch" not in found
