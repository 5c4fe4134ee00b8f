"""The rules of `render`: they write code, titles, formulas, links and pictures in one form for all themes."""

from html import escape
from textwrap import dedent
from urllib.parse import urljoin, urlsplit

from passage.sites import html
from passage.sites.built import code, mathematics, tabs
from passage.sites.built.noise import NOISE, SIGN, is_contents, is_tool
from passage.sites.built.render import (
    HEADINGS,
    HOLDS_BLOCKS,
    Page,
    Rule,
    bold,
    element,
    in_cell,
    inside,
    is_frame,
    keep_tex,
    plain,
    raised,
    rows_of,
    words,
)
from passage.sites.html import Node

TITLES = (
    ".admonition-title, .custom-block-title, [class*=admonitionHeading], .starlight-aside__title,"
    " .blockquote-tag-title, .markdown-alert-title, .notice-title, .alert-heading, [class*=codeBlockTitle],"
    " p.rubric, .topic-title, .sidebar-title, .callout-header,"
    " .listingblock > .title, .literalblock > .title, .exampleblock > .title, .openblock > .title, .paragraph > .title,"
    " .sidebarblock > .content > .title, .admonitionblock .title,"
    " .filename, figcaption .title, .code-block-caption, .sd-card-title, .card > .title, summary, label, dt,"
    " a h1, a h2, a h3, a h4, a h5, a h6, .VPFeature h2, .card .card-title"
)
"""Titles that are not headings of sections: each becomes a bold line before the named element."""

CODE_TABLES = ".highlighttable, .lntable, .rouge-table, table.highlight, table:has(td.code > pre)"


_IN_HEADINGS = ", ".join(f"{heading} a[href*='#']" for heading in HEADINGS)


def prepare(contents: list[Node], url: str, folder: str, noise: str = "") -> Page:
    """Find the elements of `contents` that are left out and those with a rule, once for a page.

    Args:
        noise: a selector of further elements to leave out.
    """
    dropped: set[int] = set()
    rules: dict[int, Rule] = {}
    labels: dict[int, str] = {}
    for content in contents:
        dropped.update(map(html.key, html.select(content, NOISE)))
        dropped.update(html.key(button) for button in html.select(content, "button") if is_tool(button))
        dropped.update(html.key(links) for links in html.outermost(content, "ul, ol") if is_contents(links))
        dropped.update(html.key(link) for link in html.select(content, _IN_HEADINGS) if _is_permalink(link))
        dropped.update(html.key(a) for a in html.select(content, "a[href^='#']") if SIGN.fullmatch(html.text(a)))
        if noise:
            dropped.update(map(html.key, html.select(content, noise)))
        labels.update((html.key(panel), label) for panel, label in tabs.labels(content))
        dropped.update(map(html.key, tabs.lists(content)))
        for css, rule in RULES:
            for node in html.select(content, css):
                rules.setdefault(html.key(node), rule)
    formulas = frozenset(identity for identity, rule in rules.items() if rule is _formula)
    return Page(url, folder, frozenset(dropped), rules, labels, formulas)


def _is_permalink(link: Node) -> bool:
    """Whether a heading's link is only a sign (`#`, `\u00b6`) beside its words."""
    sign = html.text(link).strip()
    heading = next(above for above in html.ancestors(link) if html.tag(above) in HEADINGS)
    return not any(map(str.isalnum, sign)) and html.text(heading).strip() != sign and html.first(link, "img") is None


def _formula(node: Node, page: Page) -> str:
    tex, block = mathematics.formula(node)
    return keep_tex(tex, block, page) if tex else ""


def _title(node: Node, page: Page) -> str:
    content = inside(node, page)
    if not content.strip():
        return ""
    link = next((above for above in html.ancestors(node) if html.tag(above) == "a"), None)
    target = _address(link, page) if link is not None else ""
    if "<p>" in content or "<div>" in content:
        content = escape(words(node, page))
    content = content.replace("<strong>", "").replace("</strong>", "").strip()
    return (
        f'<p><strong><a href="{escape(target)}">{content}</a></strong></p>'
        if target
        else f"<p><strong>{content}</strong></p>"
    )


def _code_block(node: Node, page: Page) -> str:
    return f"<div>{_lines(node, page)}</div>" if in_cell(node) else _fence(node, page)


def _fence(node: Node, page: Page) -> str:
    source = code.source(node, page.dropped)
    if not source.strip():
        return ""
    language = code.language(node)
    named = f' class="language-{escape(language)}"' if language else ""
    return f"<pre><code{named}>{escape(source, quote=False)}</code></pre>"


def _lines(node: Node, page: Page) -> str:
    """Lines of code where no block of code can stand."""
    lines = dedent(code.source(node, page.dropped)).split("\n")
    return "<br>".join(f"<code>{escape(line, quote=False)}</code>" for line in map(str.rstrip, lines) if line)


