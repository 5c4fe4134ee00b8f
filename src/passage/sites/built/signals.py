"""Finds pages that must not be indexed: redirects, noindex, error pages, lists, search pages, source listings."""

import re
from urllib.parse import urlsplit

from passage.sites import html
from passage.sites.built.generators import Generator
from passage.sites.html import Node

_BY_PATH = (
    (re.compile(r"(.*/)?404(\.html|/index\.html)"), "error page"),
    (re.compile(r"(.*/)?node_modules/.*"), "no page"),
    (re.compile(r"(.*/)?blog/(page|tags?|authors?|archives?|categor(y|ies))(/.*|\.html)"), "list of pages"),
    (re.compile(r"(.*/)?page/\d+(/index)?\.html"), "list of pages"),
    (re.compile(r"google[0-9a-f]{16}\.html"), "no page"),
)
"""Paths that identify such a page. "tags" and "search" are missing: a manual may have such chapters."""

_LIST_FOLDERS = re.compile(
    r"([a-z]{2}(-[a-z]{2,4})?/)?(tags?|categor(y|ies)|authors?|series|archives?)(/.*|\.html)", re.IGNORECASE
)
_SEARCH = re.compile(r"([a-z]{2}(-[a-z]{2,4})?/)?search(\.html|/index\.html)", re.IGNORECASE)
_OWN_HEADINGS = "main h2[id], main h3[id], article h2[id], article h3[id]"
_OUT_OF_SEARCH = "main[data-pagefind-ignore], article[data-pagefind-ignore], body[data-pagefind-ignore]"
_SEARCH_WORDS = 60
"""A page called "search" with fewer words is a search box; one with more words is about searching."""


def skip_reason(file: str, root: Node, generator: Generator) -> str | None:
    """The reason to leave out the page at `file`; None where it must be read."""
    file = f"{file}l" if file.endswith(".htm") else file
    if _redirects(root):
        return "redirect"
    by_path = next((reason for pattern, reason in _BY_PATH if pattern.fullmatch(file)), None)
    if by_path or _noindex(root):
        return by_path or "noindex"
    if html.first(root, _OUT_OF_SEARCH) is not None:
        return "left out of the site's search"
    return generator.reason_to_skip(file, root) or _listing(file, root, generator)


def _listing(file: str, root: Node, generator: Generator) -> str | None:
    if generator.taxonomies and _LIST_FOLDERS.fullmatch(file) and not _has_own_sections(root):
        return "list of pages"
    if _SEARCH.fullmatch(file) and len(html.text(root).split()) < _SEARCH_WORDS:
        return "search page"
    return None


def _has_own_sections(root: Node) -> bool:
    """Whether a page is a chapter ("Series", "Authors"): its headings have ids and are not links to other pages."""
    if len(html.select(root, "article")) > 1:
        return False
    return any(
        all(html.attribute(link, "href").startswith("#") for link in html.select(heading, "a[href]"))
        for heading in html.select(root, _OWN_HEADINGS)
    )


def _redirects(root: Node) -> bool:
    """An immediate refresh to another page. mike's root page keeps it in `noscript`."""
    if any(
        "url=" in html.attribute(meta, "content").lower()
        for meta in html.select(root, "meta[http-equiv]")
        if html.attribute(meta, "http-equiv").lower() == "refresh"
    ):
        return True
    head = html.first(root, "head")
    return head is not None and any(
        'http-equiv="refresh"' in (html.text(node) + (node.html or "")).lower()
        for node in html.select(head, "noscript")
    )


def _noindex(root: Node) -> bool:
    return any(
        re.search(r"\b(noindex|none)\b", html.attribute(meta, "content").lower())
        for meta in html.select(root, "meta[name]")
        if html.attribute(meta, "name").lower() == "robots"
    )


def in_pagefind(root: Node) -> bool:
    """Whether the page is marked for Pagefind. If one page of a site is marked, Pagefind skips unmarked pages."""
    return html.first(root, "[data-pagefind-body]") is not None


def lists_pages(contents: list[Node], page_url: str) -> bool:
    """Whether the content is only links to other pages of the site, each with a few words at most."""
    if any(html.first(content, "pre, table, h2, h3, p + p, blockquote, details") is not None for content in contents):
        return False
    host = urlsplit(page_url).netloc
    items = [item for content in contents for below in html.children(content) for item in _items(below)]
    if not items or not all(_begins_with_link(item, host) for item in items):
        return False
    whole = sum(len(" ".join(html.text(content).split())) for content in contents)
    listed = sum(len(" ".join(html.text(item).split())) for item in items)
    title = sum(len(html.text(node)) for content in contents for node in html.select(content, "h1, nav, .breadcrumb"))
    return whole - listed - title < 80


def _items(node: Node) -> list[Node]:
    return html.outermost(node, "li, dl, .entry, article") if html.tag(node) else []


def _begins_with_link(item: Node, host: str) -> bool:
    link = html.first(item, "a[href]")
    if link is None or not html.text(item).strip().startswith(html.text(link).strip()[:1]):
        return False
    target = html.attribute(link, "href")
    if "://" not in target:
        return not target.startswith("#")
    try:
        return urlsplit(target).netloc == host
    except ValueError:
        return False
