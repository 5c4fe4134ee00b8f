"""Renders a page's elements as plain HTML, by the rules of `passage.sites.built.rules`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from urllib.parse import urljoin, urlsplit

from passage.sites import html
from passage.sites.built import mathematics, tables
from passage.sites.built.entries import Entries
from passage.sites.built.generators import Generator
from passage.sites.html import Node

_KEPT = frozenset(
    {"p", "ul", "ol", "li", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption", "blockquote"}
)
_KEPT_INLINE = frozenset({"em", "strong", "i", "b", "del", "s", "strike"})
_BLOCKS = frozenset(
    {"div", "section", "article", "header", "main", "aside", "figure", "figcaption", "details", "hgroup", "address"}
    | {"center", "fieldset", "form", "dl", "dd", "footer", "body", "menu", "legend"}
)
_GAPS = dict.fromkeys(_BLOCKS | {"nav", "hr", "dialog"}, "<div></div>") | dict.fromkeys(
    ("button", "select", "video"), " "
)
"""What a dropped element leaves, so that the text before and after it does not run together."""

HOLDS_BLOCKS = f"p, div, ul, ol, pre, table, blockquote, section, {html.HEADING}"
_ATTRIBUTES = {"ol": ("start",), "li": ("value",), "td": ("colspan", "rowspan"), "th": ("colspan", "rowspan")}

_BLANKS = re.compile(r"[\t\n\r\f\u00a0][ \t\n\r\f\u00a0]*| [ \t\n\r\f\u00a0]+")
"""What a single blank replaces; not the many single blanks."""

_INSIDE = re.compile(r"(?<=[(\[]) +|,? +(?=[)\]])| +(?=,)")
"""Spaces in a signature that is set in lines or as a table, and the comma after its last line."""

_BEHIND_MARK = " .:)]"
_NUMBER = re.compile(r"[+\u2212-]?\d+")

_BELOW = re.compile(r"\w[\w-]*(?:[./][\w-]+)*(?:#[\w.:/-]+)?", re.ASCII)
"""The address of a page in the folder or below it, without a part that is resolved."""

_TEX_OPEN, _TEX_CLOSE = "\ue000", "\ue001"
"""Private characters around the number of a formula, which the converter would escape."""

_APART = "\ue002"
"""A private character between two quotations, which the converter would make one."""
_APART_LINE = re.compile(rf"^[ >]*{_APART}\n(?:[ >]*\n)?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rendering:
    """The settings for rendering the elements of one page.

    Attributes:
        url: of the published page.
        folder: the base of relative links: the URL's folder, with a slash.
        generator: wrote the page.
        dropped: the keys of the elements and texts that are left out, with the rule.
        rules: special renderings, by the element's key or else by its name.
        labels: the keys of tab panels, each with its tab's label.
        formulas: the keys of the elements that are formulas.
        entries: of an API reference.
        tex: the formulas found so far.
    """

    url: str
    folder: str
    generator: Generator
    dropped: Mapping[int, str]
    rules: Mapping[int | str, "Rule"]
    labels: Mapping[int, str]
    formulas: frozenset[int | str]
    entries: Entries
    tex: list[str] = field(default_factory=list)

    def address(self, link: Node) -> str:
        """A link's absolute URL; empty where it cannot be opened."""
        return self.absolute(html.attribute(link, "href").strip())

    def absolute(self, target: str) -> str:
        """The absolute URL of a link's target."""
        return self.url + target if target.startswith("#") else _absolute(self.folder, target)

    def leaves_out(self, node: Node) -> bool:
        """Whether an element is left out, by itself or with one around it."""
        return any(html.key(each) in self.dropped for each in (node, *html.ancestors(node)))


Rule = Callable[[Node, Rendering], str]


@lru_cache(maxsize=10_000)  # the pages of a folder have the same links
def _absolute(folder: str, target: str) -> str:
    if not target:
        return ""
    if _BELOW.fullmatch(target) and folder.startswith("http") and folder.endswith("/"):
        return folder + target  # as `urljoin`, which takes longer
    try:
        absolute = urljoin(folder, target)
        scheme = urlsplit(absolute).scheme
    except ValueError:
        return ""
    return absolute if scheme in ("http", "https", "mailto", "tel", "ftp") else ""


def render(node: Node, page: Rendering) -> str:
    """The HTML of one node."""
    return _render(html.tag(node), node, page)


def _render(name: str, node: Node, page: Rendering) -> str:
    key = html.key(node)
    if key in page.dropped:
        return _GAPS.get(name, "")
    if not name:
        words = html.own_text(node)
        if words[:1] in _BEHIND_MARK and _follows_mark(node, page):
            words = words.lstrip(_BEHIND_MARK)
        return _text(words, page)
    rule = page.rules.get(key) or page.rules.get(name, element)
    label = page.labels.get(key)
    return rule(node, page) if label is None else f"<div>{bold(label)}{rule(node, page)}</div>"


