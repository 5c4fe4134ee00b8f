"""Reads sitemaps and sitemap indexes, plain or gzipped. It refuses XML features that attacks use."""

import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

MAX_BYTES = 50 * 1024 * 1024
"""The sitemap protocol's limit, uncompressed."""

_GZIP = b"\x1f\x8b"


class SitemapError(Exception):
    """A sitemap cannot be read; the message says why."""


@dataclass(slots=True)
class Sitemap:
    """The URLs in one sitemap.

    Attributes:
        pages: URLs of pages, with those of their other languages.
        sitemaps: URLs of further sitemaps.
    """

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)


def parse(content: bytes) -> Sitemap:
    """The URLs that a sitemap lists, in its order.

    Raises:
        SitemapError: it is not a sitemap, declares a document type, or is too large.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(_plain(content), True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # the last two: an encoding that expat cannot read
        raise SitemapError(f"is not XML: {error}") from error
    if reader.root not in ("urlset", "sitemapindex"):
        raise SitemapError(f"is not a sitemap: its root is <{reader.root}>")
    return reader.sitemap


def _plain(content: bytes) -> bytes:
    if not content.startswith(_GZIP):
        return content
    try:
        unpacker = zlib.decompressobj(wbits=31)
        plain = unpacker.decompress(content, MAX_BYTES)
    except zlib.error as error:
        raise SitemapError(f"cannot be unpacked: {error}") from error
    if unpacker.unconsumed_tail:
        raise SitemapError(f"has more than {MAX_BYTES:,} bytes")
    return plain


def _refuse_doctype(*_: object) -> None:
    """Refuse a document type: its entities can make a small file huge."""
    raise SitemapError("declares a document type")


@dataclass(slots=True)
class _Reader:
    """Collects the texts of `loc` and the targets of `xhtml:link`."""

    sitemap: Sitemap = field(default_factory=Sitemap)
    root: str = ""
    path: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        self.root = self.root or local
        self.path.append(local)
        self.words.clear()
        if local == "link" and attributes.get("rel") == "alternate" and attributes.get("href"):
            self.sitemap.pages.append(attributes["href"].strip())

    def text(self, data: str) -> None:
        self.words.append(data)

    def end(self, _: str) -> None:
        url = "".join(self.words).strip()
        if self.path[-2:] == ["url", "loc"]:
            self.sitemap.pages.append(url)
        elif self.path[-2:] == ["sitemap", "loc"]:
            self.sitemap.sitemaps.append(url)
        self.path.pop()
        self.words.clear()
