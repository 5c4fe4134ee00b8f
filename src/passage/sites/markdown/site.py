"""Reads a site from Markdown: each file becomes a page, or a skip with the reason."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from passage.sites import encoding, unbuilt
from passage.sites.built.titles import title_of
from passage.sites.markdown import front_matter
from passage.sites.markdown.convention import CONFIGURATIONS, Convention, Document, Meta, noindex_tag, unpublished
from passage.sites.markdown.front_matter import PageError
from passage.sites.markdown.page import page_sections
from passage.sites.model import Flaw, Note, Page, SiteError, Skip, Unresolved, unreadable


@dataclass(frozen=True, slots=True)
class MarkdownSite:
    """A folder of Markdown, read by a convention: a `passage.sites.model.Site`."""

    convention: Convention

    @property
    def nothing_found(self) -> str:
        return f"{self.convention.folder} holds no Markdown with any text in it (*.md)."

    def read(self) -> Iterator[Page | Note]:
        entries: list[_Entry] = []
        for document in self.convention.documents():
            entry = _enter(self.convention, document) if isinstance(document, Document) else document
            if isinstance(entry, _Entry):
                entries.append(entry)
            else:
                yield entry
        owners = _owners(entries)
        urls = {source_of(self.convention, entry.document): entry.url for entry in entries}
        for entry in entries:
            if owners[entry.url] is entry:
                yield from _page(self.convention, entry, urls)
            else:
                yield Skip(entry.document.path, "another file has its URL")


def find_site(folder: Path, url: str | None = None) -> MarkdownSite:
    """The reader for a folder of MkDocs' sources or of plain Markdown; `url` comes before the configuration's.

    Raises:
        SiteError: the folder or the site's URL is missing, the configuration cannot be read, or another generator
            must build the sources.
    """
    from passage.sites.markdown import mkdocs  # noqa: PLC0415 - loads the parsers
    from passage.sites.markdown.plain import PlainFolder  # noqa: PLC0415

    if not folder.is_dir():
        raise SiteError(f"{folder} is not a folder.")
    address = _address(url) if url is not None else None
    for place in unbuilt.places(folder):
        for name in CONFIGURATIONS:
            if (place / name).is_file():
                return MarkdownSite(mkdocs.convention(place, place / name, address))
        if generator := unbuilt.generator_of(place):
            raise SiteError(unbuilt.refusal(place, generator))
    if address is None:
        raise SiteError(
            f"Where is {folder} published? Its pages' URLs begin with it: give --site-url https://…, or set site_url "
            "in an mkdocs.yml."
        )
    if (folder / "docs").is_dir():
        return MarkdownSite(PlainFolder(folder / "docs", address, around=folder))
    return MarkdownSite(PlainFolder(folder, address))


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise SiteError(f"--site-url {url} is not a URL: it begins with https:// or http://.")
    return url.rstrip("/")


def parts_of(convention: Convention, document: Document) -> tuple[Meta, str]:
    """A document's front matter and the text after it.

    Raises:
        PageError: the file or its front matter cannot be read.
    """
    text = front_matter.decoded(front_matter.content(document.file))
    return front_matter.split(text, multimarkdown=convention.multimarkdown)


def source_of(convention: Convention, document: Document) -> str:
    """A document's file, relative to the site's folder."""
    return document.file.relative_to(convention.folder).as_posix()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A page before its text is read."""

    document: Document
    meta: Meta
    url: str


def _enter(convention: Convention, document: Document) -> _Entry | Skip:
    try:
        meta, text = parts_of(convention, document)
    except PageError as error:
        return Skip(document.path, str(error), failed=True)
    reason = unpublished(meta) or noindex_tag(text)
    return Skip(document.path, reason) if reason else _Entry(document, meta, convention.url(document))


def _owners(entries: list[_Entry]) -> Mapping[str, _Entry]:
    """The page for each URL: `index` before `README` and others."""
    owners: dict[str, _Entry] = {}
    ranks = {"index": 1, "readme": 2}
    for entry in sorted(entries, key=lambda entry: ranks.get(entry.document.file.stem.lower(), 3)):
        owners.setdefault(entry.url, entry)
    return owners


def _page(convention: Convention, entry: _Entry, urls: Mapping[str, str]) -> Iterator[Page | Note]:
    """Read one page. An error in it does not affect other pages."""
    document = entry.document
    try:
        content = front_matter.content(document.file)
        _, text = front_matter.split(front_matter.decoded(content), multimarkdown=convention.multimarkdown)
        rendered = convention.render(text)
        sections, headings, account = page_sections(
            rendered.html,
            url=entry.url,
            links_from=convention.links_from(document),
            file=source_of(convention, document),
            urls=urls,
        )
    except PageError as error:
        yield Skip(document.path, str(error), failed=True)
        return
    except Exception as error:  # noqa: BLE001 - a parser may fail on one page in any way; the run reports it
        yield unreadable(document.path, error)
        return
    if not sections:
        yield Skip(document.path, "no text", account=account)
        return
    title = title_of(document.path, headings, stated=front_matter.title(entry.meta), otherwise=document.title)
    yield Page(document.path, entry.url, title, sections, document.language, account=account)
    yield from (Unresolved(document.path, what) for what in rendered.unresolved)
    if what := encoding.flaw(content, encoding.of_text(content)):
        yield Flaw(document.path, what)
