"""A site is read over HTTP: by its sitemap or its links, politely, within its origin and its limits."""

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from passage.sites.model import Flaw, Page, SiteError, Skip
from passage.sites.source import SiteOptions, open_source
from passage.sites.web import fetch
from passage.sites.web.limits import FetchLimits
from passage.sites.web.site import WebSite
from passage.sites.web.sitemap import SitemapError, parse
from sites.web_server import WebServer, running

FAST = FetchLimits(rate=100.0)


@pytest.fixture
def server() -> Iterator[WebServer]:
    with running() as started:
        started.page("/", "home")
        started.page("/guide/", "guide")
        started.page("/faq", "questions")
        started.sitemap("/", "/guide/", "/faq")
        yield started


@pytest.fixture
def site(server: WebServer, tmp_path: Path) -> WebSite:
    return WebSite(f"{server.url}/", tmp_path, FAST)


def urls(site: WebSite) -> set[str]:
    return {each.url.removeprefix(site.url.rstrip("/")) for each in site.read() if isinstance(each, Page)}


def skips(site: WebSite) -> dict[str, tuple[str, bool]]:
    return {each.path: (each.reason, each.failed) for each in site.read() if isinstance(each, Skip)}


def test_pages_of_the_sitemap_are_read_with_their_urls(site: WebSite) -> None:
    pages = [each for each in site.read() if isinstance(each, Page)]
    assert {page.url for page in pages} == {f"{site.url}{path}" for path in ("", "guide/", "faq")}
    assert {page.title for page in pages} == {"home", "guide", "questions"}
    assert all("This page tells of" in page.sections[0].markdown for page in pages)


@pytest.mark.parametrize("name", ["sitemap.xml", "sitemap-index.xml"])
def test_a_sitemap_url_is_a_source(server: WebServer, tmp_path: Path, name: str) -> None:
    server.sitemap("/guide/", at="/deep/sitemap-0.xml")
    server.answers["/sitemap-index.xml"] = (
        f"<sitemapindex><sitemap><loc>{server.url}/deep/sitemap-0.xml</loc></sitemap></sitemapindex>"
    )
    found = {each.url for each in WebSite(f"{server.url}/{name}", tmp_path, FAST).read() if isinstance(each, Page)}
    assert f"{server.url}/guide/" in found
    assert len(found) == (3 if name == "sitemap.xml" else 1)


def test_sitemaps_are_found_in_robots_txt(server: WebServer, site: WebSite) -> None:
    del server.answers["/sitemap.xml"]
    packed = gzip.compress(f"<urlset><url><loc>{server.url}/faq</loc></url></urlset>".encode())
    server.answers["/maps/all.xml.gz"] = web.Response(body=packed, content_type="application/octet-stream")
    server.answers["/robots.txt"] = f"Sitemap: {server.url}/maps/all.xml.gz"
    assert urls(site) == {"/faq"}


def test_links_are_followed_where_the_sitemap_names_few_pages(server: WebServer, site: WebSite) -> None:
    server.sitemap("/")
    server.page("/", "home", links="/guide/ /faq")
    assert urls(site) == {"/", "/guide/", "/faq"}
    server.sitemap("/", "/guide/")
    assert urls(site) == {"/", "/guide/"}
    assert skips(site)["faq"] == ("linked, but not in the sitemap", False)


def test_a_sitemap_of_another_host_is_named_and_not_used(server: WebServer, site: WebSite) -> None:
    server.page("/", "home", links="/faq")
    server.answers["/sitemap.xml"] = "<urlset><url><loc>http://localhost:4000/faq</loc></url></urlset>"
    assert urls(site) == {"/", "/faq"}
    assert "http://localhost:4000 only" in skips(site)["sitemap.xml"][0]
    index = "<sitemapindex><sitemap><loc>http://localhost:4001/s.xml</loc></sitemap></sitemapindex>"
    with pytest.raises(SiteError, match="http://localhost:4000 only"):
        list(replace(site, url=f"{site.url}sitemap.xml").read())
    server.answers["/sitemap.xml"] = index
    assert "http://localhost:4001 only" in skips(site)["sitemap.xml"][0]


def test_without_a_sitemap_links_are_followed(server: WebServer, site: WebSite) -> None:
    del server.answers["/sitemap.xml"]
    server.page("/", "home", links="/guide/ logo.png https://elsewhere.example/ mailto:a@b.example #top")
    server.page("/guide/", "guide", links="../faq ?page=2 /gone /OIL.HTM /wick.xhtml")
    server.page("/OIL.HTM", "oil")
    server.page("/wick.xhtml", "wick")
    assert urls(site) == {"/", "/guide/", "/faq", "/OIL.HTM", "/wick.xhtml"}
    assert skips(site) == {"gone": ("answers 404", False)}
    assert "/logo.png" not in server.paths


