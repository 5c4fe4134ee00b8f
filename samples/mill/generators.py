"""The generators: where each one wants a page, with which words of its own, its command, and its output."""

from collections.abc import Callable
from dataclasses import dataclass

from handbook import PAGES, POSTS, title
from writers import (
    Links,
    Words,
    colon_box,
    colon_tabs,
    fence,
    fumadocs_tabs,
    html_box,
    markdown,
    mdx_box,
    no_tabs,
    python_box,
    quote_box,
    rest,
    rspress_tabs,
)

Write = Callable[[str], tuple[str, str]]
"""The file and the content of a page."""


@dataclass(frozen=True, slots=True)
class Generator:
    """One generator; the folder of its name holds its configuration and its packages.

    Attributes:
        write: writes a page.
        picture: the file of the picture.
        command: builds the site.
        output: the folder that it writes.
        install: further options of `npm install`.
        unwritten: a text that its HTML lacks, because a script writes it.
    """

    write: Write
    picture: str
    command: tuple[str, ...]
    output: str
    install: tuple[str, ...] = ()
    unwritten: str = ""


def _front(page: str, **more: str) -> str:
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in {"title": title(page), **more}.items()) + "---\n\n"


def _flat(page: str) -> str:
    return page.replace("/", "-")


def _readme(page: str) -> str:
    return f"{page}.md".replace("index.md", "README.md")


def _beside(page: str) -> Links:
    return lambda other: "../" * page.count("/") + _readme(other)


def _published(page: str) -> str:
    return f"/{page}/".replace("index/", "")


def _day(page: str) -> str:
    return f"2026-05-0{list(PAGES).index(page) + 1} 10:00"


def _pelican(page: str) -> tuple[str, str]:
    def file(of: str) -> str:
        return f"{'' if of in POSTS else 'pages/'}{_flat(of)}.md"

    meta = f"Title: {title(page)}\nSlug: {_flat(page)}\n"
    meta += f"Date: {_day(page)}\nTags: wind, stone\nCategory: work\nSummary: Short.\n" * (page in POSTS)
    text = markdown(page, Words(python_box, no_tabs, fence()), lambda other: "{filename}/" + file(other))
    return f"content/{file(page)}", f"{meta}\n{text}"


def _nikola(page: str) -> tuple[str, str]:
    meta = f".. title: {title(page)}\n.. slug: {_flat(page)}\n.. date: {_day(page)}:00 UTC\n"
    meta += ".. tags: wind, stone\n.. category: work\n"
    return f"{'posts' if page in POSTS else 'pages'}/{_flat(page)}.rst", f"{meta}\n{rest(page)}"


def _honkit(page: str) -> tuple[str, str]:
    text = markdown(page, Words(quote_box, no_tabs, fence()), _beside(page))
    return _readme(page), f"# {title(page)}\n\n{text}"


def _eleventy(page: str) -> tuple[str, str]:
    text = markdown(page, Words(html_box, no_tabs, fence("/1")), _published)
    return f"{page}.md", _front(page, layout="page.njk") + text


def _vuepress(page: str) -> tuple[str, str]:
    words = Words(colon_box, colon_tabs, fence(' title="%s" {2} :line-numbers'))
    return f"docs/{_readme(page)}", f"# {title(page)}\n\n{markdown(page, words, _beside(page))}"


def _rspress(page: str) -> tuple[str, str]:
    text = markdown(page, Words(colon_box, rspress_tabs, fence(' title="%s" {2}')), _published)
    imported = "import { Tab, Tabs } from '@rspress/core/theme';\n\n" if "<Tabs" in text else ""
    return f"docs/{page}.mdx", f"{imported}# {title(page)}\n\n{text}"


def _gatsby(page: str) -> tuple[str, str]:
    text = markdown(page, Words(html_box, no_tabs, fence("{2}{numberLines: true}")), _published)
    return f"content/{page}.md", _front(page, slug=_published(page)) + text


def _fumadocs(page: str) -> tuple[str, str]:
    words = Words(mdx_box, fumadocs_tabs, fence(' title="%s" lineNumbers {2}'))
    text = markdown(page, words, lambda other: _published(other).rstrip("/"))
    text = text.replace("**hopper**", "<strong>hopper</strong>")  # its index recurses without end on Markdown's
    picture = '<img src="/stones.png" alt="The stones from above" />'
    return f"content/{page}.mdx", _front(page) + text.replace("![The stones from above](/stones.png)", picture)


ALL = {
    "pelican": Generator(_pelican, "content/stones.png", ("environment/bin/pelican", "-q"), "output"),
    "nikola": Generator(_nikola, "files/stones.png", ("environment/bin/nikola", "build", "-q"), "output"),
    "honkit": Generator(_honkit, "stones.png", ("npx", "honkit", "build"), "_book"),
    "eleventy": Generator(_eleventy, "stones.png", ("npx", "eleventy", "--quiet"), "_site"),
    "vuepress": Generator(
        _vuepress,
        "docs/.vuepress/public/stones.png",
        ("npx", "vuepress", "build", "docs"),
        "docs/.vuepress/dist",
        ("--legacy-peer-deps",),
    ),
    "rspress": Generator(_rspress, "docs/public/stones.png", ("npx", "rspress", "build"), "doc_build"),
    # sharp would fetch a library for pictures, which the handbook does without.
    "gatsby": Generator(_gatsby, "static/stones.png", ("npx", "gatsby", "build"), "public", ("--ignore-scripts",)),
    "fumadocs": Generator(
        _fumadocs, "public/stones.png", ("npx", "next", "build"), "out", unwritten="Take lard, it stays soft."
    ),
}
