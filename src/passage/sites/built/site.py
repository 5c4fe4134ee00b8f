"""Reads a built site: its pages, and every file that is left out with the reason."""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from pydantic import TypeAdapter

from passage.sites import encoding, html
from passage.sites.built import addresses, editions, generators, render, rules, sections, signals
from passage.sites.built.account import account, all_left_out, told_of
from passage.sites.built.candidates import Candidate, ReadPage, Stored, bare
from passage.sites.built.document import Document
from passage.sites.built.dropped import LISTED, dropped
from passage.sites.built.editions import Edition
from passage.sites.built.generators import Generator
from passage.sites.built.selection import left_out
from passage.sites.built.survey import DRAFTS, FileFacts, Survey, survey_of
from passage.sites.built.titles import heading_outside, line_above, title_of, title_outside
from passage.sites.html import Node
from passage.sites.model import Account, Flaw, Note, Page, SiteError, Skip, unreadable
from passage.sites.result_cache import key_of
from passage.sites.workers import IN_THIS_PROCESS, Item, Workers

SUFFIXES = (".html", ".htm", ".xhtml")
"""Of pages, in lower or upper case."""

MARKDOWN = (".md", ".mdx", ".markdown")

_EMPTY = re.compile(
    rb"""<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|wbr)\b)([\w:-]+)((?:[^<>"']|"[^"]*"|'[^']*')*)/>"""
)

_HEADING_LINKS = f":is({html.HEADING}) a[href]"

_CALLS = 12
"""The most nested calls that one element takes."""

_LARGE = 2_000_000
"""A file with more bytes is not parsed if its path leaves it out: the tree takes twenty times its memory."""
_HEAD = 20_000
"""Bytes in which a page names its generator."""

_DTD = 300
"""Bytes in which a page names its document type."""

_File = tuple[FileFacts, bytes | OSError]
"""A file with its bytes, or the error if it cannot be read."""
_notes = TypeAdapter(list[Skip | Flaw])


@dataclass(frozen=True, slots=True)
class BuiltSite:
    """A folder that a generator wrote.

    Attributes:
        url: of the published site; None where its pages state it.
        selector: the owner's CSS selector of the main content.
        language: read only pages in it; all where None.
        version: read only pages of it; the current version where None.
        workers: read the pages.
    """

    folder: Path
    url: str | None = None
    selector: str | None = None
    language: str | None = None
    version: str | None = None
    workers: Workers = IN_THIS_PROCESS

    @property
    def nothing_found(self) -> str:
        written = next(files_in(self.folder, MARKDOWN), None) is not None
        return (
            f"The HTML in {self.folder} has no text to index. Either every page was left out, or the site is "
            "put together in the browser, and its HTML is an empty shell."
            + (
                " The Markdown beside it can be indexed: copy it to a folder without the HTML, and index that."
                * written
            )
        )

    def read(self) -> Iterator[Page | Note]:
        """See `passage.sites.model.Site`."""
        found = sorted(files_in(self.folder, (*SUFFIXES, *MARKDOWN)))
        files = [file for file in found if not file.lower().endswith(MARKDOWN)]
        if not files:
            raise SiteError(f"{self.folder} holds no HTML.")
        yield from (Skip(file, "Markdown beside the HTML") for file in found if file.lower().endswith(MARKDOWN))
        survey = survey_of(self, files)
        candidates: list[Candidate] = []
        keys = hashlib.sha256()
        with Stored() as stored:
            items = _items(self.folder, files, survey, keys.update)
            for result in self.workers.run(_read, survey.without_files(), items):
                notes, _, page = result.partition(b"\n")
                if page:
                    candidates.append(stored.add(page))
                yield from _notes.validate_json(notes)
            chosen = key_of(b"selection", repr((self.language, self.version)).encode(), keys.digest())
            reasons = partial(left_out, candidates, stored, self.language, self.version)
            for candidate, reason in zip(candidates, self.workers.lines(chosen, reasons), strict=True):
                if reason:
                    yield Skip(candidate.file, reason, account=Account(left_out={reason: candidate.seen}))
                else:
                    yield stored.page(candidate)


def files_in(folder: Path, suffixes: tuple[str, ...]) -> Iterator[str]:
    """The files with one of these endings, in lower or upper case, relative to the folder."""
    for place, _, names in os.walk(folder):  # takes a third of the time of `rglob`
        for name in names:
            file = os.path.join(place, name)
            if name.lower().endswith(suffixes) and os.path.isfile(file):
                yield file.removeprefix(f"{folder}/")


def _items(folder: Path, files: list[str], survey: Survey, note: Callable[[bytes], None]) -> Iterator[Item[_File]]:
    """The files, and the key of each to `note`."""
    identity = survey.without_files().identity()
    for file in files:
        try:
            content: bytes | OSError = (folder / file).read_bytes()
        except OSError as error:
            content = error
        facts = survey.facts(file)
        read = content if isinstance(content, bytes) else b""
        about = repr((file, facts, content if isinstance(content, OSError) else "")).encode("utf-8", "replace")
        key = key_of(b"page", identity, about, read)
        note(key)
        yield Item((facts, content), len(read), key)


def _read(survey: Survey, given: _File) -> bytes:
    """Read one file, once: what there is to report of it, a line of JSON, and its page. An error affects no others."""
    facts, content = given
    file = facts.file
    notes: list[Skip | Flaw] = []
    page = b""
    try:
        if isinstance(content, OSError):
            raise content
        read = _page_at_any_depth(file, content, survey.with_file(facts))
        if isinstance(read, Skip):
            notes.append(read)
        else:
            page = read.dump()
            what = encoding.flaw(content, encoding.of_html(content))
            notes += [Flaw(file, what)] if what else []
    except html.SelectorError as error:
        raise SiteError(f"--content-selector: {error}.") from error
    except Exception as error:  # noqa: BLE001 - a converter may fail on one page in any way; the run reports it
        notes, page = [unreadable(file, error)], b""
    return _notes.dump_json(notes) + b"\n" + page


