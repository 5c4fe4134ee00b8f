"""What a generator's convention decides: which files are pages, their URLs, and how their Markdown becomes HTML."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.parse import quote

from passage.sites.markdown.code_spans import pieces
from passage.sites.model import Skip, Unresolved

_ROBOTS = re.compile(r"""<meta\s[^>]*name=["']robots["'][^>]*>""", re.IGNORECASE)

YES = ("true", "yes", "on")

Meta = Mapping[str, Any]
"""A page's front matter, every scalar as the text it is written as."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file that may be a page.

    Attributes:
        path: the page's path for people and payloads: relative, without the suffix.
        route: the path that its URL is made from, where that is another one.
        base: what its URL begins with, without a slash at the end.
        language: as the configuration states it, empty where it does not.
        kind: what the convention wants to remember of it.
        title: what the site calls the page where the page itself has no title.
    """

    file: Path
    path: str
    route: PurePosixPath
    base: str
    language: str = ""
    kind: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page's text as HTML, and what was left out of it.

    Attributes:
        unresolved: a few words for each part that only the build resolves.
    """

    html: str
    unresolved: tuple[str, ...] = ()


class Convention(Protocol):
    """One generator's way with Markdown."""

    @property
    def folder(self) -> Path:
        """Where the pages lie, for messages."""

    @property
    def multimarkdown(self) -> bool:
        """Whether lines of `Key: value` at the beginning of a page are front matter."""

    def documents(self) -> Iterator[Document | Skip | Unresolved]:
        """The files in a stable order, and what the configuration leaves out."""

    def left_out(self, meta: Meta) -> str | None:
        """Why a page with this front matter is not published or not meant to be found; None when it is."""

    def url(self, document: Document, meta: Meta) -> str:
        """Where a page is published."""

    def links_from(self, document: Document, url: str) -> str:
        """The URL that the relative links of a page start from, besides links to other Markdown files."""

    def render(self, document: Document, text: str, meta: Meta) -> Rendered:
        """The HTML of a page's Markdown."""


def said_yes(meta: Meta, key: str) -> bool:
    return str(meta.get(key)).lower() in YES


def noindex(meta: Meta) -> bool:
    """Whether front matter asks search engines to leave the page out, in the ways that generators offer."""
    if "noindex" in str(meta.get("robots", "")).lower() or said_yes(meta, "noindex"):
        return True
    tags = meta.get("head")
    return isinstance(tags, list) and any(
        "robots" in str(tag).lower() and "noindex" in str(tag).lower() for tag in tags
    )


def noindex_tag(text: str) -> str | None:
    """`noindex` where a page's own text holds the tag for search engines, as MDX pages do in `<Head>`."""
    said = any(
        "noindex" in tag.lower() or "none" in tag.lower()
        for is_code, piece in pieces(text)
        if not is_code
        for tag in _ROBOTS.findall(piece)
    )
    return "noindex" if said else None


def quoted(route: PurePosixPath) -> list[str]:
    """The parts of a path as a URL has them."""
    return [quote(os.fsencode(part)) for part in route.parts]


def encodable(text: str) -> str:
    """A YAML escape or the name of a file may hold half a character, which no request could carry."""
    return text.encode("utf-8", "replace").decode()
