"""Finds what a theme puts around a page's text, by what it is: trails, neighbours, dates, edit links, questions.

Only the edges of the content are searched: before the first heading, below the title, and at the end. A line in the
middle of the text is the author's.
"""

import re
from collections.abc import Container, Iterator, Sequence
from itertools import chain, dropwhile, islice, takewhile

from passage.sites import html
from passage.sites.built.addresses import is_page
from passage.sites.built.blocks import SENTENCE
from passage.sites.built.document import Document
from passage.sites.html import Node

_ATOMS = html.HEADINGS | {"pre", "table", "math", "svg", "dl"}
"""Elements that are one block, whatever they hold."""
_BLOCKS = _ATOMS | {
    *("p", "li", "dd", "dt", "div", "section", "article", "header", "footer", "blockquote", "figure", "figcaption"),
    *("summary", "details", "address", "aside", "main", "ul", "ol", "form", "fieldset", "center"),
}

_HEADERS = "header, [class*=hero i]"
_NO_HERO = "h2, h3, h4, pre, table, li, dl"

_GAP = re.compile(r"\W+")

_SHORT = 100
"""The most characters of a line of furniture."""
_NEIGHBOURS = 3
"""The most links to other pages at the end of a page: before, after, and up."""

DATE = re.compile(
    r"\b\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|\b\d{1,2}\.? (?:de )?[^\W\d]+\.? (?:de )?\d{4}\b"
    r"|\b[^\W\d]+\.? \d{1,2}, \d{4}\b|\b\d+ ?min\b|\bminutes?\b"
)
_ABBREVIATED = re.compile(r"(?<=min)\.\Z", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(page|last) (was )?(last )?(updated|modified|edited|changed|reviewed)\b"
    r"|\A(updated|modified|edited|changed|reviewed|published)\b.* ago\Z",
    re.IGNORECASE,
)
_HELPS = re.compile(r"\b(help|helps|helpful|useful)\b.*\?", re.IGNORECASE)
_IS_HERE = re.compile(r"\b(this|page|article)\b", re.IGNORECASE)
_ARROW = re.compile(r"\A\W*[\u2190\u2039\u00ab\u27f5]|[\u2192\u203a\u00bb\u27f6]\W*\Z")
"""The sign at one end of a line of links to the pages before and after."""
_LISTS = re.compile(r"(^|/)(tags?|categor(y|ies)|authors?)/", re.IGNORECASE)
"""Addresses of lists of pages."""
_BESIDE = 30
"""The most letters beside the links of a line of furniture ("Filed under")."""
_SOURCE = re.compile(r"/(edit|blob|tree|raw)/|/issues/new\b|\.(md|mdx|rst|adoc|asciidoc|ipynb|txt)\Z")
_BYLINE = re.compile(r"(^|[-_ ])(author|byline|meta|metadata)s?($|[-_ ])", re.IGNORECASE)


def furniture(contents: Sequence[Node], document: Document, gone: Container[int], url: str) -> Iterator[Node]:
    """The blocks at the edges of the content that are not part of its text.

    Args:
        gone: the keys of elements that are left out already.
        url: of the page.
    """
    blocks = chain.from_iterable(_blocks(content, gone) for content in contents)
    ending: Iterator[Node] = chain.from_iterable(_blocks(content, gone, back=True) for content in reversed(contents))
    title: Node | None = None
    before: list[Node] = []
    for block in blocks if any(html.first(content, "h1") is not None for content in contents) else ():
        if html.tag(block) == "h1":
            title = block
            break
        before.append(block)
    if title is not None:
        words, place = html.words(title), html.key(title)
        yield from (block for block in before if _is_trail(block, words, url))
        yield from _below_title(blocks, set(map(html.key, document.select(_HEADERS))), url)
        yield from _buttons(title, contents[0])
        ending = takewhile(lambda block: html.key(block) != place, ending)
    yield from _at_end(ending, url)


def _blocks(node: Node, gone: Container[int], *, back: bool = False) -> Iterator[Node]:
    """The innermost blocks with text, in reading order, and elements that stand beside them with no words between.

    Args:
        back: in the other order.
    """
    if html.key(node) in gone:
        return
    name = html.tag(node)
    if name not in _ATOMS:
        holds_blocks = False
        apart: list[Node] = []
        for child in reversed(list(html.children(node))) if back else html.children(node):
            inside = _blocks(child, gone, back=back) if html.tag(child) else iter(())
            block = next(inside, None)
            if block is None:
                apart.append(child)
                continue
            holds_blocks = True
            yield from _apart(apart, gone)
            apart.clear()
            yield block
            yield from inside
        if holds_blocks:
            yield from _apart(apart, gone)
            return
    if name in _BLOCKS and html.letters(node):
        yield node


