"""Drafts a suite from a site's headings and first sentences, for an owner who has no questions yet."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from passage.indexing.blocks import without_addresses
from passage.sites.model import Page, Section, Site, SiteError

WARNING = (
    "They are drafts: rewrite each in your readers' words, and delete its 'draft' line. A heading's own words favour "
    "BM25, which finds them on the page, so these questions measure too well."
)
FEWEST_WORDS, MOST_WORDS = 2, 30
SENTENCE_WORDS = 5
"""A first sentence with fewer words is a label."""

_END = re.compile("(?<=[.!?])\\s|(?<=[\u3002\uff1f\uff01])")  # the last three are Chinese and Japanese marks
_NO_PROSE = re.compile(r"^\s*([#>|`~:!<\-*+=]|\d+[.)]\s|\{|$)")
_MARKS = re.compile(r"[*_`]+|<[^>]*>")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class SuiteDraft:
    """A drafted suite as TOML, and its number of questions."""

    toml: str
    questions: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    url: str
    tag: str


def draft_suite(site: Site, number: int, name: str) -> SuiteDraft:
    """A suite of up to `number` questions, as many as the site has headings and sentences for. It is deterministic.

    Every page gives one question before any page gives a second one.

    Raises:
        SiteError: the site cannot be read, or has nothing to ask.
    """
    pages = [page for page in site.read() if isinstance(page, Page)]
    repeated = _repeated_headings(pages)
    by_page = [list(_candidates(page, repeated, place % 2 == 1)) for place, page in enumerate(pages)]
    by_page = [candidates for candidates in by_page if candidates]
    rounds = zip_longest(*by_page)
    ordered = [candidate for each in rounds for candidate in each if candidate is not None]
    if not ordered:
        raise SiteError(f"--make: {site.nothing_found}" if not pages else "--make: the site has no heading to ask.")
    chosen = _spread(ordered, len(by_page), number)
    return SuiteDraft("".join(_toml(name, chosen)), len(chosen))


def _spread(ordered: Sequence[_Candidate], pages: int, number: int) -> list[_Candidate]:
    """The first `number` candidates; fewer than one a page are taken at equal distances over the site."""
    if number >= pages:
        return list(ordered[:number])
    return [ordered[place * pages // number] for place in range(number)]


def _repeated_headings(pages: Iterable[Page]) -> set[str]:
    """Headings that several sections have, in lower case: they name no page."""
    headings = Counter(heading.casefold() for page in pages for heading in _headings(page))
    return {heading for heading, times in headings.items() if times > 1}


def _headings(page: Page) -> list[str]:
    """Each heading of a page once per section, the page's title included."""
    own = [section.headings[-1] for section in page.sections if section.headings]
    return own if page.title in own else [page.title, *own]


def _candidates(page: Page, repeated: set[str], sentence_first: bool) -> Iterator[_Candidate]:
    """A page's questions: headings and first sentences by turns. Every other page begins with a sentence."""
    headings = [
        _Candidate(heading, page.url, "heading")
        for heading in dict.fromkeys(map(_line, _headings(page)))
        if FEWEST_WORDS <= len(heading.split()) <= MOST_WORDS and heading.casefold() not in repeated
    ]
    sentences = [
        _Candidate(sentence, page.url, "sentence")
        for sentence in dict.fromkeys(map(_sentence, page.sections))
        if sentence
    ]
    for pair in zip_longest(*((sentences, headings) if sentence_first else (headings, sentences))):
        yield from (candidate for candidate in pair if candidate is not None)


def _sentence(section: Section) -> str:
    """The first sentence of a section's first paragraph; empty where it has none."""
    for paragraph in section.markdown.split("\n\n"):
        if not _NO_PROSE.match(paragraph):
            words = _line(_END.split(_line(without_addresses(paragraph)), maxsplit=1)[0])
            return words if SENTENCE_WORDS <= len(words.split()) <= MOST_WORDS else ""
    return ""


def _line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", _MARKS.sub("", text)).split())


def _toml(name: str, chosen: Iterable[_Candidate]) -> Iterator[str]:
    yield f"# Drafted by `passage evaluate --make`. {WARNING}\nname = {_quote(name)}\n"
    for number, candidate in enumerate(chosen, start=1):
        yield (
            f'\n[[questions]]\nid = "draft-{number}"\ntext = {_quote(candidate.text)}\n'
            f'expected = [{_quote(candidate.url)}]\ntags = ["{candidate.tag}"]\ndraft = true\n'
        )


def _quote(text: str) -> str:
    """A basic string of TOML. JSON's escapes are TOML's, but JSON leaves one control character as it is."""
    return json.dumps(_CONTROL.sub(" ", text), ensure_ascii=False)
