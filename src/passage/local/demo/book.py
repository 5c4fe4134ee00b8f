"""The pages of a Markdown site as the demo shows them: at the site's own paths, with the anchors that passages name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from passage.sites import html
from passage.sites.built.titles import title_of
from passage.sites.markdown import find_site, front_matter
from passage.sites.markdown.convention import Convention, Document, Meta, unpublished
from passage.sites.markdown.front_matter import PageError
from passage.sites.markdown.page import link_pages
from passage.sites.markdown.site import parts_of, source_of
from passage.sites.model import readable_name

_ALIGNED = re.compile(r"text-align:\s*(right|center)")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page.

    Attributes:
        path: of its URL, decoded.
        chapter: the name of its folder; empty for a page at the top.
    """

    document: Document
    path: str
    title: str
    chapter: str

    @property
    def href(self) -> str:
        """The path as a link has it: a file's name can have `#`, `?` or `%`."""
        return quote(self.path)


@dataclass(frozen=True)
class Book:
    """A site's pages.

    Attributes:
        address: the site's URL without a slash at its end: pages are served here at the paths that follow it.
        leaves: the pages by path, in the order of their files.
    """

    convention: Convention
    address: str
    leaves: Mapping[str, Leaf]

    @classmethod
    def of(cls, folder: Path) -> "Book":
        """The book in a folder of sources.

        Raises:
            SiteError: the folder or the site's URL is missing, or the configuration cannot be read.
        """
        convention = find_site(folder).convention
        pages = list(_pages(convention))
        address = _common([url for _, _, url in pages])
        leaves = [_leaf(*page, address) for page in pages]
        return cls(convention, address, {leaf.path: leaf for leaf in leaves})

    @property
    def first(self) -> str:
        """The path of the site's home page, else of its first page; empty without any page."""
        return "/" if "/" in self.leaves else next(iter(self.leaves), "")

    def chapters(self) -> Mapping[str, list[Leaf]]:
        """The pages by chapter; those at the top have an empty one."""
        chapters: dict[str, list[Leaf]] = {}
        for leaf in self.leaves.values():
            chapters.setdefault(leaf.chapter, []).append(leaf)
        return chapters

    def article(self, path: str) -> str | None:
        """A page's HTML, with links to other pages on this machine; None for an unknown path.

        Raises:
            PageError: the file cannot be read any more.
        """
        leaf = self.leaves.get(path)
        if leaf is None:
            return None
        document = leaf.document
        _, text = parts_of(self.convention, document)
        body = self.convention.render(text).html
        content = html.first(html.parse(f"<!doctype html><meta charset=utf-8><div>{body}</div>".encode()), "div")
        if content is None:
            return None
        sources = {source_of(self.convention, each.document): each.href for each in self.leaves.values()}
        link_pages(content, source_of(self.convention, document), sources)
        _without_styles(content)
        return content.html or ""


def _without_styles(content: html.Node) -> None:
    """Replace `style`, which the page's policy forbids; the alignment of a table's cells is kept."""
    for node in html.select(content, "[style]"):
        aligned = _ALIGNED.search(html.attribute(node, "style"))
        if aligned:
            html.set_attribute(node, "data-align", aligned[1])
        html.drop_attribute(node, "style")


def _pages(convention: Convention) -> Iterator[tuple[Document, Meta, str]]:
    """Every page that is indexed and can be read."""
    for document in convention.documents():
        if not isinstance(document, Document):
            continue
        try:
            meta, _ = parts_of(convention, document)
        except PageError:
            continue  # `passage index` reports it
        if not unpublished(meta):
            yield document, meta, convention.url(document)


def _common(urls: list[str]) -> str:
    """The beginning that all URLs share, up to a slash that is left out."""
    first, last = min(urls, default=""), max(urls, default="")
    shared = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:shared].rpartition("/")[0]


def _leaf(document: Document, meta: Meta, url: str, address: str) -> Leaf:
    title = title_of(document.path, (), stated=front_matter.title(meta), otherwise=document.title)
    folder = document.path.rpartition("/")[0]
    chapter = readable_name(folder) if folder else ""
    path = unquote(urlsplit(url.removeprefix(address)).path)
    return Leaf(document, path, title, chapter)
