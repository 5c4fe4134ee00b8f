"""A folder of HTML is read as a site: which pages, at which URLs, in which language and version."""

import json
import re
from pathlib import Path

import pytest

from passage.sites.built import site
from passage.sites.built.generators import GENERATORS
from passage.sites.built.noise import NOISE
from passage.sites.model import Flaw, Page, SiteError, Skip
from passage.sites.source import SiteOptions, open_site
from sites.reading import written as write

BASE = "https://mill.example.com/manual/"
AT_BASE = SiteOptions(BASE)


def html(
    body: str = "<h1>Mill</h1><p>Flour from the hill.</p>",
    *,
    canonical: str | None = None,
    head: str = "",
    language: str = "en",
) -> str:
    link = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8">{link}{head}</head>'
        f"<body><main>{body}</main></body></html>"
    )


def read(folder: Path, options: SiteOptions = AT_BASE) -> tuple[dict[str, Page], dict[str, str]]:
    """The pages by path, and why each other file is left out."""
    found = list(open_site(folder, options).read())
    pages = {each.path: each for each in found if isinstance(each, Page)}
    return pages, {each.path: each.reason for each in found if isinstance(each, Skip)}


def text_of(page: Page) -> str:
    return "\n\n".join(section.markdown for section in page.sections)


def test_the_canonical_link_is_the_url(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": html(canonical=BASE), "a/index.html": html("<p>A.</p>", canonical=f"{BASE}a")})
    pages, _ = read(tmp_path, SiteOptions())
    assert [page.url for page in pages.values()] == [f"{BASE}a", BASE]


def test_a_sitemap_says_how_urls_are_spelled(tmp_path: Path) -> None:
    locations = "".join(f"<url><loc>{BASE}{path}</loc></url>" for path in ("", "a", "b/c"))
    write(
        tmp_path,
        {
            "sitemap.xml": f"<urlset>{locations}</urlset>",
            "index.html": html(),
            "a.html": html("<p>A.</p>"),
            "b/c.html": html("<p>C.</p>"),
        },
    )
    pages, _ = read(tmp_path, SiteOptions())
    assert [page.url for page in pages.values()] == [f"{BASE}a", f"{BASE}b/c", BASE]


@pytest.mark.parametrize(
    ("file", "link", "url"),
    [
        ("a.html", "a.html", "a.html"),
        ("a.html", "/manual/a", "a"),
        ("a/index.html", "a/", "a/"),
        ("a/index.html", "/manual/a", "a"),
        ("a/index.html", "a/index.html", "a/index.html"),
    ],
)
def test_links_say_how_urls_are_spelled(tmp_path: Path, file: str, link: str, url: str) -> None:
    write(tmp_path, {"index.html": html(f'<p>See <a href="{link}">the other page</a>.</p>'), file: html("<p>A.</p>")})
    pages, _ = read(tmp_path)
    assert pages["a"].url == BASE + url


def test_the_owners_url_replaces_the_stated_one(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": html(canonical=BASE), "a/index.html": html("<p>A.</p>", canonical=f"{BASE}a")})
    pages, _ = read(tmp_path, SiteOptions("https://other.example.com/docs"))
    assert pages["a"].url == "https://other.example.com/docs/a"


def test_without_any_url_the_option_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": html()})
    with pytest.raises(SiteError, match="--site-url"):
        read(tmp_path, SiteOptions())


def test_links_and_pictures_are_absolute(tmp_path: Path) -> None:
    picture = '<img alt="A buoy" src="i.png">'
    body = f'<p><a href="../b/#x">B</a> <a href="#y">here</a> {picture}<a href="javascript:x">run</a></p>'
    write(tmp_path, {"index.html": html(), "a/index.html": html(body)})
    pages, _ = read(tmp_path)
    assert text_of(pages["a"]) == f"[B]({BASE}b/#x) [here]({BASE}a/#y) ![A buoy]({BASE}a/i.png)run"


@pytest.mark.parametrize("base", ["/manual/", BASE, "../", "..?x#y"])
def test_links_of_a_page_with_a_base_begin_there(tmp_path: Path, base: str) -> None:
    permalink = '<h2 id="y">Part <a href="a#y">\u00b6</a></h2>'
    body = f'{permalink}<p><a href="b#x">B</a> <a href="#y">here</a> <img alt="A buoy" src="i.png"></p>'
    head = f'<base target="_blank"><base href="{base}"><link rel="canonical" href="a">'
    write(tmp_path, {"index.html": html(), "a/index.html": html(body, head=head), "b/index.html": html("<p>B.</p>")})
    pages, _ = read(tmp_path)
    (section,) = pages["a"].sections
    assert section.markdown == f"[B]({BASE}b#x) [here]({BASE}a#y) ![A buoy]({BASE}i.png)"
    assert (pages["a"].url, pages["b"].url, section.headings, section.anchor) == (
        f"{BASE}a",
        f"{BASE}b",
        ("Part",),
        "y",
    )


@pytest.mark.parametrize("base", ["", "http://[half/"])
def test_a_base_that_is_no_url_says_nothing(tmp_path: Path, base: str) -> None:
    head = f'<base href="{base}">'
    write(tmp_path, {"index.html": html(), "a/index.html": html('<p><a href="b">B</a></p>', head=head)})
    assert text_of(read(tmp_path)[0]["a"]) == f"[B]({BASE}a/b)"


@pytest.mark.parametrize(
    ("head", "text", "flaw"),
    [
        ("", "caf\ufffd", "is not utf-8 at byte 24: \ufffd stands for what cannot be read"),
        ("<meta charset=utf-8>", "caf\ufffd", "is not utf-8 at byte 44: \ufffd stands for what cannot be read"),
        ("<meta charset={{charset}}>", "caf\ufffd", "is not utf-8 at byte 50: \ufffd stands for what cannot be read"),
        ("<meta charset=hex>", "caf\ufffd", "is not utf-8 at byte 42: \ufffd stands for what cannot be read"),
        ("<meta charset=latin-1>", "caf\u00e9", None),
    ],
)
def test_a_byte_that_is_not_in_the_encoding_is_reported(tmp_path: Path, head: str, text: str, flaw: str | None) -> None:
    write(tmp_path, {"index.html": html()})
    (tmp_path / "a.html").write_bytes(f"<html>{head}<main><p>Mill, caf".encode() + b"\xe9</p></main></html>")
    found = list(open_site(tmp_path, AT_BASE).read())
    assert [text_of(each) for each in found if isinstance(each, Page)] == [f"Mill, {text}", "Flour from the hill."]
    assert [each for each in found if not isinstance(each, Page)] == ([Flaw("a.html", flaw)] if flaw else [])
    if flaw:
        with pytest.raises(SiteError, match=r"a\.html is not utf-8 at byte"):
            read(tmp_path, SiteOptions(BASE, strict=True))


def test_one_bad_page_costs_no_other(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": html(), "bad.html": html(head="<meta charset=punycode>")})
    (tmp_path / "bad.html").write_bytes(b"<meta charset=punycode><main><p>caf\xe9</p></main>")
    pages, skipped = read(tmp_path)
    assert list(pages) == ["index"]
    assert "UnicodeDecodeError" in skipped["bad.html"]
    with pytest.raises(SiteError, match=r"bad\.html cannot be read"):
        read(tmp_path, SiteOptions(BASE, strict=True))


@pytest.mark.parametrize(
    ("declared", "written", "text"),
    [
        ("latin-1", "latin-1", "caf\u00e9"),
        ("ISO-8859-1", "cp1252", "don\u2019t pay \u20ac 5"),
        ("us-ascii", "cp1252", "don\u2019t"),
        ("gb2312", "gb18030", "\u6731\u9555\u57fa"),
        ("shift_jis", "cp932", "\u2460 \u9ad9"),
        ("euc-kr", "cp949", "\ub620"),
        ("utf-16", "utf-8", "caf\u00e9"),
        ("latin-1", "utf-8-sig", "caf\u00e9"),
        ("utf-8", "utf-16", "caf\u00e9"),
    ],
)
def test_a_page_is_decoded_as_a_browser_does(tmp_path: Path, declared: str, written: str, text: str) -> None:
    page = f"<html><head><meta charset={declared}></head><main><p>{text}</p></main></html>"
    (tmp_path / "index.html").write_bytes(page.encode(written))
    assert read(tmp_path)[0]["index"].sections[0].markdown == text


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("old.html", '<html><head><meta http-equiv="Refresh" content="0; URL=index.html"></head></html>', "redirect"),
        ("a.html", html(head='<meta content="none" name="ROBOTS">'), "noindex"),
        ("de/404.html", html(), "error page"),
        ("tags/wind/index.html", html("<p>Tag.</p>"), "list of pages"),
        ("blog/page/2/index.html", html("<p>Posts.</p>"), "list of pages"),
        ("search.html", html("<h1>Search</h1>"), "search page"),
        ("list.html", html('<h1>All</h1><ul><li><a href="index.html">Home</a> First page.</li></ul>'), "list of pages"),
        ("empty.html", html('<div id="app"></div>'), "no main content"),
        ("copy.html", html(canonical=BASE), "duplicate"),
    ],
)
def test_pages_not_meant_to_be_found_are_left_out(tmp_path: Path, file: str, content: str, reason: str) -> None:
    write(tmp_path, {"index.html": html(canonical=BASE), file: content})
    pages, skipped = read(tmp_path)
    assert list(pages) == ["index"]
    assert skipped == {file: reason}


def test_chapters_on_tags_and_search_are_pages(tmp_path: Path) -> None:
    words = "<p>" + "How to search the mill. " * 30 + "</p>"
    generator = '<meta name="generator" content="mkdocs-1.6.1">'
    write(
        tmp_path,
        {
            "index.html": html(head=generator),
            "tags/index.html": html("<p>How to tag sacks.</p>", head=generator),
            "search/index.html": html(words, head=generator),
        },
    )
    assert list(read(tmp_path)[0]) == ["index", "search", "tags"]


@pytest.mark.parametrize("file", ["series.html", "authors/guide.html", "en/tag/index.html"])
def test_a_chapter_named_like_a_list_is_a_page(tmp_path: Path, file: str) -> None:
    chapter = '<h1>Series</h1><p>Words.</p><h2 id="a">Part<a href="#a">#</a></h2><p>More.</p>'
    posts = '<h1>Tag</h1><h2 id="a"><a href="/a">Post</a></h2><p>Words.</p><h2 id="b"><a href="/b">Post</a></h2>'
    many = f"<article>{chapter}</article><article><h2>Next</h2></article>"
    write(tmp_path, {"index.html": html(), file: html(chapter)})
    assert read(tmp_path)[1] == {}
    for listing in (posts, many):
        write(tmp_path, {file: html(listing)})
        assert read(tmp_path)[1] == {file: "list of pages"}


def test_a_canonical_link_that_all_pages_share_says_nothing(tmp_path: Path) -> None:
    files = {f"{name}.html": html(f"<p>{name}</p>", canonical=BASE) for name in ("a", "b", "c")}
    write(tmp_path, {"index.html": html(canonical=BASE), **files})
    pages, skipped = read(tmp_path)
    assert list(pages) == ["a", "b", "c", "index"]
    assert skipped == {}
    assert pages["a"].url == f"{BASE}a.html"


def test_two_files_at_one_url_give_one_page(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": html(), "a.html": html("<p>One.</p>", canonical=f"{BASE}a")})
    write(tmp_path, {"a/index.html": html("<p>Two.</p>", canonical=f"{BASE}a")})
    pages, skipped = read(tmp_path)
    assert len(pages) == 2
    assert list(skipped.values()) == ["another file has its URL"]


def test_a_large_file_is_left_out_by_its_path_unparsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = html("<section id=main-content><h1>Mill</h1>Stones.</section>", head="<meta name=generator content=rustdoc>")
    write(tmp_path, {"index.html": page, "src/mill.rs.html": page, "src/mill.html": page.replace("Stones", "Sails")})
    monkeypatch.setattr(site, "_LARGE", len(page) - 2)
    found = list(open_site(tmp_path, AT_BASE).read())
    assert [(each.path, each.account) for each in found if isinstance(each, Skip)] == [("src/mill.rs.html", None)]
    assert len(found) == 3


def test_pages_unmarked_for_pagefind_are_left_out(tmp_path: Path) -> None:
    marked = "<div data-pagefind-body><p>Found.</p></div>"
    write(tmp_path, {"index.html": html(marked), "hidden.html": html("<p>Hidden.</p>")})
    assert read(tmp_path)[1] == {"hidden.html": "left out of the site's search"}


def test_pages_missing_from_the_search_index_are_left_out(tmp_path: Path) -> None:
    entries = [{"location": location} for location in ("", "a/", "a/#part")]
    write(tmp_path, {f"{name}/index.html": html(f"<p>{name}</p>") for name in ("a", "unsearched")})
    write(tmp_path, {"index.html": html(), "search/search_index.json": json.dumps({"docs": entries})})
    assert read(tmp_path)[1] == {"unsearched/index.html": "left out of the site's search"}


@pytest.mark.parametrize("index", ["{", "[]", '{"docs": []}', '{"docs": [{"location": "elsewhere/"}, 3]}'])
def test_an_unreadable_search_index_says_nothing(tmp_path: Path, index: str) -> None:
    write(tmp_path, {"index.html": html(), "search/search_index.json": index})
    assert read(tmp_path)[1] == {}


LANGUAGES = {
    "index.html": html("<h1>Mill</h1><p>Flour from the hill.</p>"),
    "old.html": html("<h1>History</h1><p>Built on the hill in 1790, burnt in 1801, built again.</p>"),
    "de/index.html": html("<h1>Mühle</h1><p>Mehl vom Berg.</p>", language="de-DE"),
    "de/old.html": html(
        "<h1>History</h1><p>Built on the hill in 1790, burnt in 1801, built again.</p>", language="de-DE"
    ),
}


def test_all_languages_are_read_and_copies_are_not(tmp_path: Path) -> None:
    pages, skipped = read(write(tmp_path, LANGUAGES))
    assert {path: page.language for path, page in pages.items()} == {"de": "de-DE", "index": "en", "old": "en"}
    assert skipped == {"de/old.html": "untranslated"}


def test_of_copies_the_one_in_its_languages_folder_is_read(tmp_path: Path) -> None:
    pages, skipped = read(write(tmp_path, {f"{folder}/mill.html": html() for folder in ("da", "en", "fr")}))
    assert list(pages) == ["en/mill"]
    assert skipped == {"da/mill.html": "duplicate", "fr/mill.html": "duplicate"}


def test_a_language_selects_its_pages(tmp_path: Path) -> None:
    pages, skipped = read(write(tmp_path, LANGUAGES), SiteOptions(BASE, language="de"))
    assert list(pages) == ["de"]
    assert skipped["index.html"] == "other language"
    with pytest.raises(SiteError, match=r"No page is in the language fr\. The site's languages: de-DE, en\."):
        read(tmp_path, SiteOptions(BASE, language="fr"))


def docusaurus(version: str, text: str, banner: bool = False) -> str:
    warning = '<div class="theme-doc-version-banner">Old.</div>' if banner else ""
    return (
        f'<html lang="en" class="docs-wrapper docs-doc-page"><head><meta name="generator" content="Docusaurus v3.10.2">'
        f'<meta name="docsearch:version" content="{version}"></head><body><main>{warning}'
        f'<div class="theme-doc-markdown"><h1>Mill</h1><p>{text}</p></div></main></body></html>'
    )


VERSIONS = {
    "index.html": html("<p>Welcome.</p>"),
    "docs/mill/index.html": docusaurus("2.0", "Grinds at dawn."),
    "docs/1.0/mill/index.html": docusaurus("1.0", "Grinds at noon.", banner=True),
    "docs/next/mill/index.html": docusaurus("current", "Grinds all day.", banner=True),
}


def test_the_current_version_alone_is_read(tmp_path: Path) -> None:
    pages, skipped = read(write(tmp_path, VERSIONS))
    assert {path: page.version for path, page in pages.items()} == {"docs/mill": "2.0", "index": ""}
    assert set(skipped.values()) == {"other version"}


def test_a_version_selects_its_pages(tmp_path: Path) -> None:
    pages, _ = read(write(tmp_path, VERSIONS), SiteOptions(BASE, version="1.0"))
    assert list(pages) == ["docs/1.0/mill"]
    with pytest.raises(SiteError, match=r"No page is of the version 3\.0\. The site's versions: 1\.0, 2\.0\."):
        read(tmp_path, SiteOptions(BASE, version="3.0"))


def test_of_version_folders_the_latest_is_read(tmp_path: Path) -> None:
    listed = [{"version": "2.1", "aliases": ["latest"]}, {"version": "2.0", "aliases": []}]
    mill = {f"{folder}/mill/index.html": html(f"<p>{folder}</p>") for folder in ("2.0", "2.1", "latest")}
    write(tmp_path, {"versions.json": json.dumps(listed), "index.html": html("<p>Welcome.</p>"), **mill})
    pages, skipped = read(tmp_path)
    assert {path: page.version for path, page in pages.items()} == {"2.1/mill": "2.1", "index": ""}
    assert skipped == {"2.0/mill/index.html": "other version", "latest/mill/index.html": "copy of a version"}
    assert list(read(tmp_path, SiteOptions(BASE, version="2.0"))[0]) == ["2.0/mill"]


def cell(content: str) -> str:
    return f"<table><tr><th>Command<th>Use</tr><tr><td>{content}</td><td>Mill</td></tr></table>"


CODE = "```\na\n  b\n```"
QUOTE = "> One.\n>\n> Two.\n>\n> - Three."
LISTING = (
    "<td class=code><pre><span class=line>a</span><br><span class=line>  b</span></pre></td></tr></table></figure>"
)
NOTE = '<td class="icon"><i title="Note"></i></td><td class="content"><p>Mind the mill:</p><pre>a\nb</pre></td>'
INNER = "<table><tr><th>A</tr><tr><td>1</td></tr></table>"
BODIES: list[tuple[str, str]] = [
    ('<p>See <img alt="a lit lamp" src="data:image/png;base64,AAAA">.</p>', "See a lit lamp."),
    ('<h1>Mill</h1><ul><li><a href="http://[half/">Flour</a></li></ul>', "- Flour"),
    # An exponent stays apart from its number.
    ("10<sup>6</sup>, m<sup>-2</sup>", "10^6, m^-2"),
    ("<code>2<sup>10</sup></code>", "`2^10`"),
    ("the 1<sup>st</sup> Mill<sup>TM</sup>, H<sub>2</sub>O", "the 1st MillTM, H2O"),
    ('Mill<sup id="r"><a class="footnote-ref" href="#f">1</a></sup>.', "Mill."),
    # A button in a sentence is text.
    ("<p>Press <button class=btn>Save</button> twice.</p>", "Press Save twice."),
    ("<ul><li>The <b><button>Run</button></b> button.</li></ul>", "- The **Run** button."),
    ("<table><tr><th>A</th></tr><tr><td><button>Save</button></td></tr></table>", "| A |\n| --- |\n| Save |"),
    ("<details><summary><button>More</button></summary>Text.</details>", "**More**\n\nText."),
    ("<p>Run <code>mill</code> <button>Copy</button></p>", "Run `mill`"),
    ('<p>Run <code>mill</code> <button class="copybtn">Go</button></p>', "Run `mill`"),
    ('<p>Run <code>mill</code> <button aria-label="Copy to clipboard">\u2398</button></p>', "Run `mill`"),
    ("<div><pre>mill</pre><button>Wrap lines</button></div>", "```\nmill\n```"),
    ("<div class=feedback>Text. Helpful? <button>Yes</button></div><p>End.</p>", "Text. Helpful?\n\nEnd."),
    ("<p>Text.</p><p><button>Launch</button></p>", "Text."),
    # What only old browsers show is left out, and so are tables of contents.
    *(
        (f"<p>One.</p><{tag}>Update your browser.</{tag}><p>Two.</p>", "One.\n\nTwo.")
        for tag in ("video", "audio", "object", "canvas", "iframe")
    ),
    *(
        (f"<h1>Mill</h1><{tag}><li><a href=#a>Part</a></li></{tag.split()[0]}><h2 id=a>Part</h2><p>Text.</p>", "Text.")
        for tag in ("div id=toc", "ul class=toc", "div class=table-of-contents", "nav")
    ),
    # Each line of code stays a line.
    ("<pre><div>a</div><div>  b</div></pre>", CODE),
    ("<pre><ol><li>a</li><li>  b</li></ol></pre>", CODE),
    ("<pre><code>a<div>  b\n</div></code></pre>", CODE),
    ("<pre><div class=line>a<br></div><div class=line>  b<br></div></pre>", CODE),
    (f"<figure class=highlight><table><tr><td class=gutter><pre>1<br>2</pre></td>{LISTING}", CODE),
    ("<p>Run <code>a<br>b</code>.</p>", "Run `a`  \n`b`."),
    # Quotations.
    ("<h2>A</h2><blockquote><h3>Said</h3><p>So.</p></blockquote><p>End.</p>", "> ### Said\n> So.\n\nEnd."),
    *(
        (space.join(["<blockquote>", "<p>One.</p>", "<p>Two.</p>", "<ul><li>Three.</li></ul>", "</blockquote>"]), QUOTE)
        for space in ("", "\n", "\n    ")
    ),
    # A table of one row or column without a header is a frame.
    ("<table><tr><td>(ring 3)</td></tr><tr><td>ding</td></tr></table>", "(ring 3)\n\nding"),
    (f"<table><tr>{NOTE}</tr></table>", "Mind the mill:\n\n```\na\nb\n```"),
    (f"<table><tbody><tr><td>{INNER}</td></tr></table>", "| A |\n| --- |\n| 1 |"),
    # A row of values is no header.
    ("<table><tr><td>a<br><td>b<tr><td><td><br><tr><td>c<td>d</table>", "|  |  |\n| --- | --- |\n| a | b |\n| c | d |"),
    ("<table><tr><th>a<td>b</tr><tr><th>c<td>d</tr></table>", "|  |  |\n| --- | --- |\n| a | b |\n| c | d |"),
    (
        "<table><tr><td colspan=2>a<td>b</tr><tr><td>c<td>d<td>e</tr></table>",
        "|  |  |  |\n| --- | --- | --- |\n| a | | b |\n| c | d | e |",
    ),
    ("<table><tr><th>a<th>b</tr><tr><td>c<td>d</tr></table>", "| a | b |\n| --- | --- |\n| c | d |"),
    ("<table><thead><tr><td>a<td>b</tr></thead><tr><td>c<td>d</tr></table>", "| a | b |\n| --- | --- |\n| c | d |"),
    # Each line in a cell stays a line.
    *(
        (cell(content), f"| Command | Use |\n| --- | --- |\n| {markdown} | Mill |")
        for content, markdown in (
            ("<pre>a\n\n  b|c\n</pre>", "`a`<br>`  b\\|c`"),
            ("Run:<div class=highlight><pre><code>a<br>b</code></pre></div>", "Run:<br>`a`<br>`b`"),
            ("<code>a<br>b</code>", "`a`<br>`b`"),
            ("<code>a</code><br>\n<code>b</code>", "`a`<br> `b`"),
            ("Two<br>lines<p>One.</p><p>Two.</p>", "Two<br>lines<br>One.<br>Two."),
            ("Either:<ul><li>one</li><li><p>two</p></li></ul>", "Either:<br>one<br>two"),
            ("<blockquote>One.</blockquote><blockquote>Two.</blockquote>", "One.<br>Two."),
            (
                "<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre><td><pre>a\nb</pre></table>",
                "`a`<br>`b`",
            ),
        )
    ),
]


@pytest.mark.parametrize(("body", "markdown"), BODIES)
def test_main_content_becomes_markdown(tmp_path: Path, body: str, markdown: str) -> None:
    write(tmp_path, {"index.html": html(body)})
    assert text_of(read(tmp_path)[0]["index"]) == markdown


BLOCKS = ("address", "center", "dd", "details", "div", "fieldset", "figure", "form", "hgroup", "legend", "p", "section")
DROPPED = ("aside", "nav", "hr", "footer", "dialog", "div class=toc", "button", "video")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        *((f"<div>One<{tag}>two</{tag}>three</div>", "One two three") for tag in BLOCKS),
        *((f"<div>One<{tag}></{tag.split()[0]}>three</div>", "One three") for tag in DROPPED),
        *(
            (f"{f'<{tag}>' * depth}<p>Flour.</p>{f'</{tag}>' * depth}", "Flour.")
            for tag in ("div", "blockquote", "b")
            for depth in (300, 512, 2000)
        ),
    ],
)
def test_words_of_blocks_stay_apart_however_deep(tmp_path: Path, body: str, words: str) -> None:
    write(tmp_path, {"index.html": html(body)})
    assert text_of(read(tmp_path)[0]["index"]).replace("*", "").replace(">", "").split() == words.split()