def _follows_mark(text: Node, page: Rendering) -> bool:
    """Whether a text follows a mark that is left out and begins its block, as a footnote's number does."""
    mark = text.prev
    dropped = mark is not None and html.key(mark) in page.dropped and any(map(str.isalnum, html.text(mark)))
    return dropped and mark is not None and html.previous(mark) is None


def inside(node: Node, page: Rendering) -> str:
    return "".join([_render(name, child, page) for name, child in html.named_children(node)])


def element(node: Node, page: Rendering) -> str:
    """An element without a rule. Structural elements are kept; others are replaced by their contents."""
    name, content = html.tag(node), inside(node, page)
    if name in ("br", "hr"):
        return f"<{name}>"
    if name == "p" and node.parent is not None and html.tag(node.parent) == "li" and tables.in_cell(node):
        return f"{content} "  # the converter indents a paragraph of an item, in a cell, too
    if name in _KEPT or name in html.HEADINGS:
        kept = _attributes(name, node) if name in _ATTRIBUTES else ""
        before = html.previous(node) if name == "blockquote" else None
        apart = f"<p>{_APART}</p>" if before is not None and html.tag(before) == "blockquote" else ""
        return f"{apart}<{name}{kept}>{content}</{name}>"
    if name in _KEPT_INLINE:
        return f"<{name}>{content}</{name}>" if content.strip() else content
    if name in _BLOCKS or ("-" in name and html.first(node, HOLDS_BLOCKS)):
        return f"<div>{content}</div>"
    return content


def _attributes(name: str, node: Node) -> str:
    return "".join(f' {each}="{escape(value)}"' for each in _ATTRIBUTES[name] if (value := html.attribute(node, each)))


def plain(node: Node, page: Rendering) -> str:
    """An element's words on one line, without dropped elements."""
    parts = []
    for child in html.children(node):
        if not html.tag(child):
            parts.append(html.own_text(child))
        elif html.key(child) in page.dropped:
            continue
        elif html.key(child) in page.formulas:
            parts.append(mathematics.formula(child)[0])
        elif html.tag(child) == "img":
            parts.append(html.attribute(child, "alt"))
        elif html.tag(child) == "sup":
            parts.append(raised(plain(child, page)))
        else:
            parts.append(
                f" {plain(child, page)} " if html.tag(child) in ("br", "div", "p", "td") else plain(child, page)
            )
    return "".join(parts) if html.tag(node) not in ("div", "p", *html.HEADINGS) else html.squeezed("".join(parts))


def raised(content: str) -> str:
    """The content of `<sup>`: a number is an exponent, and 10 to the 6th must not become 106."""
    return f"^{content}" if _NUMBER.fullmatch(content) else content


def restore(markdown: str, page: Rendering) -> str:
    """Put the formulas back that `render` took out, and part quotations."""
    if _APART in markdown:
        markdown = _APART_LINE.sub("", markdown).replace(f"{_APART}<br>", "")  # in a table's cell it has no own line
    for number, tex in enumerate(page.tex if _TEX_OPEN in markdown else ()):
        markdown = markdown.replace(f"{_TEX_OPEN}{number}{_TEX_CLOSE}", tex)
    return markdown


def bold(title: str) -> str:
    return f"<p><strong>{escape(title)}</strong></p>" if title else ""


def _text(text: str, page: Rendering) -> str:
    if "\n" in text and not text.strip():
        return "\n"  # between the blocks of a quotation, the converter makes blank lines of a space
    text = html.visible(text)
    if not text.isprintable() or "  " in text:  # only a blank is printable
        text = _BLANKS.sub(" ", text)
    if "\\" not in text and "$$" not in text:
        return escape(text, quote=False)
    pieces = mathematics.delimited(text)
    return "".join(
        escape(before, quote=False) + (keep_tex(tex, block, page) if tex else "") for before, tex, block in pieces
    )


def keep_tex(tex: str, block: bool, page: Rendering) -> str:
    """A formula's place in the HTML; `restore` puts it there."""
    page.tex.append(f"$$\n{tex}\n$$" if block else f"${tex}$")
    number = f"{_TEX_OPEN}{len(page.tex) - 1}{_TEX_CLOSE}"
    return f"<p>{number}</p>" if block else number


def words(node: Node, page: Rendering) -> str:
    """An element's words on one line."""
    return html.squeezed(plain(node, page))


def signature(node: Node, page: Rendering) -> str:
    """An API entry's signature on one line, as code."""
    written = _INSIDE.sub("", words(node, page)).rstrip(" :")
    if html.first(node, "td") is not None:
        written = written.replace(" (", "(")
    return f"<p><code>{escape(written, quote=False)}</code></p>" if written else ""