def _apart(run: Sequence[Node], gone: Container[int]) -> list[Node]:
    """The elements of a line between blocks, if it is made of nothing else."""
    nodes = [node for node in run if html.key(node) not in gone]
    if any(not html.tag(node) and html.letters(node) for node in nodes):
        return []
    found = list(filter(html.letters, filter(html.tag, nodes)))
    return found if len(found) > 1 else []


def _is_trail(block: Node, title: str, url: str) -> bool:
    """Whether a block before the title has only links to other pages, perhaps named, or the end of the title."""
    if html.tag(block) in _ATOMS:
        return False
    words, links, beside = html.words(block), _links(block), _beside(block)
    own = (title[at:] for at in (0, *(gap.end() for gap in _GAP.finditer(title))))
    ends = any(words.endswith(each) and beside == sum(map(str.isalnum, each)) for each in own if each)
    lead_away = all(is_page(link, url) for link in links) or len(links) > 1
    named = len(links) > 1 and beside <= _BESIDE and beside == sum(map(str.isalnum, words.partition(":")[0]))
    return (lead_away and (ends or named or not beside)) or _is_note(block)


def _below_title(blocks: Iterator[Node], headers: Container[int], url: str) -> Iterator[Node]:
    """Bylines, dates and links between the title and the text, and a home page's buttons, which stand in a header."""
    lines: list[Node] = []
    further: list[Node] = []
    for block in blocks:
        if not _is_line(block):
            further.append(block)
            break
        lines.append(block)
    notes = [line for line in lines if _is_note(line) or _is_tags(line)]
    groups = {html.key(note.parent) for note in notes if note.parent is not None and html.tag(note) in ("li", "span")}
    yield from notes
    yield from (line for line in lines if line.parent is not None and html.key(line.parent) in groups)
    for block in chain(lines, further, blocks) if headers else ():
        if html.is_within(block, headers) and html.tag(block) not in _ATOMS and _is_links(block, url):
            yield block


def _buttons(title: Node, content: Node) -> Iterator[Node]:
    """The links with a style of their own, in the part of a home page that holds its title and a slogan alone."""
    part, above = None, title.parent
    while above is not None and html.key(above) != html.key(content) and html.first(above, _NO_HERO) is None:
        part, above = above, above.parent
    if part is not None and html.tag(part) != "header" and html.following(part) is not None:
        for block in html.select(part, "p, div"):
            links = html.select(block, "a[href]")
            if _all_links(block) and all(html.attribute(link, "class") for link in links):
                yield block


def _is_line(block: Node) -> bool:
    words = _ABBREVIATED.sub("", html.words(block))
    return html.tag(block) not in _ATOMS and len(words) <= _SHORT and not SENTENCE.search(words)


def _is_note(block: Node) -> bool:
    """Whether a short line says who wrote the page, when, how long it takes to read, or where its source is."""
    words = html.words(block)
    if len(words) > _SHORT:
        return False
    apart = block.text(deep=True, separator=" ")  # `<br>` and cells have no blank
    if html.first(block, "time") is not None or _CHANGED.search(words) or (DATE.search(apart) and _is_line(block)):
        return True
    if _all_links(block) and all(map(_is_source, _links(block))):
        return True
    links = html.select(block, "a[href]")
    if len(links) - 1 <= sum("hreflang" in link.attrs for link in links) > 0:  # that of this page may have none
        return True
    around = [block, *html.ancestors(block)][:3]
    return _is_line(block) and any(_BYLINE.search(html.attribute(each, "class")) for each in around)


def _is_source(link: Node) -> bool:
    target = html.attribute(link, "href").partition("?")[0].partition("#")[0]
    return _SOURCE.search(target) is not None


def _is_tags(block: Node) -> bool:
    """Whether a line has links to lists of pages, of a tag or an author, and a word or two beside them."""
    links, beside = _links(block), _beside(block)
    return (
        bool(links)
        and beside <= _BESIDE
        and (not beside or not SENTENCE.search(html.words(block)))
        and all(
            {"tag", "author", "category"} & set(html.attribute(link, "rel").split())
            or _LISTS.search(html.attribute(link, "href"))
            for link in links
        )
    )


