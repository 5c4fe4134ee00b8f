"""MkDocs' convention: pages and URLs from mkdocs.yml, and Markdown as MkDocs' parser reads it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pathspec import GitIgnoreSpec

from passage.sites.markdown import mkdocs_config
from passage.sites.markdown.convention import SUFFIXES, Document, Rendered, encodable, quoted
from passage.sites.markdown.python_markdown import PythonMarkdown
from passage.sites.model import SiteError, Skip, Unresolved

_ALWAYS_EXCLUDED = (".*", "/templates/")

_PLUGINS_WITHOUT_TEXT = frozenset(
    [
        "autorefs",
        "awesome-nav",
        "awesome-pages",
        "exclude-search",
        "git-authors",
        "git-committers",
        "git-committers-2",
        "git-revision-date",
        "git-revision-date-localized",
        "glightbox",
        "group",
        "htmlproofer",
        "info",
        "literate-nav",
        "meta",
        "mike",
        "minify",
        "offline",
        "optimize",
        "privacy",
        "projects",
        "redirects",
        "rss",
        "search",
        "section-index",
        "social",
        "table-reader",
        "tags",
        "typeset",
    ]
)
"""Plugins that change neither the text nor the URL of a page."""

_TAG_LIST = re.compile(r"<!--\s*material/tags|\[TAGS\]|\[tags\]")


@dataclass(frozen=True, slots=True)
class MkDocs:
    """The `Convention` of a folder with an mkdocs.yml.

    Attributes:
        folder: `docs_dir`.
        address: `site_url`, without a slash at the end.
        directory_urls: publish a page as a folder (`guide/`) instead of a file (`guide.html`).
        excluded: `exclude_docs` and MkDocs' fixed exclusions.
        drafts: `draft_docs`.
        titles: the sources' titles in `nav`.
        settings: configured features that only the build supports.
    """

    folder: Path
    address: str
    directory_urls: bool
    excluded: GitIgnoreSpec
    drafts: GitIgnoreSpec
    language: str
    parser: PythonMarkdown
    titles: Mapping[str, str]
    settings: tuple[Unresolved, ...] = ()
    multimarkdown: bool = True

    def documents(self) -> Iterator[Document | Skip | Unresolved]:
        yield from self.settings
        yield from self.parser.unresolved
        for file in sorted(self.folder.rglob("*"), key=lambda each: each.relative_to(self.folder).with_suffix("")):
            if not file.name.endswith(SUFFIXES) or not file.is_file():
                continue
            source = file.relative_to(self.folder)
            path = PurePosixPath(source.with_suffix("").as_posix())
            name = encodable(path.as_posix())
            if self.excluded.match_file(source.as_posix()):
                yield Skip(name, "excluded by exclude_docs")
            elif self.drafts.match_file(source.as_posix()):
                yield Skip(name, "draft")
            else:
                title = self.titles.get(source.as_posix(), "")
                yield Document(file, name, path, self.language, title)

    def url(self, document: Document) -> str:
        *folders, name = quoted(document.route)
        home = name in ("index", "README")
        if self.directory_urls:
            return "/".join([self.address, *folders, *([] if home else [name]), ""])
        return "/".join([self.address, *folders, "index.html" if home else f"{name}.html"])

    def links_from(self, document: Document) -> str:
        """Relative links start at the source's folder: MkDocs rewrites them for the page's URL."""
        return "/".join([self.address, *quoted(document.route.parent), ""])

    def render(self, text: str) -> Rendered:
        if _TAG_LIST.search(text) and len(text.split()) < 20:
            return Rendered("")  # a list of pages, which the build writes
        html, unresolved = self.parser.to_html(text)
        return Rendered(html, unresolved)


def convention(folder: Path, file: Path, address: str | None) -> MkDocs:
    """Read the configuration at `file`; `address` comes before its `site_url`.

    Raises:
        SiteError: it cannot be read, or the site's URL is not given.
    """
    config = mkdocs_config.load(file)
    site_url = address or config.get("site_url")
    if not isinstance(site_url, str) or not site_url.startswith(("http://", "https://")):
        raise SiteError(f"Where is {folder} published? Give --site-url https://…, or set site_url in {file}.")
    pages = folder / str(config.get("docs_dir") or "docs")
    if not pages.is_dir():
        raise SiteError(f"{file} says docs_dir: {pages.name}, and {pages} is not a folder.")
    theme = config.get("theme")
    language = theme.get("language") if isinstance(theme, dict) else None
    return MkDocs(
        folder=pages,
        address=site_url.rstrip("/"),
        directory_urls=config.get("use_directory_urls", True) is not False,
        excluded=_patterns(config.get("exclude_docs"), file, _ALWAYS_EXCLUDED),
        drafts=_patterns(config.get("draft_docs"), file),
        language=language if isinstance(language, str) else "",
        parser=PythonMarkdown.configured(folder, config.get("markdown_extensions"), file.name),
        titles=dict(_titles(config.get("nav"))),
        settings=tuple(_plugins(config, file.name)),
    )


def _patterns(value: Any, file: Path, always: tuple[str, ...] = ()) -> GitIgnoreSpec:
    lines = value.splitlines() if isinstance(value, str) else []
    try:
        return GitIgnoreSpec.from_lines([*always, *lines])
    except ValueError as error:
        raise SiteError(f"{file} has a pattern that cannot be read: {error}") from error


def _titles(nav: Any) -> Iterator[tuple[str, str]]:
    """The sources that a navigation names, at any depth, each with its title."""
    for entry in nav if isinstance(nav, list) else ():
        for title, target in entry.items() if isinstance(entry, dict) else ():
            if isinstance(target, list):
                yield from _titles(target)
            elif isinstance(target, str) and title is not None:
                yield target, encodable(" ".join(str(title).split()))


def _plugins(config: Mapping[Any, Any], name: str) -> Iterator[Unresolved]:
    """Plugins that may write text or move pages."""
    listed = config.get("plugins")
    for each in listed if isinstance(listed, list | dict) else ():
        plugin = str(next(iter(each), "")) if isinstance(each, dict) else str(each)
        if plugin.rpartition("/")[2] not in _PLUGINS_WITHOUT_TEXT:
            yield Unresolved(name, f"plugin {plugin}")
