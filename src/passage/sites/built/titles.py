"""The rule for a page's title."""

import re
from collections import Counter
from collections.abc import Iterable

from passage.sites import html
from passage.sites.built import render
from passage.sites.built.generators import Generator, outside_title
from passage.sites.built.sections import Heading
from passage.sites.html import Node
from passage.sites.model import readable_name

_ENDING = re.compile(r"\s+[|\u2013\u2014\u00b7-]\s+[^|\u2013\u2014\u00b7]+?\Z")
"""A separator with the last words of a title."""


def title_of(path: str, headings: Iterable[Heading], *, stated: str = "", otherwise: str = "") -> str:
    """A page's title, in plain words: the first of these that is not empty.

    1. `stated`: by its author, in front matter.
    2. The first level-1 heading in its text.
    3. `otherwise`: outside of its text, as in `<title>` or a navigation.
    4. The name of its file.
    """
    inside = next((heading.title for heading in headings if heading.level == 1 and heading.title), "")
    return stated or inside or otherwise or readable_name(path)


def title_outside(root: Node, generator: Generator, rendering: render.Page, suffix: str) -> str:
    """The title outside of a page's content: a level-1 heading, else `<title>` without the site's name.

    Args:
        suffix: the site's addition after each title in `<title>`.
    """
    heading = outside_title(root, generator)
    words = render.words(heading, rendering) if heading is not None else ""
    return words or _head_title(root).removesuffix(suffix).strip()


def title_suffix(pages: Iterable[Node]) -> str:
    """The site's name: the ending of most pages' `<title>`, after a separator. Empty where there is none."""
    titles = [_head_title(page) for page in pages]
    endings = Counter(ending for title in titles if (ending := _ending(title)))
    best, count = endings.most_common(1)[0] if endings else ("", 0)
    return best if count * 2 > len(titles) else ""


def _ending(title: str) -> str:
    found = list(_ENDING.finditer(title))
    return found[-1][0] if found else ""


def _head_title(root: Node) -> str:
    head = html.first(root, "head > title")
    return html.squeezed(html.text(head)) if head is not None else ""
