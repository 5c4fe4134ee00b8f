"""Renders a page's elements as plain HTML: one way to write code, titles, tabs and formulas, whatever the theme."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from urllib.parse import urljoin, urlsplit

from passage.sites import html
from passage.sites.built import code, mathematics, tabs
from passage.sites.built.noise import NOISE
from passage.sites.html import Node

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

TITLES = (
    ".admonition-title, .custom-block-title, [class*=admonitionHeading], .starlight-aside__title,"
    " .blockquote-tag-title, .markdown-alert-title, .notice-title, .alert-heading, [class*=codeBlockTitle],"
    " .filename, figcaption .title, .code-block-caption, .sd-card-title, .card > .title, summary, label, dt,"
    " a h1, a h2, a h3, a h4, a h5, a h6, .VPFeature h2, .card h2.card-title, .card h3.card-title"
)
"""Titles that are no headings of sections: each becomes a bold line before what it names."""

CODE_TABLES = ".highlighttable, .lntable, .rouge-table, table.highlight"

_KEPT = frozenset(
    {"p", "ul", "ol", "li", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption", "blockquote"}
)
_KEPT_INLINE = frozenset({"em", "strong", "i", "b", "del", "s", "strike"})
_BLOCKS = frozenset(
    {"div", "section", "article", "header", "main", "aside", "figure", "figcaption", "details", "hgroup", "address"}
    | {"center", "fieldset", "form", "dl", "dd", "footer", "body", "picture-frame", "menu"}
)
_HOLDS_BLOCKS = "p, div, ul, ol, pre, table, blockquote, section, h1, h2, h3, h4, h5, h6"
_ATTRIBUTES = {"ol": ("start",), "li": ("value",), "td": ("colspan", "rowspan"), "th": ("colspan", "rowspan")}

_BLANKS = re.compile(r"[ \t\n\r\f\u00a0]+")

TEX_OPEN, TEX_CLOSE = "\ue000", "\ue001"
"""Private characters around the number of a formula, which the converter would escape."""


@dataclass(frozen=True, slots=True)
class Page:
    """How the elements of one page are rendered.

    Attributes:
        url: where it is published.
        folder: what relative links are resolved against: the URL's folder, with a slash.
        dropped: the keys of the elements that are left out.
        rules: the keys of the elements with a rendering of their own.
        labels: the keys of tab panels, each with what its tab says.
        tex: the formulas met so far; the only thing that rendering adds to.
    """

    url: str
    folder: str
    dropped: frozenset[int]
    rules: Mapping[int, "Rule"]
    labels: Mapping[int, str]
    tex: list[str] = field(default_factory=list)


Rule = Callable[[Node, Page], str]


def prepare(contents: list[Node], url: str, folder: str, noise: str = "") -> Page:
    """Look up once which elements of `contents` are left out and which have a rule.

    Args:
        noise: a selector of what is left out besides.
    """
    dropped: set[int] = set()
    rules: dict[int, Rule] = {}
    labels: dict[int, str] = {}
    for content in contents:
        dropped.update(map(html.key, html.select(content, NOISE)))
        if noise:
            dropped.update(map(html.key, html.select(content, noise)))
        labels.update((html.key(panel), label) for panel, label in tabs.labels(content))
        dropped.update(map(html.key, tabs.lists(content)))
        for css, rule in _RULES:
            for node in html.select(content, css):
                rules.setdefault(html.key(node), rule)
    return Page(url, folder, frozenset(dropped), rules, labels)


def render(node: Node, page: Page) -> str:
    """The HTML of one node."""
    name = html.tag(node)
    if not name:
        return _text(html.own_text(node), page)
    if html.key(node) in page.dropped:
        return ""
    rule = page.rules.get(html.key(node), element)
    label = page.labels.get(html.key(node))
    return rule(node, page) if label is None else f"<div>{bold(label)}{rule(node, page)}</div>"


def inside(node: Node, page: Page) -> str:
    return "".join(render(child, page) for child in html.children(node))


def element(node: Node, page: Page) -> str:
    """An element without a rule: structure is kept, everything else is its contents."""
    name, content = html.tag(node), inside(node, page)
    if name in ("br", "hr"):
        return f"<{name}>"
    if name in _KEPT or name in HEADINGS:
        kept = "".join(
            f' {each}="{escape(value)}"' for each in _ATTRIBUTES.get(name, ()) if (value := html.attribute(node, each))
        )
        return f"<{name}{kept}>{content}</{name}>"
    if name in _KEPT_INLINE:
        return f"<{name}>{content}</{name}>" if content.strip() else content
    if name in _BLOCKS or ("-" in name and html.first(node, _HOLDS_BLOCKS)):
        return f"<div>{content}</div>"
    return content


def plain(node: Node, page: Page) -> str:
    """An element's words on one line, without what is left out."""
    parts = []
    for child in html.children(node):
        if not html.tag(child):
            parts.append(html.own_text(child))
        elif html.key(child) in page.dropped:
            continue
        elif page.rules.get(html.key(child)) is _formula:
            parts.append(mathematics.formula(child)[0])
        elif html.tag(child) == "img":
            parts.append(html.attribute(child, "alt"))
        else:
            parts.append(f" {plain(child, page)} " if html.tag(child) in ("br", "div", "p") else plain(child, page))
    return "".join(parts) if html.tag(node) not in ("div", "p", *HEADINGS) else html.squeezed("".join(parts))


