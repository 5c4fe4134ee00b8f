"""Finds the text that a site puts on most of its pages: menus, banners, dates, licences, links to the neighbours.

A block is common if most pages have it, word for word. A common block is left out where it stands outside of the page's
own headings; a sentence in a section of the page's own ("New in version 2.1.") is the page's text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, pairwise

from pydantic import TypeAdapter

from passage.sites import html
from passage.sites.built.blocks import SENTENCE, Block
from passage.sites.built.document import Document
from passage.sites.built.menus import LABELS, WIDEST, is_link, leading_links, lists_of_links, menus_in, widened
from passage.sites.built.signals import redirects
from passage.sites.html import Node

SHARE = 0.5
"""A block is common if this share of the pages and `_FURTHER` more have it."""
_FURTHER = 1
"""Half of a few pages may have the same text by chance: the members that classes inherit."""
FEWEST = 5
"""The fewest pages that have a common block."""

_SHORT = 100
"""The most characters of a line beside a menu's links, such as the title of the next page."""
_NOTICE = 120
"""The fewest characters of a paragraph that is a banner or a licence if most pages have it."""
_LABEL = 2
"""The most words of a label: "Synopsis"."""
_FIELDS = "input, select, textarea, button"
_IN_LISTS = ("li", "dd", "dt")
_APART = ("div", "center", "address", "footer")
_LIST = "list of links"
_ITEMS = frozenset({"li", "dd", "td", "th"})
_YEAR = re.compile(r"\d(?:\d{3}|\d*(?::\d\d|[/.-]\d+[/.-]\d+))")
_DIGITS = re.compile(r"\d+")

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class BlockKeys:
    """The keys of a page's blocks, each once, and the language that the page states."""

    language: str = ""
    keys: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Common:
    """The blocks that most pages have, by group of pages: the whole site, a language, a folder."""

    by_group: Mapping[str, frozenset[Key]] = field(default_factory=dict)

    @classmethod
    def of(cls, pages: Iterable[tuple[str, BlockKeys]]) -> "Common":
        """Count the blocks of pages, each given with its file."""
        sizes: Counter[str] = Counter()
        counts: dict[str, Counter[Key]] = {}
        for file, page in pages:
            for group in _groups(file, page.language) if page.keys else ():
                sizes[group] += 1
                counts.setdefault(group, Counter()).update(page.keys)
        return cls(
            {
                group: frozenset(key for key, count in counted.items() if count >= _fewest(key, sizes[group]))
                for group, counted in counts.items()
            }
        )

    def on(self, file: str, root: Node) -> frozenset[Key]:
        """The common blocks of a page's groups."""
        return frozenset().union(*(self.by_group.get(group, frozenset()) for group in _groups(file, _language(root))))


BLOCK_KEYS = TypeAdapter(BlockKeys)


def block_keys(_: object, content: bytes) -> bytes:
    """A page's `BlockKeys`, as JSON; without a block where it cannot be parsed, or only leads to another page."""
    try:
        root = html.parse(content)
    except ValueError:
        return BLOCK_KEYS.dump_json(BlockKeys())
    document = Document(root)
    if redirects(document):
        return BLOCK_KEYS.dump_json(BlockKeys())
    lists = ((_LIST, words) for words, _ in lists_of_links(document.blocks))
    keys = {key_of(block) for block in document.blocks}.union(lists)
    return BLOCK_KEYS.dump_json(BlockKeys(_language(root), tuple(sorted(keys))))


def _fewest(key: Key, size: int) -> float:
    """The fewest pages of a group of this size that have a common block; a list of links is one on any five pages."""
    return FEWEST if key[0] == _LIST else max(FEWEST, SHARE * size + _FURTHER)


def _language(root: Node) -> str:
    return html.attribute(root, "lang").lower()


def _groups(file: str, language: str) -> list[str]:
    folder = file.rpartition("/")[0].partition("/")[0]
    return ["", f"language {language}", f"folder {folder}"]


def key_of(block: Block) -> Key:
    """Equal for equal blocks; dates are equal, and so are links with labels ("Next: … Up: …")."""
    if block.words.count(": ") > 1 and LABELS.fullmatch(block.beside) and block.beside.count(":") > 1:
        return block.tag, html.squeezed(block.beside)
    words = _DIGITS.sub("0", block.words) if _YEAR.search(block.words) else block.words
    return block.tag, words


