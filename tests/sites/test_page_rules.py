"""What is a page's text, its title and its original is decided by what a thing is, not by a theme's names."""

from pathlib import Path
from urllib.parse import urljoin

import pytest

from passage.sites.model import Page, SiteError, Skip
from passage.sites.source import SiteOptions, open_site
from sites.reading import written

SITE = "https://mill.example/"


def read(folder: Path, pages: dict[str, str]) -> dict[str, Page | str]:
    """Each file's page, or the reason why it is left out; a text without `<` is the body of a page with its title."""
    written(folder, {name: f"<meta charset=utf-8><title>{name}</title>{body}" for name, body in pages.items()})
    found = list(open_site(folder, SiteOptions(SITE)).read())
    return {
        each.path: each.reason if isinstance(each, Skip) else each for each in found if isinstance(each, Skip | Page)
    }


def text(page: Page | str) -> str:
    assert isinstance(page, Page), page
    return "\n\n".join(section.markdown for section in page.sections)


LINKS = "<li><a href=#a>A</a></li><li><a href=#b>B</a></li><li><a href=#c>C</a></li>"


@pytest.mark.parametrize(
    "body",
    [
        "<ol><li><a href=/>Home</a></li><li>Mill</li></ol><h1>Mill</h1><p>Text.</p>",
        "<div><span><a href=/grain/>Grain</a></span> / <b>Mill</b></div><h1>Mill</h1><p>Text.</p>",
        "<h1>Mill</h1><p><time>4 May</time> \u00b7 5 min read</p><p>Text.</p>",
        "<h1>Mill</h1><div><span>The miller</span> <span>11/29/26</span></div><p>Text.</p>",
        "<header><h1>Mill</h1><p><a rel=tag href=/tags/a/>a</a></p></header><p>Text.</p>",
        "<header><h1>Mill</h1><div><p class=byline>Ann</p><p><a href=a.rst>Source</a></p></div></header><p>Text.</p>",
        "<h1>Mill</h1><p>Translations: <a hreflang=de href=/de/>de</a></p><p>Text.</p>",
        "<h1>Mill</h1><p>In: <a href=/en/>en</a>, <a hreflang=de href=/de/>de</a></p><p>Text.</p>",
        "<h1>Mill</h1><p>Text.</p><p>Next: <a rel=next href=/a>A</a>, Up: <a rel=up href=#>B</a></p><h2>More</h2>",
        "<h1>Mill</h1><p>Text.</p><div><a href=/a/>A</a><a href=/b/>B</a></div>",
        "<h1>Mill</h1><p>Text.</p><div><a href=/a/><div><p>A</p></div><p>Another page's text.</p></a></div>",
        "<h1>Mill</h1><p>Text.</p><p><a rel=prev href=a>A</a> <a rel=next href=b>B</a></p><p>On <time>4 May</time></p>",
        "<h1>Mill</h1><p>Text.</p><p><a href=https://git.example/edit/a.md>Edit</a></p>",
        "<h1>Mill</h1><p>Text.</p><div><p>Was this page helpful?</p><button>Yes</button></div>",
        "<h1>Mill</h1><p>Text.</p><div class=page-footer>MIT licensed</div>",
        "<h1>Mill</h1><p>Text.</p><section class=comments><h2>Comments</h2><a href=//d.example>By D</a></section>",
        "<h1>Mill</h1><div><label for=f>Filter</label><input id=f></div><p>Text.</p>",
        f"<h1>Mill</h1><div><h2>On this page</h2><ul>{LINKS}</ul></div><p>Text.</p>",
        "<h1>Mill</h1><details><summary><p>Show code<p>Hide code</summary>Text.</details>",
        f"<h1>Mill</h1><p>Text.</p><aside><ul>{LINKS}</ul></aside>",
        "<p><a href=a><img alt=A src=x/arrow_next.png></a> <a href=b><img alt=B src=up.gif></a></p><h2>Mill</h2>Text.",
        "<a href=#main>Skip to content</a><h1 id=main>Mill</h1><p>Text.</p>",
        "<h1>Mill</h1><a href=#a>A</a><br>\n<a href=#b>B</a><br>\n<a href=#c>C</a><br><hr><p>Text.</p>",
        "<ul><li><a href=#use>Use</a></ul><h1>Mill</h1><p>Text.</p><h2 id=use>Use</h2>",
        "<h1>Mill</h1><div><label><a href=#7>7</a></label><p id=7>Text.</div>",
        "<h1>Mill <a class=src href=../src/mill.rs.html#3>Source</a></h1><p>Text.</p>",
        "<h1>Mill</h1><p>Text.</p><a href=//g.example/blob/a>[source]</a> <a href=//g.example/tree/a#L3>(source)</a>",
        "<h1>Mill</h1><details open><summary><i>Expand description</i></summary>Text.</details>",
        "<h1>Mill</h1><p>Text.</p><div><p>Was this page helpful?</p></div><div id=footer><p>Made here</p></div>",
        "<h1>Mill</h1><div data-pagefind-body><p>Text.</p></div><p>On Monday, the mill rests.</p>",
        "<h1>Mill</h1><p>Text.</p><p hidden>Never.</p><p style='color: red; display:none'>Never.</p>",
        "<h1>Mill</h1><div style='visibility: hidden'><p>Never.</div><p>Text.<span aria-hidden=true> Never.</span></p>",
        "<h1>Mill</h1><p style='DISPLAY : none'>Never.</p><p>Text.</p>",
        "<style>/* x */ .a, #b { color: red; display: none !important }</style><h1>Mill</h1><p class='c a'>Never.</p>"
        "<p>Text.</p><p id=b>Never.</p>",
        "<h1>Mill</h1><p>Text.</p><p><a href=/a/>\u2190 A</a> | <a href=/b/>B \u2192</a></p>",
        "<h1>Mill</h1><ul><li>Ann</li><li>2026/05/03</li><li><a href=/tag/a.html>a</a></li></ul><p>Text.</p>",
        "<h1>Mill</h1><address>By <a href=/author/a>Ann</a></address><p>Text.</p><p>In: <a href=/tags/b/>b</a></p>",
        "<h1>Mill</h1><div>Ge\u00e4ndert am 4.5.2026 \u00b7 5 Min.</div><p>Text.</p>",
        "<span><a href=/>Home</a></span><span>/</span><span><a href=/d/>D</a></span><h1>Mill</h1><p>Text.</p>",
        "<h1>Mill</h1><p>Text.</p><div><div>Prev <a href=/a/>A</a></div><div>Next <a href=/b/>B</a></div></div>",
        "<h1>Mill</h1><p>Text.</p><ul class=n><li>Prev: <a href=/a/>A</a><li>Next: <a href=/b/>B</a></ul>",
        "<h1>Mill</h1><p>Text.</p><div>Did this page help you? <a href=#>Yes</a></div><p>Page last updated by Ann.</p>",
        "<h1>Mill</h1><p>Text.</p><section id=isso><h3>Comments</h3></section>",
        "<div><h1>Mill</h1><div><a class=b href=/a/>Start</a><a class=b href=//x.example>X</a></div></div><p>Text.</p>",
        "<h1>Mill</h1><fieldset><legend>Filter</legend><select><option>A</select></fieldset><p>Text.</p>",
        "<h1>Mill</h1><span id=l>Search</span><input aria-labelledby=l><p>Text.</p>",
        "<h1>Mill</h1><details><summary><b>Code zeigen</b><b>Code verbergen</b></summary>Text.</details>",
        f"<h1>Mill</h1><div><p><b>Inhalt</b></p><ol>{LINKS}</ol></div><p>Text.</p>",
        "<div><a href=/>Home</a> \u00bb <a href=/t/>T</a> \u00bb <b>Mill</b></div><h1>Class: T::Mill</h1><p>Text.</p>",
        "<p>Here: <a href=/>Home</a> \u00bb <a href=/mill/>mill</a></p><h1>Mill</h1><p>Text.</p>",
        "<h1>Mill</h1><p>Text.</p><p>Hoy: 1 de mayo de 2025</p>"
        "<ul><li><a href=/a/>\u2190 A</a><li><a href=/b/>B \u2192</a></ul>",
        "<h1>Mill</h1><p>Text.</p><div><small>Updated 3 months ago</small></div>",
        "<h1>Mill</h1><div><b class=a>Ann</b><br><b>2026-05-04</b></div><p>Text.</p>",
        "<h1>Mill</h1><h2>Contents:</h2><p><a href=#a>A</a> <a href=#b>B</a> <a href=/#c>C</a></p><p>Text.</p>",
        "<h1>Mill</h1><div><p><b>Inhalt</b></p><dl><dt>1. <a href=#a>A</a><dd><dl><dt><a href=#b>B</a></dl>"
        "<dt>2. <a href=#c>C</a></dl></div><p>Text.</p>",
        f"<h1>Mill</h1><div><div>Find: <input></div><ul>{LINKS}<li><a href=#d>D</a><ul>Cogs{LINKS}</ul></ul></div>"
        "<p>Text.</p>",
        "<table><tr><td><a href=#a>Top</a><i> | </i><a href=#b>End</a></table><h1>Mill</h1><p>Text.</p>",
        "<hr><a href=index.html><img src=left.gif alt='&lt;-'></a><h1>Mill</h1><p>Text.</p>",
        "<h1>Mill</h1><p>Text.</p><hr>[ <a href=/a/>A</a> | <a href=/b/>B</a> ]",
        f"<h1>Mill</h1><ul>{'<li><a href=#a>All of the beams</a>' * 9}<li><s>Cog</s></ul><p>Text.</p>",
        "<h1>Mill</h1><ol><li><a href=#>Mill</a><li><a href=#b>B</a><li><a href=#c>C</a></ol><p>Text.</p>",
        "<blockquote><h1>Mill</h1><p>Text.</p></blockquote>",
        "<h1>Mill</h1><div>1<div><a href=#a>A</a></div><div>2.<a href=#b>B</a></div><a href=#c>C</a></div><p>Text.</p>",
    ],
)
def test_furniture_is_no_text(tmp_path: Path, body: str) -> None:
    assert text(read(tmp_path, {"index.html": f"<main>{body}</main>"})["index"]) == "Text."