ALERT = '<div class="alert" role="alert"><h4 class="alert-heading">Warning</h4><p>Careful.</p></div>'
CARD = '<div class="card"><h2 class="card-title" id="b">B</h2><p>Three.</p></div>'
METHODS = "".join(f"<li><section id={name}()><h3>{name}</h3><p>Text.</p></section></li>" for name in ("a", "b"))
BUTTONS = "<h2 id=a><button>Why a mill?</button></h2><p>One.</p><h2 id=b>Sails <button>Edit</button></h2><p>Two.</p>"
MORE = "<details><summary>{}</summary>{}</details><p>Three.</p>"
SECTIONS: list[tuple[str, list[tuple[str, str, str]]]] = [
    # Text after details belongs to the heading before.
    (
        f"<h2 id=a>A</h2><p>One.</p>{MORE.format('More', '<h3 id=b>B</h3><p>Two.</p>')}",
        [("a", "A", "One.\n\n**More**"), ("b", "A/B", "Two."), ("a", "A", "Three.")],
    ),
    # A heading in a summary is for the text of its details.
    *(
        (
            f"<h2 id=a>A</h2><p>One.</p>{MORE.format(question, '<div>Two.</div>')}",
            [("a", "A", "One."), ("b", "A/B", "Two."), ("a", "A", "Three.")],
        )
        for question in ("<h3 id=b>B</h3>", "<section id=b><h3>B</h3></section>")
    ),
    # The title of an alert begins no section.
    (
        f"<h1>Mill</h1><h2 id=a>A</h2>{ALERT}<p>Two.</p>{CARD}",
        [("a", "Mill/A", "**Warning**\n\nCareful.\n\nTwo."), ("b", "Mill/B", "Three.")],
    ),
    (
        f"<h1>Mill</h1><h2>Methods</h2><ul>{METHODS}</ul><ul><li><h3>c</h3>D.</ul>",
        [
            ("a()", "Mill/Methods/a", "Text."),
            ("b()", "Mill/Methods/b", "Text."),
            ("", "Mill/Methods", "- ### c\n  D."),
        ],
    ),
    (f"<h1>Mill</h1>{BUTTONS}", [("a", "Mill/Why a mill?", "One."), ("b", "Mill/Sails", "Two.")]),
    # A heading that is left open keeps the text behind it.
    ("<h1>Mill<p>Flour.</p><h2>Sails</h2><p>Wood.", [("", "Mill", "Flour."), ("", "Mill/Sails", "Wood.")]),
    (
        "<h1>Mill<div><p>Flour.</div></h1><h2>Sails<ul><li>Wood.</ul>",
        [("", "Mill", "Flour."), ("", "Mill/Sails", "- Wood.")],
    ),
    # A heading's link that is a sign is not its title.
    *(
        (
            f'<h1>Mill</h1><h2><a href="#part" name="part">{sign}</a> Part <a href="#b">two</a></h2><p>Text.</p>',
            [("part", "Mill/Part two", "Text.")],
        )
        for sign in ("#", "\u00b6", "\u00a7", "\U0001f517", "", "\u200b")
    ),
    ('<h1>Mill</h1><h2 id="and"><a class="header" href="#and">&&</a></h2><p>Text.</p>', [("and", "Mill/&&", "Text.")]),
    # A mark before a heading without an id is its anchor.
    *(
        (f"<p>One.</p>{before}<h2>Part</h2><p>Two.</p>", [("", "", "One."), ("mark", "Part", "Two.")])
        for before in (
            "<a id=mark></a>",
            "<a name=mark></a>\n",
            "<p><a name=old></a><a name=mark></a></p>\n<!-- x -->\n",
            "<span id=mark></span>",
        )
    ),
    ("<p><a id=other></a>Words.</p><h2>Part</h2><p>Two.</p>", [("", "", "Words."), ("", "Part", "Two.")]),
    (
        "<p><a id=other><img src=a.png alt=Pump></a></p><h2>Part</h2><p>Two.</p>",
        [("", "", "![Pump](https://mill.example.com/manual/a.png)"), ("", "Part", "Two.")],
    ),
    ("<a id=other></a>Words. <h2>Part</h2><p>Two.</p>", [("", "", "Words."), ("", "Part", "Two.")]),
]
"""A body, and of each of its sections the anchor, the headings and the text."""


