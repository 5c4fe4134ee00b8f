"""The rules of `render`: they write code, titles, formulas, links and pictures in one form for all themes."""

import re
from collections.abc import Mapping
from html import escape, unescape
from textwrap import dedent
from urllib.parse import urljoin

from passage.sites import html
from passage.sites.built import boxes, code, entries, mathematics
from passage.sites.built.blocks import BLOCKS
from passage.sites.built.document import Document
from passage.sites.built.dropped import Dropped
from passage.sites.built.generators import Generator
from passage.sites.built.render import (
    HOLDS_BLOCKS,
    Rendering,
    Rule,
    bold,
    element,
    inside,
    keep_tex,
    plain,
    raised,
    signature,
    words,
)
from passage.sites.built.tables import code_lines, empty_header, in_cell, is_frame
from passage.sites.html import Node

TITLES = (
    ":is(div, aside, section, article, figure, blockquote) > :is([class*=title i], [class*=caption i]):first-child"
    f":not({html.HEADING}, :has({html.HEADING}, p, pre)),"
    " summary, label, dt, p.rubric, .alert-heading, .callout-header, .admonitionblock .title,"
    f" a[href] :is({html.HEADING}), .VPFeature h2, .card .card-title"
)
"""Titles that are not headings of sections: each becomes a bold line before the named element."""

_ENDS_CELL = re.compile(r"(?:\s*<br>)+\s*(</t[dh]>)")
_EMPTY_ROW = re.compile(r"<tr>\s*(?:<td[^>]*>\s*</td>\s*)*</tr>")
"""A row that only parts those around it."""


def prepare(
    contents: list[Node],
    url: str,
    folder: str,
    generator: Generator,
    gone: Dropped,
    document: Document,
) -> Rendering:
    """Find the elements of `contents` with a rule, once for a page.

    Args:
        url, folder, generator: see `Rendering`.
    """
    signatures = [(generator.signatures, signature)] if generator.signatures else []
    reference = entries.find(document, contents, generator, gone.rules)
    rules: dict[int | str, Rule] = {**_BY_NAME}
    rules |= {html.key(part): _part for part in reference.parts}
    rules |= {html.key(node): _declaration for node in reference.signatures}
    for content in contents:
        matches = document.select_each(content, [css for css, _ in (*signatures, *RULES)])
        for css, rule in (*signatures, *RULES):
            for node in matches[css]:
                rules.setdefault(html.key(node), rule)
        for node in boxes.titles(content):
            rules.setdefault(html.key(node), _title)
    formulas = frozenset(key for key, rule in rules.items() if rule is _formula)
    return Rendering(url, folder, generator, gone.rules, rules, gone.labels, formulas, reference)


def _declaration(node: Node, page: Rendering) -> str:
    """A signature: a block of code where it is a page's own and has the lines of a body, such as fields."""
    written = html.text(node).strip()
    if html.key(node) in page.entries.by_node or not written.endswith("}"):
        return signature(node, page)
    verbatim = html.tag(node) == "pre" or html.first(node, "pre") is not None
    has_lines = "\n" in written if verbatim else html.first(node, "br") is not None
    return _fence(node, page).replace("\u00a0", " ") if has_lines else signature(node, page)


def _part(node: Node, page: Rendering) -> str:
    """A heading in an API's entry."""
    return bold(words(node, page))


def _formula(node: Node, page: Rendering) -> str:
    tex, block = mathematics.formula(node)
    return keep_tex(tex, block, page) if tex else ""


def _title(node: Node, page: Rendering) -> str:
    content = inside(node, page)
    if not content.strip() or (node.parent is not None and page.rules.get(html.key(node.parent)) is _title):
        return content.strip()
    link = next((above for above in html.ancestors(node) if html.tag(above) == "a"), None)
    target = page.address(link) if link is not None else ""
    if any(block in content for block in ("<p>", "<div>", "<pre>")):
        content = escape(words(node, page))
    content = content.replace("<strong>", "").replace("</strong>", "").strip()
    linked = f'<a href="{escape(target)}">{content}</a>' if target else content
    return f"<p><strong>{linked}</strong></p>"


def _code_block(node: Node, page: Rendering) -> str:
    return f"<div>{_lines(node, page)}</div>" if in_cell(node) else _fence(node, page)


def _fence(node: Node, page: Rendering) -> str:
    return _fenced(code.source(node, page.dropped), code.language(node))


def _lines_of_code(node: Node, page: Rendering) -> str:
    """Code whose lines are elements, outside of a `pre`."""
    return _fenced("\n".join(code.source(line, page.dropped) for line in html.select(node, ".line")), "")