def _code_table(node: Node, page: Page) -> str:
    """A table with line numbers beside code: only its title and its code."""
    titles = [bold(words(title, page)) for title in html.select(node, ".filename")[-1:]]
    blocks = [pre for pre in html.outermost(node, "pre") if not _left_out(pre, page)]
    written = _lines if in_cell(node) else _fence
    return "".join([*titles, *(written(pre, page) for pre in blocks)])


def _table(node: Node, page: Page) -> str:
    if is_frame(node):
        cells = (cell for cell in html.outermost(node, "caption, td") if html.key(cell) not in page.dropped)
        return "".join(f"<div>{inside(cell, page)}</div>" for cell in cells)
    return element(node, page).replace("<tr>", f"{_empty_header(node)}<tr>", 1)


def _empty_header(table: Node) -> str:
    """A header for a table without one; the converter would make one of its first row."""
    first = next((list(html.children(row)) for row in rows_of(table)), [])
    cells = [cell for cell in first if html.tag(cell)]
    if html.first(table, "thead") is not None or all(html.tag(cell) == "th" for cell in cells):
        return ""
    spans = (html.attribute(cell, "colspan") for cell in cells)
    return f"<tr>{'<th></th>' * sum(int(span[:3]) if span.isdecimal() else 1 for span in spans)}</tr>"


def _left_out(node: Node, page: Page) -> bool:
    return html.key(node) in page.dropped or any(html.key(above) in page.dropped for above in html.ancestors(node))


def _diagram(node: Node, page: Page) -> str:
    source = code.source(node, page.dropped).strip()
    return f'<pre><code class="language-mermaid">{escape(source, quote=False)}</code></pre>' if source.strip() else ""


def _signature(node: Node, page: Page) -> str:
    return f"<p><code>{escape(words(node, page), quote=False)}</code></p>"


def _kind(node: Node, _: Page) -> str:
    """The icon of an Asciidoctor note."""
    return bold(html.attribute(node, "title"))


def _classifier(node: Node, page: Page) -> str:
    """A term's type in Sphinx; the theme's style sheet writes the colon."""
    return f" : {inside(node, page)}"


def _code(node: Node, page: Page) -> str:
    if html.first(node, "br") is not None:
        return _lines(node, page)
    written = plain(node, page).translate(html.INVISIBLE).replace("\n", " ")
    return f"<code>{escape(written, quote=False)}</code>" if written.strip() else written


def _link(node: Node, page: Page) -> str:
    content = inside(node, page)
    target = "" if "header" in html.classes(node) else _address(node, page)  # mdBook's permalinks hold the words
    if not target or not content.strip():
        return content
    if html.first(node, HOLDS_BLOCKS):
        return f"<div>{content}</div>"  # a card: its title holds the link
    return f'<a href="{escape(target)}">{content}</a>'


def _address(node: Node, page: Page) -> str:
    """A link's absolute URL; empty where it cannot be opened."""
    target = html.attribute(node, "href").strip()
    if not target:
        return ""
    if target.startswith("#"):
        return page.url + target
    try:
        absolute = urljoin(page.folder, target)
        scheme = urlsplit(absolute).scheme
    except ValueError:
        return ""
    return absolute if scheme in ("http", "https", "mailto", "tel", "ftp") else ""


def _superscript(node: Node, page: Page) -> str:
    return raised(inside(node, page))


def _picture(node: Node, page: Page) -> str:
    alternative = html.squeezed(html.attribute(node, "alt"))
    if not alternative:
        return ""
    source = html.attribute(node, "src") or html.attribute(node, "data-src")
    emoji = not any(map(str.isalnum, alternative)) or {"emoji", "twemoji", "gemoji"} & set(html.classes(node))
    if emoji or not source or source.startswith(("data:", "blob:")):
        return escape(alternative)
    try:
        absolute = urljoin(page.folder, source)
    except ValueError:
        return escape(alternative)
    return f'<img alt="{escape(alternative)}" src="{escape(absolute)}">'


RULES: tuple[tuple[str, Rule], ...] = (
    (mathematics.FORMULAS, _formula),
    (CODE_TABLES, _code_table),
    ("table", _table),
    (".mermaid:not(code)", _diagram),
    ("pre", _code_block),
    (".autodoc-signature, dt.sig", _signature),
    (".admonitionblock .icon i[title]", _kind),
    (".classifier:not(.classifier-delimiter + .classifier)", _classifier),
    (TITLES, _title),
    ("code, tt, samp, kbd", _code),
    ("a", _link),
    ("sup", _superscript),
    ("img", _picture),
)
"""The first rule whose selector matches an element renders it."""
