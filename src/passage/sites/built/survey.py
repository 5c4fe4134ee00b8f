"""What is read of the whole site first: its generator, its URL, the spelling of its links, and what most pages have."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from passage.sites import html
from passage.sites.built import addresses, editions, generators, search_index
from passage.sites.built.addresses import Addresses
from passage.sites.built.document import Document
from passage.sites.built.editions import VersionFolders
from passage.sites.built.generators import Generator
from passage.sites.built.repeated import BLOCK_KEYS, BlockKeys, Common, block_keys
from passage.sites.built.titles import common_headings, site_names
from passage.sites.result_cache import key_of
from passage.sites.workers import Item, Workers

SAMPLE = 40
"""Pages read first, to learn the generator, the URL and the spelling of links."""

COUNTED = 200
"""Pages read first, to learn the blocks that most pages have. These are on most of any pages, so a part is enough."""
COUNTED_EACH = 10
"""The fewest to read of the pages in one language and one folder, if there are twice as many or more."""
_LANGUAGE = re.compile(rb"""<html\b[^>]*\slang\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_HEAD = 1_000
"""Bytes in which a page states its language."""

DRAFTS = re.compile(r"(^|/)_?drafts?/")
"""Folders of unfinished pages, if no other page links into them."""


class Surveyed(Protocol):
    """What a survey takes of a site. See `passage.sites.built.site.BuiltSite`."""

    @property
    def folder(self) -> Path: ...
    @property
    def url(self) -> str | None: ...
    @property
    def selector(self) -> str | None: ...
    @property
    def workers(self) -> Workers: ...


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the lists of a site say of one file.

    Attributes:
        listed: the sitemap's URL of it; that of no file if the sitemap lacks it; empty if there is no sitemap.
        is_searched: the site's search index has it, or there is none.
    """

    file: str
    listed: Mapping[str, str]
    is_searched: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """Properties of the whole site. `selector` is the owner's."""

    selector: str | None
    generator: Generator
    addresses: Addresses
    versions: VersionFolders | None
    version: str
    site_names: tuple[str, ...]
    common_headings: frozenset[str]
    has_drafts: bool
    common_canonicals: frozenset[str]
    searched: frozenset[str] | None
    common: Common

    def facts(self, file: str) -> FileFacts:
        listed = self.addresses.listed
        here = {file: listed[file]} if file in listed else {"": ""} if listed else {}
        return FileFacts(file, here, self.searched is None or file in self.searched)

    def without_files(self) -> "Survey":
        """The survey without its lists of files: these change with every new page."""
        return replace(self, addresses=replace(self.addresses, listed={}), searched=None)

    def with_file(self, facts: FileFacts) -> "Survey":
        """The survey with what its lists say of one file."""
        searched = None if facts.is_searched else frozenset[str]()
        return replace(self, addresses=replace(self.addresses, listed=facts.listed), searched=searched)

    def identity(self) -> bytes:
        """Equal for equal surveys, in every process."""
        return repr(_ordered(self)).encode("utf-8", "replace")


def _ordered(value: Any) -> Any:
    if is_dataclass(value):
        return [_ordered(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return sorted((repr(key), _ordered(item)) for key, item in value.items())
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    return value


def survey_of(site: Surveyed, files: list[str]) -> Survey:
    """Survey the files of a site.

    Raises:
        SiteError: nothing states the URL of the site.
    """
    first = list(dict.fromkeys([*({"index.html"} & set(files)), *files]))
    sample = dict(_parsed(_spread(site.folder, first, SAMPLE)))
    published = addresses.find(site.folder, files, sample, site.url)
    canonicals = Counter(
        addresses.canonical_of(document, published.folder_of(file)) for file, document in sample.items()
    )
    most = max(2, canonicals.total() / 2)
    return Survey(
        selector=site.selector,
        generator=generators.recognise(sample.values()),
        addresses=published,
        versions=editions.version_folders(site.folder)
        or (None if any(canonicals) else editions.sibling_versions(files)),
        version=editions.stated_version(site.folder),
        site_names=site_names(sample.values()),
        common_headings=common_headings(sample.values()),
        common_canonicals=frozenset(url for url, count in canonicals.items() if url and count > most),
        has_drafts=any(page.first("a[href*='draft']") for file, page in sample.items() if not DRAFTS.search(file)),
        searched=search_index.files(site.folder, files),
        common=Common.of(_blocks(site, files)),
    )


def _spread(folder: Path, files: list[str], count: int) -> Iterator[tuple[str, bytes]]:
    """The first of the site's files and others, evenly spread, each with its content."""
    for file in (files[at * len(files) // count] for at in range(count)) if len(files) > count else files:
        with suppress(OSError):  # reported when the file is read
            yield file, (folder / file).read_bytes()


def _of_each_group(folder: Path, files: list[str]) -> Iterator[tuple[str, bytes]]:
    """As `_spread`, `COUNTED` files, and enough of each language in each folder, which may have menus of its own."""
    groups: dict[tuple[str, bytes], list[str]] = {}
    for file in files if len(files) > COUNTED else ():
        with suppress(OSError), (folder / file).open("rb") as opened:
            stated = _LANGUAGE.search(opened.read(_HEAD))
            group = file.rpartition("/")[0].partition("/")[0], stated[1] if stated else b""
            groups.setdefault(group, []).append(file)
    small = [group for group, held in groups.items() if len(held) < 2 * COUNTED_EACH]
    rest = [file for group in small for file in groups.pop(group)]
    for held in (*groups.values(), sorted(rest)) if groups else (files,):
        yield from _spread(folder, held, max(COUNTED_EACH, COUNTED * len(held) // len(files)))


def _parsed(files: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, Document]]:
    for file, content in files:
        with suppress(ValueError):
            yield file, Document(html.parse(content))


def _blocks(site: Surveyed, files: list[str]) -> Iterator[tuple[str, BlockKeys]]:
    """The keys of some pages' blocks, each page with its file."""
    chosen: list[str] = []

    def items() -> Iterator[Item[bytes]]:
        for file, content in _of_each_group(site.folder, files):
            chosen.append(file)
            yield Item(content, len(content), key_of(b"blocks", content))

    for at, result in enumerate(site.workers.run(block_keys, None, items())):
        yield chosen[at], BLOCK_KEYS.validate_json(result)
