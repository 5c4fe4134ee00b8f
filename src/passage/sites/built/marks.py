"""Finds the marks in a text that are no words of it: permalinks, badges of headings, marks of footnotes."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import unquote

from passage.sites import html
from passage.sites.html import Node

Link = tuple[Node, str]
"""A link and its target."""

BADGES = "[class*=badge i]"
FOOTNOTE_MARKS = "sup:has(a[href^='#']), a[href^='#']:has(> sup)"

_SIGN = re.compile("[\u21a9\u2191\u2934\u00a7\u00b6\ufe0e\ufe0f\\s]+")
"""The words of a link within its page that only goes back from a footnote, or gives a place its address."""

_MORE = re.compile(r"(read )?more ?(\.\.\.|\u2026)", re.IGNORECASE)

_BADGE = re.compile(r"badge|(^|[-_])(chip|flags?|labels?|pill|status|tags?)($|[-_])", re.IGNORECASE)
"""Classes of a badge."""

_VERSION = re.compile(r"\(.*\bv?\d+\.\d+\S*\)")
"""The version of a package, behind a title."""


def permalinks(headings: Iterable[Node], links: Iterable[Link]) -> Iterator[Node]:
    """Links of a heading to itself or with a sign alone, beside its words; elsewhere, signs that lead into the page.

    The signs are those that nothing else has, any other one of a link to an element around it, and a paragraph's
    number.
    """
    for heading in headings:
        itself = f"#{html.attribute(heading, 'id') or ' '}"  # "#" alone leads to the page's top
        for link in html.select(heading, "a[href*='#']") if html.has_elements(heading) else ():
            sign = not html.letters(link) and html.first(link, "img") is None
            if (sign or html.attribute(link, "href") == itself) and html.letters(heading) > html.letters(link):
                yield link
        for beside in (html.previous(heading), html.following(heading)):
            if beside is not None and html.tag(beside) == "a" and html.attribute(beside, "href") == itself != "#":
                yield beside
    yield from (link for link, target in links if target.startswith("#") and _is_permalink(link, target[1:]))


def _is_permalink(link: Node, target: str) -> bool:
    words = html.text(link)
    if _SIGN.fullmatch(words) or (words == target and words.isdecimal()):
        return True
    alone = bool(words.strip()) and not html.letters(link) and html.first(link, "img") is None
    return alone and any(
        html.attribute(above, "id") == unquote(target) and html.letters(above) for above in html.ancestors(link)
    )


def briefs(content: Node, links: Iterable[Link]) -> Iterator[Node]:
    """Links "More…" into the page; with its paragraph, where that text stands again at their target."""
    for link, target in links:
        paragraph, place = link.parent, target.partition("#")[2]
        if not place or paragraph is None or html.tag(paragraph) != "p" or not _MORE.fullmatch(html.text(link).strip()):
            continue
        if html.with_id(content, place) is not None:
            words = html.words(paragraph).removesuffix(html.words(link))
            again = html.words(content).count(words.strip()) > 1
            yield paragraph if again else link


def badges(named: Iterable[Node], headings: Iterable[Node]) -> Iterator[Node]:
    """The parts that a theme sets as badges ("beta", "v2.3"): beside the words of a heading, and in a line alone.

    Args:
        named: the matches of `BADGES`.
    """
    for badge in named:
        if (
            badge.parent is not None
            and html.letters(badge) == html.letters(badge.parent)
            and html.tag(badge.parent) == "p"
        ):
            yield badge
    for heading in filter(html.has_elements, headings):
        written = html.letters(heading)
        yield from (part for part in html.select(heading, "*") if written and _is_badge(part, written))


def _is_badge(part: Node, written: int) -> bool:
    """Whether a part of a heading with so many letters is a badge."""
    name = html.tag(part)
    if name == "img" and "badge" in html.attribute(part, "src"):
        return True
    if name == "small" and _VERSION.fullmatch(html.text(part).strip()):
        return True
    named = name not in html.HEADINGS and _names_badge(name, html.attribute(part, "class"))
    return named and html.letters(part) < written and all(html.tag(each) != "code" for each in html.ancestors(part))


@lru_cache(maxsize=10_000)  # the pages of a site have the same parts
def _names_badge(name: str, classes: str) -> bool:
    return any(map(_BADGE.search, (*classes.split(), name)))


def footnote_marks(content: Node, marks: Iterable[Node]) -> Iterator[Node]:
    """Raised links to a footnote, and where the footnote begins, the same mark or the links back.

    Args:
        marks: the matches of `FOOTNOTE_MARKS`.
    """
    for mark in marks:
        link = html.first(mark, "a[href^='#']")
        raised = html.first(mark, "sup")
        if link is None or raised is None or not html.letters(link) == html.letters(mark) == html.letters(raised):
            continue
        yield mark
        note = html.with_id(content, html.attribute(link, "href")[1:])
        if note is None:
            continue
        words = html.words(link)
        yield from (each for each in html.select(note, "sup")[:1] if html.words(each) == words)
        places = {html.attribute(each, "id") for each in (mark, link, *html.select(mark, "[id]"))} - {""}
        yield from (each for each in html.select(note, "a[href^='#']") if html.attribute(each, "href")[1:] in places)
