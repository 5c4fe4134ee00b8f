"""The interface of a convention for sources: which files are pages, their URLs, and the HTML of their Markdown."""

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

CONFIGURATIONS = ("mkdocs.yml", "mkdocs.yaml")
"""MkDocs' configurations."""

SUFFIXES = (".md", ".markdown", ".mdown", ".mkdn", ".mkd")
"""Of sources, in lower case, as MkDocs compares them."""

Meta = Mapping[str, Any]
"""A page's front matter, with every scalar as its source text."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file that may be a page.

    Attributes:
        path: the page's path for people and payloads: relative, without the suffix.
        route: `path` with the file system's own bytes, for its URL.
        language: as the configuration states it, empty where it does not.
        title: the site's name for a page without a title.
    """

    file: Path
    path: str
    route: PurePosixPath
    language: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page's text as HTML, and the parts left out of it.

    Attributes:
        unresolved: a few words for each part that only the build resolves.
    """

    html: str
    unresolved: tuple[str, ...] = ()


class Convention(Protocol):
    """The rules of MkDocs, or of a folder without a generator."""

    @property
    def folder(self) -> Path:
        """The folder of the pages, for messages."""

    @property
    def multimarkdown(self) -> bool:
        """Whether lines of `Key: value` at the beginning of a page are front matter."""

    def documents(self) -> Iterator[Document | Skip | Unresolved]:
        """The files in a stable order, and the files that the configuration leaves out."""

    def url(self, document: Document) -> str:
        """The URL of a page."""

    def links_from(self, document: Document) -> str:
        """The base of a page's relative links, except links to other Markdown files."""

    def render(self, text: str) -> Rendered:
        """The HTML of a page's Markdown."""


def unpublished(meta: Meta) -> str | None:
    """The reason to leave a page out, by front matter that generators have in common."""
    for key in ("draft", "unlisted"):
        if _said_yes(meta, key):
            return key
    if str(meta.get("published")).lower() in ("false", "no", "off"):
        return "draft"
    search = meta.get("search")
    excluded = isinstance(search, dict) and _said_yes(search, "exclude")
    if excluded or str(search).lower() in ("false", "no", "off"):
        return "left out of the site's search"
    return "noindex" if "noindex" in str(meta.get("robots", "")).lower() or _said_yes(meta, "noindex") else None


def _said_yes(meta: Meta, key: str) -> bool:
    return str(meta.get(key)).lower() in ("true", "yes", "on")


def noindex_tag(text: str) -> str | None:
    """`noindex` where a page's text holds the HTML tag for search engines."""
    said = any(
        "noindex" in tag.lower() or "none" in tag.lower()
        for is_code, piece in pieces(text)
        if not is_code
        for tag in _ROBOTS.findall(piece)
    )
    return "noindex" if said else None


def quoted(route: PurePosixPath) -> list[str]:
    """The parts of a path, encoded for a URL."""
    return [quote(os.fsencode(part)) for part in route.parts]


def encodable(text: str) -> str:
    """The text with `?` for each lone surrogate: YAML escapes and file names may hold one, a request cannot."""
    return text.encode("utf-8", "replace").decode()