@pytest.mark.parametrize(("body", "sections"), SECTIONS)
def test_headings_cut_a_page_into_sections(tmp_path: Path, body: str, sections: list[tuple[str, str, str]]) -> None:
    write(tmp_path, {"index.html": html(body)})
    found = read(tmp_path)[0]["index"].sections
    assert [(each.anchor, "/".join(each.headings), each.markdown) for each in found] == sections


def test_a_selector_names_the_main_content(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": html('<div class="mine"><p>Mine.</p></div><p>Not mine.</p>')})
    assert text_of(read(tmp_path, SiteOptions(BASE, selector=".mine"))[0]["index"]) == "Mine."
    with pytest.raises(SiteError, match=r"--content-selector: '\.\.\[' is not a CSS selector"):
        read(tmp_path, SiteOptions(BASE, selector="..["))


def test_a_folder_one_level_too_high_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"build/index.html": html(), "build/a.html": html()})
    with pytest.raises(SiteError, match=r"one level too high: .*build is the built site"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("files", "pages", "skipped"),
    [
        (("lamp.html", "lua/index.html", "README.md"), {"lamp", "lua"}, {"README.md": "Markdown beside the HTML"}),
        (("bash.html", "A.md", "B.md"), {"bash"}, dict.fromkeys(("A.md", "B.md"), "Markdown beside the HTML")),
        (("en/index.html", "en/a.html", "ja/index.html", "ja/a.html"), {"en", "en/a", "ja", "ja/a"}, {}),
        (("lamp/index.html", "lamp/struct.Lamp.html"), {"lamp", "lamp/struct.Lamp"}, {}),
        (("a.XHTML", "B.HTM"), {"a", "B"}, {}),
        (("de/latest/a.html", "de/2.0/a.html", "en/2.0/a.html", "en/10.0/a.html"), {"de/latest/a", "en/10.0/a"}, ...),
    ],
)
def test_every_page_is_read_or_named(tmp_path: Path, files: tuple[str, ...], pages: set[str], skipped: object) -> None:
    long = "Flour. " * 40
    texts = {name: "# A" if name.endswith("md") else html(f"<p>{long}{name}<a id='x'/></p>") for name in files}
    read_pages, others = read(write(tmp_path, texts))
    assert set(read_pages) == pages
    assert skipped in (others, ...)


