"""A documentation site as its owner keeps it: a folder of Markdown, and what says where it is published."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import frontmatter
import yaml


class SiteError(Exception):
    """The folder is not a site that can be indexed; says what is missing."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `path` is relative to the pages' folder, without its suffix; `markdown` has no front matter."""

    path: str
    url: str
    title: str | None
    markdown: str


@dataclass(frozen=True, slots=True)
class Site:
    """Where the pages lie and the address they are published under (no trailing slash)."""

    pages: Path
    url: str


class _Loader(yaml.SafeLoader):
    """Reads an mkdocs.yml, whose tags for Python objects (`!!python/name:…`) are none of our business."""


_Loader.add_multi_constructor("", lambda *_: None)


def find_site(folder: Path, url: str | None) -> Site:
    """Read `mkdocs.yml` where there is one; `url` comes first.

    Raises:
        SiteError: there is no folder, no address, or the configuration cannot be read.
    """
    if not folder.is_dir():
        raise SiteError(f"{folder} is not a folder.")
    config: dict[str, Any] = {}
    path = folder / "mkdocs.yml"
    if path.is_file():
        try:
            loaded = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a SafeLoader's subclass
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise SiteError(f"{path} cannot be read: {error}") from error
        config = loaded if isinstance(loaded, dict) else {}
    address = url or config.get("site_url")
    if not isinstance(address, str) or not address.startswith(("http://", "https://")):
        raise SiteError(
            f"Where is {folder} published? Its pages' URLs begin with it: give --site-url https://…, "
            "or set site_url in its mkdocs.yml."
        )
    pages = folder / str(config.get("docs_dir", "docs"))
    return Site(pages=pages if pages.is_dir() else folder, url=address.rstrip("/"))


def read_pages(site: Site) -> Iterator[Page]:
    """The site's pages, in the order of their paths.

    Raises:
        SiteError: a page is not UTF-8, or its front matter is not YAML.
    """
    for file in sorted([*site.pages.rglob("*.md"), *site.pages.rglob("*.mdx")]):
        path = file.relative_to(site.pages).with_suffix("").as_posix()
        if any(part.startswith((".", "_")) or part == "node_modules" for part in path.split("/")):
            continue  # what generators keep out of a site as well
        try:
            post = frontmatter.loads(file.read_text(encoding="utf-8-sig"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise SiteError(f"{file} cannot be read: {error}") from error
        title = post.metadata.get("title")
        yield Page(
            path=path, url=_url(site.url, path), title=str(title) if title is not None else None, markdown=post.content
        )


def _url(site: str, path: str) -> str:
    """A page's address as MkDocs makes it: a folder a page, and a folder's own page for `index`."""
    parts = path.split("/")
    if parts[-1] in ("index", "README"):
        parts.pop()
    return "/".join([site, *(quote(part) for part in parts), ""])