def test_links_to_the_pages_that_the_head_names_are_no_text(tmp_path: Path) -> None:
    above = "<table><tr><th>Mill<th><a accesskey=p href=a.html><img alt=Before></a></table>"
    below = "<table><tr><td><a rel=prev href=a.html>&lt; Before</a><tr><td>The stones</table>"
    head = "<head><title>Mill</title><link rel=prev title='The stones' href=a.html></head>"
    inside = (
        "<table><tr><td>[<a href=b.html>Axle</a>]<td>[<a rel=start href=/>Top</a>][<a rel=index href=c>X</a>]</table>"
        "<div><a href=a.html><img alt=before></a><br><b>Before:</b> <a href=a.html>Stones</a> <b>Next part:</b>"
        "<a href=d.html>Sails</a></div><table><tr><td>[<a href=#a>A</a>]"
        "<tr><td>[<a rel=up href=#u>U</a>]<td>[<a rel=next href=#n>N</a>]"
    )
    body = f"{above}<h1>Mill</h1><p>Text.</p>{inside}</table><h2>More</h2><p>More.</p>{below}"
    written(tmp_path, {"index.html": head + body})
    (page,) = open_site(tmp_path, SiteOptions(SITE)).read()
    assert isinstance(page, Page)
    assert text(page) == "Text.\n\nMore."


