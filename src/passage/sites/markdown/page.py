"""Makes a page of the HTML that a convention rendered, with the same reader that reads built sites."""

from collections.abc import Mapping
from urllib.parse import unquote, urljoin, urlsplit

from passage.sites import html
from passage.sites.built import rules, sections
from passage.sites.html import Node
from passage.sites.markdown.convention import encodable
from passage.sites.model import Section

SUFFIXES = (".md", ".mdx", ".markdown", ".mdown", ".mkdn", ".mkd")
"""What a link to another source ends with."""

_NOISE = "[data-search-exclude], .headerlink"


def page_sections(
    body: str, *, url: str, links_from: str, file: str, urls: Mapping[str, str]
) -> tuple[str, tuple[Section, ...]]:
    """The first level-1 heading (empty without one) and the sections that have text.

    Args:
        body: HTML, perhaps with the author's own mistakes in it.
        url: where the page is published.
        links_from: what its relative links start from.
        file: its source, relative to the site's folder: links to other sources start from it.
        urls: the URL of each source of the site.
    """
    document = f"<!doctype html><meta charset=utf-8><body><main>{encodable(body)}</main></body>"
    content = html.first(html.parse(document.encode()), "main")
    if content is None:
        return "", ()
    _link_pages(content, file, urls)
    _drop_empty_code(content)
    rendering = rules.prepare([content], url, links_from, _NOISE)
    found, headings = sections.cut([content], rendering)
    title = next((heading.title for heading in headings if heading.level == 1 and heading.title), "")
    return title, tuple(found)


def _drop_empty_code(content: Node) -> None:
    """Drop blocks of code without code, their titles included: what they include was not found."""
    for block in html.outermost(content, "div.highlight, table.highlighttable"):
        code = html.first(block, "pre")
        if code is not None and not html.text(code).strip():
            html.remove(block)


def _link_pages(content: Node, file: str, urls: Mapping[str, str]) -> None:
    """Let links to other sources lead to where those are published."""
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