@pytest.mark.parametrize(("stated", "language"), [("", "de"), (' lang="fr"', "fr")])
def test_the_language_of_the_site_is_that_of_pages_without(tmp_path: Path, stated: str, language: str) -> None:
    write(tmp_path, {"index.html": f"<html{stated}><p>Mehl.</p>"})
    (page,) = read(tmp_path, SiteOptions(BASE, language_of_site="de"))[0].values()
    assert page.language == language


def test_sources_of_a_generator_are_not_a_built_site(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": "---\nlayout: home\n---\n", "a.md": "# A\n\nText."})
    assert [page.title for page in read(tmp_path)[0].values()] == ["A"]


@pytest.mark.parametrize(
    "begin", ["<h2 id={}>Part</h2>", "<section id={}><h2>Part</h2>", "<div class=section id={}><h2>Part</h2>"]
)
@pytest.mark.parametrize("name", re.findall(r"(?:^|, )#([\w-]+)", ", ".join(NOISE.values())))
def test_a_section_with_the_id_of_noise_is_read(tmp_path: Path, name: str, begin: str) -> None:
    write(tmp_path, {"index.html": html(f"<h1>Mill</h1><p>One.</p>{begin.format(name)}<p>Two.</p>")})
    last = read(tmp_path)[0]["index"].sections[-1]
    assert (last.headings, last.anchor, last.markdown) == (("Mill", "Part"), name, "Two.")


@pytest.mark.parametrize(
    ("body", "anchor"),
    [
        ("<div id=oil><h2>Oil</h2><p>Text.</p><h3>Cold</h3><p>Text.</div><div id=b><h2>B</h2><p>Text.</div>", "oil"),
        ("<div id=oil><h2>Oil</h2><p>Text.</p><h2>B</h2><p>Text.</div><h2>C</h2><p>Text.", ""),
        ("<div id=main><h2>Oil</h2><p>Text.</p><h3>Cold</h3><p>Text.</div>", ""),
    ],
)
def test_a_heading_has_the_id_of_the_element_that_is_its_alone(tmp_path: Path, body: str, anchor: str) -> None:
    write(tmp_path, {"index.html": html(f"<h1>Mill</h1><p>Text.</p>{body}")})
    sections = read(tmp_path)[0]["index"].sections
    assert [section.anchor for section in sections if section.headings[1:] == ("Oil",)] == [anchor]


@pytest.mark.parametrize("name", re.findall(r"'#([\w-]+)[:']", str([each.contents for each in GENERATORS])))
def test_a_heading_with_the_id_of_the_content_is_not_it(tmp_path: Path, name: str) -> None:
    head = '<meta name="generator" content="Jekyll v4.3.2">'
    write(tmp_path, {"index.html": html(f"<h1>Mill</h1><p>One.</p><h2 id={name}>Part</h2><p>Two.</p>", head=head)})
    assert [section.markdown for section in read(tmp_path)[0]["index"].sections] == ["One.", "Two."]


def test_pages_with_the_suffix_htm_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"a.htm": html(), "b/c.htm": html("<p>C.</p>"), "404.htm": html("<p>No.</p>")})
    pages, skipped = read(tmp_path)
    assert [page.url for page in pages.values()] == [f"{BASE}a.htm", f"{BASE}b/c.htm"]
    assert skipped == {"404.htm": "error page"}