@pytest.mark.parametrize("title", ["<p><b>Parts</b></p>", "<b>Parts</b>", "<h2>Parts</h2>", "<p>Its parts:</p>"])
def test_a_list_that_begins_with_the_next_page_is_no_text(tmp_path: Path, title: str) -> None:
    lists = f"{title}<ul><li><a href=#x>X</a><li><a href=a.html>A</a><ul><li><a href=b.html>2018</a></ul></ul>"
    body = f"<link rel=next href=/a.html><h1>Mill</h1><p>Text.</p>{lists}<h2>More</h2><p>More.</p>"
    assert text(read(tmp_path, {"index.html": body})["index"]) == "Text.\n\nMore."


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        ("<aside><p>Warning<p>It turns in any wind.</aside>", "**Warning** It turns"),
        ("<h2>See also</h2><div><a href=/a/>A</a> <a href=/b/>B</a></div>", "[A]"),
        ("<p>Text.</p><p><a href=/a/>A chapter</a></p>", "[A chapter]"),
        ("<p>Text.</p><div><a href=/a/><h3>A card</h3><p>Its text.</p></a></div>", "Its text."),
        ("<p>Built in <time>1790</time>.</p><p>Text.</p>", "1790"),
        ("<p>One of:</p><ul><li><a href=/a/>A</a></li></ul>", "[A]"),
        ("<label><input type=checkbox> Grease the stones</label>", "Grease the stones"),
        ("<article><p>Card one.</article><article><p>Card two.</article><p>After.", "After."),
        ("<div><h2>Use</h2><p>In it.</div><div><h2>Calls</h2><article><p>Of it.</article></div><p>After.", "After."),
        ("<article><h2>Card</h2><p>Its text.</article><p>After.", "After."),
        ("<button aria-controls=x>Show</button><p>A.</p><p id=x hidden>In it.</p>", "In it."),
        ("<a href=#x>More</a><div id=x style='display: none'>In it.</div>", "In it."),
        ("<div><button>Show</button></div><div hidden>In it.</div>", "In it."),
        ("<div><button>A</button><button>B</button></div><div>1</div><div hidden><h4>B</h4>In it.", "In it."),
        ("<details><summary>More</summary><p hidden>In it.</p></details>", "In it."),
        ("<div role=tablist><b role=tab>A</b></div><div role=tabpanel hidden>In it.</div>", "In it."),
        ("<b onclick=\"show('x')\">+</b><p>A.</p><p id=x style=display:none>In it.</p>", "In it."),
        *(
            (f"<style>.x{{display:none}}{css}</style>{more}<p class=x>In it.</p>", "In it.")
            for css, more in [
                (".open .x{display:block}", ""),
                ("@media (min-width:9em){.x{display:block}}", ""),
                ("", "<script>show('.x')</script>"),
                ("", "<button>Show</button>"),
            ]
        ),
        ("<style>@media print{.x{display:none}}</style><p class=x>In it.</p>", "In it."),
        ("<style>.x{display:none}</style><style>.x:target{color:red}</style><p class=x>In it.</p>", "In it."),
        ("<noscript><style>.x{display:none}</style></noscript><p class=x>In it.</p>", "In it."),
        ("<p>Text.</p><p><a href=/a/>All sails \u2192</a></p>", "All sails"),
        ("<h2>See also</h2><ul><li><a href=#b>Beam</a><li><a href=#c>Cog</a></ul><h2 id=b>Beam</h2>B.", "[Beam]"),
        ("<p>Text.</p><p><b>See also</b></p><ul><li><a href=/a>A</a><li><a href=/b>B</a></ul>", "[A]"),
        ("<p>Text.</p><ul><li><a href=/a>A</a><li><a href=/b>B</a></ul><p>After.</p>", "[A]"),
        (f"<dl>{'<dt><a href=/a>Axle</a><dd>It turns.' * 30}</dl>", "[Axle]"),
        (f"<dl>{'<a id=x></a><dt><pre><a href=#x>AXLE</a> = 4</pre>' * 30}</dl>", "AXLE = 4"),
        ("<a name=x><p>In it.</p><p>And this.</p></a>", "And this."),
        ("<div>As <b>one</b> says, read <a href=/a/>A</a></div>", "read [A]"),
    ],
)
def test_text_that_looks_like_furniture_is_kept(tmp_path: Path, body: str, markdown: str) -> None:
    found = text(read(tmp_path, {"index.html": f"<main><h1>Mill</h1><p>Before it.</p>{body}</main>"})["index"])
    assert markdown.replace("**", "") in found.replace("**", "").replace("\n\n", " ")