def repeated(found: Sequence[Block], document: Document, common: frozenset[Key], url: str) -> list[Block]:
    """The blocks of a page's content that are the site's.

    Args:
        found: all blocks of the content, in reading order.
        common: the blocks that most pages have.
        url: of the page.
    """
    shared = [key_of(block) in common for block in found]
    leading, panels = leading_links(found, document, url)
    menus = widened(found, menus_in(found, shared, url).union(panels), leading)
    menus |= _lists(found, common) if any(tag == _LIST for tag, _ in common) else set()
    menus |= _titles(found, shared, menus)
    either = [each or at in leading or at in menus for at, each in enumerate(shared)]
    if not menus and (not any(either) or all(either)):
        return []
    return list(_Content(found, _with_neighbours(found, either, url), url).outside(menus, shared))


def _lists(found: Sequence[Block], common: frozenset[Key]) -> set[int]:
    """The positions in lists of links that several pages have, and of the lines that share a box with them alone."""
    at_lists = {at for words, held in lists_of_links(found) if (_LIST, words) in common for at in held}
    for at in sorted(at_lists):
        if at and at - 1 not in at_lists and not found[at - 1].is_heading and _is_line(found[at - 1]):
            box = next(key for key in reversed(found[at].keys) if key in found[at - 1].keys)
            if all(other in at_lists or other == at - 1 for other, block in enumerate(found) if box in block.keys):
                at_lists.add(at - 1)
    return at_lists


def _titles(found: Sequence[Block], shared: Sequence[bool], menus: set[int]) -> set[int]:
    """The positions of common lines above menus, and of common headings over nothing."""
    titles = {
        at - 1 for at in menus if at and shared[at - 1] and not found[at - 1].is_heading and _is_line(found[at - 1])
    }
    levels = [_level(block) if block.is_heading else 0 for block in found]
    for at, (level, following) in enumerate(pairwise((*levels, 1))):
        if shared[at] and level > 1 and 0 < following <= level:
            titles.add(at)
    return titles


def _level(heading: Block) -> int:
    return int(next(name[1] for name in heading.names if name in html.HEADINGS))


class _Content:
    """The blocks of one page's content, of which some are common.

    Attributes:
        own: the positions of blocks that are the page's.
        heads: the positions of its own headings: of text that is its own.
        last: the position of its last own block.
        inside: the positions of its own blocks in each element with any, by the element's key.
    """

    def __init__(self, found: Sequence[Block], shared: Sequence[bool], url: str) -> None:
        self.found, self.shared, self.url = found, shared, url
        self.heads = _own_headings(found, shared)
        self.own = {at for at, is_shared in enumerate(shared) if not is_shared} | self.heads
        self.last = max(self.own, default=-1)
        self.inside: dict[int, list[int]] = {}
        for at in sorted(self.own):
            for key in found[at].keys:
                self.inside.setdefault(key, []).append(at)

    def outside(self, menus: set[int], shared: Sequence[bool]) -> Iterator[Block]:
        """The common blocks before the title, behind the elements that hold a section, at the end, and in `menus`.

        Args:
            shared: the positions of blocks that most pages have; links to the pages around are common, too.
        """
        if not self.own:
            return
        title = next((at for at in sorted(self.heads) if self.found[at].tag == "h1"), min(self.own))
        ended = False
        for at, block in enumerate(self.found):
            if at in self.own:
                continue
            surely = at < title or ended or at in menus
            notice = shared[at] and (_is_notice(block, below_title=at == title + 1) or self._is_alone(at))
            if surely or notice or self._is_behind(at):
                ended = at > self.last
                yield block
            elif at > self.last and (block.is_heading or self._is_apart(block) or self._is_menu(at)):
                ended = True
                yield block
            elif at == title + 1 and self._is_menu(at) and not self._is_in_row(block):
                yield block

    def _is_behind(self, at: int) -> bool:
        """Whether a common block stands, in an element of its own, behind one with a heading and text of the page."""
        keys = self.found[at].keys
        depth = next((depth for depth, key in enumerate(keys) if key not in self.inside), len(keys))
        before = [own for own in self.inside.get(keys[depth - 1], ()) if own < at]
        branches: dict[int, list[int]] = {}
        for own in before:
            if len(self.found[own].keys) > depth:
                branches.setdefault(self.found[own].keys[depth], []).append(own)
        headed = (sum(self.found[own].is_heading for own in inside) for inside in branches.values())
        return any(0 < heads < len(inside) for heads, inside in zip(headed, branches.values(), strict=True))

    def _is_apart(self, block: Block) -> bool:
        """Whether a block behind the page's own text is parted from it by an `<hr>`, or alone in a box beside it."""
        if block.rules > self.found[self.last].rules:
            return True
        alone = sum(block.keys[-1] in each.keys for each in self.found) == 1
        return alone and block.tag in _APART and all(self.found[own].tag != block.tag for own in self.own)

    def _is_alone(self, at: int) -> bool:
        """Whether a block is a paragraph with a link alone, as to a tree of all pages, and not below a heading."""
        block = self.found[at]
        return block.tag == "p" and _ITEMS.isdisjoint(block.names) and self._is_menu(at)

    def _is_in_row(self, block: Block) -> bool:
        """Whether a block is a cell beside the page's own ones."""
        return block.tag in ("td", "th") and block.keys[-2] in self.inside

    def _is_menu(self, at: int) -> bool:
        """Whether a block at the end is a link, and no paragraph below a heading, nor an item of a list."""
        block, announced = self.found[at], self.found[at - 1].is_heading
        return block.tag not in (("p", *_IN_LISTS) if announced else _IN_LISTS) and is_link(block, self.url)