@pytest.mark.parametrize("space", ["", "\n", " <!-- note --> "])
def test_two_quotations_stay_two(tmp_path: Path, space: str) -> None:
    quotes = f"<blockquote>One.</blockquote>{space}<blockquote>Two.</blockquote>"
    write(
        tmp_path,
        {"index.html": html(f"<p>A.</p>{quotes}<p>B.</p><ul><li>C.{quotes}</li></ul><table><tr><td>{quotes}</table>")},
    )
    said = "> One.\n\n> Two."
    text = text_of(read(tmp_path)[0]["index"])
    assert said in text
    assert "  > One.\n\n  > Two." in text
    assert "\ue002" not in text


@pytest.mark.parametrize("banner", ["<div role=dialog>", "<section role=alertdialog>", "<dialog open>"])
@pytest.mark.parametrize("page", ["<main>{}</main>", "<body>{}</body>"])
def test_a_cookie_banner_is_left_out(tmp_path: Path, banner: str, page: str) -> None:
    write(tmp_path, {"index.html": page.format(f"<p>Flour.</p>{banner}We use cookies.")})
    assert text_of(read(tmp_path)[0]["index"]) == "Flour."


@pytest.mark.parametrize("url", ["https://[domain]/", "https://%5Bdomain]/a", "http://[half", "//[", ""])
def test_a_stated_text_that_is_no_url_says_nothing(tmp_path: Path, url: str) -> None:
    listed = f"<urlset><url><loc>{url}</loc></url><url><loc>{BASE}a</loc></url></urlset>"
    write(tmp_path, {"sitemap.xml": listed, "a.html": html(canonical=url), "b.html": html("<p>B.</p>")})
    pages, skipped = read(tmp_path, SiteOptions())
    assert ([page.url for page in pages.values()], skipped) == ([f"{BASE}a", f"{BASE}b.html"], {})


