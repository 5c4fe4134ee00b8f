"""Finds the entries of an API reference: a signature with an address of its own, and the text below it."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from passage.sites import html
from passage.sites.built.document import Document
from passage.sites.built.generators import Generator
from passage.sites.html import Node

_CANDIDATES = "[class*=ignature], .memproto, .code-header, .item-decl, .structfield"
_SIGNATURE = re.compile(r"([\w-]*[-_])?signature|\w+Signature|memproto|code-header|item-decl|structfield")
"""The class of a signature, in the markup of several generators."""
_TERMS = "dt[id]:has(code), dt:has(> a[id]):has(code)"
"""Terms that are signatures if they have code alone."""

_ITS_PARTS = re.compile(r"examples?|panics|errors|safety", re.IGNORECASE)
"""The headings that end the description of anything, by convention."""

_COPY = re.compile(r"-\d+\Z")
"""Ends the id of a further entry with the same name."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of an API reference.

    Attributes:
        name: its title; empty where the heading above it has its name.
        anchor: its address on the page.
        depth: how many entries are around it.
    """

    name: str
    anchor: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one page.

    Attributes:
        signatures: the elements that are signatures.
        by_node: the entries that begin at a signature, by its key. Others begin at the heading above it.
        parts: the headings in an entry that begin no entry: "Parameters", "Panics".
    """

    signatures: tuple[Node, ...] = ()
    by_node: Mapping[int, Entry] = field(default_factory=dict)
    parts: tuple[Node, ...] = ()


def find(document: Document, contents: Sequence[Node], generator: Generator, gone: Container[int]) -> Entries:
    """The entries of a page, besides those that `Generator.entries` selects.

    Args:
        gone: the keys of the elements that are left out.
    """
    own = "" if generator.entries else generator.signatures
    selector = ", ".join(filter(None, (_CANDIDATES, "" if generator.entries else _TERMS, own)))
    found: list[Node] = []
    for content in contents:
        chosen = {html.key(node) for node in html.select(content, own)} if own else set()
        matches = document.select_each(content, (selector,))[selector]
        signed = (_whole(node) for node in matches if html.key(node) in chosen or _is_signature(node))
        keys = {html.key(node): node for node in signed}
        found += [node for node in keys.values() if not html.is_within(node, keys)]
    if not found:
        return Entries()
    anchors = {html.key(node): _anchor(node, gone) for node in found}
    scopes = {html.key(node.parent) for node in found if node.parent is not None and anchors[html.key(node)]}
    by_node: dict[int, Entry] = {}
    for node in found:
        anchor = anchors[html.key(node)]
        name = _name(node, anchor, generator.entry_name)
        if anchor and (name or html.tag(node) not in html.HEADINGS):
            depth = sum(html.key(above) in scopes for above in html.ancestors(node))
            by_node[html.key(node)] = Entry(name, anchor, depth)
    found = [node for node in found if html.tag(node) not in html.HEADINGS or html.key(node) in by_node]
    return Entries(tuple(found), by_node, tuple(_parts(contents, selector, found, by_node)))


def _is_signature(node: Node) -> bool:
    if html.tag(node) == "dt":
        code = html.outermost(node, "code")
        return html.letters(node) == sum(map(html.letters, code))
    if html.tag(node) == "body" or (
        html.tag(node) == "li" and any(html.tag(each) == "li" for each in html.ancestors(node))
    ):
        return False
    return any(_SIGNATURE.fullmatch(name) for name in html.classes(node))


def _whole(node: Node) -> Node:
    """The element around a `span` without an id that is a part of a signature: the parameters behind the name."""
    is_part = html.tag(node) == "span" and not html.attribute(node, "id")
    return next((each for each in html.ancestors(node) if html.tag(each) != "span"), node) if is_part else node


def _anchor(node: Node, gone: Container[int]) -> str:
    """The id of a signature, of a mark in it, or of the element that it begins; else the name of a mark before it."""
    mark = html.first(node, "a[id]") if html.tag(node) == "dt" else None
    if own := html.attribute(node if mark is None else mark, "id"):
        return own
    is_first = all(html.key(each) in gone or not html.text(each).strip() for each in html.all_before(node))
    around = html.attribute(node.parent, "id") if node.parent is not None and is_first else ""
    before = html.previous(node) if not around else None
    is_mark = before is not None and html.tag(before) == "a" and not html.text(before).strip()
    return html.attribute(before, "name") if before is not None and is_mark else around


def _name(node: Node, anchor: str, css: str) -> str:
    """The name that `css` selects, else the word that the id ends in, or begins with. Ids may be in lower case."""
    if css and (named := html.first(node, css)) is not None:
        return html.words(named)
    last = re.split(r"[.:#/]" if html.tag(node) in html.HEADINGS else r"[.:#/-]", _COPY.sub("", anchor))[-1]
    first = re.split(r"\W", anchor, maxsplit=1)[0]
    words = re.findall(r"\w+!?", html.text(node))
    found = (word for end in (last, first) for word in words if word.casefold() == end.casefold() != "impl")
    return next(found, "")


def _parts(
    contents: Sequence[Node], selector: str, found: Sequence[Node], by_node: Mapping[int, Entry]
) -> Iterator[Node]:
    """The headings in an entry: deeper than its own heading, or in the element that its signature begins.

    Those of a page with one signature alone, below its title, belong to the whole page. One that has no id, or names a
    tag of the comment, and skips a level (`h4` below `h1`) is a label. So is "Examples" behind a page's own signature.
    """
    signatures = {html.key(node) for node in found}
    held = Counter(html.key(above) for node in found for above in html.ancestors(node))
    level, scope, latest, headings = 0, 0, 0, 0
    of_page = False
    for content in contents:
        for node in html.select(content, f"{html.HEADING}, {selector}"):
            name = html.tag(node)
            entry = by_node.get(html.key(node))
            headings += name in html.HEADINGS
            if html.key(node) in signatures and name in html.HEADINGS:
                level = latest = int(name[1])
                scope = 0
            elif html.key(node) in signatures:
                of_page = entry is None and headings < 2
                level = latest if headings > 1 or len(found) == 1 else 0
                around = node.parent
                own = entry is not None and around is not None and html.attribute(around, "id") == entry.anchor
                alone = around is not None and held[html.key(around)] == 1 and html.previous(node) is None
                scope = html.key(around) if around is not None and (own or (entry and alone)) else 0
            elif name in html.HEADINGS:
                depth = int(name[1])
                tag = node.parent is not None and "-tag-" in html.attribute(node.parent, "class")
                label = depth > latest + 1 > 1 and (tag or not html.attribute(node, "id"))
                label = label or (of_page and _ITS_PARTS.fullmatch(html.letters_of(html.text(node))) is not None)
                headings -= label
                if label or (level and depth > level) or (scope and html.is_within(node, {scope})):
                    yield node
                else:
                    level, scope, latest, of_page = 0, 0, depth, False