@pytest.mark.parametrize(
    "heading",
    [
        '<h2 id=a><a class=x href="#a"><span>Sails</span></a></h2>',
        '<h2 id=a>Sails <a href="#a">Link to this heading</a></h2>',
        '<h2 id=a>Sails<a href="index.html#a">\u00b6</a></h2>',
        '<h2 id=a>Sails</h2><a href="#a"><b>Section titled Sails</b></a>',
        '<a href="#a"><h2 id=a>Sails</h2></a>',
        "<h2 id=a>Sails <sup class='tag new'>neu</sup></h2>",
        "<a name=a><h2>Sails</h2></a>",
        "<div><a name=a><h2>Sails</h2>",
        "<h2 id=a>Sails <x-pill>neu</x-pill> <small>(mill v1.2.0)</small> <img alt=v1 src=/badge/v1.svg></h2>",
    ],
)
def test_a_permalink_is_what_is_left_without_the_words(tmp_path: Path, heading: str) -> None:
    page = read(tmp_path, {"index.html": f"<main><h1>Mill</h1>{heading}<p>Four.</p></main>"})["index"]
    assert isinstance(page, Page)
    assert [(section.headings, section.anchor) for section in page.sections] == [(("Mill", "Sails"), "a")]


HOME = "<header><h1><a href=/>Harbour</a></h1></header>"
ROPES = (
    "<header><h1><a href=/ropes.html>Ropes</a></h1></header><p>Ropes are spliced in May.</p><h2 id=k>Kinds</h2>Hemp."
)
SAILS = "<header><h1><a href=/sails.html>Sails</a></h1></header><p>Sails are sewn in June.</p>"
POSTS = {
    "ropes.html": f"{HOME}<section><article>{ROPES}</article></section>",
    "sails.html": f"{HOME}<section><article>{SAILS}<p>They dry in July.</p></article></section>",
}


@pytest.mark.parametrize(
    ("file", "body", "reason"),
    [
        ("category/gear.html", f"<section><article>{ROPES}</article></section>", "duplicate"),
        ("a.html", f"<section><article>{ROPES}</article></section>", "duplicate"),
        (
            "index2.html",
            f"<ol><li><article>{ROPES}</article></li><li><article>{SAILS}</article></li></ol>",
            "list of pages",
        ),
        (
            "new.html",
            f"<main><h2>Ropes</h2><p>Ropes are spliced <a href=/ropes.html>more</a></p>{SAILS}</main>",
            "list of pages",
        ),
        (
            "new.html",
            "<main><h1>New</h1><a href=/ropes.html>Ropes</a><p>Ropes are spli\u2026</p>"
            "<a href=/sails.html>Sails</a><p>Sails are sewn in ...</p></main>",
            "list of pages",
        ),
        ("all.html", "<main><h1>All</h1><dl><dt>4 May<dd><a href=/ropes.html>Ropes</a></dl></main>", "list of pages"),
        (
            "new.html",
            "<main><h1>New</h1><ul><li>4 May 2026<h3><a href=/ropes.html>Ropes</a></h3><p>Ropes are spliced in May.</p>"
            "<li>4 June 2026<h3><a href=/sails.html>Sails</a></h3><p>Sails are sewn in June.</ul></main>",
            "list of pages",
        ),
        ("short.html", "<main><h1>All</h1><ul><li><a href=/ropes.html>Ropes</a></ul></main>", "list of pages"),
        ("drafts/c.html", "<main><h1>C</h1><p>Not yet.</p></main>", "draft"),
        ("c.html", "<div>Loading ...</div><script src=a.js></script>", "no text"),
        ("c.html", "<div><p>Wird geladen \u2026</p></div><script src=a.js></script>", "no text"),
        (
            "new.html",
            f"<article>{ROPES}</article><h1>Others</h1><article>{SAILS.replace('Sails are', 'Now')}</article>",
            "list of pages",
        ),
        ("drafts/d.html", "<main><h1><a href=/drafts/d.html>D</a></h1><p>Not yet.</p></main>", "draft"),
        ("de/drafts/c/index.html", "<main><h1>C</h1><p>Not yet.</p></main>", "draft"),
    ],
)
def test_the_copy_is_left_out_and_the_original_kept(tmp_path: Path, file: str, body: str, reason: str) -> None:
    found = read(tmp_path, POSTS | {file: body if body.startswith("<main") else HOME + body})
    left_out = {path: why for path, why in found.items() if isinstance(why, str)}
    assert left_out == {file: reason}
    assert [page.title for page in found.values() if isinstance(page, Page)] == ["Ropes", "Sails"]


@pytest.mark.parametrize(
    "body",
    [
        "<p>The crew reads these three chapters first.</p><ul><li><a href=/ropes.html>Ropes</a></ul>",
        "<h2 id=x>Ropes</h2><p>Ropes are spliced in May.</p><p>Never in June.</p>",
    ],
)
def test_a_page_with_text_of_its_own_is_no_list(tmp_path: Path, body: str) -> None:
    assert isinstance(read(tmp_path, POSTS | {"guide.html": f"<main><h1>Guide</h1>{body}</main>"})["guide"], Page)


INDEXED = "<a href=/ropes.html>All that is said of ropes</a>, <a href=/sails.html#s>All that is said of sails</a>"
TOLD = "<p>Ropes and sails are mended in the loft."


@pytest.mark.parametrize(
    ("body", "is_index"),
    [
        (f"<table>{f'<tr><td>x<td>Rigging<td>{INDEXED}' * 10}</table><hr>", True),
        (f"<table>{f'<tr><td>x<td>Here is how to splice a long rope:<td>{INDEXED}' * 10}</table><hr>", False),
        (f"<ul>{f'<li>rigging: {INDEXED}' * 200}</ul>{TOLD}", True),
        (f"<ul>{f'<li>rigging: {INDEXED}' * 20}</ul>{TOLD}", False),
        (f"<ul>{f'<li>{INDEXED}' * 20}</ul><pre>haul(rope)</pre>", False),
        (f"<ul>{f'<li><code>val haul: {INDEXED}</code>' * 20}</ul>", False),
        (f"<ul>{f'<li>haul: <code>{INDEXED}</code>' * 20}</ul>", True),
        (f"<h3>Hemp</h3><h3>Flax</h3><ul>{f'<li>{INDEXED}' * 20}</ul>", False),
        ("<ul>" + "<li><a href=https://ropes.example/>All that is said elsewhere of ropes</a>" * 20 + "</ul>", False),
    ],
)
def test_an_index_is_a_list_of_pages(tmp_path: Path, body: str, *, is_index: bool) -> None:
    found = read(tmp_path, POSTS | {"words.html": f"<body><h2>Words</h2>{body}"})
    assert (found.get("words.html") == "list of pages") is is_index