def _is_notice(block: Block, *, below_title: bool) -> bool:
    """Whether a common block is the site's wherever it stands: a long paragraph, the label of a field, a slogan."""
    if not block.is_heading and len(block.above) > 1 and len(block.words) <= _SHORT:
        if html.first(block.above[-1], _FIELDS) is not None:
            return True
        if below_title and block.tag in ("p", "div") and len(block.words.split()) > _LABEL and _is_line(block):
            return True
    return block.tag == "p" and len(block.words) > _NOTICE and _ITEMS.isdisjoint(block.names)


def _own_headings(found: Sequence[Block], shared: Sequence[bool]) -> set[int]:
    """The headings that are the page's own, or have text or a heading below them that is; a common `h1` needs text."""
    own: set[int] = set()
    text, level = False, 0
    for at in reversed(range(len(found))):
        if not found[at].is_heading:
            text = text or not shared[at]
            continue
        here = _level(found[at])
        if not shared[at] or text or 1 < here < level:
            own.add(at)
        level, text = (here, False) if at in own else (0, False)
    return own


def _with_neighbours(found: Sequence[Block], shared: Sequence[bool], url: str) -> list[bool]:
    """The common blocks, and beside common links the other ones of the group: the titles of the next pages."""
    marked = list(shared)

    @cache
    def links(at: int) -> bool:
        return is_link(found[at], url)

    linked = [at for at in range(len(found)) if shared[at] and links(at)]
    keys = {key for at in linked for key in found[at].keys[1:]}
    inside: dict[int, list[int]] = {}
    for at, block in enumerate(found):
        for key in keys.intersection(block.keys):
            inside.setdefault(key, []).append(at)
    for start in linked:
        for key in reversed(found[start].keys[1:]):
            group = inside[key]
            if len(group) > WIDEST or any(found[each].is_heading for each in group):
                break
            others = [each for each in group if not shared[each]]
            beside = [each for each in others if not links(each)]
            mostly_links = len(group) >= len(others) + 2 and len(group) >= len(beside) * 2
            if mostly_links and all(_is_line(found[each]) and not found[each].is_linked for each in beside):
                for each in group:
                    marked[each] = True
    return marked


def _is_line(block: Block) -> bool:
    return len(block.words) <= _SHORT and not SENTENCE.search(block.words)


def elements(found: Sequence[Block], left_out: Sequence[Block]) -> Iterator[Node]:
    """The elements, and the texts, that hold the blocks that are left out and nothing else."""
    left = set(map(id, left_out))
    kept = set(chain.from_iterable(block.keys for block in found if left and id(block) not in left))
    for block in left_out:
        whole = next((block.above[at] for at, key in enumerate(block.keys) if at and key not in kept), None)
        yield from block.nodes if whole is None else (whole,)
