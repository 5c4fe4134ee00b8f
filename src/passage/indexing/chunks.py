"""Cuts a page into chunks by its structure: one chunk a section; a long section is cut at its blocks."""

import hashlib
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from passage.indexing.blocks import MarkdownBlock, Measure, blocks, has_words, trim, without_addresses
from passage.indexing.oversize import in_parts
from passage.indexing.packing import pack
from passage.indexing.tokens import CHARACTERS_PER_TOKEN, bound, input_tokens, most_tokens, quick_bound
from passage.sites.model import Page, Section

MAX_CHARACTERS = 640
"""The most characters of a passage, whatever its tokens: links, indents and blank lines have few. A code block may have
more (`passage.indexing.oversize`).

docs/quality.md has the measured sizes: with 1,500, fewer passages that answer come first."""

HEADINGS_SHARE = 4
"""Headings take at most a quarter of the model's input."""

HOPELESS = 8
"""Tokens are not counted for a text with this many times the characters of a passage."""

JOINT_TOKENS = 2
"""The most tokens that the line break between two blocks can add."""

_NOT_IN_URL = re.compile(r"[\s\"<>\[\]\\^`{|}]")
"""Characters of an id that a URL cannot have."""

DESCRIBING_WORDS = 3
"""A picture's description with fewer words is a name or a label. It makes no passage by itself."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a page.

    Attributes:
        id: sha256 of the chunk's page, headings and text, hexadecimal: the same content has the same id.
        path: of its page, relative to the pages' folder, without the suffix.
        url: of its page, with the section's anchor where the section has one.
        title: of its page.
        index: its position on the page, from 0.
        total: how many chunks the page has.
        headings: the titles above it, outermost first; the first is the page's title.
        begins: the last of them, which stand above no chunk before it: its section's, and any above that.
        text: the passage in answers: Markdown as the reader sees it, without surrounding blank lines.
        ranked_text: headings and text, without the addresses of links: what a search by words reads.
        embedded: how many characters of `ranked_text` the model reads: fewer than all for a long code block alone.
        tokens: of the profile's model, how many `embedded_text` has at most.
        language: of its page, empty where the site does not state it.
        version: of its page, empty where the site does not state it.
    """

    id: str
    path: str
    url: str
    title: str
    index: int
    total: int
    headings: tuple[str, ...]
    begins: tuple[str, ...]
    text: str
    ranked_text: str
    embedded: int
    tokens: int
    language: str = ""
    version: str = ""

    @property
    def embedded_text(self) -> str:
        """The input of the model."""
        return self.ranked_text[: self.embedded]


def cut(pages: Iterable[Page], model: str = "") -> Iterator[Chunk]:
    """The chunks of `pages`, page by page, in reading order.

    Args:
        model: that embeds them; empty for chunks that every model reads whole.
    """
    limit, most = most_tokens(model), input_tokens(model)
    for page in pages:
        yield from _chunks(page, limit, most)


def _chunks(page: Page, limit: int, most: int) -> Iterator[Chunk]:
    pieces = [
        (section, headings, context, text)
        for section in page.sections
        for headings in (_path(page.title, section),)
        for context in (f"{_context(headings, limit)}\n",)
        for text in _pieces(section, limit - bound(context))
    ]
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    last: Section | None = None
    for index, (section, headings, context, text) in enumerate(pieces):
        occurrence = seen[headings, text]
        seen[headings, text] += 1
        ranked = context + without_addresses(text)
        tokens = bound(ranked)
        yield Chunk(
            id=_identity(page.url, headings, text, ranked, occurrence),
            path=page.path,
            url=f"{page.url}#{_NOT_IN_URL.sub(_encoded, section.anchor)}" if section.anchor else page.url,
            title=page.title,
            index=index,
            total=len(pieces),
            headings=headings,
            begins=() if section is last else _begun(_path(page.title, last) if last else (), headings),
            text=text,
            ranked_text=ranked,
            embedded=len(ranked) if tokens <= most else _readable(ranked, most),
            tokens=min(tokens, most),
            language=page.language,
            version=page.version,
        )
        last = section


def _encoded(character: re.Match[str]) -> str:
    return quote(character[0])


def _begun(before: tuple[str, ...], headings: tuple[str, ...]) -> tuple[str, ...]:
    """The headings that differ from those of the section before; the last one in any case."""
    same = 0
    while same < min(len(before), len(headings) - 1) and before[same] == headings[same]:
        same += 1
    return headings[same:]


def _path(title: str, section: Section) -> tuple[str, ...]:
    return section.headings if section.headings and section.headings[0] == title else (title, *section.headings)


def _context(headings: tuple[str, ...], limit: int) -> str:
    """The titles above a text on one line. If all are too long, only the nearest ones."""
    room = limit // HEADINGS_SHARE
    kept = list(headings)
    while (size := bound(line := " > ".join(kept))) > room and len(kept) > 1:
        kept.pop(0)
    while size > room:
        line = line[: len(line) * 3 // 4]
        size = bound(line)
    return line


def _pieces(section: Section, room: int) -> list[str]:
    """A section's text in passages. A text without words (a rule, an undescribed picture) gives none."""
    measure = _measure(room)
    whole = trim(section.markdown)
    if not whole:
        return []
    if len(whole) <= MAX_CHARACTERS and measure(whole) <= room:
        texts = [whole]
    else:
        parts = list(in_parts(blocks(whole, measure), room - JOINT_TOKENS, measure))
        texts = [_join(parts[begin:end]) for begin, end in pack(parts, room)]
    return [passage for text in texts if (passage := _in_words(text))]


def _join(parts: Sequence[MarkdownBlock]) -> str:
    first, *others = parts
    return trim(first.text + "".join(part.joint + part.text for part in others))


def _in_words(text: str) -> str:
    """The text if it has words besides pictures; otherwise the pictures' descriptions."""
    if has_words(text):
        return text
    shown = " ".join(without_addresses(text).split())
    return shown if "![" in text and len(shown.split()) >= DESCRIBING_WORDS else ""


def _measure(room: int) -> Measure:
    """The size of a text: its embedded tokens, or its share of the characters that a passage may have."""

    def measure(text: str) -> int:
        share = math.ceil((len(text) + 2) * room / MAX_CHARACTERS)
        if share > room * HOPELESS or share >= quick_bound(text) + JOINT_TOKENS:
            return share  # a text of the first kind is cut anyway, and its pieces are counted
        return max(bound(without_addresses(text)) + JOINT_TOKENS, share)

    return measure


def _readable(text: str, most: int) -> int:
    """How many characters of a longer text have at most `most` tokens: whole lines, or a part of the second line."""
    longest = min(len(text), (most + 1) * CHARACTERS_PER_TOKEN)
    count = bisect_right(range(longest), most, key=lambda end: bound(text[:end])) - 1
    while bound(text[:count]) > most:  # a longer text may have fewer tokens: the one that ends in a word's half
        count = count * 7 // 8
    lines = text.rfind("\n", 0, count)
    return lines if lines > count // 2 else count


def _identity(url: str, headings: tuple[str, ...], text: str, ranked: str, occurrence: int) -> str:
    parts = [url, *headings, text, str(occurrence)]
    if ranked != f"{' > '.join(headings)}\n{text}":
        parts.append(ranked)  # an index keeps a chunk's vector by its id
    # A length before each part keeps ("ab", "c") and ("a", "bc") apart.
    return hashlib.sha256("".join([f"{len(part)}:{part}" for part in parts]).encode()).hexdigest()