def test_links_are_followed_from_the_base_of_their_page(server: WebServer, site: WebSite) -> None:
    del server.answers["/sitemap.xml"]
    server.page("/", "home", links="guide/")
    server.answers["/guide/"] = '<base href="/"><main><h1>Guide</h1><p>See <a href="faq">questions</a>.</p></main>'
    assert urls(site) == {"/", "/guide/", "/faq"}


def test_a_url_with_a_folder_is_the_whole_site(server: WebServer, tmp_path: Path) -> None:
    server.page("/guide/more", "more")
    server.sitemap("/", "/guide/", "/guide/more", at="/guide/sitemap.xml")
    site = WebSite(f"{server.url}/guide/", tmp_path, FAST)
    found = list(site.read())
    assert {each.url for each in found if isinstance(each, Page)} == {
        f"{server.url}/guide/{end}" for end in ("", "more")
    }
    assert [each.reason for each in found if isinstance(each, Skip)] == ["outside the site"]


def test_other_languages_in_the_sitemap_are_read(server: WebServer, site: WebSite) -> None:
    server.page("/de/", "Anleitung")
    server.answers["/sitemap.xml"] = (
        '<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml">'
        f'<url><loc>{server.url}/</loc><xhtml:link rel="alternate" hreflang="de" href="{server.url}/de/"/></url>'
        "</urlset>"
    )
    assert urls(site) == {"/", "/de/"}


def test_other_languages_that_pages_name_are_read(server: WebServer, site: WebSite) -> None:
    server.page("/de/", "Anleitung")
    server.answers["/faq"] = '<link rel="alternate" hreflang="de" href="/de/"><main><h1>Faq</h1><p>Text.</p></main>'
    assert urls(site) == {"/", "/guide/", "/faq", "/de/"}


def test_robots_txt_is_obeyed_with_wildcards(server: WebServer, site: WebSite) -> None:
    server.answers["/robots.txt"] = "User-agent: *\nDisallow: /*uid"
    assert skips(site)["guide/"] == ("forbidden by robots.txt", False)
    assert "/guide/" not in server.paths


def test_a_failing_robots_txt_stops_the_run(server: WebServer, site: WebSite) -> None:
    server.answers["/robots.txt"] = web.Response(status=500)
    with pytest.raises(SiteError, match=r"robots\.txt answers 500"):
        list(site.read())


def test_a_missing_page_is_reported_and_costs_no_other(server: WebServer, site: WebSite) -> None:
    del server.answers["/guide/"]
    assert skips(site)["guide/"] == ("answers 404", True)
    assert urls(site) == {"/", "/faq"}


def test_a_passing_failure_is_tried_again(server: WebServer, site: WebSite) -> None:
    tries = []

    async def once(_: web.Request) -> web.StreamResponse:
        tries.append(1)
        if len(tries) == 1:
            return web.Response(status=503, headers={"Retry-After": "1"})
        return web.Response(text="<main><h1>Back</h1><p>Here again.</p></main>", content_type="text/html")

    server.answers["/faq"] = once
    assert "/faq" in urls(site)
    assert len(tries) == 2


@pytest.mark.parametrize("value", ["", "soon", "\xb2", "Oct 9999 07:28:00 _ +99999999999 inf +9999 _"])
def test_an_unreadable_retry_after_waits_a_second(value: str) -> None:
    assert fetch._retry_after({"retry-after": value}) == 1.0


def test_a_redirect_within_the_origin_is_followed(server: WebServer, site: WebSite) -> None:
    server.answers["/old"] = web.Response(status=301, headers={"Location": "/guide/"})
    server.sitemap("/old", "/faq")
    assert urls(site) == {"/guide/", "/faq"}


def html_response(body: bytes, **headers: str) -> web.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(body=body, headers={"Content-Type": "text/html", **named})


@pytest.mark.parametrize(
    ("answer", "reason", "failed"),
    [
        *(
            (web.Response(status=302, headers={"Location": target}), "on another origin", False)
            for target in ("https://elsewhere.example/a", "//elsewhere.example/a", "http://127.0.0.1:9/a")
        ),
        (web.Response(status=302, headers={"Location": "/faq"}), "redirects in a circle", True),
        ("<p>" + "x" * 50_000, "has more than 10,000 bytes", True),
        (html_response(gzip.compress(b"x" * 1_000_000), Content_Encoding="gzip"), "has more than 10,000 bytes", True),
        (web.Response(body=b"%PDF", content_type="application/pdf"), "no HTML", False),
        (html_response(b"<main><p>Hidden.</p></main>", X_Robots_Tag="noindex"), "noindex", False),
    ],
)
def test_page_that_is_left_out_says_why(
    server: WebServer,
    site: WebSite,
    answer: str | web.Response,
    reason: str,
    failed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetch, "MAX_PAGE_BYTES", 10_000)
    server.answers["/faq"] = answer
    assert skips(site) == {"faq": (reason, failed)}