def test_robots_may_be_stated_as_a_property(tmp_path: Path) -> None:
    page = "<meta property=robots content=noindex><main><p>Search here.</main>"
    assert read(tmp_path, {"find.html": page, "a.html": "<p>A."})["find.html"] == "noindex"


@pytest.mark.parametrize("canonical", [True, False])
def test_the_newest_of_sibling_versions_is_read(tmp_path: Path, canonical: bool) -> None:
    link = "<link rel=canonical href=https://x.example/10.0/{}.html>" if canonical else ""
    pages = {
        f"{version}/{name}.html": f"{link.format(name)}<main><h1>{name}</h1><p>{name} {text}.</p></main>"
        for version in ("1.0", "2.0", "10.0")
        for name, text in (("bow", version), ("stern", version), ("same", "alike"))
    }
    found = read(tmp_path, pages)
    assert {path for path, page in found.items() if isinstance(page, Page)} == {"10.0/bow", "10.0/stern", "10.0/same"}


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<header><h1><a href=/>Harbour</a></h1></header><main><article><header><h2>Sails</h2></header><p>A.", "Sails"),
        ("<div role=main><section><h2>Bow</h2><p>A.</section><div><h1>results matching</h1><p>B.</div></div>", "Sails"),
        ("<main><p>A.", "Sails"),
        ("<div><h1>Search</h1><input></div><main><p>A.", "Sails"),
        ("<div role=dialog><h1>Results</h1></div><main><p>A.", "Sails"),
        ("<div><p>The Sails</p><h1>Use</h1><p>A.</p><h1>Care</h1><p>B.</div>", "Sails"),
    ],
)
@pytest.mark.parametrize(
    "head",
    ["Sails \u2022 Harbour", "Harbour - Sails", "Sails \u00ab Harbour", "Harbour: Sails", "Sails - Guide | Harbour"],
)
def test_a_title_is_the_pages_own(tmp_path: Path, body: str, title: str, head: str) -> None:
    others = {f"{name}.html": f"<title>{head.replace('Sails', name)}</title><main><p>{name}." for name in "abc"}
    others["index.html"] = "<p>Home."
    folder = written(tmp_path, {**others, "guide/index.html": f"<title>{head}</title>{body}"})
    (page,) = (each for each in open_site(folder, SiteOptions(SITE)).read() if each.path == "guide")
    assert isinstance(page, Page)
    assert page.title == title


@pytest.mark.parametrize("heading", ["Mill", "Module Wind.Mill"])
@pytest.mark.parametrize(("file", "kept"), [("Mill.html", "How it turns.\n\nText."), ("Sails.html", "Text.")])
def test_a_pages_own_header_keeps_its_sentences(tmp_path: Path, file: str, kept: str, heading: str) -> None:
    header = f"<header><h1>{heading}</h1><p>How it turns.</p><p>By Ann</p><ul><li><a href=/>Home</a></ul></header>"
    (page,) = read(tmp_path, {file: f"<div>{header}<p>Text.</p></div>"}).values()
    assert text(page) == kept


def test_markdown_beside_an_empty_shell_is_named(tmp_path: Path) -> None:
    site = open_site(written(tmp_path, {"index.html": POSTS["ropes.html"], "README.md": "Text."}), SiteOptions(SITE))
    with pytest.raises(SiteError, match="The Markdown beside it can be indexed: copy it"):
        raise SiteError(site.nothing_found)


def test_a_chapter_stays_beside_the_page_with_the_whole_book(tmp_path: Path) -> None:
    menu = "".join(f"<a href=/{name}.html>{name}</a>" for name in ("all", "a", "b", "c"))
    menu = f"<p>{menu} of the handbook</p>"
    parts = {name: f"<h1>{name}</h1>{menu}<p>{name} turns and turns, whatever the wind says.</p>" for name in "ABC"}
    pages = {f"{name.lower()}.html": f"<main>{part}" for name, part in parts.items()}
    whole = "".join(part.replace("h1", "h2").replace(menu, "") for part in parts.values())
    found = read(tmp_path, {**pages, "all.html": f"<main><h1>All</h1>{whole}"})
    assert {path: why for path, why in found.items() if isinstance(why, str)} == {"all.html": "list of pages"}


