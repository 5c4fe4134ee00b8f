"""Finds the configuration in a folder of sources and gives the matching convention."""

from collections.abc import Iterator
from pathlib import Path

from passage.sites.markdown import docusaurus, mkdocs, vitepress
from passage.sites.markdown.convention import UNREAD, Convention
from passage.sites.markdown.plain import PlainFolder
from passage.sites.model import SiteError, Unresolved

_FINDERS = (
    (mkdocs.CONFIGURATIONS, mkdocs.convention),
    (docusaurus.CONFIGURATIONS, docusaurus.convention),
    (vitepress.CONFIGURATIONS, vitepress.convention),
)

_NESTED = ("docs", "website", "site", "documentation", "packages/*", "apps/*")
"""Folders of a repository that are searched for a configuration, after the top folder."""


def convention_of(folder: Path, url: str | None) -> Convention:
    """The convention for a folder of sources.

    Args:
        url: where the site is published; None leaves it to the configuration.

    Raises:
        SiteError: the configuration cannot be read, or the site's URL is not given.
    """
    address = _address(url) if url is not None else None
    for place in _places(folder):
        for names, convention in _FINDERS:
            for name in names:
                if (place / name).is_file():
                    return convention(place, place / name, address)
    if address is None:
        raise SiteError(
            f"Where is {folder} published? Its pages' URLs begin with it: give --site-url https://…, "
            "or set it in the generator's configuration (MkDocs: site_url; Docusaurus: url; VitePress: "
            "sitemap.hostname)."
        )
    for name, (subfolder, ending) in UNREAD.items():
        if (folder / name).is_file() and (folder / subfolder).is_dir():
            return PlainFolder(
                folder / subfolder, folder, address, ending, (Unresolved(name, f"configuration {name}"),)
            )
    pages = folder / "docs"
    pages = pages if pages.is_dir() else folder
    if vitepress.is_written_for(pages):
        return vitepress.defaults(pages, address)
    return PlainFolder(pages, folder, address)


def _places(folder: Path) -> Iterator[Path]:
    yield folder
    for pattern in _NESTED:
        yield from sorted(path for path in folder.glob(pattern) if path.is_dir())


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise SiteError(f"--site-url {url} is not a URL: it begins with https:// or http://.")
    return url.rstrip("/")