def test_a_page_of_another_origin_in_the_sitemap_is_left_out(server: WebServer, site: WebSite) -> None:
    server.sitemap("/", "https://elsewhere.example/page")
    assert skips(site) == {"page": ("on another origin", False)}


def test_a_second_run_asks_only_for_changes(server: WebServer, site: WebSite) -> None:
    async def tagged(request: web.Request) -> web.StreamResponse:
        if request.headers.get("If-None-Match") == '"1"':
            return web.Response(status=304)
        body = "<main><h1>Tagged</h1><p>The same text.</p></main>"
        return web.Response(text=body, content_type="text/html", headers={"ETag": '"1"'})

    server.answers["/faq"] = tagged
    first = [each for each in site.read() if isinstance(each, Page)]
    server.asked.clear()
    assert [each for each in site.read() if isinstance(each, Page)] == first
    (headers,) = [headers for path, headers in server.asked if path == "/faq"]
    assert headers["if-none-match"] == '"1"'


def test_a_page_that_is_gone_from_the_site_is_gone(server: WebServer, site: WebSite) -> None:
    urls(site)
    server.sitemap("/", "/faq")
    assert urls(site) == {"/", "/faq"}


def test_an_outage_keeps_the_last_copy_of_a_page(server: WebServer, site: WebSite) -> None:
    urls(site)
    server.answers["/faq"] = web.Response(status=500)
    found = list(site.read())
    assert {each.url for each in found if isinstance(each, Page)} == {
        f"{site.url}{path}" for path in ("", "guide/", "faq")
    }
    assert [each for each in found if isinstance(each, Skip)] == [
        Skip("faq", "answers 500: the last run's copy is used", failed=True)
    ]


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        (replace(FAST, pages=2), "--max-pages 2"),
        (replace(FAST, bytes=300), "--max-bytes 300"),
        (replace(FAST, minutes=0.0), "--max-minutes 0"),
    ],
)
def test_a_limit_ends_the_run_and_is_named(site: WebSite, limits: FetchLimits, named: str) -> None:
    with pytest.raises(SiteError, match=f"{named} allows: nothing was indexed"):
        list(replace(site, limits=limits).read())
    assert len(urls(replace(site, limits=replace(FAST, pages=3)))) == 3, "as many as the limit"


def test_a_slow_page_is_left_out(server: WebServer, site: WebSite, monkeypatch: pytest.MonkeyPatch) -> None:
    async def drip(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        await response.write(b"<p>one")
        await response.write(b"two")
        return response

    monkeypatch.setattr(fetch, "PAGE_SECONDS", 0.0)
    server.answers.update(dict.fromkeys(("/", "/guide/", "/faq"), drip))
    server.answers["/robots.txt"] = web.Response(status=404)
    with pytest.raises(SiteError, match="gave no page"):
        list(site.read())


@pytest.mark.parametrize("path", ["/../../etc/passwd", "/a/%2e%2e/%2e%2e/b", "/%2e%2e/x", "/a//b", "/x%00y"])
def test_a_page_is_never_written_outside_the_cache(server: WebServer, tmp_path: Path, path: str) -> None:
    server.page(path, "odd")
    server.sitemap("/faq", path)
    cache = tmp_path / "a" / "b" / "cache"
    list(WebSite(f"{server.url}/", cache, FAST).read())
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert written
    assert all(file.is_relative_to(cache) for file in written)


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>',
        b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><urlset/>',
        b"<html><body>Not found</body></html>",
        b"no XML",
        b"",
        b"\x1f\x8bbroken",
        gzip.compress(b"<urlset>" + b" " * 60_000_000),
        b'<?xml version="1.0" encoding="odd"?><urlset/>',
        b'<?xml version="1.0" encoding="shift_jis"?><urlset/>',
    ],
    ids=["entities", "external", "html", "text", "empty", "broken gzip", "gzip bomb", "odd encoding", "two bytes"],
)
def test_a_hostile_or_broken_sitemap_is_refused(content: bytes) -> None:
    with pytest.raises(SitemapError):
        parse(content)