PRE = "<pre class={}>{}</pre>"


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        ("<h2 id=b>Sails <span class=x-badge>v2</span></h2><p>Four.</p>", "Four."),
        (
            "<p>Four<sup><a href=#n>1</a></sup></p><blockquote id=n><sup>1</sup> Or six.</blockquote>",
            "Four\n\n> Or six.",
        ),
        (
            "<div class=x-tabs><div><i>A</i><i>B</i></div><div><div>One</div><div>Two</div></div></div>",
            "**A** One **B** Two",
        ),
        ("<div role=tablist><i role=tab id=t>A</i></div><div role=tabpanel><p>A</p><p>One</p></div>", "**A** One"),
        *(
            (f"<{box}><p class={name}>Is it hot?</p><p>Stop.</p></{box.split()[0]}>", "**Is it hot?** Stop.")
            for box, name in [
                ("div", "xTitle"),
                ("aside", "x-title"),
                ("article", "title"),
                ("div class=top", "caption"),
            ]
        ),
        ("<p>See <code class=filename>a.conf</code> first.</p>", "See `a.conf` first."),
        ("<div class='highlight highlight-source-js'><pre>a()</pre></div>", "```js a() ```"),
        ("<div><div class=x__title>a.py</div><pre>x</pre></div>", "**a.py** ``` x ```"),
        (PRE.format("a", "<i class=ln>7 </i>a()\n<i class=ln>8 </i>b()"), "``` a() b() ```"),
        (PRE.format("a", "<span>1</span>,a\n<span>2</span>,b"), "``` 1,a 2,b ```"),
        (PRE.format("a", "a:\n<b class=x-line>  b</b><b class=x-line>  c</b>d"), "``` a: b c d ```"),
        ("<table><tr><td>1<td><code>a()</code><tr><td>2<td><code>b()</code></table>", "``` a() b() ```"),
        ("<table><tr><td><pre>9\n10</pre><td><pre>a()\nb()</pre></table>", "``` a() b() ```"),
        ("<table><tr><td><pre>1<br>2<br>3<br></pre><td><pre>a()<br>b()<br>c()</pre></table>", "``` a() b() c() ```"),
        ("<div><div><i>1</i><i>2</i></div><pre>a()\nb()</pre></div>", "``` a() b() ```"),
        (
            "<table><tr><td data-n=1><td><code>a()</code><tr><td data-n=2><td><code>b()</code></table>",
            "``` a() b() ```",
        ),
        ("<table><tr><td data-n=1><td><pre>a:</pre><tr><td data-n=2><td><pre>  b</pre></table>", "``` a: b ```"),
        (
            "<pre> 9&nbsp;a\n10&nbsp;b</pre><pre> 1&nbsp;<b>a()</b>\n 2&nbsp;b()</pre>",
            "``` 9\xa0a 10\xa0b ``` ``` a() b() ```",
        ),
        ("<div><div><pre><b>a.py</b></pre></div><div><pre>x</pre></div></div>", "**a.py** ``` x ```"),
        ("<x-tabs><x-tab label=A><p>One</p></x-tab><x-tab label=B><p>Two</p></x-tab></x-tabs>", "**A** One **B** Two"),
        ("<pre><table><tr><td>1<td>a()<tr><td>2<td>b()</table></pre>", "``` a() b() ```"),
        ("<table><tr><td>1<td class=hl-code>a()<tr><td>2<td class=hl-code>b()</table>", "``` a() b() ```"),
        (PRE.format("a", "<i class=z>1</i>a()\n<i class=z>2</i>b()"), "``` a() b() ```"),
        (PRE.format("a", "<b>1</b> a()\n<b>2</b> b()"), "``` a() b() ```"),
        (PRE.format("a", "<i style='display:block'>a:</i><i style='display:block'>  b</i>"), "``` a: b ```"),
        ("<p>Four<a href=#n id=m><sup>1</sup></a></p><div id=n><a href=#m>1</a>. Or six.</div>", "Four Or six."),
        (
            "<div class='kasten rot'><div class=kopf>Hei\u00df</div><div class=leib><p>Halt.</div></div>",
            "**Hei\u00df** Halt.",
        ),
        ("<div><p>a.py</p><pre>x</pre></div>", "**a.py** ``` x ```"),
        ("<figure><figcaption>a.py</figcaption><pre>x</pre></figure>", "**a.py** ``` x ```"),
        ("<div><ul><li class=on>A<li>B</ul><div><div>One</div><div>Two</div></div></div>", "**A** One **B** Two"),
        ("<div><button>A</button><button>B</button><div>One</div><div>Two</div></div>", "**A** One **B** Two"),
        (
            "<ul><li><a href=#p>A</a><li><a href=#q>B</a></ul><div><div id=p>One</div><div id=q>Two</div></div>",
            "**A** One **B** Two",
        ),
        ("<div role=tablist><i role=tab>A</i></div><div role=tabpanel><h4>A</h4><p>One</div>", "One"),
        (PRE.format("a", "<i class=ln>1</i><b>a()\n</b><i class=ln>2</i><b>b()\n</b>"), "``` a() b() ```"),
        (PRE.format("a", "<b><i style='margin:0; user-select: none'>1</i><i>a()\n</i></b>"), "``` a() ```"),
        (
            PRE.format("a", "<i class=ln id=l1><a href=#l1>1</a></i>a()\n<i class=ln><a href=#l2>2</a></i>b()"),
            "``` a() b() ```",
        ),
        ("<p>A <ruby>\u98a8\u8eca<rp>(</rp><rt>fuusha</rt><rp>)</rp></ruby> turns.</p>", "A \u98a8\u8eca turns."),
        ("<p>So <script type='math/tex'>a^2</script>.</p>", "So $a^2$."),
        (
            "<table><tr><td><img alt='[Note]' src=n.png><th>Note<tr><td><p>It is heavy.<pre>a()</pre></table>",
            "**Note** It is heavy. ``` a() ```",
        ),
        ("<table><tr><td><td>It turns.<td><tr><td><td>— <i>Ann</i><td></table>", "It turns. — *Ann*"),
        (
            "<p>So <b class=MathJax_Preview>a2</b><b class=MathJax><math><mi>a</mi></math></b>"
            "<script type='math/tex'>a^2</script>.</p>",
            "So $a^2$.",
        ),
        (
            "<p class=arithmatex><b class=MathJax_Preview>a</b><script type='math/tex; mode=display'>a</script></p>",
            "$$ a $$",
        ),
    ],
)
def test_marks_tabs_titles_and_numbers_in_any_theme(tmp_path: Path, body: str, markdown: str) -> None:
    found = text(read(tmp_path, {"index.html": f"<main><h1>Mill</h1>{body}</main>"})["index"])
    assert " ".join(found.split()) == " ".join(markdown.split())