def test_a_list_of_nothing_but_links_within_the_page_is_left_out(tmp_path: Path) -> None:
    links = "".join(f'<li><a href="#{name}">Part {name}</a></li>' for name in "abc")
    nested = f'<ul><li><a href="#x">Part x</a><ol>{links}</ol></li></ul>'
    kept = f'<p>One of:</p><ul>{links}</ul><ul>{links}<li><a href="#d">Part d</a> with words</li></ul>'
    write(tmp_path, {"index.html": html(f"<h1>Mill</h1>{nested}<h2>Next</h2>{kept}")})
    (section,) = read(tmp_path)[0]["index"].sections
    assert section.headings == ("Mill", "Next")
    assert re.findall(r"\[(.*?)\]", section.markdown) == [f"Part {name}" for name in "abcabcd"]


def test_the_title_comes_from_the_head_without_the_sites_name(tmp_path: Path) -> None:
    files = {
        f"{name}.html": html(f"<h2>Part</h2><p>{name}</p>", head=f"<title>{name.title()} - notes | Mill</title>")
        for name in ("index", "stones", "sails")
    }
    write(tmp_path, files)
    assert [page.title for page in read(tmp_path)[0].values()] == ["Index", "Sails", "Stones"]


def test_without_any_title_the_file_name_is_readable(tmp_path: Path) -> None:
    write(tmp_path, {"index.html": html(), "guide/first-steps.html": html("<h2>Part</h2><p>Text.</p>")})
    assert read(tmp_path)[0]["guide/first-steps"].title == "First steps"


@pytest.mark.parametrize(("suffix", "url"), [("html", "https://e.org/"), ("md", "https://e.org/")])
def test_a_page_that_vanishes_is_left_out(tmp_path: Path, suffix: str, url: str) -> None:
    body = html() if suffix == "html" else "Text."
    write(tmp_path, {f"404.{suffix}": body, f"gone.{suffix}": body, f"here.{suffix}": body.replace("Text", "Words")})
    reading = open_site(tmp_path, SiteOptions(url)).read()
    found = [next(reading)]
    (tmp_path / f"gone.{suffix}").unlink()
    skips = {skip.path: skip for skip in (*found, *reading) if isinstance(skip, Skip) and skip.failed}
    assert [skip.reason for skip in skips.values()] == ["cannot be read: No such file or directory"]
    assert next(iter(skips)).startswith("gone")