def _page_at_any_depth(file: str, content: bytes, survey: Survey) -> ReadPage | Skip:
    """Read a page, and one whose elements are nested deeper than Python's stack with a longer one."""
    if len(content) > _LARGE and (reason := _left_out_by_path(file, content)):
        return Skip(file, reason)
    root = html.parse(_with_end_tags(content) if _is_xhtml(file, content) else content)
    try:
        return _page(file, root, survey)
    except RecursionError:
        usual = sys.getrecursionlimit()
    html.flatten(root)
    sys.setrecursionlimit(usual + html.DEEPEST * _CALLS)
    try:
        return _page(file, root, survey)
    finally:
        sys.setrecursionlimit(usual)


def _left_out_by_path(file: str, content: bytes) -> str | None:
    generator = generators.generator_of(Document(html.parse(content[:_HEAD])))
    return generator.reason_by_path(file) if generator else None


def _is_xhtml(file: str, content: bytes) -> bool:
    """Whether a page was written as XML. Served as HTML, an `<a id="x"/>` has no end and holds all that follows."""
    return file.lower().endswith(".xhtml") or content.lstrip().startswith(b"<?xml") or b"//DTD XHTML" in content[:_DTD]


def _with_end_tags(content: bytes) -> bytes:
    """XHTML as HTML: `<a id="x"/>` has an end tag there."""
    return _EMPTY.sub(rb"<\1\2></\1>", content)


def _page(file: str, root: Node, survey: Survey) -> ReadPage | Skip:
    document = Document(root)
    generator = generators.generator_of(document) or survey.generator
    contents, noise = generators.contents_of(root, generator, survey.selector)
    if reason := _left_out(file, document, generator, contents, survey):
        return Skip(file, reason, account=all_left_out(document.blocks, reason))
    folder = survey.addresses.folder_of(file)
    canonical = addresses.canonical_of(document, folder)
    url = survey.addresses.of(file, canonical)
    gone = dropped(contents, document, noise, url, survey.common.on(file, root))
    if reason := signals.reason_to_leave_out(file, document, gone.kept, survey.addresses.base):
        return Skip(file, reason, account=all_left_out(document.blocks, reason))
    rendering = rules.prepare(contents, url, addresses.links_base(root, folder), generator, gone, document)
    parts, headings = sections.cut(contents, rendering)
    if not parts or signals.is_shell(root, parts):
        reason = "list of pages" if LISTED in gone.rules.values() else "no text"
        return Skip(file, reason, account=all_left_out(document.blocks, reason))
    path = file.rpartition(".")[0].removesuffix("/index")
    edition = _edition(document, file, generator, survey)
    common = survey.common_headings
    known = "" if generator is generators.UNKNOWN else generator.title
    stated = heading_outside(document, contents, rendering, common, known)
    stated = stated or line_above(document, headings, survey.site_names, survey.common.on(file, root))
    outside = stated or title_outside(document, contents, rendering, survey.site_names, common)
    title = title_of(path, headings, stated=stated, otherwise=outside, common=common)
    page = Page(
        path=path,
        url=url,
        title=title,
        sections=tuple(parts),
        language=edition.language,
        version=edition.version,
        account=account(document, contents, rendering, told_of(title, headings, parts)),
    )
    own = "" if canonical in survey.common_canonicals else survey.addresses.here(canonical)
    return ReadPage(page, file, edition, own, signals.in_pagefind(document), *_linked(contents, rendering))


def _linked(contents: list[Node], page: render.Rendering) -> tuple[frozenset[str], frozenset[str]]:
    """The pages that the content links to, and those that its headings link to."""

    def linked(css: str) -> frozenset[str]:
        links = chain.from_iterable(html.select(content, css) for content in contents)
        targets = {html.attribute(link, "href").strip() for link in links}
        return frozenset(map(bare, map(page.absolute, targets))) - {"", bare(page.url)}

    return linked("a[href]"), linked(_HEADING_LINKS)


def _left_out(file: str, document: Document, generator: Generator, contents: list[Node], survey: Survey) -> str | None:
    if reason := signals.skip_reason(file, document, generator) or _left_out_of_site(file, generator, survey):
        return reason
    if not contents:
        return "no main content"
    return "list of pages" if signals.lists_pages(contents, survey.addresses.base) else None


def _left_out_of_site(file: str, generator: Generator, survey: Survey) -> str | None:
    if survey.versions is not None and survey.versions.folder_of(file) in survey.versions.aliases:
        return "copy of a version"
    if not survey.has_drafts and DRAFTS.search(file):
        return "draft"
    if survey.searched is not None and file not in survey.searched:
        return "left out of the site's search"
    if generator.lists_all and survey.addresses.listed and file not in survey.addresses.listed:
        return "left out of the sitemap"
    return None


def _edition(document: Document, file: str, generator: Generator, survey: Survey) -> Edition:
    """The language and version stated by the page, its folder or the site."""
    edition = editions.edition(document, file, generator)
    if survey.versions is not None and (folder := survey.versions.folder_of(file)):
        return replace(edition, version=survey.versions.names[folder], outdated=folder not in survey.versions.current)
    return edition if edition.version else replace(edition, version=survey.version)