def _is_links(block: Node, url: str) -> bool:
    """Whether all letters of a block are in links to other pages of the site."""
    return _all_links(block) and all(is_page(link, url) for link in _links(block))


def _all_links(block: Node) -> bool:
    return bool(_links(block)) and not _beside(block)


def _beside(block: Node) -> int:
    """The letters of a block in no link."""
    return max(0, html.letters(block) - sum(map(html.letters, _links(block))))


def _links(block: Node) -> list[Node]:
    """The links in a block, or the link around it."""
    around = next((above for above in html.ancestors(block) if html.tag(above) == "a" and "href" in above.attrs), None)
    return [around] if around is not None else html.select(block, "a[href]")


def _at_end(backwards: Iterator[Node], url: str) -> Iterator[Node]:
    """The furniture behind the last block of text."""
    last: Node | None = None
    neighbours: list[Node] = []
    # A heading over nothing: a script fills in the comments.
    for block in dropwhile(lambda each: html.tag(each) in html.HEADINGS, backwards):
        if _is_neighbour(block, url):
            neighbours.append(block)
        elif html.tag(block) not in _ATOMS and any(
            is_furniture(block) for is_furniture in (_is_note, _is_tags, _is_question, _is_footer)
        ):
            yield block
        else:
            last = block
            break
    targets = {html.attribute(link, "href") for block in neighbours for link in _links(block)}
    opened = last is not None and (html.tag(last) in html.HEADINGS or html.text(last).rstrip().endswith(":"))
    if len(targets) <= _NEIGHBOURS and not opened:
        yield from neighbours


def _is_neighbour(block: Node, url: str) -> bool:
    """Whether a block is a link to the page before or after, perhaps with its description."""
    links = _links(block)
    labelled = bool(links) and _is_labelled(block, url)
    if not labelled and not _is_links(block, url):
        return False
    if any(html.first(link, html.HEADING) for link in links):
        return False
    if labelled or all({"prev", "next"} & set(html.attribute(link, "rel").split()) for link in links):
        return True
    is_line = html.tag(block) == "li" or (html.tag(block) == "p" and len(links) > 1)
    if is_line and _ARROW.search(html.text(block)):
        return True
    return html.tag(block) not in ("p", "li", "dd") or html.is_within(block, {html.key(links[0])})


def _is_labelled(block: Node, url: str) -> bool:
    """Whether a block is one of several in a row, each with a link to another page and a word beside it ("Next")."""
    beside = html.elements(block.parent) if block.parent is not None else ()
    row = list(islice(filter(html.letters, beside), _NEIGHBOURS + 1))
    styled = block.parent is not None and html.attribute(block.parent, "class")
    return 2 <= len(row) <= _NEIGHBOURS and all(
        html.tag(each) in (("div", "span", "li") if styled else ("div", "span"))
        and len(links := html.select(each, "a[href]")) == 1
        and is_page(links[0], url)
        and html.first(each, "p") is None
        and 0 < html.letters(each) - html.letters(links[0]) <= _BESIDE
        and not SENTENCE.search(html.words(each))
        for each in row
    )


def _is_question(block: Node) -> bool:
    """Whether a line asks the reader and has buttons for the answer, beside it or in it."""
    words = html.words(block)
    if len(words) > _SHORT or "?" not in words:
        return False
    if _HELPS.search(words) and _IS_HERE.search(words):
        return True
    around = [block, *html.ancestors(block)][:2]
    return any(html.first(each, "button, input, textarea") and not html.first(each, "h1") for each in around)


def _is_footer(block: Node) -> bool:
    """Whether a line stands in a footer, whatever its element, or is a notice of copyright."""
    around = [block, *html.ancestors(block)][:3]
    named = any("footer" in f"{html.attribute(each, 'class')} {html.attribute(each, 'id')}".lower() for each in around)
    return named or html.words(block).startswith("\u00a9")


def beside_title(header: Node) -> list[Node]:
    """The blocks of a page's header that are neither its heading nor a sentence."""
    return [block for block in _blocks(header, ()) if html.tag(block) not in html.HEADINGS and _is_line(block)]