MENU = "".join(f"<li><a href=/{name}.html>{name} documentation</a>" for name in "abcdef")
OWN = "<h1>{0}</h1><p>Turn the {0} {1} times.<h2>Care</h2><p>Grease the {0}.<p>New in version 2.1."


@pytest.mark.parametrize(
    "body",
    [
        f"<div><p>Small. Bright.</div><div><ul>{MENU}</ul></div><div>{OWN}</div><div>Last updated 2024-05-{{1}}</div>",
        f"Mills for all.<br>Since 1790.<div>{OWN}</div><center><a href=/>Home</a> | <a href=/x>Index</a></center>",
        f"<h1>Mills</h1><p>For all.</p>{OWN}<hr><p>Licensed to you.</p>",
        f"{OWN}<h2>MILL</h2><p>Part of the mill suite</p>",
        f"<div><h1>{{0}}</h1></div><div>{OWN.removeprefix('<h1>{0}</h1>')}</div><div><p>Licensed to you.</div>",
        f"<article>{OWN}</article><p>Licensed to you.<p>All rights reserved.",
        "<table><tr><th>{0} again<tr><td><a href=a>Prev</a><td>Part {1}<td><a href=b>Next</a></table>"
        f"<div>{OWN}</div><table><tr><td><a href=a>Prev</a><td><a href=/>Up</a><td><a href=b>Next</a>"
        "<tr><td>Mill {1}<td><a href=/>Home</a><td><a href=b>Mill 2{1}</a></table>",
        f"<div><div>{OWN}</div><div><h3>Contact</h3>Write to us.</div></div>",
        f"<h1>Mills</h1><div><ul>{MENU}</ul>{OWN.replace('h2', 'h3').replace('h1', 'h2')}</div>",
        OWN.replace("<h2>", f"<hr><table><tr><td>[<a href=#a> &lt; </a>]{MENU.replace('li>', 'td>')}</table><h2>"),
        OWN.replace("<h2>", "<div><a href=/a>Before</a><a href=/b>Behind</a></div><h2>"),
        OWN.replace("</h1>", f"</h1><table><tr><th>The menu<tr><td><ul>{MENU}</ul></table>"),
        OWN.replace("<h2>", "<div><table><tr><td><h2>Table of contents</h2></table></div><h2>"),
        f"{OWN}<p><a href=ann.html>Ann</a></p>",
        f"<div>{OWN}</div><ul>{MENU}<li><a href={{0}}.html>{{0}} >></a></ul>",
        f"<hr>Next: <a href=/a>Mill 2{{1}}</a> Up: <a href=/>Mills {{1}}</a><hr>{OWN}",
        OWN.replace("</h1>", "</h1><div>From the mill's own wiki</div>"),
        OWN.replace("</h1>", "</h1><a href=/>All parts</a>"),
        OWN.replace("<h2>", "<p><a href=/tree.html#{0}>Place in the tree</a><h2>"),
        f"{OWN}<div>Questions? <a href=//list.example>Write to us.</a></div>",
        OWN.replace(
            "</h1>", f"</h1><div>From mill.example</div><ul><li>Parts{MENU.replace('</a>', '</a> (1790)')}</ul>"
        ),
        OWN.replace(
            "</h1>", "</h1><div>Sails: <input></div><div><label><input type=checkbox></label> <i>Dark</i></div>"
        ),
        OWN.replace("<h2>", f"<p>{'A newer version of this book is on another site. ' * 3}<h2>"),
        f"<table><tr><th>{{0}} {{1}}<tr><td><a href=a><img alt=Vor></a><td><a href=b><img alt=Nach></a></table>{OWN}"
        "<table><tr><td><a href=a><img alt=Vor></a><td><a href=/><img alt=Auf></a><td>Mill {1}</table>",
    ],
)
def test_text_that_stands_on_most_pages_is_the_sites(tmp_path: Path, body: str) -> None:
    names = ("axle", "brake", "cog", "drum", "eye", "floor", "gear")
    pages = {f"{name}.html": f"<body>{body.format(name, number)}" for number, name in enumerate(names, 1)}
    moved = {f"old{name}.html": "<meta http-equiv=refresh content='0; url=other.html'>" for name in names}
    found = read(tmp_path, {**pages, **moved, "other.html": "<main><h1>Other</h1><p>Alone.</main>"})
    for number, name in enumerate(names, 1):
        page = found[name]
        assert isinstance(page, Page)
        assert page.title.removesuffix(".html") == name
        own = [f"Turn the {name} {number} times.", f"Grease the {name}.\n\nNew in version 2.1."]
        assert [section.markdown for section in page.sections] == own


