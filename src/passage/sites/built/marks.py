"""Finds the marks in a text that are no words of it: permalinks, badges of headings, marks of footnotes."""

import re
from collections.abc import Iterator

from passage.sites import html
from passage.sites.built.render import HEADINGS
from passage.sites.html import Node

_HEADINGS = ", ".join(HEADINGS)

_SIGN = re.compile("[\u21a9\u2191\u2934\u00a7\u00b6\ufe0e\ufe0f\\s]+")
"""The words of a link within its page that only goes back from a footnote, or gives a place its address."""

_MORE = re.compile(r"(read )?more ?(\.\.\.|\u2026)", re.IGNORECASE)

_BADGE = re.compile(r"badge|(^|[-_])(chip|labels?|pill|status|tags?)($|[-_])", re.IGNORECASE)
"""Classes of a badge."""

_VERSION = re.compile(r"\(.*\bv?\d+\.\d+\S*\)")
"""The version of a package, behind a title."""

_NOTE = "li, dd, p, div, aside, blockquote, td, section"


def permalinks(content: Node) -> Iterator[Node]:
    """Links of a heading to itself or with a sign alone, beside its words; elsewhere, signs that lead into the page.

    The signs are those that nothing else has, and any other one of a link to an element around it.
    """
    for heading in html.select(content, _HEADINGS):
        itself = f"#{html.attribute(heading, 'id') or ' '}"  # "#" alone leads to the page's top
        for link in html.select(heading, "a[href*='#']"):
            sign = not html.letters(link) and html.first(link, "img") is None
            if (sign or html.attribute(link, "href") == itself) and html.letters(heading) > html.letters(link):
                yield link
        for beside in (html.previous(heading), html.following(heading)):
            if beside is not None and html.tag(beside) == "a" and html.attribute(beside, "href") == itself != "#":
                yield beside
    yield from (link for link in html.select(content, "a[href^='#']") if _is_permalink(link))


def _is_permalink(link: Node) -> bool:
    words = html.text(link)
    if _SIGN.fullmatch(words):
        return True
    target = html.attribute(link, "href")[1:]
    alone = bool(words.strip()) and not html.letters(link) and html.first(link, "img") is None
    return alone and any(html.attribute(above, "id") == target for above in html.ancestors(link))


def briefs(content: Node) -> Iterator[Node]:
    """Links "More…" into the page; with its paragraph, where that text stands again at their target."""
    for link in html.select(content, "p > a[href*='#']"):
        target = html.attribute(link, "href").partition("#")[2]
        if _MORE.fullmatch(html.text(link).strip()) and '"' not in target and html.first(content, f'[id="{target}"]'):
            words = html.squeezed(html.text(link.parent or link)).removesuffix(html.squeezed(html.text(link)))
            again = html.squeezed(html.text(content)).count(words.strip()) > 1
            yield link.parent if again and link.parent is not None else link


def badges(content: Node) -> Iterator[Node]:
    """The parts that a theme sets as badges ("beta", "v2.3"): beside the words of a heading, and in a line alone."""
    for badge in html.select(content, "[class*=badge], [class*=Badge]"):
        if (
            badge.parent is not None
            and html.letters(badge) == html.letters(badge.parent)
            and html.tag(badge.parent) == "p"
        ):
            yield badge
    for heading in html.select(content, _HEADINGS):
        if html.letters(heading):
            yield from html.select(heading, "img[src*=badge]")
            yield from (
                part for part in html.select(heading, "* > small") if _VERSION.fullmatch(html.text(part).strip())
            )
        for part in html.select(heading, "*"):
            named = any(_BADGE.search(name) for name in (*html.classes(part), html.tag(part)))
            code = any(html.tag(above) == "code" for above in html.ancestors(part))
            if named and not code and html.tag(part) not in HEADINGS and html.letters(heading) > html.letters(part):
                yield part


def footnote_marks(content: Node) -> Iterator[Node]:
    """Raised links to a footnote, and where the footnote begins, the same mark or the links back."""
    for mark in html.select(content, "sup:has(a[href^='#']), a[href^='#']:has(> sup)"):
        link = html.first(mark, "a[href^='#']")
        raised = html.first(mark, "sup")
        if link is None or raised is None or not html.letters(link) == html.letters(mark) == html.letters(raised):
            continue
        yield mark
        named = html.attribute(link, "href")[1:]
        note = html.first(content, f'[id="{named}"]') if named and '"' not in named else None
        if note is None:
            continue
        words = html.squeezed(html.text(link))
        yield from (each for each in html.select(note, "sup")[:1] if html.squeezed(html.text(each)) == words)
        places = {html.attribute(each, "id") for each in (mark, link, *html.select(mark, "[id]"))} - {""}
        yield from (each for each in html.select(note, "a[href^='#']") if html.attribute(each, "href")[1:] in places)