def restore_tex(markdown: str, page: Page) -> str:
    """Put the formulas back that `render` took out."""
    for number, tex in enumerate(page.tex):
        markdown = markdown.replace(f"{TEX_OPEN}{number}{TEX_CLOSE}", tex)
    return markdown


def bold(title: str) -> str:
    return f"<p><strong>{escape(title)}</strong></p>" if title else ""


def _text(text: str, page: Page) -> str:
    text = _BLANKS.sub(" ", text.translate(html.INVISIBLE))
    pieces = mathematics.delimited(text) if "\\" in text or "$$" in text else [(text, "", False)]
    return "".join(
        escape(before, quote=False) + (_kept_tex(tex, block, page) if tex else "") for before, tex, block in pieces
    )


def _kept_tex(tex: str, block: bool, page: Page) -> str:
    page.tex.append(f"$$\n{tex}\n$$" if block else f"${tex}$")
    number = f"{TEX_OPEN}{len(page.tex) - 1}{TEX_CLOSE}"
    return f"<p>{number}</p>" if block else number


def _formula(node: Node, page: Page) -> str:
    tex, block = mathematics.formula(node)
    return _kept_tex(tex, block, page) if tex else ""


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


def words(node: Node, page: Page) -> str:
    """An element's words on one line."""
    return html.squeezed(plain(node, page))


def code_block(node: Node, page: Page) -> str:
    source = code.source(node, page.dropped)
    if not source.strip():
        return ""
    language = code.language(node)
    named = f' class="language-{escape(language)}"' if language else ""
    return f"<pre><code{named}>{escape(source, quote=False)}</code></pre>"


def _code_table(node: Node, page: Page) -> str:
    """A table that puts line numbers beside code: its title and its code alone."""
    titles = [bold(words(title, page)) for title in html.select(node, ".filename")[-1:]]
    blocks = [pre for pre in html.outermost(node, "pre") if not _left_out(pre, page)]
    return "".join([*titles, *(code_block(pre, page) for pre in blocks)])


def _left_out(node: Node, page: Page) -> bool:
    return html.key(node) in page.dropped or any(html.key(above) in page.dropped for above in html.ancestors(node))


def _diagram(node: Node, page: Page) -> str:
    source = code.source(node, page.dropped).strip()
    return f'<pre><code class="language-mermaid">{escape(source, quote=False)}</code></pre>' if source.strip() else ""


def _signature(node: Node, page: Page) -> str:
    return f"<p><code>{escape(words(node, page), quote=False)}</code></p>"


def _code(node: Node, page: Page) -> str:
    written = plain(node, page).translate(html.INVISIBLE).replace("\n", " ")
    return f"<code>{escape(written, quote=False)}</code>" if written.strip() else written


def _link(node: Node, page: Page) -> str:
    content = inside(node, page)
    target = "" if "header" in html.classes(node) else _address(node, page)  # mdBook's permalinks hold the words
    if not target or not content.strip():
        return content
    if html.first(node, _HOLDS_BLOCKS):
        return f"<div>{content}</div>"  # a card: its title holds the link
    return f'<a href="{escape(target)}">{content}</a>'


def _address(node: Node, page: Page) -> str:
    """Where a link leads, as an absolute URL; empty when it leads nowhere that can be opened."""
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


def heading_words(node: Node, page: Page) -> str:
    """A heading's words; VitePress' home page keeps a slogan in the same heading, which is left out."""
    name = html.first(node, ".name") if _is_hero(node) else None
    return words(name or node, page)


def beside_heading(node: Node, page: Page) -> str:
    """What stands in a heading's element and is not the heading."""
    slogan = html.first(node, ".text") if _is_hero(node) and html.first(node, ".name") else None
    return f"<p>{inside(slogan, page)}</p>" if slogan is not None else ""


def _is_hero(node: Node) -> bool:
    return any("VPHero" in html.classes(above) for above in html.ancestors(node))


_RULES: tuple[tuple[str, Rule], ...] = (
    (mathematics.FORMULAS, _formula),
    (CODE_TABLES, _code_table),
    (".mermaid:not(code)", _diagram),
    ("pre", code_block),
    (".autodoc-signature", _signature),
    (TITLES, _title),
    ("code, tt, samp, kbd", _code),
    ("a", _link),
    ("img", _picture),
)
"""The first rule whose selector matches an element renders it."""
