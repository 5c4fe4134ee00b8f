"""The demo's routes: the book's pages beside the API, under a strict policy."""

from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import httpx
import pytest
from aiohttp import web
from click import ClickException

from conftest import TEXTBOOK
from passage.local.demo import add_demo, find_book
from passage.local.demo.book import Book
from passage.local.demo.routes import render_page
from passage.sites import html
from passage.sites.markdown import find_site
from passage.sites.model import Page

SITE = "https://physical-ai.example"


def test_every_passages_section_is_on_its_page(book: Book) -> None:
    pages = [page for page in find_site(TEXTBOOK).read() if isinstance(page, Page)]
    assert {page.url for page in pages} == {SITE + path for path in book.leaves}
    for page in pages:
        article = book.article(page.url.removeprefix(SITE))
        assert article is not None
        root = html.parse(article.encode())
        ids = {html.attribute(node, "id") for node in html.select(root, "[id]")}
        assert {section.anchor for section in page.sections} - {""} <= ids, page.url


def test_links_between_pages_lead_to_pages(book: Book) -> None:
    for path in book.leaves:
        root = html.parse((book.article(path) or "").encode())
        targets = [html.attribute(link, "href") for link in html.select(root, "a[href]")]
        inside = [target.partition("#")[0] for target in targets if not target.startswith(("http", "#"))]
        assert set(inside) <= set(book.leaves), path


def test_links_to_pages_with_any_name_lead_to_them(tmp_path: Path) -> None:
    names = ["C# basics", "50% off", "What?", "ünï cödé", "a&b"]
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nsite_url: https://x.example/\n", encoding="utf-8")
    for name in names:
        (tmp_path / "docs" / f"{name}.md").write_text(f"# {name}\n\nWords.\n", encoding="utf-8")
    links = "".join(f"[to]({quote(name)}.md)\n" for name in names)
    (tmp_path / "docs" / "index.md").write_text(f"# Home\n\n{links}", encoding="utf-8")
    shown = html.parse((render_page(find_book(tmp_path), "/", widget=True) or "").encode())
    for place in ("nav", "main"):
        targets = [html.attribute(link, "href") for link in html.select(shown, f"{place} a[href]")]
        paths = {unquote(urlsplit(target).path) for target in targets}
        assert {f"/{name}/" for name in names} <= paths, place


def test_page_has_no_inline_style_or_script(book: Book) -> None:
    for path in book.leaves:
        root = html.parse((render_page(book, path, widget=True) or "").encode())
        assert html.select(root, "[style], style, script:not([src]), [onclick]") == [], path


def test_home_and_pages_are_served_with_a_strict_policy(demo: str) -> None:
    for path in ("/", "/digital-twins/asset-models/", "/demo/demo.js", "/demo/passage-chat.js", "/demo/panel.css"):
        answer = httpx.get(demo + path)
        assert answer.status_code == 200, path
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in answer.headers["content-security-policy"]
        assert "require-trusted-types-for 'script'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/demo/page.template", "/demo/none.js", "/demo/..%2F__init__.py"])
def test_other_files_are_not_served(path: str, demo: str) -> None:
    assert httpx.get(demo + path).status_code == 404


def test_api_is_served_beside_the_demo(demo: str) -> None:
    assert httpx.get(f"{demo}/health").json() == {"status": "ok"}
    assert httpx.post(f"{demo}/query", json={"text": "twin"}).status_code == 200
    assert httpx.get(f"{demo}/nowhere/").json()["code"] == "INVALID_INPUT"
    assert httpx.post(demo, json={}).json()["code"] == "INVALID_INPUT"


def test_page_at_a_path_of_the_api_is_left_out(book: Book) -> None:
    leaf = book.leaves["/"]
    app = web.Application()
    add_demo(app, Book(book.convention, book.address, {"/": leaf, "/docs": leaf, "/guide/": leaf}))
    paths = {resource.canonical for resource in app.router.resources()}
    assert paths == {"/", "/demo/{name}", "/guide/"}


def test_without_a_book_the_home_page_says_how_to_show_one() -> None:
    shown = render_page(None, "", widget=False) or ""
    assert "passage serve --site" in shown
    assert "make widget" in shown


def test_folder_without_a_site_is_named() -> None:
    with pytest.raises(ClickException, match="--site: "):
        find_book(TEXTBOOK / "nowhere")
