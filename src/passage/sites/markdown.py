"""Reads a site from its Markdown sources: a folder of pages, and the `mkdocs.yml` that says where it is published."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

import yaml

from passage.sites.markdown_sections import sections
from passage.sites.model import Page, SiteError, Skip, readable_name


@dataclass(frozen=True, slots=True)
class MarkdownSite:
    """A folder of Markdown and the address it is published under (no trailing slash).

    Attributes:
        directory_urls: whether a page is published as a folder (`guide/`) or as a file (`guide.html`).
    """

    pages: Path
    url: str
    directory_urls: bool = True

    @property
    def nothing_found(self) -> str:
        return f"{self.pages} holds no Markdown with any text in it (*.md, *.mdx)."

    def read(self) -> Iterator[Page | Skip]:
        """See `passage.sites.model.Site`."""
        return read_pages(self)


FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
YES = ("true", "yes", "on")
NO = ("false", "no", "off")


def find_site(folder: Path, url: str | None) -> MarkdownSite:
    """Read `mkdocs.yml` where there is one; `url` comes first.

    Raises:
        SiteError: there is no folder, no address, or the configuration cannot be read.
    """
    if not folder.is_dir():
        raise SiteError(f"{folder} is not a folder.")
    config: dict[Any, Any] = {}
    path = folder / "mkdocs.yml"
    if path.is_file():
        loaded = _yaml(_read(path), path)
        config = loaded if isinstance(loaded, dict) else {}
    address = url or config.get("site_url")
    if not isinstance(address, str) or not address.startswith(("http://", "https://")):
        raise SiteError(
            f"Where is {folder} published? Its pages' URLs begin with it: give --site-url https://…, "
            "or set site_url in its mkdocs.yml."
        )
    pages = folder / str(config.get("docs_dir", "docs"))
    return MarkdownSite(
        pages=pages if pages.is_dir() else folder,
        url=address.rstrip("/"),
        directory_urls=str(config.get("use_directory_urls")).lower() not in NO,
    )


def read_pages(site: MarkdownSite) -> Iterator[Page | Skip]:
    """The site's pages in the order of their paths; drafts and unlisted pages are skipped.

    Raises:
        SiteError: a file cannot be read, is not UTF-8, its front matter is not YAML, or two are published at one URL.
    """
    published: dict[str, Path] = {}
    for file in sorted([*site.pages.rglob("*.md"), *site.pages.rglob("*.mdx")]):
        path = file.relative_to(site.pages).with_suffix("")
        if any(part.startswith((".", "_")) or part == "node_modules" for part in path.parts):
            continue  # what generators keep out of a site as well
        if not file.is_file():  # a folder named like a page, a link to nowhere
            continue
        meta, markdown = _front_matter(_read(file), file)
        name = _encodable(path.as_posix())
        unpublished = next((key for key in ("draft", "unlisted") if str(meta.get(key)).lower() in YES), None)
        if unpublished:
            yield Skip(name, unpublished)
            continue
        url = _url(site, PurePosixPath(path.as_posix()))
        other = published.setdefault(url, file)
        if other is not file:
            raise SiteError(f"{other} and {file} are published at one URL, {url}: rename or remove one of them.")
        heading, parts = sections(markdown)
        title = _title(meta.get("title")) or heading or readable_name(name)
        yield Page(path=name, url=url, title=title, sections=parts)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SiteError(f"{file} cannot be read: {error}") from error


def _yaml(text: str, file: Path) -> Any:
    """YAML with every scalar as the text it is written as.

    A title like 1.10 stays what it is, a date that does not exist is no error, and the tags for Python objects in an
    mkdocs.yml (`!!python/name:…`) are none of our business.
    """
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it makes text, lists and mappings, nothing else
    except (yaml.YAMLError, RecursionError) as error:
        raise SiteError(f"{file} cannot be read: {' '.join(str(error).split())}") from error


def _front_matter(text: str, file: Path) -> tuple[dict[Any, Any], str]:
    """A page's front matter and what follows it. Text between two rules that is not a mapping belongs to the page."""
    found = FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    meta = _yaml(found[1] or "", file)
    if meta is None or meta == "":
        return {}, text[found.end() :]
    return (meta, text[found.end() :]) if isinstance(meta, dict) else ({}, text)


def _title(value: Any) -> str | None:
    if not isinstance(value, str) or value.strip() in ("", "~", "null"):
        return None
    return _encodable(" ".join(value.split()))


def _encodable(text: str) -> str:
    """A YAML escape or the name of a file may hold half a character, which no request could carry."""
    return text.encode("utf-8", "replace").decode()


def _url(site: MarkdownSite, path: PurePosixPath) -> str:
    """A page's address as MkDocs makes it: a folder a page (or a file), and a folder's own page for `index`."""
    *folders, name = (quote(os.fsencode(part)) for part in path.parts)
    home = name in ("index", "README")
    if site.directory_urls:
        return "/".join([site.url, *folders, *([] if home else [name]), ""])
    return "/".join([site.url, *folders, "index.html" if home else f"{name}.html"])
