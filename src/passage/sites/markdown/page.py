"""Converts the HTML of a convention to a page, with the reader for built sites."""

from collections.abc import Mapping
from urllib.parse import unquote, urljoin, urlsplit

from passage.sites import html
from passage.sites.built import rules, sections
from passage.sites.built.account import account, told_of
from passage.sites.built.document import Document
from passage.sites.built.dropped import dropped
from passage.sites.built.generators import UNKNOWN
from passage.sites.built.sections import Heading
from passage.sites.html import Node
from passage.sites.markdown.convention import SUFFIXES, encodable
from passage.sites.model import Account, Section

_NOISE = "[data-search-exclude], .headerlink"


def page_sections(
    body: str, *, url: str, links_from: str, file: str, urls: Mapping[str, str]
) -> tuple[tuple[Section, ...], list[Heading], Account]:
    """The sections that have text, every heading, and the account of the page's text.

    Args:
        body: HTML, which may contain the author's mistakes.
        url: of the published page.
        links_from: the base of its relative links.
        file: its source, relative to the site's folder: the base of links to other sources.
        urls: the URL of each source of the site.
    """
    page = f"<!doctype html><meta charset=utf-8><body><main>{encodable(body)}</main></body>"
    root = html.parse(page.encode())
    content = html.first(root, "main")
    if content is None:
        return (), [], Account()
    link_pages(content, file, urls)
    _drop_empty_code(content)
    document = Document(root)
    gone = dropped([content], document, _NOISE, url, frozenset())
    rendering = rules.prepare([content], url, links_from, UNKNOWN, gone, document)
    parts, headings = sections.cut([content], rendering)
    return tuple(parts), headings, account(document, [content], rendering, told_of("", headings, parts))


def _drop_empty_code(content: Node) -> None:
    """Drop empty code blocks and their titles: their included files were not found."""
    for block in html.outermost(content, "div.highlight, table.highlighttable"):
        code = html.first(block, "pre")
        if code is not None and not html.text(code).strip():
            html.remove(block)


def link_pages(content: Node, file: str, urls: Mapping[str, str]) -> None:
    """Replace links to other sources by the published URLs."""
    for link in html.select(content, "a[href]"):
        target = html.attribute(link, "href").strip()
        try:
            parts = urlsplit(target)
        except ValueError:
            continue
        if parts.scheme or parts.netloc or not parts.path.lower().endswith(SUFFIXES):
            continue
        source = unquote(urljoin(f"/{file}", parts.path)).lstrip("/")
        if source in urls:
            anchor = f"#{parts.fragment}" if parts.fragment else ""
            html.set_attribute(link, "href", urls[source] + anchor)
