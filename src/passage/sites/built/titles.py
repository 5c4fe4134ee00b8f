"""The rule for a page's title."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import takewhile

from passage.sites import html
from passage.sites.built import render
from passage.sites.built.document import Document
from passage.sites.built.repeated import Key, key_of
from passage.sites.built.sections import Heading, heading_of
from passage.sites.html import Node
from passage.sites.model import readable_name

_WORD = re.compile(r"\w+")
_SEPARATOR = re.compile(r"\s+[|\u2013\u2014\u00b7\u2022\u00ab\u00bb\u2039\u203a:/~-]+\s+|:\s+")


def title_of(
    path: str,
    headings: Iterable[Heading],
    *,
    stated: str = "",
    otherwise: str = "",
    common: frozenset[str] = frozenset(),
) -> str:
    """A page's title, in plain words: the first of these that is not empty.

    1. `stated`: by its author in front matter, or by its generator above the text.
    2. The first level-1 heading in its text that is the page's own: not one of `common`, no link to a page above it,
       and not behind the text of another heading.
    3. `otherwise`: outside of its text, as in `<title>` or a navigation.
    4. The name of its file.

    Args:
        common: the headings of most of the site's pages.
    """
    own = (each.title for each in headings if each.level == 1 and each.is_own and each.title not in common)
    return stated or next(filter(None, own), "") or otherwise or readable_name(path)


def heading_outside(
    document: Document, contents: Sequence[Node], rendering: render.Rendering, common: frozenset[str], css: str
) -> str:
    """The first heading of `css` outside of a page's content that is the page's own; empty if there is none."""
    nodes = document.select(css) if css else []
    inside = {html.key(heading) for content in contents if nodes for heading in html.select(content, "h1")}
    for node in nodes:
        heading = heading_of(node, rendering)
        own = heading.is_own and heading.title not in common and html.key(node) not in inside
        if heading.title and own and not _is_over_field(node) and not _is_in_dialog(node):
            return heading.title
    return ""


def title_outside(
    document: Document,
    contents: Sequence[Node],
    rendering: render.Rendering,
    site_names: tuple[str, ...],
    common: frozenset[str],
) -> str:
    """The title outside of a page's content, or in its header: a heading, else `<title>` without the site's name."""
    for css in (rendering.generator.title, "article header h2"):
        if heading := heading_outside(document, contents, rendering, common, css):
            return heading
    return _without_names(document.title, site_names)


def line_above(
    document: Document, headings: Sequence[Heading], site_names: tuple[str, ...], common: frozenset[Key]
) -> str:
    """The words of `<title>`, if they end a line before the first heading that shares no word with them; else empty.

    A module's name is no heading where the parts of its page are headings of level 1 (Haddock).
    """
    title = _without_names(document.title, site_names)
    first = next((heading.title for heading in headings if heading.level == 1), "")
    if not title or not first or not _words(title).isdisjoint(_words(first)):
        return ""
    before = takewhile(lambda block: not block.is_heading, document.blocks)
    return title if any(block.words.endswith(title) and key_of(block) not in common for block in before) else ""


def site_names(pages: Iterable[Document]) -> tuple[str, ...]:
    """The words that most pages have in `<title>` behind or before a separator, outermost first."""
    titles = [page.title for page in pages if page.title]
    names: list[str] = []
    while name := _common_name(titles):
        names.append(name)
        titles = [_without_name(title, name) for title in titles]
    return tuple(names)


def _common_name(titles: Sequence[str]) -> str:
    parts = [_SEPARATOR.split(title) for title in titles]
    for position in (-1, 0):
        names = Counter(part[position] for part in parts if len(part) > 1)
        if names and names.most_common(1)[0][1] * 2 > len(titles):
            return names.most_common(1)[0][0]
    return ""


def common_headings(pages: Iterable[Document]) -> frozenset[str]:
    """The level-1 headings that most of the pages have."""
    by_page = [{html.words(heading) for heading in page.select("h1")} for page in pages]
    counted = Counter(words for headings in by_page for words in headings)
    return frozenset(words for words, count in counted.items() if count > 2 and count * 2 > len(by_page))


def _is_over_field(heading: Node) -> bool:
    """Whether a heading stands over a field that a reader fills in, as that of a search does."""
    return heading.parent is not None and html.first(heading.parent, "input, textarea") is not None


def _is_in_dialog(heading: Node) -> bool:
    """Whether a heading stands in a window that opens over the page."""
    dialogs = ("dialog", "alertdialog", "search")
    return any(
        html.tag(above) == "dialog" or html.attribute(above, "role") in dialogs for above in html.ancestors(heading)
    )


def _without_name(title: str, name: str) -> str:
    separators = list(_SEPARATOR.finditer(title))
    if name and separators:
        if title[separators[-1].end() :] == name:
            return title[: separators[-1].start()].strip()
        if title[: separators[0].start()] == name:
            return title[separators[0].end() :].strip()
    return title


def _without_names(title: str, names: Iterable[str]) -> str:
    for name in names:
        title = _without_name(title, name)
    return title


def _words(title: str) -> set[str]:
    return set(_WORD.findall(title.lower()))