def test_a_given_sitemap_that_cannot_be_read_is_named(server: WebServer, tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=r"nowhere\.xml answers 404"):
        list(WebSite(f"{server.url}/nowhere.xml", tmp_path, FAST).read())


@pytest.mark.parametrize(
    "answer",
    [
        web.Response(body=b"no gzip", headers={"Content-Encoding": "gzip", "Content-Type": "text/html"}),
        web.Response(status=302, headers={"Location": "http://[half"}),
        web.Response(status=302, headers={"Location": "http://host:99999/"}),
    ],
    ids=["encoding", "no URL", "no port"],
)
def test_an_unreadable_response_costs_no_other(server: WebServer, site: WebSite, answer: web.Response) -> None:
    server.answers["/faq"] = answer
    assert urls(site) == {"/", "/guide/"}
    assert list(skips(site)) == ["faq"]


@pytest.mark.parametrize("listed", ["http://[half/", "http://host:99999/", "http://host:port/", "/faq", "odd"])
def test_a_listed_text_that_is_no_url_costs_no_page(server: WebServer, site: WebSite, listed: str) -> None:
    server.answers["/robots.txt"] = f"Sitemap: {server.url}/sitemap.xml\nSitemap: http://[half\n"
    server.answers["/sitemap.xml"] = (
        f"<urlset><url><loc>{listed}</loc></url><url><loc>{server.url}/guide/</loc></url></urlset>"
    )
    assert urls(site) == {"/guide/"}


def test_links_to_no_url_cost_no_page(server: WebServer, site: WebSite) -> None:
    server.answers["/sitemap.xml"] = web.Response(status=404)
    server.page("/", "home", "/guide/ /a\x01b http://[half //h:x/ /guide.html/ /guide.html")
    server.page("/guide.html", "guide as a file")
    server.page("/guide.html/", "guide as a folder")
    assert {"/", "/guide/"} < urls(site)


@pytest.mark.parametrize("source", ["http://[half", "http://host:port/", "https:///path", "http://", "http://a..b/"])
def test_a_source_that_is_no_url_is_named(tmp_path: Path, source: str) -> None:
    with pytest.raises(SiteError, match="is not a URL"):
        open_source(source, SiteOptions(), tmp_path, FAST)


def test_the_suffix_htm_stays_in_the_url(server: WebServer, site: WebSite) -> None:
    server.page("/old.htm", "old")
    server.sitemap("/old.htm")
    assert urls(site) == {"/old.htm"}


def test_a_version_at_the_end_of_a_url_is_no_suffix(server: WebServer, tmp_path: Path) -> None:
    server.answers["/sitemap.xml"] = web.Response(status=404)
    server.page("/v1.10/", "one ten", "/v1.10/from-1.x /v1.10/1.9 /v1.10/a.pdf /other")
    server.page("/v1.10/from-1.x", "from one")
    server.page("/v1.10/1.9", "one nine")
    server.page("/other", "other")
    assert urls(WebSite(f"{server.url}/v1.10", tmp_path, FAST)) == {"/", "/from-1.x", "/1.9"}


@pytest.mark.parametrize(
    ("stated", "declared", "written"),
    [
        ("iso-8859-1", "", "cp1252"),
        ("utf-8", "iso-8859-1", "utf-8"),
        ("ISO-8859-1", "utf-8", "utf-8-sig"),
        ('"windows-1251"', "utf-8", "cp1251"),
        ("odd", "", "utf-8"),
        ("utf-8", "iso-8859-1", "cp1252"),
    ],
)
def test_the_servers_charset_comes_first(
    server: WebServer, site: WebSite, stated: str, declared: str, written: str
) -> None:
    meta = f"<meta charset={declared}>" if declared else ""
    body = f"<html><head>{meta}</head><main><p>It\u2019s read.</p></main></html>".encode(written)
    server.answers["/faq"] = web.Response(body=body, headers={"Content-Type": f"text/html; charset={stated}"})
    texts = {each.path: each.sections[0].markdown for each in site.read() if isinstance(each, Page)}
    assert texts["faq"] == "It\u2019s read."


def test_a_byte_that_is_not_in_the_servers_charset_costs_no_page(server: WebServer, site: WebSite) -> None:
    body = b"<main><p>Caf\xe9.</p></main>"
    server.answers["/faq"] = web.Response(body=body, headers={"Content-Type": "text/html; charset=utf-8"})
    found = list(site.read())
    assert [each.sections[0].markdown for each in found if isinstance(each, Page) and each.path == "faq"] == [
        "Caf\ufffd."
    ]
    assert [(each.path, each.what.partition(":")[0]) for each in found if isinstance(each, Flaw)] == [
        ("faq.html", "is not utf-8 at byte 12")
    ]