def _layout(node: Node, page: Rendering) -> str:
    """A list that only sets its items apart."""
    return f"<div>{inside(node, page)}</div>"


def _diagram(node: Node, page: Rendering) -> str:
    return _fenced(code.source(node, page.dropped).strip(), "mermaid")


def _fenced(source: str, language: str) -> str:
    named = f' class="language-{escape(language)}"' if language else ""
    return f"<pre><code{named}>{escape(source, quote=False)}</code></pre>" if source.strip() else ""


def _lines(node: Node, page: Rendering) -> str:
    """Lines of code where no block of code can stand."""
    lines = dedent(code.source(node, page.dropped)).split("\n")
    return "<br>".join(f"<code>{escape(line, quote=False)}</code>" for line in map(str.rstrip, lines) if line)


def _table(node: Node, page: Rendering) -> str:
    if lines := code_lines(node):
        return _fenced("\n".join(code.source(line, page.dropped) for line in lines), code.language(node))
    if is_frame(node):
        cells = [cell for cell in html.outermost(node, "caption, td, th") if html.key(cell) not in page.dropped]
        titles = {words(cell, page) for cell in cells if html.tag(cell) == "th"}
        return "".join(_in_frame(cell, page) for cell in cells if not _is_icon(cell, titles))
    written = element(node, page)
    if "<br>" in written:
        written = _ENDS_CELL.sub(r"\1", written)
    if "rowspan" not in written:
        written = _EMPTY_ROW.sub("", written)
    return written.replace("<tr>", f"{empty_header(node)}<tr>", 1)


def _in_frame(cell: Node, page: Rendering) -> str:
    return bold(words(cell, page)) if html.tag(cell) == "th" else f"<div>{inside(cell, page)}</div>"


def _is_icon(cell: Node, titles: set[str]) -> bool:
    """Whether a cell has the picture of a note alone, whose name is the title beside it: "[Warning]"."""
    picture = html.first(cell, "img[alt]") if titles and not html.letters(cell) else None
    return picture is not None and html.attribute(picture, "alt").strip("[] ") in titles


def _kind(node: Node, _: Rendering) -> str:
    """The icon of an Asciidoctor note."""
    return bold(html.attribute(node, "title") or html.attribute(node, "alt"))


def _classifier(node: Node, page: Rendering) -> str:
    """A term's type in Sphinx; the theme's style sheet writes the colon."""
    return f" : {inside(node, page)}"


def _code(node: Node, page: Rendering) -> str:
    if html.first(node, "br") is not None:
        return _lines(node, page)
    written = html.visible(plain(node, page)).replace("\n", " ")
    return f"<code>{escape(written, quote=False)}</code>" if written.strip() else written


def _link(node: Node, page: Rendering) -> str:
    content = inside(node, page)
    target = page.address(node)
    if not target or not content.strip():
        return content
    if not any(map(str.isalnum, unescape(content))) and _is_arrow(node):
        return ""
    return f'<a href="{escape(target)}">{content}</a>'


def _is_arrow(link: Node) -> bool:
    """Whether a link without words is around a picture, and stands beside no words of a sentence."""
    beside = filter(None, (html.previous(link), html.following(link)))
    in_sentence = any(html.tag(each) not in BLOCKS and html.letters(each) for each in beside)
    return html.first(link, "img") is not None and not in_sentence


def _card(node: Node, page: Rendering) -> str:
    """A link around blocks: its title is written as the link."""
    content = inside(node, page)
    return f"<div>{content}</div>" if page.address(node) and content.strip() else content


def _superscript(node: Node, page: Rendering) -> str:
    return raised(inside(node, page))


def _picture(node: Node, page: Rendering) -> str:
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
    (".mermaid:not(code)", _diagram),
    (".fragment:has(> .line)", _lines_of_code),
    (".blockList", _layout),  # Javadoc's lists of one item
    (".tsd-signatures > li", _layout),
    (".admonitionblock .icon :is(i[title], img[alt])", _kind),
    (".classifier:not(.classifier-delimiter + .classifier)", _classifier),
    ("a.header", inside),  # mdBook's permalinks hold the words of the heading
    ("table", _table),
    ("pre", _code_block),
    (TITLES, _title),
    (f"a:has({HOLDS_BLOCKS})", _card),
)
"""The first rule whose selector matches an element renders it. Those at the end match on most pages."""

_BY_NAME: Mapping[int | str, Rule] = {
    **dict.fromkeys(("code", "tt", "samp", "kbd"), _code),
    "a": _link,
    "sup": _superscript,
    "img": _picture,
}
"""The rules of all other elements of a name."""