@pytest.mark.parametrize(
    "body",
    [
        "<section><h1>{0}</h1><div class=added><p>New in version 2.1.</p></div><p>Turn {0}.</section>",
        "<h1>Mill: {0}</h1><table><tr><td><a href=/n.html>int</a><td><a href=#{0}1>{0}1()</a>"
        "<tr><td><a href=/n.html>int</a><td><a href=#{0}2>{0}2()</a></table><h2 id={0}1>{0}1</h2><p>Turn {0}.",
        "<h1>{0}</h1><table><tr><th>Turns<th>Back<tr><td>{0}<td>Yes</table>",
        "<h1>{0}</h1><p>Turn {0}.<h2>Returns</h2><p>Nothing.<h2>See also</h2><a href=/axle.html>axle</a><p>Not {0}.",
        "<h1>{0}</h1><section><h2>Use</h2><p>Turn {0}.<div class=note><b>Note</b><p>It is heavy.</div></section>",
    ],
)
def test_a_repeated_sentence_in_a_section_of_the_page_stays(tmp_path: Path, body: str) -> None:
    names = ("axle", "brake", "cog", "drum", "eye", "floor")
    found = read(tmp_path, {f"{name}.html": f"<main>{body.format(name)}</main>" for name in names})
    (alone,) = read(tmp_path / "alone", {"axle.html": f"<main>{body.format('axle')}</main>"}).values()
    assert text(found["axle"]) == text(alone)


@pytest.mark.parametrize("pages", [5, 3])
def test_a_list_of_links_on_five_pages_is_a_menu(tmp_path: Path, pages: int) -> None:
    names = [f"{part}{number}" for number in range(9) for part in ("axle", "brake")]
    menu = f"<table><tr><td><b>The parts</b><tr><td><ul>{MENU}<li>7</ul></table>"
    files = {
        f"{name}.html": f"<body>{menu if at < pages else ''}{OWN.format(name, at)}" for at, name in enumerate(names)
    }
    assert ("documentation" in text(read(tmp_path, files)[names[0]])) is (pages < 5)


def test_a_table_that_lays_out_the_page_is_cut_at_its_headings(tmp_path: Path) -> None:
    body = "<table><tr><td>Old<td><h1>Mill</h1><p>It turns.<h2><a name=use></a>Use</h2><p>Turn the mill.</table>"
    page = read(tmp_path, {"mill.html": f"<body>{body}"})["mill"]
    assert isinstance(page, Page)
    assert [(section.headings, section.anchor) for section in page.sections][1:] == [
        (("Mill",), ""),
        (("Mill", "Use"), "use"),
    ]


def test_a_menu_in_a_language_of_few_pages_is_the_sites(tmp_path: Path) -> None:
    english = {f"mill/en{at}.html": f"<html lang=en><h1>Mill {at}</h1><p>Turns {at} times." for at in range(240)}
    menu = "<p>Alle Seiten</p><h1>M\u00fchle {0}</h1><p>Dreht sich {0} mal."
    german = {f"mill/zz{at}.html": f"<html lang=de>{menu.format(at)}" for at in range(21)}
    found = read(tmp_path, english | german)
    assert {text(found[f"mill/zz{at}"]) for at in range(21)} == {f"Dreht sich {at} mal." for at in range(21)}


def test_members_that_half_of_a_few_classes_inherit_stay(tmp_path: Path) -> None:
    member = "<section><h3>stop</h3><p>stop(): void</p></section>"
    files = {
        f"{name}.html": f"<main><h1>Class {name}</h1><p>A {name}.{member if name < 'f' else ''}" for name in "abcdefghi"
    }
    assert text(read(tmp_path, files)["a"]) == "A a.\n\nstop(): void"


def test_a_page_that_is_the_sum_of_others_is_left_out(tmp_path: Path) -> None:
    part = "<h1><a href=all.html>{0}</a></h1><p>Turn {0}.<h2>Care</h2><p>Grease {0}."
    pages = {f"{name}.html": part.format(name) for name in "abcdef"}
    twins = {f"{name}.html": f"<h1>Wheel {name}</h1>" + OWN.format("wheel", 1) * 9 for name in "wxyz"}
    found = read(tmp_path, {**pages, **twins, "all.html": "".join(pages.values())})
    assert {path: why for path, why in found.items() if isinstance(why, str)} == {"all.html": "copy of other pages"}


@pytest.mark.parametrize(
    "link",
    ["c.html", "c.html#x", "c/d-e.html#x.y", "../d.html", "./c.html", "c/../d", "c#", "c?q=1", "//h.example/x", "/c"],
)
def test_a_link_is_resolved_as_by_urljoin(tmp_path: Path, link: str) -> None:
    found = read(tmp_path, {"a/b.html": f"<h1>Mill</h1><p>Text <a href='{link}'>link</a>.</p>"})
    assert f"[link]({urljoin(f'{SITE}a/b.html', link)})" in text(found["a/b"])


@pytest.mark.parametrize("line", ["line-{}", "line.{}", "L{}", "{}", ""])
def test_listing_of_a_source_file_is_no_page(tmp_path: Path, line: str) -> None:
    numbers = "" if line else " class=linenums"
    lines = "\n".join(f'<span id="{line.format(number)}">mill.grind({number})</span>' for number in range(1, 30))
    menu = "".join(f"<li><a href={number}.html>Part {number} of the whole mill</a>" for number in range(30))
    pages = {
        "mill.html": f"<h1>Mill</h1><p>{'It grinds. ' * 40}</p><pre{numbers}>{lines}</pre>",
        "mill.js.html": f"<nav><ul>{menu}</ul></nav><pre{numbers}>{lines}</pre>",
        "program.html": "<h1>A whole program</h1><pre class=linenums>mill.grind(1)\nmill.grind(2)</pre>",
    }
    found = read(tmp_path, pages)
    assert found["mill.js.html"] == "source listing"
    assert {type(found[name]) for name in ("mill", "program")} == {Page}
