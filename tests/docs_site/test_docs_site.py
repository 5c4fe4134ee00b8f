"""The documentation as a site: built strictly, complete, and asked through its own widget."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import pytest
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort
from playwright.sync_api import Browser

from conftest import ROOT
from docs_site.shell import Shell, shell
from handler.config import profiles
from handler.entrypoints.http.routes import document
from programs import run
from website import hooks

BIN = Path(sys.executable).parent
PORTS = ("3000", "8000")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """The built site, and the API with an index of it, as `make docs-serve` runs them."""
    folder = tmp_path_factory.mktemp("docs-site")
    (folder / ".venv").symlink_to(ROOT / ".venv")
    with shell(folder, *PORTS) as running:
        api, site = (f"http://127.0.0.1:{running.ports[port]}" for port in PORTS)
        variables = {"PASSAGE_ENDPOINT": api, "DOCS_URL": f"{site}/", "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": "."}
        command = (BIN / "mkdocs", "build", "--strict", "--site-dir", folder / "site")
        run(*command, cwd=ROOT, env=os.environ | variables)
        running.run(f".venv/bin/passage index site --site-url {site} --profile ranked --out index")
        running.run(f"ALLOWED_ORIGINS={site} .venv/bin/passage serve --index index --port 3000")
        running.run("python3 -m http.server 8000 --bind 127.0.0.1 --directory site")
        yield running


@pytest.fixture(scope="module")
def site(serving: Shell) -> Path:
    return serving.folder / "site"


def test_each_page_has_the_widget_once(site: Path) -> None:
    pages = list(site.rglob("index.html"))
    assert len(pages) > 30
    assert {path.read_text(encoding="utf-8").count('data-profile="ranked"') for path in pages} == {1}


def test_site_asks_no_other_host(site: Path) -> None:
    loaded = re.compile(r'<(?:script|img|link)[^>]+(?:src|href)="(https?://[^"]+)"')
    hosts = {
        urlsplit(url).hostname
        for path in site.rglob("*.html")
        for url in loaded.findall(path.read_text(encoding="utf-8"))
    }
    assert hosts <= {"127.0.0.1"}


def test_link_to_a_missing_file_fails_the_build(tmp_path: Path) -> None:
    config = MkDocsConfig()
    config.site_dir = str(tmp_path)
    (tmp_path / "index.html").write_text('<a href="openapi.json">The API</a><a href="https://e.org/">x</a>', "utf-8")
    with pytest.raises(Abort, match=r"index.html links to openapi.json, which the site does not have"):
        hooks.on_post_build(config)
    (tmp_path / "openapi.json").touch()
    hooks.on_post_build(config)


def test_reference_lists_each_route_and_profile(site: Path) -> None:
    api = (site / "reference" / "api" / "index.html").read_text(encoding="utf-8")
    assert [path for path in document("query-response")["paths"] if path not in api] == []
    described = (site / "reference" / "profiles" / "index.html").read_text(encoding="utf-8")
    assert [name for name in profiles.names() if f"<code>{name}</code>" not in described] == []


def test_reader_asks_and_lands_on_a_section_of_the_site(serving: Shell, site: Path, driven: Browser) -> None:
    page = driven.new_page()
    page.goto(f"http://127.0.0.1:{serving.ports['8000']}/")
    page.get_by_role("button", name="Ask a question").click()
    page.keyboard.type("How do I rotate a key in Secrets Manager?")
    link = page.locator("passage-chat a[href]").first
    link.wait_for()
    path, anchor = urldefrag(str(link.get_attribute("href")))
    page.close()
    target = site / urlsplit(path).path.lstrip("/") / "index.html"
    assert target.is_file(), path
    assert f'id="{anchor.partition(":~:")[0]}"' in target.read_text(encoding="utf-8")


TABLES = ("configuration", "reference/profiles", "reference/api", "widget", "operations")
UGLY = """[
    [...document.querySelectorAll('td code')]
        .filter(each => /^\\w+$/.test(each.textContent) && each.getClientRects().length > 1),
    [...document.querySelectorAll('thead')].filter(each => !each.textContent.trim() && each.offsetHeight),
    document.documentElement.scrollWidth > innerWidth ? [document.body] : [],
].map(found => found.map(each => each.textContent.trim().slice(0, 40)))"""


def test_tables_on_a_phone_break_no_name_and_have_no_empty_head(serving: Shell, driven: Browser) -> None:
    page = driven.new_page(viewport={"width": 390, "height": 844})
    for path in TABLES:
        page.goto(f"http://127.0.0.1:{serving.ports['8000']}/{path}/")
        assert page.evaluate(UGLY) == [[], [], []], path
    page.close()


def test_index_of_the_site_answers(serving: Shell) -> None:
    url = f"http://127.0.0.1:{serving.ports['3000']}/profiles/ranked/query?text=What+does+an+alarm+mean"
    answer = json.loads(serving.run(f"curl -s '{url}'"))
    assert answer["status"] == "success"
